"""Sources over one prompt: parts, rounds of merging, and every way in which they end."""

import asyncio
import re

import pytest

from ctxlab.budget import Budget
from ctxlab.caller import Caller, RowLog, row_at_work
from ctxlab.calls import Reply
from ctxlab.errors import CallError
from ctxlab.messages import Message
from ctxlab.standins import stand_in
from ctxlab.strategies.summarize import Summarize
from ctxlab.strategies.summary_calls import HEADING
from tests.factories import assistant, make_case, user
from tests.parts import (
    COUNTER,
    TARGET,
    THREE,
    Asked,
    message,
    prompt_tokens,
    room_for_merges,
    room_for_parts,
    seen_by,
    summarize,
)


# covers STR-083, STR-084, STR-086, STR-030, BUD-061
def test_a_source_over_one_prompt_is_summarised_in_parts_and_the_summaries_are_merged():
    helper = Asked(lambda number: f"Reply {number}")
    fitted = summarize(helper, THREE, room_for_parts(300))
    assert helper.kinds == ["part", "part", "part", "merge"]
    source = f"[user] {'a' * 391}\n\n[user] {'b' * 391}\n\n[user] {'c' * 391}"
    assert "".join(helper.bodies[:3]) == source
    assert helper.bodies[1] == f"[user] {'b' * 391}\n\n"
    assert helper.bodies[3] == "[part 1 of 3]\nReply 1\n\n[part 2 of 3]\nReply 2\n\n[part 3 of 3]\nReply 3"
    leads = [request.messages[0].text.partition(" of one")[0] for request in helper.requests[:3]]
    assert leads == ["Part 1 of 3", "Part 2 of 3", "Part 3 of 3"]
    assert [call.target_tokens for call in fitted.helper_calls] == [50, 50, 50, 100]
    assert "at most 50 tokens" in helper.requests[0].messages[0].text
    assert "at most 100 tokens" in helper.requests[3].messages[0].text
    assert [m.content for m in fitted.messages] == [f"{HEADING}Reply 4", "And?"]
    receipt = fitted.receipt
    assert (receipt.parts, receipt.rounds, receipt.helper_calls) == (3, 1, 4)
    assert receipt.helper_sent_tokens == sum(prompt_tokens(r.messages[0].text) for r in helper.requests)
    assert seen_by(fitted) == [[0], [1], [2]]


# covers STR-082, STR-083
def test_one_token_decides_between_one_call_and_parts():
    whole = Asked(lambda number: "ok")
    # without its lead a whole prompt has 82 characters more room than the first of 64 parts: 41 tokens
    lead = len("Part 64 of 64 of one conversation, in order; each part is summarised on its own.\n\n") // 2
    assert lead == 41
    fitted = summarize(whole, [message(301)], room_for_parts(300 - lead))
    assert (whole.kinds, fitted.receipt.parts, fitted.receipt.rounds) == (["whole"], 1, 0)
    parts = Asked(lambda number: "ok")
    fitted = summarize(parts, [message(302)], room_for_parts(300 - lead))
    assert (parts.kinds, fitted.receipt.parts) == (["part", "part", "merge"], 2)


# covers STR-083
def test_the_lead_of_a_part_is_charged_at_its_widest():
    helper = Asked(lambda number: "ok")
    budget = room_for_parts(60)  # 120 characters, or 121 by the parity of all that stands around them
    summarize(helper, [user("x" * 1400)], budget)
    assert helper.kinds == ["part"] * 12
    sizes = [prompt_tokens(request.messages[0].text) for request in helper.requests]
    # a prompt of part 10 of 12 is as wide as one of part 64 of 64, one of part 9 of 12 a character shorter
    assert sizes[9:11] == [budget.allowance_tokens] * 2
    assert all(budget.allowance_tokens - size in (0, 1) for size in sizes[:9])


# covers STR-083, STR-034, STR-037
def test_a_message_over_one_prompt_is_split_and_its_span_with_it():
    helper = Asked(lambda number: "ok")
    text = "x" * 499 + "\n" + "y" * 499 + "\n" + "z" * 300
    fitted = summarize(helper, [user(text)], room_for_parts(300))
    assert helper.bodies[:3] == [f"[user] {'x' * 499}\n", f"{'y' * 499}\n", "z" * 300]
    spans = [(s.start, s.end, s.call_index) for s in fitted.ledger if s.item_index == 0]
    assert spans == [(0, 500, 0), (500, 1000, 1), (1000, 1300, 2)]


