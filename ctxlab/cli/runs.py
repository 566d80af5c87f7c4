"""`ctxlab runs list|show|verify|diff|alias`: the registry of experiments; nothing is ever sent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ctxlab.cli.options import Format, FormatOption, OutputOption, RunsDirOption
from ctxlab.cli.printing import demand_writable, emit, emit_frame, report_line, warn
from ctxlab.errors import NotFoundError

if TYPE_CHECKING:
    import pandas as pd

DAMAGED = 4
RunArgument = Annotated[str, typer.Argument(metavar="ID|ALIAS", help="A run.")]
DiffFormat = Literal["table", "json", "csv", "markdown"]


def list_runs(
    runs_dir: RunsDirOption = Path("runs"),
    all_: Annotated[bool, typer.Option("--all", help="Runs that are interrupted or at work, too.")] = False,
    status: Annotated[
        str | None, typer.Option(help="completed, regression_failed, failed or incomplete.")
    ] = None,
    fingerprint: Annotated[str | None, typer.Option(help="4 or more of its first digits.")] = None,
    input_identity: Annotated[str | None, typer.Option(help="4 or more of its first digits.")] = None,
    model: Annotated[str | None, typer.Option(help="The requested model.")] = None,
    strategy: Annotated[str | None, typer.Option(help="A strategy that the run holds.")] = None,
    git_commit: Annotated[str | None, typer.Option(help="4 or more of its first digits.")] = None,
    format_: FormatOption = "table",
    output: OutputOption = None,
) -> int:
    """List the runs of a registry, newest first; damaged ones are listed, and then the exit code is 4."""
    from ctxlab.registry import Filters, runs_frame
    from ctxlab.registry.aliases import damaged_aliases
    from ctxlab.registry.showing import runs_table

    demand_writable(output)
    filters = Filters(
        status=status,
        fingerprint=fingerprint,
        input_identity=input_identity,
        model=model,
        strategy=strategy,
        git_commit=git_commit,
    )
    frame = runs_frame(runs_dir, filters=filters, incomplete=all_)
    emit_frame(runs_table(frame) if format_ == "table" else frame, format_, output)
    for name in damaged_aliases(runs_dir):
        warn(f"alias {name}: is damaged or stands for a run that is not there")
    damaged = int(frame["damaged"].sum())
    if damaged:
        report_line(f"{damaged} damaged entries in the runs directory")
    return DAMAGED if damaged else 0


def show(
    run: RunArgument,
    runs_dir: RunsDirOption = Path("runs"),
    format_: FormatOption = "table",
    output: OutputOption = None,
) -> int:
    """Show what a run was, how it ended, and its metrics per strategy."""
    from ctxlab.experiments import STAGING
    from ctxlab.registry import read_manifest, resolve
    from ctxlab.registry.artifacts import MANIFEST
    from ctxlab.registry.rebuilding import read_frame
    from ctxlab.registry.showing import summary_lines

    demand_writable(output)
    directory = resolve(runs_dir, run, staged=True)
    if directory.parent.name == STAGING and not (directory / MANIFEST).exists():
        raise NotFoundError(
            f"run {directory.name}: has no manifest yet; it is at work, or go on with --resume"
        )
    manifest = read_manifest(directory)
    if format_ == "table":
        emit("\n".join(summary_lines(manifest)) + "\n", output)
    else:
        emit_frame(read_frame(directory, "metrics"), format_, output)
    return 0


def verify(run: RunArgument, runs_dir: RunsDirOption = Path("runs")) -> int:
    """Check that a run is as it was left: files, hashes, and the agreement of frames and report."""
    from ctxlab.registry import resolve, verify_run

    directory = resolve(runs_dir, run)
    damage = verify_run(directory)
    for line in damage:
        report_line(f"run {directory.name}: {line}")
    if not damage:
        typer.echo(f"run {directory.name}: is as it was left")
    return DAMAGED if damage else 0


def diff(
    left: Annotated[str, typer.Argument(metavar="LEFT", help="A run, such as the older one.")],
    right: Annotated[str, typer.Argument(metavar="RIGHT", help="The other run.")],
    runs_dir: RunsDirOption = Path("runs"),
    format_: Annotated[DiffFormat, typer.Option("--format", help="How to print.")] = "table",
    output: OutputOption = None,
) -> int:
    """Compare two runs in six categories; gives no verdict."""
    from ctxlab.registry import diff_frame, resolve
    from ctxlab.registry.showing import diff_markdown, diff_table

    demand_writable(output)
    frame: pd.DataFrame = diff_frame(resolve(runs_dir, left), resolve(runs_dir, right))
    if format_ == "markdown":
        emit(diff_markdown(frame), output)
    else:
        plain: Format = format_
        emit_frame(diff_table(frame) if plain == "table" else frame, plain, output)
    return 0


def alias_set(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for a run.")],
    run: Annotated[str, typer.Argument(metavar="ID", help="The run.")],
    runs_dir: RunsDirOption = Path("runs"),
) -> int:
    """Let a name stand for a run from now on."""
    from ctxlab.registry import set_alias

    alias = set_alias(runs_dir, name, run)
    typer.echo(f"{alias.name}: {alias.run_id}")
    return 0


def alias_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for a run.")],
    runs_dir: RunsDirOption = Path("runs"),
) -> int:
    """Show which run a name stands for, and which it stood for before, newest first."""
    from ctxlab.registry import read_alias

    alias = read_alias(runs_dir, name)
    typer.echo(f"{alias.name}: {alias.run_id} since {alias.set_at}")
    for target in reversed(alias.former):
        typer.echo(f"before: {target.run_id} since {target.set_at}")
    return 0


def runs_group() -> typer.Typer:
    """The verbs of the registry as one group."""
    group = typer.Typer(help="The registry of experiments.")
    alias = typer.Typer(help="Names for runs.")
    for name, verb in (("list", list_runs), ("show", show), ("verify", verify), ("diff", diff)):
        group.command(name)(verb)
    for name, named in (("set", alias_set), ("show", alias_show)):
        alias.command(name)(named)
    group.add_typer(alias, name="alias")
    return group
