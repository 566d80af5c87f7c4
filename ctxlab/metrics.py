"""Groups of rows in numbers: the one place where they are aggregated (GEN-012).

Rows of every status enter: a mean says over how many rows it was taken, a sum of unknowns is unknown. Rates and
recalls are exact fractions of counts, so that gates can compare them exactly; frames turn them into floats.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ctxlab import measures
from ctxlab.dataset import FACT_KINDS
from ctxlab.errors import InputError
from ctxlab.records import FATES
from ctxlab.schemas import HEADLINE_COLUMNS, headline_columns
from ctxlab.statistics import LEVEL, RESAMPLES, SEED, bootstrap_mean, exact, mean, nearest_rank, pass_power

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ctxlab.dataset import FactKind
    from ctxlab.measures import Hits
    from ctxlab.records import FactResult, Row, Run

Value = TypeVar("Value", int, float)
By = Literal["category", "language", "tag"]
BY: tuple[By, ...] = ("category", "language", "tag")
OFFLINE = "offline"
"""The client kind of a run that sends nothing."""
UNDETERMINED = "und"
"""The BCP 47 tag under which cases without a language are grouped, because a key is never null."""
P50, P95 = Fraction(1, 2), Fraction(19, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The metrics of one group of rows; fields are named like the columns of the `metrics` frame.

    Attributes:
        strategy: name of the strategy, null for all rows together.
        group: values of the columns asked for with `by`.
        invented_identifiers, context_invented_identifiers: sums over rows (EVA-027a); no frame column.
    """

    strategy: str | None
    group: tuple[str, ...] = ()
    rows: int
    completed: int
    passed: int
    failed: int
    errors: int
    refused: int
    unjudged: int
    not_run: int
    pass_rate: Fraction | None
    error_rate: Fraction | None
    refused_rate: Fraction | None
    context_recall: Fraction | None
    context_recall_rows: int
    context_recall_pooled: Fraction | None
    answer_recall: Fraction | None
    answer_recall_rows: int
    answer_recall_pooled: Fraction | None
    evidence_recall: Fraction | None
    retained: int
    missing: int
    reversed: int
    unsupported_claim: int
    not_judged: int
    source_tokens_mean: Fraction | None
    result_tokens_mean: Fraction | None
    result_tokens_p95: int | None
    result_tokens_max: int | None
    sent_tokens: int | None
    calls: int
    usage_responses: int
    prompt_tokens: int | None
    completion_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost: Fraction | None
    rows_without_cost: int
    cost_uncached: Fraction | None
    duration_mean_s: Fraction | None
    duration_p50_s: float | None
    duration_p95_s: float | None
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    on_frontier: bool | None = None
    context_recall_low: float | None
    context_recall_high: float | None
    answer_recall_low: float | None
    answer_recall_high: float | None
    invented_identifiers: int | None
    context_invented_identifiers: int | None