def rounds_of_two(number):
    return f"{number:02}" + "q" * 58


# covers STR-086, STR-039
def test_rounds_with_several_groups_use_the_part_target_and_the_last_the_full_one():
    # a label is 14 characters, a reply 60, an empty line 2: two summaries are 75 tokens, three 113
    helper = Asked(rounds_of_two)
    fitted = summarize(helper, [message(130, letter) for letter in "abcd"], room_for_merges(80))
    assert helper.kinds == ["part"] * 4 + ["merge"] * 3
    assert [call.target_tokens for call in fitted.helper_calls] == [50] * 6 + [100]
    bodies = [re.sub("q+", "", body) for body in helper.bodies[4:]]
    assert bodies == [
        "[part 1 of 4]\n01\n\n[part 2 of 4]\n02\n\n",
        "[part 3 of 4]\n03\n\n[part 4 of 4]\n04",
        "[part 1 of 2]\n05\n\n[part 2 of 2]\n06",
    ]
    assert (fitted.receipt.parts, fitted.receipt.rounds) == (4, 2)
    assert fitted.messages[0].content == HEADING + "07" + "q" * 58


# covers STR-087, STR-095, STR-098
@pytest.mark.parametrize(
    ("thresholds", "outcome", "kinds", "rounds"),
    [
        ({"max_rounds": 2}, "completed", ["part"] * 4 + ["merge"] * 3, 2),
        ({"max_rounds": 1}, "merge_limit", ["part"] * 4 + ["merge"] * 2, 1),
        ({"max_rounds": 0}, "merge_limit", ["part"] * 4, 0),
        ({"max_calls": 7}, "completed", ["part"] * 4 + ["merge"] * 3, 2),
        ({"max_calls": 6}, "call_limit", ["part"] * 4 + ["merge"] * 2, 1),
        ({"max_calls": 5}, "call_limit", ["part"] * 4, 0),
        ({"max_calls": 4}, "partition_limit", [], 0),
        ({"max_calls": 0}, "partition_limit", [], 0),
    ],
    ids=str,
)
def test_a_round_that_may_not_be_or_needs_more_calls_than_are_left_is_not_started(
    thresholds, outcome, kinds, rounds
):
    helper = Asked(rounds_of_two)
    messages = [message(130, letter) for letter in "abcd"]
    fitted = summarize(helper, messages, room_for_merges(80, **thresholds))
    receipt = fitted.receipt
    assert (receipt.summary_outcome, helper.kinds, receipt.rounds) == (outcome, kinds, rounds)
    assert receipt.reason == (None if outcome == "completed" else outcome)
    assert receipt.helper_calls == len(fitted.helper_calls) == len(kinds)
    assert receipt.helper_sent_tokens == sum(prompt_tokens(r.messages[0].text) for r in helper.requests)
    # heading 38 bytes and reply 60 are 49 tokens, envelope 12, role 2
    assert receipt.helper_result_tokens == (63 if outcome == "completed" else 0)


# covers STR-087, STR-082
@pytest.mark.parametrize(("max_calls", "outcome", "calls"), [(1, "completed", 1), (0, "call_limit", 0)])
def test_one_call_for_the_whole_is_a_call_too(max_calls, outcome, calls):
    helper = Asked(lambda number: "ok")
    fitted = summarize(helper, [message(100)], room_for_parts(300, max_calls=max_calls))
    assert (fitted.receipt.summary_outcome, len(helper.requests)) == (outcome, calls)


# covers STR-088
@pytest.mark.parametrize(
    ("replies", "outcome", "rounds"),
    [
        # one summary a group: three summaries of as many tokens after the round as before
        (lambda number: "r" * 60, "non_converging", 1),
        # as many summaries but fewer tokens, until there is room for all
        (lambda number: "r" * 60 if number < 4 else "r" * 30 if number < 6 else "r" * 10, "completed", 2),
        # more tokens than before
        (lambda number: "r" * (50 if number < 4 else 60), "non_converging", 1),
    ],
    ids=["the same", "shrinking", "growing"],
)
def test_a_round_that_leaves_as_many_summaries_and_tokens_ends_the_work(replies, outcome, rounds):
    helper = Asked(replies)
    # a label is 14 characters, an empty line 2: one summary of 60 characters is 38 tokens, two are 75;
    # after a shrinking round they are 30 + 30 + 10 with 14 each and 2 between them: 58 tokens
    fitted = summarize(helper, [message(100)] * 3, room_for_merges(60))
    assert (fitted.receipt.summary_outcome, fitted.receipt.rounds) == (outcome, rounds)
    assert helper.kinds == ["part"] * 3 + ["merge"] * (3 if rounds == 1 else 4)


