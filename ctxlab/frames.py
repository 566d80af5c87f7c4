"""Runs and datasets as tidy DataFrames, one function per grain; nothing is aggregated or formatted here."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ctxlab import measures
from ctxlab.budget import Budget
from ctxlab.calibration import run_samples
from ctxlab.facts import fact_warnings
from ctxlab.messages import Synthetic, call_groups
from ctxlab.metrics import kind_metrics, metrics
from ctxlab.paired import compare_strategies
from ctxlab.schemas import SCHEMAS
from ctxlab.statistics import LEVEL, RESAMPLES, SEED
from ctxlab.strategies.ledger import source_parts
from ctxlab.strategies.source import look_at
from ctxlab.tabulate import read_parquet, tabulate, write_parquet
from ctxlab.text import preview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    from ctxlab.admission.receipt import Decision
    from ctxlab.calibration import Key
    from ctxlab.dataset import Case, Dataset
    from ctxlab.importers import ImportResult
    from ctxlab.metrics import By
    from ctxlab.records import Call, EvaluatorResult, FactResult, Row, Run
    from ctxlab.strategies.base import Receipt, Span
    from ctxlab.tokens import Counter

__all__ = [
    "admission_frame", "calibration_frame", "calls_frame", "cases_frame", "comparisons_frame", "evaluations_frame", "facts_frame",
    "fits_frame", "imports_frame", "kinds_frame", "ledger_frame", "metrics_frame", "read_parquet", "results_frame", "run_frames",
    "write_parquet",
]  # fmt: skip


def results_frame(run: Run) -> pd.DataFrame:
    """One row per case, strategy and repeat: what came out and what it took (`results`)."""
    return _frame("results", run, (result_record(run, row) for row in run.rows))


def evaluations_frame(run: Run) -> pd.DataFrame:
    """One row per row and evaluator that judged it (`evaluations`)."""
    records = (_evaluation(run, row, result) for row in run.rows for result in row.evaluations)
    return _frame("evaluations", run, records)


def facts_frame(run: Run) -> pd.DataFrame:
    """One row per row and fact: where it was found and its fate (`facts`)."""
    return _frame("facts", run, (_fact(run, row, fact) for row in run.rows for fact in row.facts))


def fits_frame(run: Run) -> pd.DataFrame:
    """One row per fitted row: its receipt in numbers (`fits`)."""
    records = (fit_record(run, row, row.fitted.receipt) for row in run.rows if row.fitted is not None)
    return _frame("fits", run, records)


def ledger_frame(run: Run) -> pd.DataFrame:
    """One row per span of every source part and its fate, positions only (`ledger`)."""
    spans = ((row, span) for row in run.rows if row.fitted is not None for span in row.fitted.ledger)
    return _frame("ledger", run, (_span(run, row, span) for row, span in spans))


def admission_frame(run: Run) -> pd.DataFrame:
    """One row per row and snippet that was decided on: what became of it and why (`admission`).

    `bytes` and `kept_bytes` are of its text, `tokens` of its whole entry, `time` is the effective time.
    """
    return _frame(
        "admission", run, (_admission(run, row, one) for row in run.rows for one in _decisions(row))
    )


def calls_frame(run: Run) -> pd.DataFrame:
    """One row per attempt of every call (`calls`)."""
    return _frame("calls", run, (_call(run, row, call) for row in run.rows for call in row.calls))


def calibration_frame(run: Run, *, cached_included: bool = True) -> pd.DataFrame:
    """One row per kept sample of estimated and reported input (`calibration`); `order` counts within its key.

    `cached_included` as in `run_samples`.
    """
    seen: Tally[Key] = Tally()
    records = []
    for sample in run_samples(run, cached_included=cached_included):
        endpoint, model = sample.key
        records.append({**_values(sample), "endpoint": endpoint, "model": model, "order": seen[sample.key]})
        seen[sample.key] += 1
    return _frame("calibration", run, records)


def metrics_frame(
    run: Run, by: Sequence[By] = (), *, resamples: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> pd.DataFrame:
    """One row per strategy, or per strategy and value of `by` (category, language, tag): `metrics`.

    The intervals of the recalls are percentile bootstraps over cases.
    """
    schema = SCHEMAS["metrics"].widened(", ".join(f"{name} s!" for name in by), in_key=True)
    groups = metrics(run, by, resamples=resamples, seed=seed, level=level)
    records = (
        {"run_id": run.run_id, **dict(zip(by, group.group, strict=True)), **_values(group)}
        for group in groups
    )
    return tabulate(schema, records, attrs={**attributes(run), "level": str(level)})


def kinds_frame(run: Run) -> pd.DataFrame:
    """One row per strategy and kind of fact (`kinds`)."""
    return _frame("kinds", run, ({"run_id": run.run_id, **_values(kind)} for kind in kind_metrics(run)))


def comparisons_frame(
    run: Run,
    baseline: str = "full",
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> pd.DataFrame:
    """Every strategy against the baseline, per metric and set of pairs (`comparisons`)."""
    found = compare_strategies(run, baseline=baseline, resamples=resamples, seed=seed, level=level)
    records = ({"run_id": run.run_id, **_values(one), "dropped": sum(one.dropped.values())} for one in found)
    return _frame("comparisons", run, records)


def cases_frame(dataset: Dataset, counter: Counter) -> pd.DataFrame:
    """One row per case: what it holds and how large it is by the counter (`cases`)."""
    attrs = {"run_id": None, "fingerprint": None, "counter": counter.name}
    records = (_case(dataset, index, case, counter) for index, case in enumerate(dataset))
    return tabulate(SCHEMAS["cases"], records, attrs=attrs)


def imports_frame(result: ImportResult) -> pd.DataFrame:
    """One row per case of a source record, or per record that gave none, with the reason (`imports`)."""
    records = ({**_values(row), "flags": joined(row.flags)} for row in result.rows)
    return tabulate(SCHEMAS["imports"], records, attrs={"run_id": None, "fingerprint": None, "counter": None})


def run_frames(run: Run, *, ledger: bool = False) -> dict[str, pd.DataFrame]:
    """Every frame of a run by name; the ledger, the largest, only on demand (FRM-036)."""
    made: dict[str, Callable[[Run], pd.DataFrame]] = {
        "results": results_frame,
        "evaluations": evaluations_frame,
        "facts": facts_frame,
        "fits": fits_frame,
        "calls": calls_frame,
        "calibration": calibration_frame,
        "metrics": metrics_frame,
        "kinds": kinds_frame,
    }
    if any(map(_decisions, run.rows)):
        made["admission"] = admission_frame
    if "full" in run.strategies:
        made["comparisons"] = comparisons_frame
    if ledger:
        made["ledger"] = ledger_frame
    return {name: make(run) for name, make in made.items()}


def attributes(run: Run) -> dict[str, str | None]:
    """What every frame and figure of a run carries with it (FRM-004, GEN-058)."""
    return {
        "run_id": run.run_id,
        "fingerprint": run.fingerprint,
        "counter": run.counter,
        "client_kind": run.client_kind,
    }


def joined(names: Iterable[str]) -> str | None:
    """A list in one cell: sorted, joined by `;`, null when empty (FRM-035)."""
    return ";".join(sorted(names)) or None


def _frame(name: str, run: Run, records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return tabulate(SCHEMAS[name], records, attrs=attributes(run))


def _values(record: Any) -> dict[str, Any]:
    """The fields of a record by name."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _key(run: Run, row: Row) -> dict[str, Any]:
    return {"run_id": run.run_id, "case_id": row.case.id, "strategy": row.strategy, "repeat": row.repeat}


