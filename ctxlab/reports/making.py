"""From the record of a run to the record of its report; numbers come from frames and metrics, never from here."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ctxlab.errors import ERROR_MESSAGES
from ctxlab.experiments import package_source
from ctxlab.frames import fit_record, result_record
from ctxlab.paired import compare_strategies
from ctxlab.records import EvaluatorResult
from ctxlab.reports.admissions import admission_record
from ctxlab.reports.aggregates import aggregate_of, aggregates_by_strategy
from ctxlab.reports.records import (
    CalibrationRecord,
    CaseError,
    CaseRecord,
    ComparisonRecord,
    EvaluationReport,
    FactRecord,
    GateRecord,
    GitSource,
    Measurements,
    Platform,
    ReceiptRecord,
    StrategyRecord,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxlab.experiments import Source
    from ctxlab.records import FactResult, Row, Run

_RENAMED = {
    "backend_model": "model_observed",
    "duration_seconds": "duration_s",
    "ttft_seconds": "ttft_s",
    "helper_duration_seconds": "helper_duration_s",
    "total_duration_seconds": "total_duration_s",
    "response_preview": "preview",
}
"""Names of a report that the `results` frame has under another."""
_FROM_RESULTS = (
    "category", "status", "passed", "response_preview", "strategy", "repeat", "outcome", "reason", "stage",
    "context_recall", "answer_recall", "evidence_recall", "calls", "usage_responses", "input_tokens", "output_tokens",
    "cached_tokens", "cost", "cost_uncached", "attempts", "content_kind", "helper_duration_seconds",
    "total_duration_seconds",
)  # fmt: skip
_SHARES = ("context_recall", "answer_recall", "evidence_recall")


def run_report(run: Run, *, source: Source | None = None) -> EvaluationReport:
    """The report of a run, schema 1.1.

    Args:
        run: its `previews` say whether previews and evaluator summaries are told (EVA-122).
        source: the checkout that the package ran from; null asks git (EVA-123).
    """
    identity: Mapping[str, Any] = run.identity
    return EvaluationReport(
        report_schema_version="1.1",
        run_id=run.run_id,
        timestamp=_timestamp(run),
        dataset_path=_told_path(run.dataset.path),
        dataset_content_hash=run.dataset.sha256,
        platform=Platform(
            base_url=run.base_url,
            request_timeout_seconds=_float(identity.get("timeout_s")),
            maximum_concurrency=identity.get("concurrency"),
        ),
        model_requested=run.model_requested,
        aggregate=aggregate_of(run),
        cases=tuple(_case(run, row) for row in run.rows),
        git=_git(package_source() if source is None else source),
        strategies=_strategies(run),
        by_strategy=aggregates_by_strategy(run) if len(run.strategies) > 1 else None,
        comparisons=_comparisons(run),
        gates=tuple(_known(GateRecord, gate) for gate in run.gates) or None,
        budget=identity.get("budget"),
        thresholds=identity.get("thresholds"),
        token_counter=run.counter,
        accounting=identity.get("accounting"),
        calibration=_calibration(run),
        repeats=run.repeats,
        client_mode=(identity.get("client") or (None, None))[1],
        client_kind=run.client_kind,
        prices=run.prices,
        fingerprint=run.fingerprint,
        input_identity=run.input_identity,
        incomplete=run.incomplete,
        warnings=run.warnings,
    )


def _timestamp(run: Run) -> str | None:
    """When the run began: the time in its id, else that of its first row."""
    try:
        moment = datetime.strptime(run.run_id.partition("-")[0], "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
    except ValueError:
        times = [row.started_at for row in run.rows if row.started_at is not None]
        if not times:
            return None
        moment = min(times)
    return moment.astimezone(UTC).isoformat()


def _told_path(path: str) -> str:
    """The path as given, or its base name if it was absolute (EVA-099)."""
    return PurePath(path).name if PurePath(path).is_absolute() else path


def _git(source: Source) -> GitSource | None:
    if source.commit is None or source.dirty is None:
        return None
    return GitSource(commit_hash=source.commit, dirty=source.dirty)


def _strategies(run: Run) -> tuple[StrategyRecord, ...]:
    stated: Any = run.identity.get("strategies")
    if stated:
        return tuple(StrategyRecord(**one) for one in stated)
    kinds = {row.strategy: row.strategy_kind for row in run.rows}
    return tuple(StrategyRecord(name=name, kind=kinds[name], parameters={}) for name in run.strategies)


def _comparisons(run: Run) -> tuple[ComparisonRecord, ...] | None:
    if "full" not in run.strategies or len(run.strategies) < 2:
        return None
    return tuple(_known(ComparisonRecord, one) for one in compare_strategies(run))


def _calibration(run: Run) -> CalibrationRecord | None:
    """What the receipts say of it, if anything was held back or learned."""
    receipt = next((row.fitted.receipt for row in run.rows if row.fitted is not None), None)
    if receipt is None or (receipt.calibration_tokens == 0 and receipt.calibration_rule is None):
        return None
    return CalibrationRecord(
        tokens=receipt.calibration_tokens, rule=receipt.calibration_rule, capped=receipt.calibration_capped
    )


def _case(run: Run, row: Row) -> CaseRecord:
    told = result_record(run, row)
    told |= {new: told[old] for new, old in _RENAMED.items()}
    told |= {name: _float(told[name]) for name in _SHARES}
    return CaseRecord(
        id=row.case.id,
        measurements=Measurements(**{f.name: told[f.name] for f in fields(Measurements)}),
        evaluator_results=tuple(_evaluation(one, previews=run.previews) for one in row.evaluations),
        error=_error(row),
        receipt=_receipt(run, row),
        facts=tuple(map(_fact, row.facts)),
        **{name: told[name] for name in _FROM_RESULTS},
    )


def _evaluation(result: EvaluatorResult, *, previews: bool) -> EvaluatorResult:
    hidden = {} if previews else dict.fromkeys(("failure_reason", "expected_summary", "actual_summary"))
    values = {f.name: getattr(result, f.name) for f in fields(EvaluatorResult)}
    return EvaluatorResult(**{**values, "score": _float(result.score), **hidden})


def _error(row: Row) -> CaseError | None:
    if row.error_kind is None:
        return None
    return CaseError(type=row.error_kind, message=ERROR_MESSAGES[row.error_kind], http_status=row.http_status)


def _receipt(run: Run, row: Row) -> ReceiptRecord | None:
    if row.fitted is None:
        return None
    told = fit_record(run, row, row.fitted.receipt) | {"flags": tuple(sorted(row.fitted.receipt.flags))}
    told["admission"] = admission_record(row)
    return ReceiptRecord(**{f.name: told[f.name] for f in fields(ReceiptRecord)})


def _fact(fact: FactResult) -> FactRecord:
    """A fact that only answers have to tell does not count in a context, whatever stands there."""
    return FactRecord(
        id=fact.fact_id,
        kind=fact.kind,
        in_source=fact.in_source,
        in_context=None if fact.where == "answer" else fact.in_context,
        fate=fact.fate,
        detail=fact.detail,  # type: ignore[arg-type]  # one of two words, or null
    )


def _known(kind: Any, record: Any) -> Any:
    """A record of the report from one with fields of the same names; fractions become floats."""
    return kind(
        **{
            f.name: _float(value) if hasattr(value, "numerator") and not isinstance(value, int) else value
            for f in chain(fields(kind))
            for value in [getattr(record, f.name)]
        }
    )


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