# covers STR-085, STR-087
@pytest.mark.parametrize(
    ("messages", "outcome", "calls"), [(63, "completed", 64), (64, "partition_limit", 0)]
)
def test_more_than_63_parts_are_too_many_before_any_call(messages, outcome, calls):
    helper = Asked(lambda number: "s")
    # 63 labels of 15 characters with reply and empty line are 18 each: 567 tokens in one merge
    fitted = summarize(helper, [message(500)] * messages, room_for_merges(600))
    assert (fitted.receipt.summary_outcome, len(helper.requests)) == (outcome, calls)
    assert fitted.receipt.parts == (63 if calls else 0)


# covers STR-085
@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("x" * 500_000, Budget(window_tokens=2048, output_reserve_tokens=256)),
        ("e" + "\u0301" * 5000, room_for_parts(300)),
    ],
    ids=["no room", "one cluster"],
)
def test_a_source_that_cannot_be_partitioned_makes_no_call(text, budget):
    helper = Asked(lambda number: "s")
    fitted = summarize(helper, [user(text)], budget)
    assert (fitted.receipt.reason, helper.requests) == ("partition_limit", [])
    assert (fitted.receipt.parts, fitted.receipt.helper_sent_tokens) == (0, 0)


# covers STR-086, STR-089
def test_summaries_that_no_merge_has_room_for_cannot_be_partitioned():
    helper = Asked(lambda number: "ok")
    fitted = summarize(helper, [message(30)] * 3, room_for_parts(30))  # a merge's lead is longer by 65
    assert helper.kinds == ["part"] * 3
    assert (fitted.receipt.reason, fitted.receipt.rounds) == ("partition_limit", 0)


# covers STR-089, STR-034
@pytest.mark.parametrize(
    ("reply", "outcome", "reason"),
    [
        ("", "refused", "empty_summary"),
        (" \n", "refused", "empty_summary"),
        (Reply(text="", content_kind="null", finish_reason="length"), "refused", "empty_summary"),
        (CallError("timeout"), "failed", "failed"),
    ],
    ids=["empty", "blank", "reasoning only", "failed call"],
)
def test_one_part_without_a_summary_rejects_all_and_the_rest_is_not_sent(reply, outcome, reason):
    helper = Asked(lambda number: "ok" if number == 1 else reply)
    fitted = summarize(helper, THREE, room_for_parts(300))
    assert (fitted.outcome, fitted.receipt.summary_outcome, fitted.messages) == (outcome, reason, ())
    assert (fitted.receipt.parts, fitted.receipt.helper_calls) == (3, 2)
    assert seen_by(fitted) == [[0], [1], []]
    assert [s.reason for s in fitted.ledger if s.item_index == 2] == ["strategy"]


# covers STR-089
def test_a_merge_without_a_summary_rejects_all():
    helper = Asked(lambda number: "ok" if number < 4 else "")
    fitted = summarize(helper, THREE, room_for_parts(300))
    assert (fitted.receipt.reason, fitted.receipt.rounds, fitted.receipt.helper_calls) == (
        "empty_summary",
        1,
        4,
    )


# covers STR-090
def test_the_reply_for_a_part_is_cut_to_its_own_target():
    helper = Asked(lambda number: "p" * 500 if number < 4 else "done")
    fitted = summarize(helper, THREE, room_for_parts(300))
    # 50 - 14 tokens are 72 bytes, of which the ellipsis takes 3
    assert helper.bodies[3].splitlines()[1] == "p" * 69 + "…"
    assert fitted.receipt.flags == ("part_cut",)