def result_record(run: Run, row: Row) -> dict[str, Any]:
    """The row of `results` by column, shares as fractions."""
    main = row.main_call
    return {
        **_key(run, row),
        **_settings(row),
        **_sizes(row),
        **_usage(row),
        "facts": len(row.case.facts),
        "passed": row.passed,
        **{
            name: hits.share if (hits := measure(row)) else None
            for name, measure in {
                "context_recall": measures.context_hits,
                "answer_recall": measures.answer_hits,
                "evidence_recall": measures.evidence_hits,
            }.items()
        },
        "calls": len(row.last_calls),
        "helper_calls": len(row.helper_calls),
        "attempts": len(row.calls),
        "duration_s": measures.duration_s(row),
        "helper_duration_s": measures.helper_duration_s(row),
        "total_duration_s": measures.total_duration_s(row),
        "ttft_s": measures.ttft_s(row),
        "model_observed": main.model_observed if main else None,
        "finish_reason": main.finish_reason if main else None,
        "preview": None if row.answer is None or not run.previews else preview(row.answer),
    }


def _settings(row: Row) -> dict[str, Any]:
    """What a row holds as it is."""
    names = (
        "case_index", "strategy_kind", "status", "reason", "error_kind", "stage", "http_status", "request_tokens",
        "cost", "cost_uncached", "content_kind", "client_kind", "started_at", "invented_identifiers",
        "context_invented_identifiers",
    )  # fmt: skip
    return {
        "category": row.case.category,
        "language": row.case.language,
        "outcome": None if row.fitted is None else row.fitted.outcome,
        **{name: getattr(row, name) for name in names},
    }


