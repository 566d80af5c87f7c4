"""What has to agree within a report beyond the types of its fields; each break is named by path and rule (EVA-090)."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ctxlab.errors import ERROR_MESSAGES
from ctxlab.reports.records import Aggregate, CaseRecord, EvaluationReport
from ctxlab.strict_json import RuleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.strict_json import Path

TOP_OF_1_0 = frozenset(
    {
        "report_schema_version", "run_id", "timestamp", "dataset_path", "dataset_content_hash", "platform",
        "model_requested", "aggregate", "cases", "git",
    }
)  # fmt: skip
CASE_OF_1_0 = frozenset(
    {
        "id", "category", "status", "passed", "response_preview", "measurements", "evaluator_results", "error",
    }
)  # fmt: skip
AGGREGATE_OF_1_0 = frozenset(f.name for f in fields(Aggregate)) - {
    "refused_cases", "unjudged_cases", "not_run_cases",
}  # fmt: skip
_CONTRADICTION = "contradiction"


def unknown_to_1_0(raw: dict[str, Any]) -> Iterator[RuleError]:
    """Fields in a report of schema 1.0 that only 1.1 has."""
    places: list[tuple[Path, object, frozenset[str]]] = [
        ((), raw, TOP_OF_1_0),
        (("aggregate",), raw.get("aggregate"), AGGREGATE_OF_1_0),
    ]
    cases = raw.get("cases")
    for i, case in enumerate(cases if isinstance(cases, list) else ()):
        places.append((("cases", i), case, CASE_OF_1_0))
    for path, found, known in places:
        for name in found if isinstance(found, dict) else ():
            if name not in known:
                yield RuleError("unknown_field", (*path, name))


def contradictions(report: EvaluationReport) -> Iterator[RuleError]:
    """Every contradiction within the report, in the order of its parts."""
    yield from _top(report)
    for i, case in enumerate(report.cases):
        path: Path = ("cases", i)
        rules = (_verdict, _ending, _recall, _numbers)
        yield from (_broken((*path, name), why) for rule in rules for name, why in rule(case, report))
    yield from _keys(report)
    yield from _aggregate(report.aggregate, report, ("aggregate",))
    for name, aggregate in (report.by_strategy or {}).items():
        yield from _aggregate(aggregate, report, ("by_strategy", name))


def _broken(path: Path, why: str) -> RuleError:
    return RuleError(_CONTRADICTION, path, why)


Break = tuple[str, str]


def _top(report: EvaluationReport) -> Iterator[RuleError]:
    if not report.cases:
        yield RuleError("length", ("cases",), "at least 1 case")
    if report.timestamp is not None:
        try:
            datetime.fromisoformat(report.timestamp)
        except ValueError:
            yield RuleError("time", ("timestamp",), "there is no such time")
    if report.upgraded:
        for name in ("timestamp", "model_requested"):
            if getattr(report, name) is None:
                yield RuleError("type", (name,), "expected a string")
        return
    named = [one.name for one in report.strategies or ()]
    if len(set(named)) < len(named):
        yield _broken(("strategies",), "names are unique")
    used = {case.strategy for case in report.cases if case.strategy is not None}
    if report.strategies is not None and not used <= set(named):
        yield _broken(("strategies",), "a case has another strategy")
    if report.by_strategy is not None and set(report.by_strategy) != used:
        yield _broken(("by_strategy",), "has the strategies of the cases")


def _verdict(case: CaseRecord, report: EvaluationReport) -> Iterator[Break]:
    results = [one.passed for one in case.evaluator_results]
    if case.status in ("error", "refused") and case.passed is not False:
        yield "passed", f"false in status {case.status}"
    if case.status in ("fitted", "not_run") and case.passed is not None:
        yield "passed", f"null in status {case.status}"
    if case.status != "completed" and results:
        yield "evaluator_results", f"empty in status {case.status}"
    if case.status == "completed" and results and case.passed is not None and case.passed != all(results):
        yield "passed", "true if every evaluator passed, else false"
    if report.upgraded and case.status not in ("completed", "error"):
        yield "status", "completed or error in schema 1.0"
    if report.upgraded and case.passed is None:
        yield "passed", "true or false in schema 1.0"
    names = [one.name for one in case.evaluator_results]
    if len(set(names)) < len(names):
        yield "evaluator_results", "each evaluator once"


def _ending(case: CaseRecord, report: EvaluationReport) -> Iterator[Break]:
    failed = case.status in ("error", "refused")
    if failed != (case.error is not None):
        yield "error", f"{'an object' if failed else 'null'} in status {case.status}"
    if case.error is None:
        return
    kind = case.error.type
    if case.error.http_status is not None and kind != "platform_http_error":
        yield "error.http_status", "only with platform_http_error"
    if report.upgraded:
        return
    if kind not in ERROR_MESSAGES:
        yield "error.type", "one of the known error kinds"
    elif case.error.message != ERROR_MESSAGES[kind]:
        yield "error.message", "the fixed message of its kind"
    if (kind == "budget_exceeded") != (case.status == "refused"):
        yield "error.type", "budget_exceeded in status refused, and only there"


def _recall(case: CaseRecord, report: EvaluationReport) -> Iterator[Break]:
    if case.facts is None:
        return
    facts = case.facts
    if len({fact.id for fact in facts}) < len(facts):
        yield "facts", "ids are unique"
    for fact in facts:
        if (fact.detail is not None) != (fact.fate == "missing"):
            yield "facts", "a detail belongs to the fate missing, and to no other"
        if case.status != "completed" and fact.fate != "not_judged":
            yield "facts", f"every fate is not_judged in status {case.status}"
    judged = [fact for fact in facts if fact.fate != "not_judged"]
    sure = sum(fact.fate != "reversed" and fact.detail != "no_literal" for fact in judged)
    told = None if case.answer_recall is None else round(case.answer_recall * len(judged))
    if (told is None) != (not judged):
        yield "answer_recall", "a number if facts were judged, else null"
    elif told is not None and not _is_share(case.answer_recall, told, len(judged)):
        yield "answer_recall", "a share of the judged facts"
    elif told is not None and not 0 <= told - sure <= sum(fact.fate == "reversed" for fact in judged):
        yield "answer_recall", "differs from the facts"
    counted = [fact.in_context for fact in facts if fact.in_source and fact.in_context is not None]
    if case.context_recall is not None and not counted:
        yield "context_recall", "null without facts in the source"
    if counted and case.context_recall is None:
        yield "context_recall", "a number if facts of the source were looked for"
    if (
        case.context_recall is not None
        and counted
        and not _is_share(case.context_recall, sum(counted), len(counted))
    ):
        yield "context_recall", "differs from the facts"


def _is_share(value: float | None, part: int, whole: int) -> bool:
    return value is not None and abs(value * whole - part) < 1e-6


def _numbers(case: CaseRecord, report: EvaluationReport) -> Iterator[Break]:
    sent = case.measurements.duration_seconds is not None
    if report.upgraded and not sent and case.status == "completed":
        yield "measurements.duration_seconds", "a number for a completed case"
    if case.calls is not None:
        if case.calls == 0 and sent:
            yield "calls", "at least 1, since the request has a duration"
        if (case.usage_responses or 0) > case.calls:
            yield "usage_responses", "at most as many as calls"
        if case.attempts is not None and case.attempts < case.calls:
            yield "attempts", "at least as many as calls"
    if case.repeat is not None and report.repeats is not None and case.repeat >= report.repeats:
        yield "repeat", "below the number of repeats"


def _keys(report: EvaluationReport) -> Iterator[RuleError]:
    seen = set()
    for i, case in enumerate(report.cases):
        key = case.id, case.strategy, case.repeat
        if key in seen:
            yield _broken(("cases", i, "id"), "an earlier case has the same id, strategy and repeat")
        seen.add(key)


def _aggregate(one: Aggregate, report: EvaluationReport, path: Path) -> Iterator[RuleError]:
    offline = any(case.status == "fitted" for case in report.cases)
    judged = one.passed_cases + one.failed_cases + (one.unjudged_cases or 0)
    if judged != one.completed_cases:
        yield _broken((*path, "completed_cases"), "passed, failed and unjudged cases together")
    ended = one.completed_cases + one.error_cases + (one.refused_cases or 0) + (one.not_run_cases or 0)
    if ended > one.total_cases or (ended < one.total_cases and not offline):
        yield _broken((*path, "total_cases"), "the sum of the cases by status")
    seconds = [
        one.average_request_duration_seconds,
        one.p50_request_duration_seconds,
        one.p95_request_duration_seconds,
    ]
    if len({value is None for value in seconds}) > 1:
        yield _broken((*path, "average_request_duration_seconds"), "average and percentiles, or none of them")
    elif seconds[1] is not None and seconds[2] is not None and seconds[1] > seconds[2]:
        yield _broken((*path, "p50_request_duration_seconds"), "at most the 95th percentile")
