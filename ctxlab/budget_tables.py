"""Tables about budgets for readers: what windows leave, what cases weigh, what calibration adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from ctxlab.calibration import calibrated, frame_samples
from ctxlab.display import as_strings, shown
from ctxlab.errors import InputError
from ctxlab.frames import cases_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from ctxlab.budget import Budget, CalibrationRule
    from ctxlab.dataset import Dataset
    from ctxlab.tokens import Counter

About = Literal["allowance", "compaction", "summaries", "flags"]

_WINDOW = (("window_tokens", "window", "count"), ("output_reserve_tokens", "output reserve", "count"))
_COLUMNS: Mapping[About, tuple[tuple[str, str, str], ...]] = {
    "allowance": (("allowance_tokens", "allowance U", "count"), ("evidence_tokens", "set aside for evidence", "count")),
    "compaction": (
        ("ahead_trigger_tokens", "ahead of need from", "count"),
        ("deterministic_target_tokens", "shortening to", "count"),
        ("retry_growth_tokens", "next attempt after", "count"),
        ("minimum_gain_tokens", "least gain", "count"),
        ("recent_keep_tokens", "recent turns kept", "count"),
    ),
    "summaries": (
        ("target_tokens", "summary", "count?"),
        ("part_tokens", "part", "count?"),
        ("turn_summary_tokens", "turn summary", "count"),
        ("history_summary_tokens", "history summary", "count"),
    ),
    "flags": (
        ("instruction_tokens", "instructions", "count"),
        ("guidance_tokens", "guidance", "count"),
        ("tool_schema_tokens", "tool schemas", "count"),
        ("n_tools", "tools", "count"),
        ("profile", "profile", "text"),
    ),
}  # fmt: skip


def budget_table(frame: pd.DataFrame, about: About) -> pd.DataFrame:
    """The columns of a `budget` frame that answer one question; a dash where summaries are off.

    Args:
        frame: from `budgets`.
        about: `allowance`, `compaction` (where it begins and what it has to bring), `summaries` (how long they may
            be), or `flags` (sizes above which a receipt is flagged).
    """
    if about not in get_args(About):
        raise InputError(f"about: allowed is {', '.join(get_args(About))}")
    return _offline(as_strings(frame, (*_WINDOW, *_COLUMNS[about])), counter=None)


def estimates_table(dataset: Dataset, counters: Sequence[Counter]) -> pd.DataFrame:
    """The estimate of each case, its evidence included, by each counter."""
    columns: dict[str, list[str]] = {"case": [case.id for case in dataset]}
    for counter in counters:
        tokens = cases_frame(dataset, counter)["tokens"]
        columns[counter.name] = [shown(value, "count") for value in tokens]
    return _strings(columns, counter=", ".join(counter.name for counter in counters))


def fitting_table(
    frame: pd.DataFrame, dataset: Dataset, counter: Counter, *, fixed_tokens: int = 0
) -> pd.DataFrame:
    """How many cases of a dataset fit whole under each row of a `budget` frame, and how much of U the largest takes.

    `fixed_tokens` is what tools and guidance add to each request.
    """
    tokens = [int(value) + fixed_tokens for value in cases_frame(dataset, counter)["tokens"]]
    allowances = [int(value) for value in frame["allowance_tokens"]]
    table = as_strings(frame, (*_WINDOW, ("allowance_tokens", "allowance U", "count")))
    table["cases that fit whole"] = [
        f"{sum(size <= allowance for size in tokens)} of {len(tokens)}" for allowance in allowances
    ]
    table["largest request, share of U"] = [
        shown(max(tokens, default=0) / allowance if allowance else None, "share?") for allowance in allowances
    ]
    return _offline(table.astype("string"), counter=counter.name)


def calibration_table(frame: pd.DataFrame, budget: Budget) -> pd.DataFrame:
    """What the samples of a `calibration` frame ask for, per endpoint and model and by both rules."""
    samples = frame_samples(frame)
    rows = [
        _calibration(calibrated(budget, samples, key=key, rule=rule), key, rule)
        for key in dict.fromkeys(sample.key for sample in samples)
        for rule in ("additive", "ratio")
    ]
    names = ("endpoint", "model", "rule", "samples", "calibration", "capped", "allowance U")
    table = _strings({name: [row[name] for row in rows] for name in names}, counter=None)
    table.attrs.update(frame.attrs)
    return table


def _calibration(budget: Budget, key: tuple[str, str], rule: CalibrationRule) -> dict[str, str]:
    found: Any = budget.calibration
    return {
        "endpoint": key[0],
        "model": key[1],
        "rule": rule,
        "samples": shown(found.samples, "count"),
        "calibration": shown(budget.calibration_tokens, "count"),
        "capped": "yes" if found.capped else "no",
        "allowance U": shown(budget.allowance_tokens, "count"),
    }


def _strings(columns: Mapping[str, Iterable[str]], *, counter: str | None) -> pd.DataFrame:
    import pandas as pd

    return _offline(pd.DataFrame(dict(columns), dtype="string"), counter=counter)


def _offline(table: pd.DataFrame, *, counter: str | None) -> pd.DataFrame:
    """The table, which says that nothing was sent for it."""
    table.attrs.update(client_kind="offline", counter=counter)
    return table
