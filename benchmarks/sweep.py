"""Settings of `shorten` and of `extract` over three histories of 128K tokens, against counting those histories once."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.texts import history
from ctxlab.budget import Budget
from ctxlab.estimates import messages_tokens
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.survey import survey
from ctxlab.tokens import CountedOnce, counter_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.dataset import Case

SETTINGS = 1_000
HISTORY_TOKENS = 128_000
HISTORIES = 3
AT_MOST = {"shorten": 200.0, "extract": None}
LEAST_TARGET_TOKENS, STEP_TOKENS = 1_024, 16


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per strategy: seconds for all settings over all histories, and the ratio to counting."""
    settings = SETTINGS // 20 if quick else SETTINGS
    counter = counter_named("o200k_base")
    cases = [history(counter, tokens=HISTORY_TOKENS, seed=seed) for seed in range(HISTORIES)]
    messages_tokens(cases[0].messages, counter)
    start = perf_counter()
    for case in cases:
        messages_tokens(case.messages, counter)
    count_s = perf_counter() - start
    table: list[dict[str, object]] = []
    for kind in (Shorten, Extract):
        survey.cache_clear()
        sweep_s = _sweep(kind, cases, settings)
        table.append(
            {
                "strategy": kind.kind,
                "settings": settings,
                "histories": HISTORIES,
                "sweep_s": sweep_s,
                "count_s": count_s,
                "ratio": sweep_s / count_s,
                "ratio_of_1000_settings": sweep_s / count_s * SETTINGS / settings,
                "at_most": AT_MOST[kind.kind],
            }
        )
    return table


def _sweep(kind: type[Shorten] | type[Extract], cases: Sequence[Case], settings: int) -> float:
    budget = Budget(window_tokens=4_000_000)
    counter = CountedOnce(counter_named("o200k_base"))
    start = perf_counter()
    for case in cases:
        for number in range(settings):
            kind(target_tokens=LEAST_TARGET_TOKENS + STEP_TOKENS * number).fit(case, budget, counter)
    return perf_counter() - start
