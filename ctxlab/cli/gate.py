"""`ctxlab gate`: limits on one report, or on one against another; nothing is sent to a model (GEN-008)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ctxlab.cli.gating import LimitWords
from ctxlab.cli.options import BaselineOption, OutputOption, RunsDirOption, written_out
from ctxlab.cli.printing import demand_writable, emit, emit_frame, warn
from ctxlab.errors import InputError, IntegrityError

if TYPE_CHECKING:
    from ctxlab.gates import GateLimits, Verdict
    from ctxlab.records import Run

GateFormat = Literal["table", "json", "csv", "markdown", "junit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingWords:
    """What is judged, and how strictly."""

    recall: Annotated[
        Literal["answer", "context"], typer.Option(help="Which recall both recall gates speak of.")
    ] = "answer"
    min_samples: Annotated[int, typer.Option(help="Fewer durations fail a latency gate.")] = 1
    paired: Annotated[
        bool, typer.Option("--paired", help="Let the exact paired test decide on --max-pass-rate-drop.")
    ] = False
    level: Annotated[str, typer.Option(help="Level of that test.")] = "0.95"
    allow_inconclusive: Annotated[
        bool, typer.Option("--allow-inconclusive", help="An inconclusive test passes.")
    ] = False
    strategy: Annotated[str | None, typer.Option(help="The strategy that is judged.")] = None
    category: Annotated[str | None, typer.Option(help="Judge only cases of this category.")] = None
    tag: Annotated[str | None, typer.Option(help="Judge only cases with this tag.")] = None
    dataset: Annotated[
        Path | None, typer.Option(help="Where --tag looks; default the dataset that the report names.")
    ] = None
    allow_different_dataset: Annotated[
        bool, typer.Option("--allow-different-dataset", help="Compare runs of other cases all the same.")
    ] = False


@written_out
def gate(
    current: Annotated[str, typer.Option(help="A report file, a run id or an alias.")],
    limits: LimitWords,
    words: JudgingWords,
    baseline: BaselineOption = None,
    runs_dir: RunsDirOption = Path("runs"),
    format_: Annotated[GateFormat, typer.Option("--format", help="How to print.")] = "table",
    output: OutputOption = None,
) -> int:
    """Judge a report by limits, alone or against a baseline."""
    from ctxlab.gates import judge_gates, workers_to_measure
    from ctxlab.loopback_latency import client_latency

    demand_writable(output)
    chosen = _limits(limits, words)
    if baseline is None and chosen.need_baseline:
        raise InputError(f"--{chosen.need_baseline[0].replace('_', '-')}: needs --baseline")
    now = _run("--current", current, runs_dir, words)
    then = None if baseline is None else _run("--baseline", baseline, runs_dir, words)
    options: dict[str, Any] = {
        "baseline": then,
        "strategy": words.strategy,
        "category": words.category,
        "tag": words.tag,
        "allow_different_dataset": words.allow_different_dataset,
    }
    verdict = judge_gates(now, chosen, **options)
    workers = workers_to_measure(now, chosen)
    if workers is not None:
        verdict = judge_gates(now, chosen, **options, client_s=client_latency(workers))
    _print(verdict, format_, output)
    return 0 if verdict.passed else 1


def _limits(limits: LimitWords, words: JudgingWords) -> GateLimits:
    from ctxlab.gates import GateLimits

    return GateLimits(
        **limits.given,  # type: ignore[arg-type]  # texts are read as exact numbers
        recall=words.recall,
        min_samples=words.min_samples,
        paired=words.paired,
        level=words.level,  # type: ignore[arg-type]
        allow_inconclusive=words.allow_inconclusive,
    )


def _run(option: str, words: str, runs_dir: Path, judging: JudgingWords) -> Run:
    """The run that a report file, a run id or an alias stands for; its aggregates are recomputed (EVA-076)."""
    from ctxlab.reports import demand_recomputed, read_report, restored_run, with_cases_of

    path = _report_path(option, words, runs_dir)
    report = read_report(path)
    demand_recomputed(report, path.name)
    if report.upgraded:
        warn(f"{path.name}: is of schema 1.0 and was upgraded; what 1.0 lacks is unavailable")
    run = restored_run(report)
    return run if judging.tag is None else with_cases_of(run, report_path=path, dataset=judging.dataset)


def _report_path(option: str, words: str, runs_dir: Path) -> Path:
    """Where the report is; a run of the registry has to be as it was left, or its verdict would be anybody's."""
    from ctxlab.registry import damage_of, resolve
    from ctxlab.reports import JSON_NAME

    path = Path(words)
    if path.is_file() or path.suffix == ".json" or len(path.parts) > 1:
        return path
    directory = resolve(runs_dir, words)
    if damage := damage_of(directory):
        raise IntegrityError(f"{option}: {damage[0]}")
    return directory / JSON_NAME


def _print(verdict: Verdict, format_: GateFormat, output: Path | None) -> None:
    from ctxlab import gates

    if format_ in ("json", "csv"):
        for note in verdict.notes:
            warn(note)
        emit_frame(gates.gates_frame(verdict), format_, output)
        return
    show = {"table": gates.verdict_text, "markdown": gates.verdict_markdown, "junit": gates.verdict_junit}
    emit(show[format_](verdict), output)
