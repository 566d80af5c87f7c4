"""Calibration: what platforms report against what was estimated, and what the next budget holds back for it.

Nothing here changes a run: the samples of one run make the budget, or the counter, of the next (BUD-087).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, get_args

from ctxlab.budget import Calibration, CalibrationRule
from ctxlab.errors import BudgetError, InputError
from ctxlab.thresholds import share_tokens
from ctxlab.tokens import bytes_per_token, utf8_ratio

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from ctxlab.budget import Budget
    from ctxlab.calls import Usage
    from ctxlab.records import Run
    from ctxlab.tokens import Counter

Key = tuple[str, str]
"""Base URL without trailing slashes, and requested model: samples of one key never move another (BUD-088)."""

MOST_SAMPLES = 16
MOST_KEYS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The estimated and the reported input of one call, in tokens; null if it was not reported."""

    endpoint: str
    model: str
    estimated_tokens: int | None
    reported_tokens: int | None

    @property
    def key(self) -> Key:
        """What the sample belongs to."""
        return _key((self.endpoint, self.model))

    @property
    def ratio(self) -> Fraction:
        """Reported over estimated tokens, of a valid sample."""
        return Fraction(self.reported_tokens or 0, self.estimated_tokens or 1)

    @property
    def is_valid(self) -> bool:
        """Whether both numbers are known and positive; every other pair is dropped (BUD-081)."""
        return all(
            number is not None and number > 0 for number in (self.estimated_tokens, self.reported_tokens)
        )


def run_samples(run: Run, *, cached_included: bool = True) -> tuple[Sample, ...]:
    """The samples of a run that are kept, in the order of its calls.

    `cached_included=False` is for platforms that report cached input apart from the rest: then the sum of both is the
    reported input, and a call without a cached number gives no sample (BUD-082).
    """
    return kept_samples(
        Sample(
            endpoint=call.endpoint,
            model=call.model_requested,
            estimated_tokens=call.estimated_tokens,
            reported_tokens=_reported(call.usage, cached_included=cached_included),
        )
        for row in run.rows
        for call in row.calls
        if call.endpoint is not None
    )


def frame_samples(frame: pd.DataFrame) -> tuple[Sample, ...]:
    """The samples in a `calibration` frame, such as one read back from a run's directory."""
    names = ("endpoint", "model", "estimated_tokens", "reported_tokens")
    rows = zip(*(frame[name].tolist() for name in names), strict=True)
    return tuple(
        Sample(endpoint=endpoint, model=model, estimated_tokens=estimated, reported_tokens=reported)
        for endpoint, model, estimated, reported in rows
    )


def kept_samples(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """The newest 16 valid samples of each key, oldest first; of more than 256 keys the one created first goes (BUD-083)."""
    by_key: dict[Key, list[Sample]] = {}
    for sample in samples:
        if not sample.is_valid:
            continue
        if sample.key not in by_key and len(by_key) == MOST_KEYS:
            del by_key[next(iter(by_key))]
        of_key = by_key.setdefault(sample.key, [])
        of_key.append(sample)
        del of_key[:-MOST_SAMPLES]
    return tuple(sample for of_key in by_key.values() for sample in of_key)


def calibrated(
    budget: Budget, samples: Iterable[Sample], *, key: Key, rule: CalibrationRule = "additive"
) -> Budget:
    """The budget with calibration as the samples of one key ask for; whatever it held before is replaced.

    Args:
        budget: window, reserves and the share of the window that calibration may take.
        samples: oldest first, such as `run_samples(run)`.
        key: base URL and model.
        rule: `additive`, the largest shortfall of an estimate (BUD-084), or `ratio`, the largest ratio applied to
            the allowance (BUD-085).

    Raises:
        BudgetError: another rule.
    """
    if rule not in get_args(CalibrationRule):
        raise BudgetError(f"calibration rule: allowed is {', '.join(get_args(CalibrationRule))}")
    chosen = _of_key(samples, key)
    plain = replace(budget, calibration_tokens=0)
    cap = share_tokens(budget.thresholds.calibration_cap_share, budget.window_tokens)
    if rule == "additive":
        asked = max([0, *((s.reported_tokens or 0) - (s.estimated_tokens or 0) for s in chosen)])
        tokens = min(max(0, budget.window_tokens - budget.safety_reserve_tokens), cap, asked)
    else:
        ratio = max([Fraction(1), *(sample.ratio for sample in chosen)])
        asked = plain.allowance_tokens - int(plain.allowance_tokens / ratio)
        tokens = min(asked, cap)
    calibration = Calibration(rule=rule, samples=len(chosen), capped=cap < asked)
    return replace(plain, calibration_tokens=tokens, calibration=calibration)


def learned_counter(counter: Counter, samples: Iterable[Sample], *, key: Key) -> Counter:
    """A `utf8_ratio` counter whose bytes per token come from the samples of one key (BUD-007).

    `counter` is the counter of bytes that the samples were estimated with, and is returned if there are none. Its
    ratio is divided by the largest reported over estimated, so that the sample that needs most room decides.

    Raises:
        InputError: `counter` does not count bytes.
    """
    ratio = bytes_per_token(counter)
    if ratio is None:
        raise InputError("learned counter: only counters of bytes have a ratio to learn")
    chosen = _of_key(samples, key)
    return utf8_ratio(ratio / max(sample.ratio for sample in chosen)) if chosen else counter


def _key(key: Key) -> Key:
    return key[0].rstrip("/"), key[1]


def _of_key(samples: Iterable[Sample], key: Key) -> tuple[Sample, ...]:
    return tuple(sample for sample in kept_samples(samples) if sample.key == _key(key))


def _reported(usage: Usage, *, cached_included: bool) -> int | None:
    if cached_included or usage.prompt_tokens is None or usage.cached_tokens is None:
        return usage.prompt_tokens if cached_included else None
    return usage.prompt_tokens + usage.cached_tokens
