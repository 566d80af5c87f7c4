"""Order statistics, paired bootstrap and exact tests: numbers in, numbers out, no knowledge of runs.

Counts and probabilities are exact fractions; only the bootstrap works in floating point, with seeded draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

Number = TypeVar("Number", int, float, Fraction)

RESAMPLES = 10_000
SEED = 0
LEVEL = 0.95
_DRAWS_AT_ONCE = 1_000_000  # bounds the memory of one block of draws to 8 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval, `low` to `high`, both inclusive."""

    low: float
    high: float


def exact(value: float | Fraction) -> Fraction:
    """The value as a fraction, a float through its shortest decimal form: 0.1 is 1/10 (EVA-072)."""
    return value if isinstance(value, Fraction) else Fraction(str(value))


def nearest_rank(values: Sequence[Number], *, share: float | Fraction) -> Number | None:
    """The observed value of one-based rank `ceil(share x N)` in ascending order; null for an empty sample.

    `share` is above 0 and at most 1 and is read exactly, so that 0.95 of 100 values is rank 95 (EVA-045).
    """
    part = exact(share)
    if not 0 < part <= 1:
        raise ValueError("share: above 0 and at most 1 is allowed")
    return sorted(values)[ceil(part * len(values)) - 1] if values else None


def mean(values: Sequence[float | Fraction]) -> Fraction | None:
    """The exact mean; null for an empty sample."""
    return sum(map(exact, values), Fraction(0)) / len(values) if values else None


def bootstrap_mean(
    values: Sequence[float | Fraction], *, resamples: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> Interval | None:
    """Percentile bootstrap interval of the mean; null with fewer than 2 values (EVA-063).

    One value per case; for a paired comparison the values are the differences of the cases. The bounds are the
    nearest ranks of both tails, for 10,000 resamples at 95 % the 250th and the 9,750th smallest mean.
    """
    if resamples < 1 or not 0 < level < 1:
        raise ValueError("resamples: 1 or more is allowed; level: above 0 and below 1 is allowed")
    return _bootstrap(tuple(map(float, values)), resamples, seed, level)


@lru_cache(maxsize=1024)  # sweeps ask for the same few differences again and again
def _bootstrap(values: tuple[float, ...], resamples: int, seed: int, level: float) -> Interval | None:
    import numpy as np

    if len(values) < 2:
        return None
    if len(set(values)) == 1:  # every resample has this mean; summing floats would only blur it
        return Interval(low=values[0], high=values[0])
    sample = np.array(values)
    means = np.concatenate([sample[draws].mean(axis=1) for draws in _draws(len(values), resamples, seed)])
    tail = (1 - exact(level)) / 2
    ranks = [ceil(tail * resamples) - 1, ceil((1 - tail) * resamples) - 1]
    means.partition(ranks)
    return Interval(low=float(means[ranks[0]]), high=float(means[ranks[1]]))


def _draws(n: int, resamples: int, seed: int) -> Iterator[np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    """The rows of `Generator(PCG64(seed)).integers(0, n, (resamples, n))`, in blocks."""
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(seed))
    block = max(1, _DRAWS_AT_ONCE // n)
    for start in range(0, resamples, block):
        yield generator.integers(0, n, (min(block, resamples - start), n))


def exact_two_sided(first: int, second: int) -> Fraction:
    """Two-sided exact p-value of `first` against `second` successes under even odds; 1 if both are 0."""
    n = first + second
    term = total = 1
    for i in range(min(first, second)):
        term = term * (n - i) // (i + 1)
        total += term
    return min(Fraction(1), Fraction(2 * total, 2**n))


def mcnemar(*, only_baseline: int, only_strategy: int) -> Fraction:
    """Exact two-sided McNemar test on the discordant pairs (EVA-065)."""
    return exact_two_sided(only_baseline, only_strategy)


def sign_test(*, wins: int, losses: int) -> Fraction:
    """Exact two-sided sign test; ties are dropped before (EVA-066)."""
    return exact_two_sided(wins, losses)


def holm(p_values: Sequence[Fraction | None]) -> list[Fraction | None]:
    """Holm-adjusted p-values in the order given; unknown ones stay unknown and do not count (EVA-067)."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[Fraction | None] = [None] * len(p_values)
    floor = Fraction(0)
    for rank, (p, place) in enumerate(known):
        floor = max(floor, min(Fraction(1), (len(known) - rank) * p))
        adjusted[place] = floor
    return adjusted


def pass_power(cases: Sequence[tuple[int, int]], *, k: int) -> Fraction | None:
    """Pass^k: the chance that k repeats drawn from a case all passed, as mean over cases (EVA-068).

    `cases` holds (passed, repeats) per case; null without cases. Each case needs at least k repeats.
    """
    if k < 1 or any(repeats < k for _, repeats in cases):
        raise ValueError("k: 1 up to the number of repeats of every case is allowed")
    return mean([Fraction(comb(passed, k), comb(repeats, k)) for passed, repeats in cases])
