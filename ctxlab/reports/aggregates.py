"""The aggregate of a report: the numbers of `metrics` under the report's names (EVA-092)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab import measures
from ctxlab.metrics import is_offline, metrics_of
from ctxlab.reports.records import Aggregate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ctxlab.records import Row, Run


def aggregate_of(run: Run) -> Aggregate:
    """All rows of a run."""
    return _aggregate(run.rows, offline=is_offline(run))


def aggregates_by_strategy(run: Run) -> dict[str, Aggregate]:
    """One aggregate per strategy, in run order."""
    offline = is_offline(run)
    return {
        name: _aggregate([row for row in run.rows if row.strategy == name], offline=offline)
        for name in run.strategies
    }


def _aggregate(rows: Sequence[Row], *, offline: bool) -> Aggregate:
    group = metrics_of(rows, offline=offline, resamples=1)  # no interval is told here
    usages = [usage for row in rows if (usage := measures.main_usage(row))]
    return Aggregate(
        total_cases=group.rows,
        completed_cases=group.completed,
        passed_cases=group.passed,
        failed_cases=group.failed,
        error_cases=group.errors,
        pass_rate=_number(group.pass_rate),
        error_rate=_number(group.error_rate),
        average_request_duration_seconds=_number(group.duration_mean_s),
        p50_request_duration_seconds=group.duration_p50_s,
        p95_request_duration_seconds=group.duration_p95_s,
        total_prompt_tokens=_total(group.prompt_tokens, [usage.prompt_tokens for usage in usages]),
        total_completion_tokens=_total(
            group.completion_tokens, [usage.completion_tokens for usage in usages]
        ),
        refused_cases=group.refused,
        unjudged_cases=group.unjudged,
        not_run_cases=group.not_run,
    )


def _total(total: int | None, reported: Sequence[int | None]) -> int | None:
    """The sum, in which a count that was not reported adds 0; null if it is too large to be told (EVA-046)."""
    return 0 if total is None and not any(reported) else total


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