def _sizes(row: Row) -> dict[str, Any]:
    receipt = None if row.fitted is None else row.fitted.receipt
    return {
        "source_tokens": measures.source_tokens(row),
        "result_tokens": measures.result_tokens(row),
        "target_tokens": receipt.target_tokens if receipt else None,
        "allowance_tokens": receipt.allowance_tokens if receipt else None,
        "sent_tokens": measures.sent_tokens(row),
    }


def _usage(row: Row) -> dict[str, Any]:
    """Provider numbers: of the main request, then of all calls (FRM-033)."""
    usage = measures.main_usage(row)
    return {
        "usage_responses": measures.usage_responses(row),
        "prompt_tokens": usage.prompt_tokens if usage else None,
        "completion_tokens": usage.completion_tokens if usage else None,
        "total_tokens": usage.total_tokens if usage else None,
        "usage_kind": usage.kind if usage else None,
        "input_tokens": measures.input_tokens(row),
        "output_tokens": measures.output_tokens(row),
        "cached_tokens": measures.cached_tokens(row),
        "cache_write_tokens": measures.cache_write_tokens(row),
    }


def _evaluation(run: Run, row: Row, result: EvaluatorResult) -> dict[str, Any]:
    return {
        **_key(run, row),
        "evaluator": result.name,
        "passed": result.passed,
        "score": result.score,
        "failure_reason": result.failure_reason if run.previews else None,
        "expected_summary": result.expected_summary if run.previews else None,
        "actual_summary": result.actual_summary if run.previews else None,
    }


def _fact(run: Run, row: Row, fact: FactResult) -> dict[str, Any]:
    return {**_key(run, row), "category": row.case.category, "language": row.case.language, **_values(fact)}


def fit_record(run: Run, row: Row, receipt: Receipt) -> dict[str, Any]:
    """The row of `fits` by column, and what else the receipt holds."""
    return {
        **_values(receipt),
        **_key(run, row),
        "freed_tokens": receipt.freed_tokens,
        "flags": joined(receipt.flags),
    }


def _span(run: Run, row: Row, span: Span) -> dict[str, Any]:
    return {**_key(run, row), **_values(span)}


def _decisions(row: Row) -> tuple[Decision, ...]:
    admission = row.fitted.receipt.admission if row.fitted is not None else None
    return () if admission is None else admission.decisions


def _admission(run: Run, row: Row, one: Decision) -> dict[str, Any]:
    return {**one._asdict(), **_key(run, row), "bytes": one.original_bytes}


def _call(run: Run, row: Row, call: Call) -> dict[str, Any]:
    return {
        **_values(call),
        **_key(run, row),
        "call_kind": call.kind,
        "generation": call.generation_index,
        "prompt_tokens": call.usage.prompt_tokens,
        "completion_tokens": call.usage.completion_tokens,
        "total_tokens": call.usage.total_tokens,
        "cached_tokens": call.usage.cached_tokens,
        "cache_write_tokens": call.usage.cache_write_tokens,
    }


def _case(dataset: Dataset, index: int, case: Case, counter: Counter) -> dict[str, Any]:
    users = [m for m in case.messages if m.role == "user" and not isinstance(m, Synthetic)]
    return {
        "case_id": case.id,
        "case_index": index,
        "schema_version": case.schema_version,
        "category": case.category,
        "language": case.language,
        "messages": len(case.messages),
        "turns": len(users),
        "tool_messages": sum(message.role == "tool" for message in case.messages),
        "snippets": len(case.snippets),
        "facts": len(case.facts),
        "characters": sum(len(text) for _, text in source_parts(case)),
        "tokens": look_at(case, Budget(), counter).source_tokens,
        "warnings": joined({rule for rule, _ in fact_warnings(case)} | _unanswered(case)),
    }


def _unanswered(case: Case) -> set[str]:
    """`unanswered_call` if the call group that ends the case lacks a result (DAT-042)."""
    groups = call_groups(case.messages)
    calls = {call.id for group in groups[-1:] for call in case.messages[group[0]].tool_calls}
    answered = {case.messages[i].tool_call_id for group in groups[-1:] for i in group[1:]}
    return {"unanswered_call"} if calls - answered else set()