def metrics(
    run: Run, by: Sequence[By] = (), *, resamples: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> tuple[Metrics, ...]:
    """Metrics per strategy, in run order, and within it per value of the columns `by` in order of appearance.

    A row stands in the group of each of its tags; a case without tags is in no group by tag.
    """
    if unknown := [name for name in by if name not in BY]:
        raise InputError(f"by: {len(unknown)} unknown names; allowed are {', '.join(BY)}")
    offline = is_offline(run)
    groups = _groups(run, by)
    found = [
        metrics_of(
            rows, strategy=strategy, group=group, offline=offline, resamples=resamples, seed=seed, level=level
        )
        for (strategy, group), rows in groups.items()
    ]
    return _with_frontier(found, [_competes(rows) for rows in groups.values()])


def overall(run: Run) -> Metrics:
    """Metrics of all rows of a run together."""
    return metrics_of(run.rows, offline=is_offline(run))


def is_offline(run: Run) -> bool:
    """Whether the run built requests without sending them; then pass and error rates are unknown (EVA-042)."""
    return run.client_kind == OFFLINE or any(row.status == "fitted" for row in run.rows)


def _groups(run: Run, by: Sequence[By]) -> dict[tuple[str, tuple[str, ...]], list[Row]]:
    """Rows per strategy and values of `by`: strategies in run order, values in order of appearance."""
    found: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
    for strategy in run.strategies:
        for row in run.rows:
            if row.strategy == strategy:
                for group in product(*(_values(row, name) for name in by)):
                    found.setdefault((strategy, group), []).append(row)
    return found


def _values(row: Row, by: By) -> tuple[str, ...]:
    if by == "tag":
        return row.case.metadata.tags
    return (row.case.category if by == "category" else row.case.language or UNDETERMINED,)


def metrics_of(
    rows: Sequence[Row],
    *,
    strategy: str | None = None,
    group: tuple[str, ...] = (),
    offline: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Metrics:
    """Metrics of any rows; `on_frontier` needs all strategies and stays unknown."""
    bootstrap = {"resamples": resamples, "seed": seed, "level": level}
    parts: dict[str, Any] = {
        **_counts(rows, offline=offline),
        **_recall("context_recall", measures.context_hits, rows, bootstrap),
        **_recall("answer_recall", measures.answer_hits, rows, bootstrap),
        "evidence_recall": mean([hits.share for hits in map(measures.evidence_hits, rows) if hits]),
        **fates(fact for row in rows for fact in row.facts),
        **_sizes(rows),
        **_usage(rows),
        **_money(rows),
        **_seconds(rows),
        "invented_identifiers": measures.add_known(row.invented_identifiers for row in rows),
        "context_invented_identifiers": measures.add_known(row.context_invented_identifiers for row in rows),
    }
    return Metrics(strategy=strategy, group=group, **parts)


def _counts(rows: Sequence[Row], *, offline: bool) -> dict[str, Any]:
    """EVA-040 to EVA-042."""
    status = {
        name: sum(row.status == name for row in rows) for name in ("completed", "error", "refused", "not_run")
    }
    passed = sum(row.passed is True for row in rows)
    unjudged = sum(row.status == "completed" and row.passed is None for row in rows)
    ran = len(rows) - status["not_run"]
    return {
        "rows": len(rows),
        "completed": status["completed"],
        "passed": passed,
        "failed": status["completed"] - passed - unjudged,
        "errors": status["error"],
        "refused": status["refused"],
        "unjudged": unjudged,
        "not_run": status["not_run"],
        "pass_rate": None if offline else _rate(passed, ran - unjudged),
        "error_rate": None if offline else _rate(status["error"], ran),
        "refused_rate": _rate(status["refused"], ran),
    }


def _rate(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def _recall(
    name: str, hits_of: Callable[[Row], Hits | None], rows: Sequence[Row], bootstrap: Mapping[str, Any]
) -> dict[str, Any]:
    """Mean over rows, pooled recall beside it, and the interval over cases (EVA-043, EVA-063)."""
    known = [(row.case_index, hits) for row in rows if (hits := hits_of(row))]
    of_case: dict[int, list[Fraction]] = {}
    for case_index, hits in known:
        of_case.setdefault(case_index, []).append(hits.share)
    interval = bootstrap_mean(
        [value for shares in of_case.values() if (value := mean(shares)) is not None], **bootstrap
    )
    together = measures.pooled(hits for _, hits in known)
    return {
        name: mean([hits.share for _, hits in known]),
        f"{name}_rows": len(known),
        f"{name}_pooled": together.share if together else None,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def fates(facts: Iterable[FactResult]) -> dict[str, int]:
    """Facts per fate; the five add up to the facts (EVA-029)."""
    found = Counter(fact.fate for fact in facts)
    return {fate: found[fate] for fate in FATES}


def _sizes(rows: Sequence[Row]) -> dict[str, Any]:
    """EVA-048."""
    results = _known(measures.result_tokens, rows)
    return {
        "source_tokens_mean": mean(_known(measures.source_tokens, rows)),
        "result_tokens_mean": mean(results),
        "result_tokens_p95": nearest_rank(results, share=P95),
        "result_tokens_max": max(results, default=None),
        "sent_tokens": measures.add_known(map(measures.sent_tokens, rows)),
    }


def _usage(rows: Sequence[Row]) -> dict[str, Any]:
    """EVA-046: main requests, then all calls."""
    main = [usage for usage in map(measures.main_usage, rows) if usage]
    return {
        "calls": sum(len(row.last_calls) for row in rows),
        "usage_responses": sum(map(measures.usage_responses, rows)),
        "prompt_tokens": measures.add_known(usage.prompt_tokens for usage in main),
        "completion_tokens": measures.add_known(usage.completion_tokens for usage in main),
        "input_tokens": measures.add_known(map(measures.input_tokens, rows)),
        "output_tokens": measures.add_known(map(measures.output_tokens, rows)),
        "cached_tokens": measures.add_known(map(measures.cached_tokens, rows)),
    }


def _money(rows: Sequence[Row]) -> dict[str, Any]:
    """EVA-047."""
    return {
        "cost": _cost([(row.status, row.cost) for row in rows]),
        "rows_without_cost": sum(row.cost is None for row in rows),
        "cost_uncached": _cost([(row.status, row.cost_uncached) for row in rows]),
    }


def _cost(costs: Sequence[tuple[str, float | None]]) -> Fraction | None:
    known = [exact(cost) for _, cost in costs if cost is not None]
    if not known or any(status == "completed" and cost is None for status, cost in costs):
        return None
    return sum(known, Fraction(0))


def _seconds(rows: Sequence[Row]) -> dict[str, Any]:
    """EVA-044: rows in error included."""
    total, ttft = _known(measures.total_duration_s, rows), _known(measures.ttft_s, rows)
    return {
        "duration_mean_s": mean(total),
        "duration_p50_s": nearest_rank(total, share=P50),
        "duration_p95_s": nearest_rank(total, share=P95),
        "ttft_p50_s": nearest_rank(ttft, share=P50),
        "ttft_p95_s": nearest_rank(ttft, share=P95),
    }


def _known(measure: Callable[[Row], Value | None], rows: Iterable[Row]) -> list[Value]:
    return [value for value in map(measure, rows) if value is not None]


def _competes(rows: Sequence[Row]) -> bool:
    """Whether the group may stand on the frontier: it made requests smaller than the source, or is `full`."""
    if any(row.strategy_kind == "full" for row in rows):
        return True
    sizes = [(measures.source_tokens(row), measures.result_tokens(row)) for row in rows]
    known = [(source, result) for source, result in sizes if source is not None and result is not None]
    return not known or sum(result for _, result in known) < sum(source for source, _ in known)


def _with_frontier(groups: Sequence[Metrics], competes: Sequence[bool]) -> tuple[Metrics, ...]:
    """Mark the groups that no competing strategy beats in recall at equal or lower cost (EVA-049)."""
    recall, cost = headline_columns(
        {name: [getattr(one, name) for one in groups] for name in HEADLINE_COLUMNS}
    )
    points = [(one.group, getattr(one, recall), getattr(one, cost)) for one in groups]
    rivals = [point for point, rival in zip(points, competes, strict=True) if rival and None not in point]

    def stands(group: tuple[str, ...], high: Any, low: Any, *, rival: bool) -> bool | None:
        if high is None or low is None:
            return None
        beaten = any(g == group and other > high and price <= low for g, other, price in rivals)
        return rival and not beaten

    return tuple(
        replace(one, on_frontier=stands(*point, rival=rival))
        for one, point, rival in zip(groups, points, competes, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KindMetrics:
    """What became of the facts of one kind under one strategy; named like the columns of the `kinds` frame.

    Attributes:
        in_source, in_context: counts over all facts of the kind; `in_context` null if nothing was fitted.
        context_recall, answer_recall: pooled over the rows that have one (EVA-043).
    """

    strategy: str
    kind: FactKind
    facts: int
    in_source: int
    in_context: int | None
    context_recall: Fraction | None
    answer_recall: Fraction | None
    retained: int
    missing: int
    reversed: int
    unsupported_claim: int
    not_judged: int


def kind_metrics(run: Run) -> tuple[KindMetrics, ...]:
    """Facts per strategy and kind: strategies in run order, the kinds that occur in the order of their list."""
    kinds = {fact.kind for row in run.rows for fact in row.facts}
    return tuple(
        _kind([row for row in run.rows if row.strategy == strategy], strategy, kind)
        for strategy in run.strategies
        for kind in FACT_KINDS
        if kind in kinds
    )


def _kind(rows: Sequence[Row], strategy: str, kind: FactKind) -> KindMetrics:
    facts = [fact for row in rows for fact in row.facts if fact.kind == kind]
    fitted = [fact.in_context for fact in facts if fact.in_context is not None]
    context = measures.pooled(hits for row in rows if (hits := measures.context_hits(row, kind=kind)))
    answer = measures.pooled(hits for row in rows if (hits := measures.answer_hits(row, kind=kind)))
    return KindMetrics(
        strategy=strategy,
        kind=kind,
        facts=len(facts),
        in_source=sum(fact.in_source for fact in facts),
        in_context=sum(fitted) if fitted else None,
        context_recall=context.share if context else None,
        answer_recall=answer.share if answer else None,
        **fates(facts),
    )


def pass_powers(rows: Iterable[Row]) -> dict[int, Fraction]:
    """Pass^k for k from 1 to the repeats that every judged case has; empty if nothing was judged (EVA-068)."""
    verdicts: dict[int, list[bool]] = {}
    for row in rows:
        if row.passed is not None:
            verdicts.setdefault(row.case_index, []).append(row.passed)
    cases = [(sum(passed), len(passed)) for passed in verdicts.values()]
    most = min((repeats for _, repeats in cases), default=0)
    powers = {k: pass_power(cases, k=k) for k in range(1, most + 1)}
    return {k: power for k, power in powers.items() if power is not None}
