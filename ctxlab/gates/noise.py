"""A drop of the pass rate judged by the exact paired test: passed, failed, or inconclusive with what would settle it.

Of N cases that both runs judged, n changed: b broke and n - b were fixed; the drop is (b - (n - b)) / N. Under a drop of
exactly D a case that changed broke with chance (1 + D N / n) / 2, so that b is binomial. The test is two-sided, as
everywhere in ctxlab; for D = 0 it is the exact McNemar test (EVA-065), with repeats the exact sign test (EVA-066).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxlab.gates.transitions import Transition

MOST_CASES = 10_000
"""As many as a dataset may hold; what needs more is not worth asking for."""

Decision = Literal["passed", "failed", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDecision:
    """What the test decides on a drop of at most `most_drop`.

    Attributes:
        pairs, broken, fixed: cases that both runs judged, and those of them that changed.
        p: the two-sided p-value of a drop of exactly `most_drop`.
        too_few_changed: it passed without a test, because even if every change had been for the worse the drop
            would be allowed.
        more_cases: about how many more cases at the same shares would settle it; null if it is settled, or if no
            dataset could.
    """

    decision: Decision
    pairs: int
    broken: int
    fixed: int
    p: Fraction
    too_few_changed: bool = False
    more_cases: int | None = None


def decide(changes: Iterable[Transition], *, most_drop: Fraction, level: Fraction) -> PairedDecision | None:
    """Decide from the cases of one strategy; null without a case that both runs judged."""
    known = [one.transition for one in changes if None not in (one.baseline_share, one.current_share)]
    if not known:
        return None
    return decide_counts(
        pairs=len(known),
        broken=known.count("broken"),
        fixed=known.count("fixed"),
        most_drop=most_drop,
        level=level,
    )


def decide_counts(
    *, pairs: int, broken: int, fixed: int, most_drop: Fraction, level: Fraction
) -> PairedDecision:
    """The decision from counts; `pairs` is 1 or more."""
    found = _decision(pairs, broken, fixed, most_drop, level)
    return PairedDecision(
        decision=found,
        pairs=pairs,
        broken=broken,
        fixed=fixed,
        p=p_value(pairs=pairs, broken=broken, fixed=fixed, drop=most_drop),
        too_few_changed=_too_few_changed(pairs, broken, fixed, most_drop),
        more_cases=None if found != "inconclusive" else _more_cases(pairs, broken, fixed, most_drop, level),
    )


def _decision(pairs: int, broken: int, fixed: int, most_drop: Fraction, level: Fraction) -> Decision:
    if _too_few_changed(pairs, broken, fixed, most_drop):
        return "passed"
    if p_value(pairs=pairs, broken=broken, fixed=fixed, drop=most_drop) > 1 - level:
        return "inconclusive"
    return "failed" if Fraction(broken - fixed, pairs) > most_drop else "passed"


def _too_few_changed(pairs: int, broken: int, fixed: int, most_drop: Fraction) -> bool:
    return broken + fixed <= most_drop * pairs


def p_value(*, pairs: int, broken: int, fixed: int, drop: Fraction) -> Fraction:
    """The exact two-sided p-value of a drop of exactly `drop`, given how many cases changed; 1 if none did."""
    changed = broken + fixed
    if changed == 0:
        return Fraction(1)
    chance = min(Fraction(1), (1 + drop * pairs / changed) / 2)
    if chance == 1:
        return Fraction(int(fixed == 0))
    hit, miss, whole = chance.numerator, chance.denominator - chance.numerator, chance.denominator**changed
    term = at_most = miss**changed
    for i in range(broken):
        term = term * (changed - i) * hit // ((i + 1) * miss)
        at_most += term
    tail = min(at_most, whole - at_most + term)
    return min(Fraction(1), Fraction(2 * tail, whole))


def _more_cases(pairs: int, broken: int, fixed: int, most_drop: Fraction, level: Fraction) -> int | None:
    """The least number of further cases that settles it, if cases go on to change at the shares seen so far."""

    def settled(cases: int) -> bool:
        return (
            _decision(cases, broken * cases // pairs, fixed * cases // pairs, most_drop, level)
            != "inconclusive"
        )

    low = high = pairs
    while not settled(high):
        if high >= MOST_CASES:
            return None
        low, high = high, min(2 * high, MOST_CASES)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return high - pairs
