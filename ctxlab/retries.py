"""When a failed attempt is sent again, and after how long: a policy of values, without clock and loop."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from ctxlab.errors import InputError

if TYPE_CHECKING:
    from ctxlab.errors import CallError

RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
MAX_ATTEMPTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a request is sent and how long to wait in between (specification, runner section 6).

    Attributes:
        max_attempts: 1 to 10; with 1, the default, nothing is sent again.
        min_delay_s, max_delay_s: bounds of the exponential wait.
        max_retry_after_s: how far a `Retry-After` of the platform is obeyed.
    """

    max_attempts: int = 1
    min_delay_s: float = 0.5
    max_delay_s: float = 30.0
    max_retry_after_s: float = 60.0

    def __post_init__(self) -> None:
        if not 1 <= self.max_attempts <= MAX_ATTEMPTS:
            raise InputError(f"max_attempts: is {self.max_attempts}; allowed are 1 to {MAX_ATTEMPTS}")

    def delay_s(self, attempt: int, error: CallError, generator: random.Random) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 0), or null if it was the last one.

        The wait is drawn between the lower bound and a ceiling that doubles with each attempt; a wait that the
        platform asked for takes its place.
        """
        if attempt + 1 >= self.max_attempts or not is_retried(error):
            return None
        if error.retry_after_s is not None:
            return min(max(error.retry_after_s, 0.0), self.max_retry_after_s)
        ceiling_s = min(self.min_delay_s * 2.0 ** (attempt + 1), self.max_delay_s)
        return generator.uniform(self.min_delay_s, ceiling_s)


def is_retried(error: CallError) -> bool:
    """Whether another attempt may end better: a busy or failing platform, or no connection (RUN-061)."""
    if error.kind == "platform_http_error":
        return error.http_status in RETRIED_STATUSES
    return error.kind == "connection_failure"


def retry_after_s(value: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for, a number or an HTTP date; null if it is neither."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:10])
    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - (now or datetime.now(UTC))).total_seconds())
