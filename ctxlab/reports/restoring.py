"""From a report that was read to the record of a run, as far as a report tells; and the test of its aggregates.

Gates, transitions and aggregates work on the record, so that a number is computed in one place, whether the run has
just ended or its report was read. What a report does not hold is unknown there: messages, sizes and single calls.
"""

from __future__ import annotations

from dataclasses import fields
from math import isclose
from typing import TYPE_CHECKING

from ctxlab.calls import Usage
from ctxlab.dataset import Case, Dataset
from ctxlab.errors import IntegrityError
from ctxlab.records import Call, FactResult, Row, Run
from ctxlab.reports.aggregates import aggregate_of, aggregates_by_strategy
from ctxlab.reports.records import Aggregate
from ctxlab.reports.rules import AGGREGATE_OF_1_0

if TYPE_CHECKING:
    from typing import Any

    from ctxlab.reports.records import CaseRecord, EvaluationReport

ONLY_STRATEGY = "full"
"""The strategy of a report that names none."""
UNKNOWN = "unknown"


def restored_run(report: EvaluationReport) -> Run:
    """The record of the run that a report is about.

    Rows hold status, verdict, facts and cost; their one call holds the usage of the main request and the seconds of
    all calls together.
    """
    places = {id_: place for place, id_ in enumerate(dict.fromkeys(case.id for case in report.cases))}
    kinds = {one.name: one.kind for one in report.strategies or ()}
    rows = tuple(_row(case, places[case.id], kinds, report) for case in report.cases)
    cases = {row.case_index: row.case for row in rows}
    named = list(kinds) or list(dict.fromkeys(row.strategy for row in rows))
    return Run(
        run_id=report.run_id,
        fingerprint=report.fingerprint or UNKNOWN,
        input_identity=report.input_identity or UNKNOWN,
        identity=_identity(report),
        dataset=Dataset(
            path=report.dataset_path,
            sha256=report.dataset_content_hash,
            cases=tuple(cases[place] for place in sorted(cases)),
        ),
        strategies=tuple(name for name in named if any(row.strategy == name for row in rows)),
        repeats=report.repeats or 1 + max(row.repeat for row in rows),
        rows=rows,
        counter=report.token_counter or UNKNOWN,
        client_kind=report.client_kind or "endpoint",
        model_requested=report.model_requested,
        base_url=report.platform.base_url,
        prices=report.prices,
        incomplete=report.incomplete or False,
        warnings=report.warnings or (),
    )


def _identity(report: EvaluationReport) -> dict[str, Any]:
    """The settings that a report tells, under their names in a run's identity."""
    return {
        "budget": report.budget,
        "thresholds": report.thresholds,
        "concurrency": report.platform.maximum_concurrency,
        "timeout_s": report.platform.request_timeout_seconds,
        "accounting": report.accounting,
        "client": (report.client_kind, report.client_mode),
    }


def _row(case: CaseRecord, place: int, kinds: dict[str, str], report: EvaluationReport) -> Row:
    strategy = case.strategy or ONLY_STRATEGY
    return Row(
        case=Case(schema_version="1.1", id=case.id, category=case.category, messages=()),
        case_index=place,
        strategy=strategy,
        strategy_kind=kinds.get(strategy, strategy.partition("[")[0]),
        repeat=case.repeat or 0,
        client_kind=report.client_kind or "endpoint",
        status=case.status,
        reason=case.reason,
        error_kind=case.error.type if case.error else None,
        stage=case.stage,
        http_status=case.error.http_status if case.error else None,
        calls=_calls(case, report),
        answer=case.response_preview,
        content_kind=case.content_kind,
        evaluations=case.evaluator_results,
        facts=_facts(case),
        passed=case.passed,
        cost=case.cost,
        cost_uncached=case.cost_uncached,
    )


def _calls(case: CaseRecord, report: EvaluationReport) -> tuple[Call, ...]:
    """One call that stands for all that the row made; none if it made none."""
    measured = case.measurements
    seconds = measured.duration_seconds if case.calls is None else case.total_duration_seconds
    if (seconds is None and case.calls is None) or case.calls == 0:
        return ()
    call = Call(
        call_index=0,
        attempt=0,
        stage="main",
        kind="main",
        generation_index=None,
        request_sha256=UNKNOWN,
        estimated_tokens=0,
        target_tokens=None,
        outcome="completed" if case.status == "completed" else "error",
        error_kind=case.error.type if case.error else None,
        http_status=case.error.http_status if case.error else None,
        usage=Usage(
            prompt_tokens=measured.prompt_tokens,
            completion_tokens=measured.completion_tokens,
            total_tokens=measured.total_tokens,
        ),
        duration_s=seconds,
        ttft_s=measured.ttft_seconds,
        model_requested=report.model_requested or UNKNOWN,
        model_observed=measured.backend_model,
        finish_reason=measured.finish_reason,
    )
    return (call,)


def _facts(case: CaseRecord) -> tuple[FactResult, ...]:
    """The facts of a row, with as many found in the answer as its recall says.

    Only of a reversed fact a report does not say whether a literal stands in the answer; how many do follows from the
    recall.
    """
    facts = case.facts or ()
    judged = [fact for fact in facts if fact.fate != "not_judged"]
    told = round((case.answer_recall or 0) * len(judged))
    left = told - sum(fact.fate != "reversed" and fact.detail != "no_literal" for fact in judged)
    looked_for = any(fact.in_context is not None for fact in facts)
    found = []
    for fact in facts:
        answered: bool | None = None if fact.fate == "not_judged" else fact.detail != "no_literal"
        if fact.fate == "reversed":
            answered, left = left > 0, left - 1
        context_only = case.status == "completed" and fact.fate == "not_judged"
        answer_only = looked_for and fact.in_context is None
        found.append(
            FactResult(
                fact_id=fact.id,
                kind=fact.kind,  # type: ignore[arg-type]  # read as a word
                where="context" if context_only else "answer" if answer_only else "both",
                source="history" if fact.in_source else "none",
                in_source=fact.in_source,
                in_context=fact.in_context,
                in_answer=answered,
                context_reversed=None,
                fate=fact.fate,
                detail=fact.detail,
            )
        )
    return tuple(found)


def demand_recomputed(report: EvaluationReport, name: str) -> None:
    """Raise `IntegrityError`, naming the first field, unless the aggregates are those of the report's cases (EVA-076)."""
    run = restored_run(report)
    _compare(report.aggregate, aggregate_of(run), report, f"{name}: aggregate")
    if report.by_strategy is not None:
        computed = aggregates_by_strategy(run)
        for strategy in run.strategies:
            _compare(
                report.by_strategy[strategy], computed[strategy], report, f"{name}: by_strategy[{strategy}]"
            )


def _compare(stored: Aggregate, computed: Aggregate, report: EvaluationReport, place: str) -> None:
    for field in fields(Aggregate):
        if report.upgraded and field.name not in AGGREGATE_OF_1_0:
            continue
        if not _same(getattr(stored, field.name), getattr(computed, field.name)):
            raise IntegrityError(f"{place}.{field.name}: differs from what the cases give")


def _same(stored: float | None, computed: float | None) -> bool:
    """Equal; means of seconds up to the last digits, in which other programs round differently."""
    if stored is None or computed is None or isinstance(computed, int):
        return stored == computed
    return isclose(stored, computed, rel_tol=1e-9, abs_tol=1e-12)
