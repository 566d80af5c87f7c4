"""What a summary took is told however it ends."""

import asyncio

import pytest

from ctxlab.budget import Budget
from ctxlab.errors import CallError
from ctxlab.strategies.base import Observation
from tests.parts import THREE, Asked, exact, prompt_tokens, room_for_parts, summarize


class Ticking:
    """A clock that goes on by a quarter of a second each time it is read."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 0.25
        return self.now


def observed(reply, budget, messages=THREE, **options):
    seen = []
    helper = Asked(reply)
    options = {"observe": seen.append, "clock": Ticking(), **options}
    try:
        summarize(helper, messages, budget, **options)
    except (asyncio.CancelledError, RuntimeError) as error:
        return seen, helper, type(error)
    return seen, helper, None


# covers STR-097, STR-098
@pytest.mark.parametrize(
    ("reply", "outcome", "calls", "result_tokens"),
    [
        # heading 38 bytes and reply 2 are 20 tokens, envelope 12, role 2
        (lambda number: "ok", "completed", 4, 34),
        (lambda number: "", "empty_summary", 1, 0),
        (lambda number: CallError("timeout"), "failed", 1, 0),
        (lambda number: "ok" if number < 3 else asyncio.CancelledError(), "cancelled", 3, 0),
        (lambda number: RuntimeError(), "failed", 1, 0),
    ],
    ids=["completed", "empty_summary", "failed", "cancelled", "an error of another kind"],
)
def test_what_a_summary_took_is_observed_however_it_ends(reply, outcome, calls, result_tokens):
    budget = room_for_parts(300)
    seen, helper, _ = observed(reply, budget)
    sent = sum(prompt_tokens(request.messages[0].text) for request in helper.requests)
    assert seen == [
        Observation(
            outcome=outcome,
            calls=calls,
            source_tokens=3 * (12 + 2 + 196) + 12 + 2 + 2,
            sent_tokens=sent,
            result_tokens=result_tokens,
            allowance_tokens=budget.allowance_tokens,
            elapsed_s=0.25,
        )
    ]


# covers STR-097, STR-095
@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ({"budget": Budget(window_tokens=1536, output_reserve_tokens=256)}, "insufficient_budget"),
        ({"messages": []}, "empty_source"),
        ({"budget": exact(600)}, "partition_limit"),
    ],
    ids=["insufficient_budget", "empty_source", "partition_limit"],
)
def test_a_summary_that_makes_no_call_is_observed_too(options, outcome):
    options = {"budget": room_for_parts(300), **options}
    (one,), helper, _ = observed(lambda number: "ok", **options)
    assert (one.outcome, one.calls, one.sent_tokens, one.result_tokens) == (outcome, 0, 0, 0)
    assert helper.requests == []


# covers STR-099
def test_cancellation_stays_cancellation():
    _, helper, error = observed(lambda number: asyncio.CancelledError(), room_for_parts(300))
    assert (error, len(helper.requests)) == (asyncio.CancelledError, 1)
