"""A prefix cache, by hand: what is read, what is written, what a compaction throws away and when it pays."""

from decimal import Decimal

import pytest
from hypothesis import assume, given, settings, strategies as st

from ctxlab.caches import (
    LLAMA_CPP,
    CachePolicy,
    CacheUse,
    Compaction,
    cold,
    flattened,
    pays_after,
    rendered,
    simulate_cache,
    turns_to_pay,
)
from ctxlab.errors import InputError
from ctxlab.messages import Function, ToolCall
from ctxlab.prices import ModelPrices
from ctxlab.tokens import UTF8_BYTES_1
from tests.factories import assistant, system, user

PRICES = ModelPrices(input="10", cached_input="1", cache_write="12", output="40")


def growing(turns, *, first=300, growth=100):
    """A session whose request of turn n has `first + n x growth` bytes, each the one before with more behind it."""
    letters = "".join(chr(97 + i % 26) for i in range(first + turns * growth))
    return [letters[: first + n * growth] for n in range(turns)]


def uses(requests, **policy):
    return [
        (u.cached_tokens, u.written_tokens)
        for u in simulate_cache(requests, UTF8_BYTES_1, CachePolicy(**policy))
    ]


def test_a_growing_prefix_is_read_up_to_what_the_request_before_has_written():
    assert uses(growing(4)) == [(0, 300), (300, 100), (400, 100), (500, 100)]


def test_blocks_of_128_tokens_with_a_write_lag_of_one_turn():
    # requests of 300, 400, 500, 600, 700 tokens keep 256, 384, 384, 512, 640 of them; each reads what the last but one wrote
    assert uses(growing(5), block_tokens=128, write_lag_turns=1) == [
        (0, 256), (0, 384), (256, 128), (384, 128), (384, 256),
    ]  # fmt: skip


def test_beginnings_shorter_than_the_least_are_not_kept():
    assert uses(growing(4), least_tokens=450) == [(0, 0), (0, 0), (0, 500), (500, 100)]


def test_what_is_not_used_within_its_lifetime_is_forgotten():
    first, other = "a" * 100, "b" * 100
    assert uses([first, other, first], lifetime_turns=2)[2] == (100, 0)
    assert uses([first, other, other, first], lifetime_turns=2)[3] == (0, 100)
    # reading renews: the entry of turn 0 is read in turn 2 and lives on until turn 4
    assert uses([first, other, first, other, first], lifetime_turns=2)[4] == (100, 0)


def test_one_slot_knows_only_the_request_before():
    assert CachePolicy(lifetime_turns=1) == LLAMA_CPP
    assert uses(["a" * 50, "b" * 50, "a" * 50], lifetime_turns=1) == [(0, 50), (0, 50), (0, 50)]


def test_a_turn_without_a_request_reads_and_writes_nothing():
    assert uses(["a" * 50, "", "a" * 60]) == [(0, 50), (0, 0), (50, 10)]


MESSAGES = (system("You help."), user("First."), assistant("Yes."), user("Second."))


def test_a_flattened_transcript_shares_nothing():
    sessions = [flattened(MESSAGES[:n]) for n in (2, 3, 4)]
    # 55, 71 and 85 bytes; the lines that tell the length have 14 in common
    assert uses(sessions, block_tokens=16) == [(0, 48), (0, 64), (0, 80)]
    assert [cached for cached, _ in uses([rendered(MESSAGES[:n]) for n in (2, 3, 4)])][1:] == [
        len(rendered(MESSAGES[:2])), len(rendered(MESSAGES[:3])),
    ]  # fmt: skip


def test_a_rendered_request_holds_roles_texts_and_calls():
    call = ToolCall(id="c", function=Function(name="f", arguments='{"a":1}'))
    assert (
        rendered([user("Hi"), assistant(None, tool_calls=(call,))])
        == '<|user|>\nHi\n<|assistant|>\n{"a":1}\n'
    )


def test_cost_has_a_price_for_what_is_read_written_and_neither():
    use = CacheUse(input_tokens=1000, cached_tokens=600, written_tokens=300)
    assert use.cost(PRICES) == Decimal(600 * 1 + 300 * 12 + 100 * 10) / 1_000_000
    free = ModelPrices(input="10", cached_input="1", output="40")
    assert use.cost(free) == Decimal(600 * 1 + 400 * 10) / 1_000_000
    assert cold([use]) == (CacheUse(input_tokens=1000, cached_tokens=0, written_tokens=0),)


# When a compaction pays


def test_turns_to_pay_by_hand():
    compaction = Compaction(
        before_tokens=1000, after_tokens=200, helper_input_tokens=1000, helper_output_tokens=100
    )
    # helper 1000 x 10 + 100 x 40 = 14000; cold: 200 x 10 - 1000 x 10 = -8000; 6000 left, 800 x 10 saved each turn
    assert turns_to_pay(compaction, PRICES, warm=False) == 1
    # warm: 14000 + 200 x 12 - 1000 x 1 = 15400; 800 x 1 saved each turn: 19.25
    assert turns_to_pay(compaction, PRICES, warm=True) == 20
    assert (
        turns_to_pay(
            Compaction(before_tokens=100, after_tokens=100, helper_input_tokens=1), PRICES, warm=True
        )
        is None
    )
    assert turns_to_pay(Compaction(before_tokens=1000, after_tokens=10), PRICES, warm=False) == 0


@settings(max_examples=30, deadline=None)
@given(
    before=st.integers(400, 900),
    share=st.floats(0.1, 0.9),
    growth=st.integers(0, 60),
    helper=st.integers(0, 1500),
    warm=st.booleans(),
)
def test_closed_form_and_simulation_agree_within_one_turn(before, share, growth, helper, warm):
    """The simulated sessions are texts that grow; both forms get the same prices."""
    after = max(1, int(before * share))
    compaction = Compaction(
        before_tokens=before, after_tokens=after, growth_tokens=growth, helper_input_tokens=helper
    )
    closed = turns_to_pay(compaction, PRICES, warm=warm)
    turns = (closed or 0) + 3
    assume(turns <= 40)
    policy = CachePolicy()
    whole = (
        growing(turns + 1, first=before - growth, growth=growth) if growth else ["z" * before] * (turns + 1)
    )
    short = (
        [text.upper() for text in growing(turns, first=after, growth=growth)]
        if growth
        else ["Q" * after] * turns
    )
    without = simulate_cache(whole, UTF8_BYTES_1, policy)[1:]
    compacted = simulate_cache(short, UTF8_BYTES_1, policy)
    if not warm:
        without, compacted = cold(without), cold(compacted)
    simulated = pays_after(without, compacted, PRICES, helper_input_tokens=helper)
    assert simulated is not None
    assert abs(simulated - closed) <= 1


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"block_tokens": 0}, "block_tokens: expected a whole number of 1 or more"),
        ({"write_lag_turns": -1}, "write_lag_turns: expected a whole number of 0 or more"),
        ({"lifetime_turns": 0}, "lifetime_turns: expected a whole number of 1 or more, or none"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(policy, message):
    with pytest.raises(InputError, match=message):
        CachePolicy(**policy)
