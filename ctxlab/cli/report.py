"""`ctxlab report`: a notebook, executed headless and rendered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxlab.cli.options import ParameterOption, QuietOption

if TYPE_CHECKING:
    from ctxlab.cli.watch import Watch
    from ctxlab.progress import Line


def report(
    context: typer.Context,
    notebook: Annotated[Path, typer.Argument(help="A notebook with one cell tagged parameters.")],
    out: Annotated[Path, typer.Option(help="Where NAME.ipynb and NAME.html are written.")] = Path("reports"),
    parameter: ParameterOption = None,
    quiet: QuietOption = False,
) -> int:
    """Execute a notebook headless and render it as one HTML page."""
    from ctxlab.notebooks import report_notebook
    from ctxlab.parameters import declared_parameters, read_notebook, read_values
    from ctxlab.progress import relay

    watch: Watch = context.obj
    watch.resume = "-p resume="

    def told(line: Line) -> None:
        watch.run_id = line.run_id
        if not quiet:
            relay(line)

    values = read_values(declared_parameters(read_notebook(notebook)), parameter or [])
    done = report_notebook(notebook, out_dir=out, parameters=values, show=told)
    typer.echo(str(done.page))
    if done.run is not None:
        typer.echo(f"\n{done.run.table}")
    return 3 if done.errors else 0
