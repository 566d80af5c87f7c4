"""`shorten` and `extract` at 8K of histories of 1K to 1M tokens, against counting the same history once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.pairs import paired
from benchmarks.texts import history
from ctxlab.budget import Budget
from ctxlab.estimates import messages_tokens
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.survey import survey
from ctxlab.tokens import counter_named

if TYPE_CHECKING:
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import Strategy
    from ctxlab.tokens import Counter

TARGET_TOKENS = 8192
SIZES = (1_000, 10_000, 100_000, 500_000, 1_000_000)
QUICK_SIZES = (1_000, 10_000, 20_000, 50_000, 100_000)
AT_MOST = {"shorten": 3.0, "extract": 30.0}
DOUBLING_AT_MOST = 2.2


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per strategy and size; the last two sizes are one doubling."""
    counter = counter_named("o200k_base")
    strategies = (Shorten(target_tokens=TARGET_TOKENS), Extract(target_tokens=TARGET_TOKENS))
    table: list[dict[str, object]] = []
    sizes = QUICK_SIZES if quick else SIZES
    cases = {size: history(counter, tokens=size) for size in sizes}
    for strategy in strategies:
        before = None
        for size in sizes:
            found = _row(strategy, cases[size], counter)
            # Counting is linear, so times are compared as multiples of it: each was measured beside its own.
            work = found["ratio"] * size
            doubling = work / before if before and size == sizes[-1] else None
            before = work
            limit = None if doubling is None else DOUBLING_AT_MOST
            table.append(
                {
                    "strategy": strategy.kind,
                    "history_tokens": size,
                    **found,
                    "doubling": doubling,
                    "doubling_at_most": limit,
                }
            )
    return table


def _row(strategy: Strategy, case: Case, counter: Counter) -> dict[str, float]:
    budget = Budget(window_tokens=4_000_000)

    def fit() -> object:
        survey.cache_clear()  # a fit is measured as the first of its history
        return strategy.fit(case, budget, counter)

    timed = paired(fit, lambda: messages_tokens(case.messages, counter))
    return {
        "fit_s": timed.work_s,
        "count_s": timed.against_s,
        "ratio": timed.ratio,
        "at_most": AT_MOST[strategy.kind],
    }