# covers STR-091
def test_each_generation_has_limits_of_its_own():
    helper = Asked(lambda number: f"Reply {number}")
    budget = room_for_parts(300, max_calls=4, max_rounds=1)
    # the summary and an interlude of 576 tokens are three parts: the interlude is cut between its sentences
    fitted = summarize(helper, THREE, budget, generations=2, interlude="It went on. " * 95)
    assert helper.kinds == ["part", "part", "part", "merge"] * 2
    assert [call.generation_index for call in fitted.helper_calls] == [1] * 4 + [2] * 4
    assert [call.call_index for call in fitted.helper_calls] == list(range(8))
    source = f"[user] {HEADING}Reply 4\n\n[assistant] {'It went on. ' * 95}"
    assert "".join(helper.bodies[4:7]) == source
    assert all(body.endswith(("\n\n", "It went on. ")) for body in helper.bodies[4:7])
    assert fitted.messages[0].content == f"{HEADING}Reply 8"
    assert (fitted.receipt.parts, fitted.receipt.rounds) == (3, 1)
    assert seen_by(fitted) == [[0], [1], [2]]


# covers STR-093a
def test_parts_and_merges_of_the_slots_form_are_read_as_json():
    helper = Asked(lambda number: f'{{"Goal": "Reply {number}"}}')
    fitted = summarize(helper, THREE, room_for_parts(400), form="slots")
    assert helper.bodies[-1].startswith("[part 1 of 3]\nGoal: Reply 1\n\n[part 2 of 3]\n")
    assert fitted.messages[0].content == f"{HEADING}Goal: Reply 4"


# covers STR-098
def test_sent_tokens_may_exceed_the_source():
    helper = Asked(lambda number: "ok")
    fitted = summarize(helper, THREE, room_for_parts(300))
    assert fitted.receipt.helper_sent_tokens > fitted.receipt.source_tokens


# covers STR-005, STR-092
def test_messages_after_the_question_are_in_no_part():
    helper = Asked(lambda number: "ok")
    case = make_case(messages=(*THREE, user("And?"), assistant("Looking.")))
    fitted = asyncio.run(
        Summarize(client=helper, requested_tokens=TARGET).fit(case, room_for_parts(300), COUNTER)
    )
    assert not any("Looking" in body for body in helper.bodies)
    assert [m.content for m in fitted.messages] == [f"{HEADING}ok", "And?", "Looking."]


class Jumpy:
    """A counter by which a prompt that says which part it is of exactly three costs more than it was charged."""

    name = "jumpy"
    vocabulary_sha256 = None

    def __call__(self, text):
        return COUNTER(text) + 200 * ("of 3 of one" in text)


# covers STR-083, STR-151
def test_a_prompt_that_turns_out_over_the_allowance_is_not_sent():
    helper = Asked(lambda number: "ok")
    fitted = summarize(helper, THREE, room_for_parts(300), helper_counter=Jumpy())
    assert (fitted.receipt.reason, helper.requests) == ("partition_limit", [])
    assert (fitted.receipt.helper_calls, fitted.receipt.helper_sent_tokens) == (0, 0)


# covers BUD-062, STR-083
def test_every_prompt_is_measured_as_it_is_sent():
    helper = Asked(lambda number: "r" * 60)
    budget = room_for_parts(300)
    fitted = summarize(helper, [message(280)] * 9, budget)
    sizes = [prompt_tokens(request.messages[0].text) for request in helper.requests]
    assert sizes == [call.estimated_tokens for call in fitted.helper_calls]
    assert max(sizes) <= budget.allowance_tokens
    assert all(
        request.messages == (Message(role="user", content=request.messages[0].content),)
        for request in helper.requests
    )


# covers GEN-009, STR-083, RUN-100
def test_the_gate_before_every_call_lets_parts_and_merges_through():
    async def run():
        client, budget = stand_in("head"), room_for_parts(300)
        log = RowLog(case_id="c1", strategy="s", repeat=0, allowance_tokens=budget.allowance_tokens)
        row_at_work.set(log)
        async with client.open() as session:
            caller = Caller(client=client, session=session, counter=COUNTER)
            strategy = Summarize(client=caller, requested_tokens=TARGET)
            fitted = await strategy.fit(make_case(messages=(*THREE, user("And?"))), budget, COUNTER)
        return fitted, log.calls

    fitted, calls = asyncio.run(run())
    assert fitted.outcome == "summarized"
    assert [(call.stage, call.kind) for call in calls] == [("helper", "part")] * 3 + [("helper", "merge")]
    assert [call.estimated_tokens for call in calls] == [c.estimated_tokens for c in fitted.helper_calls]
