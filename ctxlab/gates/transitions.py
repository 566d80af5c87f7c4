"""Which cases changed their verdict between two runs (EVA-078, FRM-040)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from ctxlab.frames import attributes
from ctxlab.schemas import SCHEMAS
from ctxlab.statistics import mean
from ctxlab.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ctxlab.records import Run

Change = Literal["fixed", "broken", "unchanged", "only_current", "only_baseline"]
CHANGES: tuple[Change, ...] = get_args(Change)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One case under one strategy in both runs.

    Attributes:
        baseline_share, current_share: share of the judged repeats that passed; null without any.
        baseline_answers, current_answers: the answers by repeat, for the question whether they differ.
    """

    strategy: str
    case_id: str
    baseline_share: Fraction | None
    current_share: Fraction | None
    baseline_answers: tuple[str | None, ...] = ()
    current_answers: tuple[str | None, ...] = ()

    @property
    def transition(self) -> Change:
        """What became of the case."""
        if self.baseline_share is None and self.current_share is None:
            return "unchanged"
        if self.baseline_share is None:
            return "only_current"
        if self.current_share is None:
            return "only_baseline"
        if self.current_share == self.baseline_share:
            return "unchanged"
        return "fixed" if self.current_share > self.baseline_share else "broken"

    @property
    def answers_differ(self) -> bool:
        """Whether both runs have answers, and others."""
        known = None not in (*self.baseline_answers, *self.current_answers)
        both = bool(self.baseline_answers and self.current_answers)
        return known and both and self.baseline_answers != self.current_answers


def transitions(current: Run, baseline: Run) -> tuple[Transition, ...]:
    """Every case of either run, per strategy of the current run, then those that only the baseline has.

    Strategies are matched by name, cases by id; within a strategy cases stand in the order of the current run, then of
    the baseline.
    """
    now, then = _verdicts(current), _verdicts(baseline)
    strategies = dict.fromkeys((*current.strategies, *baseline.strategies))
    keys = dict.fromkeys((*now, *then))
    return tuple(
        Transition(
            strategy=strategy,
            case_id=case_id,
            baseline_share=_share(then.get((strategy, case_id), ())),
            current_share=_share(now.get((strategy, case_id), ())),
            baseline_answers=tuple(answer for _, answer in then.get((strategy, case_id), ())),
            current_answers=tuple(answer for _, answer in now.get((strategy, case_id), ())),
        )
        for name in strategies
        for strategy, case_id in keys
        if strategy == name
    )


def _verdicts(run: Run) -> dict[tuple[str, str], list[tuple[bool | None, str | None]]]:
    found: dict[tuple[str, str], list[tuple[bool | None, str | None]]] = {}
    for row in run.rows:
        found.setdefault((row.strategy, row.case.id), []).append((row.passed, row.answer))
    return found


def _share(verdicts: Sequence[tuple[bool | None, str | None]]) -> Fraction | None:
    return mean([Fraction(passed) for passed, _ in verdicts if passed is not None])


def transitions_frame(current: Run, baseline: Run) -> pd.DataFrame:
    """One row per strategy and case of either run (`transitions`); with repeats, `passed` means that all passed."""
    records = (
        {
            "strategy": one.strategy,
            "case_id": one.case_id,
            "baseline_passed": _all(one.baseline_share),
            "current_passed": _all(one.current_share),
            "transition": one.transition,
        }
        for one in transitions(current, baseline)
    )
    return tabulate(SCHEMAS["transitions"], records, attrs=attributes(current))


def _all(share: Fraction | None) -> bool | None:
    return None if share is None else share == 1
