"""Strategies against a baseline on the same cases: pairs, what was dropped and why, difference, interval, test.

The unit is the case: repeats are averaged first. Two sets stand side by side, since a strategy that refuses its
hard cases looks better on those it completed: `completed` takes only cases that both sides completed,
`with_refused` counts a refused row as recall 0 and not passed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ctxlab import measures
from ctxlab.errors import InputError
from ctxlab.facts import is_judged
from ctxlab.metrics import is_offline
from ctxlab.statistics import LEVEL, RESAMPLES, SEED, bootstrap_mean, exact, holm, mcnemar, mean, sign_test

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ctxlab.records import Row, Run

Metric = Literal["context_recall", "answer_recall", "passed", "total_duration_s", "input_tokens", "cost"]
PairSet = Literal["completed", "with_refused"]
Dropped = Literal["error", "not_run", "refused", "no_value"]
SETS: tuple[PairSet, ...] = ("completed", "with_refused")
DROPPED: tuple[Dropped, ...] = ("error", "not_run", "refused", "no_value")
"""Why a case is in no pair; the first that holds for one of its sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One strategy against the baseline, in one metric, on one set of cases.

    Attributes:
        pairs: cases used; the rest is `dropped`, per reason.
        difference: mean over pairs of strategy minus baseline; null without pairs.
        low, high: bootstrap interval of the difference; null below 2 pairs.
        wins, losses, ties: signs of the exact case differences, and `p` of the test that is named; null for
            sizes and durations, and without pairs.
        p_holm: adjusted over the strategies compared in this metric and set.
    """

    strategy: str
    metric: Metric
    set: PairSet
    pairs: int
    dropped: Mapping[Dropped, int]
    difference: Fraction | None
    low: float | None
    high: float | None
    level: float
    resamples: int
    seed: int
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    p: Fraction | None = None
    p_holm: Fraction | None = None
    test: Literal["mcnemar", "sign"] | None = None


def _recall(hits: measures.Hits | None) -> Fraction | None:
    return hits.share if hits else None


VALUES: dict[Metric, Callable[[Row], float | Fraction | None]] = {
    "context_recall": lambda row: _recall(measures.context_hits(row)),
    "answer_recall": lambda row: _recall(measures.answer_hits(row)),
    "passed": lambda row: None if row.passed is None else int(row.passed),
    "total_duration_s": measures.total_duration_s,
    "input_tokens": measures.input_tokens,
    "cost": lambda row: row.cost,
}
"""What is compared, as a value per row (EVA-064; verdicts besides)."""

_JUDGED: dict[Metric, Callable[[Row], bool]] = {
    "context_recall": lambda row: bool(measures.context_facts(row)),
    "answer_recall": lambda row: bool(measures.answer_facts(row)),
    "passed": lambda row: is_judged(row.case),
}
"""Metrics in which a refused row counts as 0, wherever a row that was not refused would be judged."""


_TESTED: tuple[Metric, ...] = ("context_recall", "answer_recall", "passed")


def compare_strategies(
    run: Run,
    *,
    baseline: str = "full",
    metrics: Sequence[Metric] = tuple(VALUES),
    sets: Sequence[PairSet] = SETS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> tuple[Comparison, ...]:
    """Every other strategy against the baseline, in order of strategy, metric and set.

    Raises `InputError` if the run has no strategy of the baseline's name.
    """
    if baseline not in run.strategies:
        raise InputError(f"baseline: not a strategy of the run; allowed are {', '.join(run.strategies)}")
    others = [name for name in run.strategies if name != baseline]
    rows = _rows_by_case(run)
    found: dict[tuple[str, Metric, PairSet], Comparison] = {}
    for metric in metrics:
        for pair_set in sets:
            judge = _Judge(metric=metric, pair_set=pair_set, offline=is_offline(run))
            family = [
                judge.compare(rows[name], rows[baseline], name, resamples=resamples, seed=seed, level=level)
                for name in others
            ]
            for one, p_holm in zip(family, holm([one.p for one in family]), strict=True):
                found[one.strategy, metric, pair_set] = replace(one, p_holm=p_holm)
    return tuple(found[name, metric, pair_set] for name in others for metric in metrics for pair_set in sets)


def _rows_by_case(run: Run) -> dict[str, dict[int, list[Row]]]:
    found: dict[str, dict[int, list[Row]]] = {name: {} for name in run.strategies}
    for row in run.rows:
        found[row.strategy].setdefault(row.case_index, []).append(row)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """One metric on one set: what a case is worth, and how two sides compare."""

    metric: Metric
    pair_set: PairSet
    offline: bool

    def compare(
        self,
        strategy: Mapping[int, Sequence[Row]],
        baseline: Mapping[int, Sequence[Row]],
        name: str,
        *,
        resamples: int,
        seed: int,
        level: float,
    ) -> Comparison:
        """Pair the cases of both sides and compare what is left."""
        differences, dropped = [], Counter[Dropped]()
        for case_index, rows in strategy.items():
            left, right = self.of_case(rows), self.of_case(baseline[case_index])
            if isinstance(left, Fraction) and isinstance(right, Fraction):
                differences.append(left - right)
            else:
                dropped[
                    min((side for side in (left, right) if isinstance(side, str)), key=DROPPED.index)
                ] += 1
        interval = bootstrap_mean(differences, resamples=resamples, seed=seed, level=level)
        plain = Comparison(
            strategy=name,
            metric=self.metric,
            set=self.pair_set,
            pairs=len(differences),
            dropped={reason: dropped[reason] for reason in DROPPED if dropped[reason]},
            difference=mean(differences),
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            level=level,
            resamples=resamples,
            seed=seed,
        )
        repeated = any(len(rows) > 1 for rows in strategy.values())
        return _tested(plain, differences, repeated=repeated) if self.metric in _TESTED else plain

    def of_case(self, rows: Sequence[Row]) -> Fraction | Dropped:
        """The mean over the repeats of a case, or why it has none."""
        states = {row.status for row in rows}
        if self.pair_set == "completed":
            if bad := [reason for reason in DROPPED if reason in states]:
                return bad[0]
            used = rows
        else:
            used = [row for row in rows if row.status not in ("error", "not_run")]
            if not used:
                return "error" if "error" in states else "not_run"
        known = [exact(value) for row in used if (value := self.of_row(row)) is not None]
        average = mean(known)
        return average if average is not None and len(known) == len(used) else "no_value"

    def of_row(self, row: Row) -> float | Fraction | None:
        """The row's value; 0 for a refused one in what it would have been judged by (EVA-061)."""
        if self.offline and self.metric in ("answer_recall", "passed"):
            return None
        if row.status == "refused" and self.metric in _JUDGED:
            return 0 if _JUDGED[self.metric](row) else None
        return VALUES[self.metric](row)


def _tested(plain: Comparison, differences: Sequence[Fraction], *, repeated: bool) -> Comparison:
    """With signs and exact test: McNemar for single verdicts, else the sign test (EVA-065, EVA-066)."""
    test: Literal["mcnemar", "sign"] = "mcnemar" if plain.metric == "passed" and not repeated else "sign"
    if not differences:
        return replace(plain, test=test)
    wins = sum(difference > 0 for difference in differences)
    losses = sum(difference < 0 for difference in differences)
    p = (
        mcnemar(only_baseline=losses, only_strategy=wins)
        if test == "mcnemar"
        else sign_test(wins=wins, losses=losses)
    )
    return replace(plain, wins=wins, losses=losses, ties=len(differences) - wins - losses, p=p, test=test)
