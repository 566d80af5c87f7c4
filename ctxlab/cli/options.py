"""Options of the command line, and a way to say once what several verbs are told."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Format = Literal["table", "json", "csv"]

FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", help="Write there and not to standard output.")
]
RunsDirOption = Annotated[Path, typer.Option(help="Where experiments are kept.")]
BaselineOption = Annotated[
    str | None, typer.Option(help="The run that gates compare with: a run id or an alias.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress.")]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option("-p", metavar="NAME=VALUE", help="A parameter of the notebook, as often as needed."),
]
PRICES_HELP = (
    "Prices per million tokens as decimal text, JSON: "
    '{"currency": "USD", "models": {"NAME": {"input": "0.15", "cached_input": "0.07", "output": "0.60"}}}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWords:
    """What every verb that runs the cases of a dataset is told (GEN-036)."""

    dataset: Annotated[Path, typer.Option(help="Cases, JSON Lines.")]
    dataset_format: Annotated[
        str, typer.Option(help="ctxlab, or the name of an importer such as tau_bench.")
    ] = "ctxlab"
    client: Annotated[
        str, typer.Option(help="local, endpoint, or stand-in:NAME (a property of inputs, not of a model).")
    ] = "local"
    base_url: Annotated[str | None, typer.Option(envvar="CTXLAB_BASE_URL", help="For --client endpoint.")] = (
        None
    )
    model: Annotated[str | None, typer.Option(envvar="CTXLAB_MODEL", help="For --client endpoint.")] = None
    model_path: Annotated[Path | None, typer.Option(help="A GGUF file for --client local.")] = None
    warm_cache: Annotated[bool, typer.Option("--warm-cache", help="Leave the embedded model's cache on.")] = (
        False
    )
    repeats: Annotated[int, typer.Option(help="Samples of each cell, 1 to 100.")] = 1
    concurrency: Annotated[int, typer.Option(envvar="CTXLAB_CONCURRENCY", help="Workers, 1 to 256.")] = 1
    temperature: Annotated[float | None, typer.Option(help="0 to 2.")] = None
    seed: Annotated[int | None, typer.Option(help="Sampling seed.")] = None
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of an answer.")] = None
    timeout_s: Annotated[
        float | None, typer.Option(envvar="CTXLAB_TIMEOUT_S", help="Deadline of one attempt.")
    ] = None
    max_attempts: Annotated[int, typer.Option(help="Attempts per call, 1 to 10.")] = 1
    stream: Annotated[
        bool, typer.Option("--stream", help="Stream answers; measures time to first token.")
    ] = False
    prices: Annotated[Path | None, typer.Option(help=PRICES_HELP)] = None
    system_prompt: Annotated[
        Path | None, typer.Option(help="A text before every case's messages; kept as its hash only.")
    ] = None
    system_prompt_name: Annotated[str | None, typer.Option(help="Its name.")] = None
    system_prompt_version: Annotated[str | None, typer.Option(help="Its version.")] = None
    provenance: Annotated[Path | None, typer.Option(help="A JSON object for the manifest.")] = None
    deployment_runtime: Annotated[
        str | None, typer.Option(help="Where the platform runs: host, docker, compose or other.")
    ] = None
    deployment_image: Annotated[str | None, typer.Option(help="Its image.")] = None
    deployment_name: Annotated[str | None, typer.Option(help="Its name.")] = None
    no_previews: Annotated[
        bool, typer.Option("--no-previews", help="Show no beginnings of answers in frames and reports.")
    ] = False
    ledger: Annotated[
        bool, typer.Option("--ledger", help="Keep the fate of every source character among the frames.")
    ] = False
    runs_dir: RunsDirOption = Path("runs")
    resume: Annotated[str | None, typer.Option(metavar="RUN_ID", help="Go on with an interrupted run.")] = (
        None
    )
    quiet: QuietOption = False
    format_: FormatOption = "table"
    output: OutputOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetWords:
    """What a verb that fits contexts into a budget is told besides."""

    window_tokens: Annotated[int, typer.Option(help="What the model accepts.")] = 8192
    output_reserve_tokens: Annotated[int, typer.Option(help="Held back for the answer.")] = 1000
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A threshold, as often as needed."),
    ] = None
    helper_model: Annotated[str | None, typer.Option(help="Another model for summaries, same endpoint.")] = (
        None
    )


def written_out(verb: Callable[..., int]) -> Callable[..., int]:
    """The verb as typer reads it: each parameter that is a record stands there as its fields, one option each."""
    hints = get_type_hints(verb, include_extras=True)
    own = list(inspect.signature(verb).parameters.values())
    records = {p.name: hints[p.name] for p in own if hasattr(hints[p.name], "__dataclass_fields__")}

    def called(**values: Any) -> int:
        for name, record in records.items():
            values[name] = record(**{field.name: values.pop(field.name) for field in fields(record)})
        return verb(**values)

    parameters = [
        written
        for p in own
        for written in (_options_of(records[p.name]) if p.name in records else [_named(p, hints[p.name])])
    ]
    called.__doc__ = verb.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    return called


def _options_of(record: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        named = inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default)
        yield _named(named, hints[field.name])


def _named(parameter: inspect.Parameter, annotation: Any) -> inspect.Parameter:
    return parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)
