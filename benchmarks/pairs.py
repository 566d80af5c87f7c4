"""Two pieces of work timed side by side: the median ratio of at least five pairs."""

from __future__ import annotations

import gc
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = 5


class Paired(NamedTuple):
    """Median seconds of the work and of what it is measured against, and the median of their ratios."""

    work_s: float
    against_s: float
    ratio: float


def paired(work: Callable[[], object], against: Callable[[], object], *, pairs: int = PAIRS) -> Paired:
    """Time both in turn, once unmeasured and then `pairs` times."""
    timed = [(_seconds(work), _seconds(against)) for _ in range(pairs + 1)][1:]
    return Paired(
        median(first for first, _ in timed),
        median(second for _, second in timed),
        median(first / second for first, second in timed),
    )


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = perf_counter()
    work()
    return perf_counter() - start
