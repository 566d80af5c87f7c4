"""The limits of gates, read as exact numbers (EVA-070 to EVA-072)."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ctxlab.errors import InputError
from ctxlab.statistics import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

Recall = Literal["answer", "context"]
_NUMBER = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
_SHARES = ("min_pass_rate", "max_pass_rate_drop", "max_error_rate", "min_recall", "max_recall_drop")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """What a run has to keep to; null sets no limit, and at least one limit is set.

    Numbers may be given as decimal text, fractions or floats; a float counts as its shortest decimal form. Bounds are
    inclusive.

    Attributes:
        min_pass_rate, max_error_rate, min_recall: shares from 0 to 1.
        max_pass_rate_drop: most that the pass rate may be below the baseline's, 0 to 1.
        max_p95_latency_seconds: above 0.
        max_p95_latency_increase_percent: over the baseline's, 0 or more.
        max_recall_drop: most that the recall of a strategy may be below that of `full` in the same run, 0 to 1.
        recall: which recall both recall gates speak of.
        min_samples: fewer durations than this fail a latency gate.
        paired: let the exact paired test decide on `max_pass_rate_drop`.
        level: of that test, above 0 and below 1.
        allow_inconclusive: an inconclusive test passes.
    """

    min_pass_rate: Fraction | None = None
    max_pass_rate_drop: Fraction | None = None
    max_error_rate: Fraction | None = None
    max_p95_latency_seconds: Fraction | None = None
    max_p95_latency_increase_percent: Fraction | None = None
    min_recall: Fraction | None = None
    max_recall_drop: Fraction | None = None
    recall: Recall = "answer"
    min_samples: int = 1
    paired: bool = False
    level: Fraction = Fraction(19, 20)
    allow_inconclusive: bool = False

    def __post_init__(self) -> None:
        for name in (*GATES, "level"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _checked(name, value))
        if not any(getattr(self, name) is not None for name in GATES):
            raise InputError(f"gates: at least one is needed, such as {option('min_pass_rate')} 0.9")
        if not 0 < self.level < 1:
            raise InputError("--level: above 0 and below 1 is allowed")
        if self.min_samples < 1:
            raise InputError("--min-samples: 1 or more is allowed")
        if self.paired and self.max_pass_rate_drop is None:
            raise InputError(f"--paired: needs {option('max_pass_rate_drop')}")

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """The limits that are set, in the order in which gates run."""
        return {name: value for name in GATES if (value := getattr(self, name)) is not None}

    @property
    def need_baseline(self) -> tuple[str, ...]:
        """The gates among them that compare with a baseline."""
        return tuple(name for name in self.limits if name in BASELINE_GATES)


GATES = tuple(f.name for f in fields(GateLimits) if f.name.startswith(("min_", "max_")) and f.default is None)
"""Names of gates in the order in which they run."""
BASELINE_GATES = frozenset({"max_pass_rate_drop", "max_p95_latency_increase_percent"})
LATENCY_GATES = frozenset({"max_p95_latency_seconds", "max_p95_latency_increase_percent"})


def option(name: str) -> str:
    """A gate as the command line spells it."""
    return f"--{name.replace('_', '-')}"


def read_number(text: str, name: str) -> Fraction:
    """A number written as `digits[.digits]`, optionally with an exponent; exactly what is written (EVA-071)."""
    if not _NUMBER.fullmatch(text):
        raise InputError(f"{option(name)}: expected a number such as 0.9")
    return Fraction(text)


def _checked(name: str, value: str | float | Fraction) -> Fraction:
    if isinstance(value, bool) or (isinstance(value, float) and not 0 <= value < float("inf")):
        raise InputError(f"{option(name)}: expected a number such as 0.9")
    number = read_number(value, name) if isinstance(value, str) else exact(value)
    if name in _SHARES and not 0 <= number <= 1:
        raise InputError(f"{option(name)}: 0 to 1 is allowed")
    if name == "max_p95_latency_seconds" and number <= 0:
        raise InputError(f"{option(name)}: above 0 is allowed")
    if number < 0:
        raise InputError(f"{option(name)}: 0 or more is allowed")
    return number
