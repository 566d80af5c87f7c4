"""Every strategy on random histories at length: how often what must never happen did, next to what happened."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings

from ctxlab.strategies.verify import SENT
from tests.histories import cases as histories
from tests.invariants import (
    RULES,
    Helper,
    budgets,
    contexts_over,
    faults,
    fit,
    plans,
    prompts_over,
    summaries,
    unaccounted_characters,
)

if TYPE_CHECKING:
    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import Strategy

CASES, QUICK_CASES = 100_000, 1_000
BATCH = 1_000
"""Histories drawn from one seed: what was drawn is remembered within a batch, so that none is drawn twice."""


def rows(*, quick: bool = False, cases: int | None = None) -> list[dict[str, object]]:
    """One row per treatment, those with a helper by stand-in; every history goes through every treatment."""
    number = cases or (QUICK_CASES if quick else CASES)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for first in range(0, number, BATCH):
        _run_batch(counts, size=min(BATCH, number - first), number=first // BATCH)
    columns = (
        "histories", "sent", "refused", "failed", "not_applicable", "helper_calls", "sources_in_parts",
        "contexts_over_allowance", "prompts_over_allowance", "unaccounted_characters", "faults",
    )  # fmt: skip
    return [{"strategy": name} | {c: counts[name][c] for c in columns} for name in sorted(counts)]


def _run_batch(counts: dict[str, Counter[str]], *, size: int, number: int) -> None:
    @seed(number)
    @settings(
        max_examples=size,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=histories(), budget=budgets(), summary=summaries(), plan=plans())
    def run(case: Case, budget: Budget, summary: Strategy, plan: Strategy) -> None:
        for name, strategy in {**RULES, "summarize": summary, "plan": plan}.items():
            helper = getattr(strategy, "client", None)
            label = f"{name}, {helper.name}" if isinstance(helper, Helper) else name
            counts[label] += _counted(case, strategy, budget)

    run()


def _counted(case: Case, strategy: Strategy, budget: Budget) -> Counter[str]:
    fitted = fit(strategy, case, budget)
    helper = getattr(strategy, "client", None)
    return Counter(
        {
            "histories": 1,
            "sent" if fitted.outcome in SENT else fitted.outcome: 1,
            "helper_calls": len(fitted.helper_calls),
            "sources_in_parts": (fitted.receipt.parts or 0) > 1,
            "contexts_over_allowance": contexts_over(fitted, budget),
            "prompts_over_allowance": prompts_over(helper, budget) if isinstance(helper, Helper) else 0,
            "unaccounted_characters": unaccounted_characters(case, fitted),
            "faults": len(list(faults(case, strategy, budget, fitted))),
        }
    )
