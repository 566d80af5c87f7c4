"""What windows and output reserves leave for the input, and every number that follows from it, as one frame."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ctxlab.budget import Budget, limits, part_target, summary_target
from ctxlab.schemas import SCHEMAS
from ctxlab.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

REQUESTED_TOKENS = 512
"""How long a summary is asked to be unless something else is said, as by `summarize`."""


def budgets(
    windows_tokens: Iterable[int],
    output_reserves_tokens: Iterable[int] = (1000,),
    *,
    budget: Budget | None = None,
    requested_tokens: int = REQUESTED_TOKENS,
) -> pd.DataFrame:
    """One row per window and output reserve: allowance, limits and summary targets (`budget`).

    Args:
        windows_tokens: what models accept; a repeated number counts once.
        output_reserves_tokens: what is held back for the answer; each is combined with each window.
        budget: everything else: the other reserves, calibration, tools, guidance, thresholds. Shares of M are those
            of what tools and guidance leave of U.
        requested_tokens: how long a summary is asked to be; its targets are null where summaries are off.

    Raises:
        BudgetError: a number that is no size in tokens.
    """
    base = budget or Budget()
    reserves = tuple(dict.fromkeys(output_reserves_tokens))
    grid = (
        replace(base, window_tokens=window, output_reserve_tokens=reserve)
        for window in dict.fromkeys(windows_tokens)
        for reserve in reserves
    )
    attrs: dict[str, str | None] = {"run_id": None, "fingerprint": None, "counter": None}
    return tabulate(SCHEMAS["budget"], (_row(one, requested_tokens) for one in grid), attrs=attrs)


def _row(budget: Budget, requested_tokens: int) -> dict[str, Any]:
    found = limits(budget, message_allowance_tokens=budget.message_allowance_tokens())
    target = summary_target(requested_tokens=requested_tokens, budget=budget)
    return {
        "window_tokens": int(budget.window_tokens),
        "output_reserve_tokens": int(budget.output_reserve_tokens),
        "allowance_tokens": budget.allowance_tokens,
        **{field.name: getattr(found, field.name) for field in fields(found)},
        "target_tokens": target,
        "part_tokens": None
        if target is None
        else part_target(target_tokens=target, thresholds=budget.thresholds),
    }
