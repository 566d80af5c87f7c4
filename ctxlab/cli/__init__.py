"""The command line: verbs, options and exit codes; what they do is done elsewhere.

| exit | meaning |
|---:|---|
| 0 | done; wrong answers and refused rows alone do not change it |
| 1 | at least one gate failed, or a retention probe was lost |
| 2 | invalid input: arguments, dataset, report, threshold, notebook parameter |
| 3 | written, but at least one row ended in an operational error |
| 4 | internal failure, failed notebook cell, or integrity violation |
| 5 | a run id or alias is not found |
| 130 | interrupted; partial results are kept |
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ctxlab.cli.admit import admit
from ctxlab.cli.compare import compare
from ctxlab.cli.evaluation import evaluate
from ctxlab.cli.fetch_model import fetch_model
from ctxlab.cli.forecast import forecast
from ctxlab.cli.gate import gate
from ctxlab.cli.printing import report_error
from ctxlab.cli.report import report
from ctxlab.cli.runs import runs_group
from ctxlab.cli.sweep import sweep
from ctxlab.cli.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTERRUPTED = 130
VERBS: dict[str, Callable[..., int]] = {
    "compare": compare,
    "forecast": forecast,
    "sweep": sweep,
    "eval": evaluate,
    "gate": gate,
    "admit": admit,
    "report": report,
    "fetch-model": fetch_model,
}
"""Each verb, in the order of the help."""


def print_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ctxlab {version('ctxlab')}")
        raise typer.Exit


def about(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Measure what a context policy loses."""


def command_line() -> typer.Typer:
    """All verbs as one application."""
    app = typer.Typer(
        name="ctxlab", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    app.callback()(about)
    for name, verb in VERBS.items():
        app.command(name)(verb)
    app.add_typer(runs_group(), name="runs")
    return app


def replace_unprintable() -> None:
    """Print a replacement for each character that the encoding of an output lacks, instead of failing at it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    watch = Watch()
    replace_unprintable()
    try:
        command = typer.main.get_command(command_line())
        code = command.main(args=given or ["--help"], prog_name="ctxlab", standalone_mode=False, obj=watch)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001  (no traceback reaches a user)
        return report_error(error)
    if code == INTERRUPTED:
        print(f"interrupted{watch.hint}", file=sys.stderr)
    return code if isinstance(code, int) else 0
