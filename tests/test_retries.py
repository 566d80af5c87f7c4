"""When a failed attempt is sent again, and after how long."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from ctxlab.errors import CallError, InputError
from ctxlab.retries import RetryPolicy, is_retried, retry_after_s


def http_error(status: int, *, wait_s: float | None = None) -> CallError:
    return CallError("platform_http_error", http_status=status, retry_after_s=wait_s)


def test_by_default_nothing_is_sent_again() -> None:
    # covers RUN-060
    assert RetryPolicy().delay_s(0, http_error(503), random.Random(0)) is None


@pytest.mark.parametrize(
    ("error", "retried"),
    [
        *((http_error(status), True) for status in (408, 429, 500, 502, 503, 504)),
        *((http_error(status), False) for status in (301, 302, 400, 401, 403, 404, 409, 422, 501, 505, 529)),
        (CallError("connection_failure"), True),
        (CallError("connection_failure", reached=False), True),
        (CallError("timeout"), False),
        (CallError("malformed_platform_response"), False),
        (CallError("response_too_large"), False),
    ],
)
def test_a_busy_platform_is_asked_again_and_a_bad_answer_is_not(error: CallError, retried: bool) -> None:
    # covers RUN-061
    assert is_retried(error) is retried
    assert (RetryPolicy(max_attempts=2).delay_s(0, error, random.Random(0)) is not None) is retried


@pytest.mark.parametrize(("attempts", "retries"), [(1, 0), (2, 1), (10, 9)])
def test_attempts_are_counted_from_the_first(attempts: int, retries: int) -> None:
    # covers RUN-061
    policy = RetryPolicy(max_attempts=attempts)
    waits = [policy.delay_s(attempt, http_error(500), random.Random(0)) for attempt in range(10)]
    assert [wait is not None for wait in waits] == [True] * retries + [False] * (10 - retries)


@pytest.mark.parametrize("attempts", [0, -1, 11])
def test_other_numbers_of_attempts_are_refused(attempts: int) -> None:
    # covers RUN-061
    with pytest.raises(InputError, match="allowed are 1 to 10"):
        RetryPolicy(max_attempts=attempts)


# The ceiling doubles from 1 s; the floor is 0.5 s.
@pytest.mark.parametrize(
    ("attempt", "ceiling_s"), [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 30), (8, 30)]
)
@given(seed=st.integers())
def test_waiting_grows_with_jitter_between_its_bounds(attempt: int, ceiling_s: float, seed: int) -> None:
    # covers RUN-062
    policy = RetryPolicy(max_attempts=10)
    delay_s = policy.delay_s(attempt, http_error(500), random.Random(seed))
    assert delay_s is not None
    assert 0.5 <= delay_s <= ceiling_s


def test_waits_of_two_workers_differ() -> None:
    # covers RUN-062
    policy = RetryPolicy(max_attempts=10)
    waits = {policy.delay_s(5, http_error(500), random.Random(seed)) for seed in range(20)}
    assert len(waits) == 20


@pytest.mark.parametrize(
    ("asked_s", "waited_s"), [(0.0, 0.0), (3.0, 3.0), (60.0, 60.0), (61.0, 60.0), (9e9, 60.0)]
)
def test_a_wait_that_the_platform_asks_for_is_obeyed_up_to_a_minute(asked_s: float, waited_s: float) -> None:
    # covers RUN-062
    policy = RetryPolicy(max_attempts=2)
    assert policy.delay_s(0, http_error(429, wait_s=asked_s), random.Random(0)) == waited_s


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("Tue, 01 Dec 2026 12:00:30 GMT", 30.0),
        ("Tue, 01 Dec 2026 11:00:00 GMT", 0.0),
        ("-7", None),
        ("7.5", None),
        ("soon", None),
        ("", None),
        ("٧", None),
        (None, None),
    ],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    # covers RUN-062
    assert retry_after_s(header, now=datetime(2026, 12, 1, 12, tzinfo=UTC)) == seconds
