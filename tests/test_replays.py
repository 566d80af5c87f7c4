from dataclasses import replace
from pathlib import Path

import pytest

from ctxlab.budget import Budget
from ctxlab.calls import Reply
from ctxlab.checkpoints import Checkpoint, view
from ctxlab.errors import CallError
from ctxlab.estimates import messages_tokens
from ctxlab.importers import import_swe_agent, import_tau_bench
from ctxlab.messages import Function, Message, Synthetic, ToolCall
from ctxlab.replays import replay, replay_frame, request_ends
from ctxlab.standins import stand_in
from ctxlab.strategies.plan import Plan
from ctxlab.thresholds import Thresholds
from ctxlab.tokens import UTF8_BYTES_1, UTF8_BYTES_2
from tests.factories import assistant, make_case, make_snippet, user

SHARED = Path(__file__).parents[2] / "shared/data/agent-transcripts"
COUNTER = UTF8_BYTES_1  # one token per byte, so that sizes can be seen
SYSTEM = Message(role="system", content="You help.")


class Scripted:
    """A helper that answers each request with the next of its answers, and with the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers) or ["SUMMARY"]
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Reply(text=answer)


def allowing(tokens, **more):
    """A budget whose U is this."""
    return Budget(
        window_tokens=tokens + 1000, output_reserve_tokens=1000, protocol_reserve_tokens=0,
        safety_reserve_tokens=0, **more,
    )  # fmt: skip


def session(turns, characters=300, **fields):
    """Turns of a user's and an assistant's message: 12 + 4 + c and 12 + 9 + c tokens."""
    said = [
        message
        for i in range(turns)
        for message in (
            user(f"{i:02}" + "u" * (characters - 2)),
            assistant(f"{i:02}" + "a" * (characters - 2)),
        )
    ]
    return make_case(messages=(SYSTEM, *said), **fields)


def drive(case, budget, helper=None, **options):
    return replay(case, Plan(client=helper), budget, COUNTER, **options)


def attempts(done):
    return [step.index for step in done.steps if step.attempt is not None]


# covers STR-120
def test_a_session_has_a_request_before_each_assistant_message_and_one_for_the_whole():
    greeting = (assistant("Hello."), user("A"), assistant("B"), user("C"))
    assert request_ends(greeting) == (2, 4)
    assert request_ends((SYSTEM, *greeting)) == (1, 3, 5)
    assert request_ends((user("A"), assistant("B"))) == (1, 2)
    steps = drive(session(3), allowing(5000)).steps
    assert [step.messages for step in steps] == [2, 4, 6, 7]
    assert [step.index for step in steps] == [0, 1, 2, 3]


# covers STR-120, STR-127, STR-031
def test_each_step_is_one_row_with_what_it_shares_with_the_request_before():
    frame = replay_frame(drive(session(3), allowing(5000)))
    # 27, then 316 and 321 per turn
    assert frame["source_tokens"].tolist() == [343, 980, 1617, 1938]
    assert frame["result_tokens"].tolist() == [343, 980, 1617, 1938]
    assert frame["freed_tokens"].tolist() == [0, 0, 0, 0]
    assert frame["shared_prefix_tokens"].isna().tolist() == [True, False, False, False]
    assert frame["shared_prefix_tokens"].tolist()[1:] == [343, 980, 1617]
    assert frame["prefix_changed"].tolist()[1:] == [False] * 3
    assert frame["plan_reason"].tolist() == ["none"] * 4
    assert frame["calls"].tolist() == frame["sent_tokens"].tolist() == [0] * 4
    assert not [name for name in frame.columns if "cache" in name]


# covers STR-112, STR-116, STR-127
def test_the_memory_of_one_step_serves_the_next_ones():
    done = drive(session(8), allowing(3000))
    reasons = [step.fitted.receipt.plan_reason for step in done.steps]
    # 27 + 637 n + 316 is over 3,000 from n = 5 on; shortening to 2,400 leaves room for the next request
    assert reasons[:5] == ["none"] * 5
    assert reasons[5] == "input_pressure"
    assert "reused_projection" in reasons[6:]
    changed = {step.index: step.prefix_changed for step in done.steps}
    assert [i for i, c in changed.items() if c] == [i for i, r in enumerate(reasons) if r == "input_pressure"]
    first = done.steps[5]
    assert first.shared_prefix_tokens == 27  # the preamble: a digest stands where the first turn stood
    assert first.freed_tokens == first.source_tokens - first.fitted.receipt.result_tokens > 0


# covers STR-120
def test_without_a_helper_there_is_no_call_even_where_a_checkpoint_is_requested():
    done = drive(session(8), allowing(3000), checkpoints=range(20))
    assert [step.calls for step in done.steps] == [0] * 9
    assert done.checkpoints == ()


# covers STR-125, STR-121, STR-122
def test_a_checkpoint_is_made_ahead_of_need_from_the_trigger_on_with_the_history_target():
    helper = Scripted("Port 8080.")
    budget = allowing(4000)  # ahead from 2,800: step n has 27 + 637 n + 316 tokens, so step 4 with 2,891
    done = drive(session(6), budget, helper)
    assert attempts(done)[0] == 4
    assert [step.fitted.receipt.plan_reason for step in done.steps] == ["none"] * 7
    request = helper.requests[0]
    assert request.target_tokens == 800  # a fifth of 4,000
    assert (request.stage, request.kind) == ("helper", "whole")
    step = done.steps[4]
    made = step.fitted.messages[1]
    assert isinstance(made, Synthetic)
    assert made.made_by == "checkpoint"
    # recent turns may use 800: the running turn has 316 and the one before it 637, too much together
    assert step.fitted.messages == (SYSTEM, made, session(6).messages[9])
    assert (step.calls, step.sent_tokens) == (1, request.estimated_tokens)
    assert step.prefix_changed is True


# covers STR-122
@pytest.mark.parametrize(("share", "kept"), [("952/4000", 1), ("953/4000", 3), (1, 3)])
def test_a_recent_turn_stays_beside_a_checkpoint_if_both_fit_their_share(share, kept):
    budget = allowing(4000, thresholds=Thresholds(recent_keep_share=share))
    step = drive(session(6), budget, Scripted()).steps[4]
    assert step.fitted.messages[2:] == session(6).messages[10 - kept : 10]


# covers STR-122
@pytest.mark.parametrize(("most", "kept"), [(0, 1), (1, 1), (3, 5)])
def test_no_more_turns_stay_than_the_threshold_says_but_the_running_one_always(most, kept):
    budget = allowing(4000, thresholds=Thresholds(recent_keep_share=1, recent_keep_turns=most))
    step = drive(session(6), budget, Scripted()).steps[4]
    assert len(step.fitted.messages) == 2 + kept


# covers STR-121
def test_the_deepest_checkpoint_that_applies_stands_and_without_checkpoints_the_session_is_itself():
    messages = session(4).messages
    late = Message(role="system", content="Late rule.")
    messages = (*messages[:3], late, *messages[3:])
    shallow, deep = (
        Checkpoint(
            replaced=messages[:end], message=Synthetic(role="user", content=text, made_by="checkpoint")
        )
        for end, text in ((3, "shallow"), (6, "deep"))
    )
    assert view(messages, ()) == messages
    assert view(messages, (deep, shallow)) == (SYSTEM, deep.message, late, *messages[6:])
    assert view(messages, (shallow,)) == (SYSTEM, shallow.message, *messages[3:])
    assert view(messages[:5], (deep, shallow)) == (SYSTEM, shallow.message, *messages[3:5])
    other = (SYSTEM, user("Else."), *messages[2:])
    assert view(other, (deep, shallow)) == other


# covers STR-121
def test_a_session_has_at_most_32_checkpoints():
    helper = Scripted()
    budget = allowing(100_000, thresholds=Thresholds(minimum_gain_share=0))
    done = drive(session(45), budget, helper, checkpoints=range(60))
    assert len(done.steps) == 46
    assert len(done.checkpoints) == len(attempts(done)) == len(helper.requests) == 32


# covers STR-123
def test_a_gain_of_the_minimum_is_accepted_and_one_token_less_is_rejected():
    case, at = session(6), 4
    before = 27 + 637 * 4 + 316
    # preamble, checkpoint of 12 + 4 + heading 38 + n, running turn of 316; a tenth of 4,000 has to be gained
    longest = before - 400 - 27 - 316 - 12 - 4 - 38
    for length, accepted in ((longest, True), (longest + 1, False)):
        budget = allowing(4000, thresholds=Thresholds(history_summary_share=1, summary_share=1))
        budget = replace(
            budget,
            output_reserve_tokens=4000,
            window_tokens=8000,
            thresholds=replace(budget.thresholds, history_summary_cap_tokens=4000, minimum_gain_share="1/10"),
        )
        step = drive(case, budget, Scripted("s" * length), checkpoints=[]).steps[at]
        assert (step.attempt.checkpoint is not None) is accepted
        assert step.calls == 1


# covers STR-123
def test_a_rejection_keeps_the_checkpoint_before_it():
    helper = Scripted("First.", "x" * 700)
    budget = allowing(
        4000, thresholds=Thresholds(minimum_gain_share="3/10", ahead_trigger_share=1, recent_keep_turns=1)
    )
    done = drive(session(6), budget, helper, checkpoints=[3, 4])
    # at step 4 the new turn of 637 and the first checkpoint would become 754: a loss
    assert [step.attempt.checkpoint is not None for step in done.steps[3:5]] == [True, False]
    assert "First." in done.steps[4].fitted.messages[1].text
    assert len(done.checkpoints) == 1
    assert done.steps[4].calls == 1


# covers STR-124
def test_a_source_that_is_only_an_earlier_summary_is_not_summarised_again():
    calls = tuple(ToolCall(id=f"c{i}", function=Function(name="f", arguments="{}")) for i in range(2))
    work = [
        message
        for call in calls
        for message in (
            assistant(None, tool_calls=(call,)),
            Message(role="tool", content="ok", tool_call_id=call.id),
        )
    ]
    case = make_case(messages=(*session(3).messages, user("Work."), *work))
    helper = Scripted()
    done = drive(case, allowing(9000), helper, checkpoints=[3, 4, 5])
    assert attempts(done) == [3]
    assert len(helper.requests) == 1


# covers STR-124, STR-123
def test_a_rejected_attempt_is_not_repeated_on_an_unchanged_input():
    call = ToolCall(id="c1", function=Function(name="f", arguments="{}"))
    work = (
        assistant(None, tool_calls=(call,)),
        Message(role="tool", content="ok", tool_call_id="c1"),
        assistant("Done."),
    )
    case = make_case(messages=(*session(3).messages, user("Work."), *work))
    helper = Scripted("  ")
    done = drive(case, allowing(9000), helper, checkpoints=range(10))
    assert [step.attempt.condensed.fitted.receipt.summary_outcome for step in done.steps if step.attempt] == [
        "empty_summary"
    ] * 2
    assert attempts(done) == [2, 3]  # steps 4 and 5 have the history of step 3


# covers STR-123, STR-114
def test_a_failed_call_rejects_a_checkpoint_and_the_session_goes_on():
    helper = Scripted(CallError("timeout", duration_s=1.0), "Good.")
    done = drive(session(4), allowing(9000), helper, checkpoints=[2, 3])
    assert [step.fitted.outcome for step in done.steps] == ["unchanged"] * 5
    assert [step.calls for step in done.steps] == [0, 0, 1, 1, 0]
    assert len(done.checkpoints) == 1


# covers BUD-044
def test_the_next_attempt_waits_for_growth_after_what_the_last_one_left():
    helper = Scripted("  ")  # never usable: each attempt leaves the tokens that it found
    done = drive(session(12), allowing(10_000), helper)
    # ahead from 7,000: steps of 343 + 637 n: step 11 has 7,350, step 12 (the whole) 7,671 < 7,350 + 1,000
    assert attempts(done) == [11]
    longer = drive(session(14), allowing(10_000), helper)
    assert attempts(longer) == [11, 13]  # 8,624; step 12 has 7,987


# covers BUD-044
def test_without_a_message_allowance_nothing_is_tried():
    helper = Scripted()
    done = drive(session(4), allowing(100, tool_tokens=100), helper)
    assert {step.fitted.outcome for step in done.steps} == {"refused"}
    assert helper.requests == []


# covers STR-127
def test_a_refused_step_shares_nothing_and_the_next_one_is_compared_with_what_was_sent_last():
    case = make_case(messages=(SYSTEM, user("A"), assistant("B"), user("C"), assistant("D"), user("E")))
    done = drive(case, allowing(5000), budgets={1: allowing(10), 2: allowing(5000)})
    frame = replay_frame(done)
    assert frame["outcome"].tolist() == ["unchanged", "refused", "unchanged"]
    assert frame["result_tokens"].isna().tolist() == [False, True, False]
    assert frame["shared_prefix_tokens"].isna().tolist() == [True, True, False]
    assert frame["shared_prefix_tokens"].tolist()[2] == 27 + 17


def test_evidence_is_in_every_request_before_its_question():
    case = session(2, snippets=(make_snippet("s1", "E" * 40),))
    done = drive(case, allowing(5000))
    assert all(step.fitted.messages[-2].text.endswith("E" * 40) for step in done.steps[:-1])


# covers STR-120
def test_a_client_is_asked_where_the_planner_has_no_helper():
    helper_client = stand_in("extractive")
    done = replay(
        session(6, 900), Plan(), allowing(12_000), UTF8_BYTES_2, helper_client=helper_client, checkpoints=[4]
    )
    assert [step.calls for step in done.steps] == [0, 0, 0, 0, 1, 0, 0]
    assert replay_frame(done).attrs["client_kind"] == "stand-in:extractive"


def long_session(characters):
    """32 turns of two requests each, with one large result at turn 9."""
    messages = [SYSTEM]
    for turn in range(32):
        call = ToolCall(id=f"c{turn}", function=Function(name="read", arguments='{"path": "src/a.py"}'))
        size = characters * 20 if turn == 9 else characters
        messages += [
            user(f"Turn {turn}: " + "please look. " * (characters // 60)),
            assistant(None, tool_calls=(call,)),
            Message(role="tool", content=f"result {turn}\n" + "line\n" * (size // 5), tool_call_id=call.id),
            assistant(f"Turn {turn} is done. " + "It went well. " * (characters // 60)),
        ]
    return make_case(messages=tuple(messages[:-1]))


# covers STR-126
@pytest.mark.parametrize("with_helper", [True, False], ids=["helper", "alone"])
@pytest.mark.parametrize("window", [8192, 16_384, 32_768, 65_536, 131_072])
def test_64_steps_fit_with_few_compactions_and_few_changes_of_the_prefix(window, with_helper):
    budget = Budget(window_tokens=window)
    discovery = replace(budget, tool_tokens=budget.allowance_tokens // 10)
    smaller = replace(discovery, window_tokens=window * 3 // 4)
    planner = Plan(client=Scripted("Port 8080 is decided.") if with_helper else None)
    done = replay(
        long_session(window // 16), planner, budget, UTF8_BYTES_2,
        budgets={24: discovery, 44: smaller}, checkpoints=[34],
    )  # fmt: skip
    assert len(done.steps) == 64
    assert all(step.fitted.messages for step in done.steps)
    reasons = [step.fitted.receipt.plan_reason for step in done.steps]
    compactions = reasons.count("input_pressure") + reasons.count("llm_fallback") + len(done.checkpoints)
    changed = [step.prefix_changed for step in done.steps]
    assert 0 < compactions < 16
    assert 0 < changed.count(True) < 20
    assert changed.count(False) > 40
    for step in done.steps:
        now = budget if step.index < 24 else discovery if step.index < 44 else smaller
        assert messages_tokens(step.fitted.messages, UTF8_BYTES_2) + now.tool_tokens <= now.allowance_tokens


AIRLINE = SHARED / "tau-bench_gpt-4o-airline_tasks45-49_trial0.jsonl"
REPOSITORY = SHARED / "swe-agent/pydicom-1458.traj"


# covers STR-120, STR-126
@pytest.mark.skipif(not SHARED.exists(), reason="the public logs are not there")
@pytest.mark.parametrize(
    ("load", "path", "window", "allowance"),
    [(import_tau_bench, AIRLINE, 8192, 5912), (import_swe_agent, REPOSITORY, 16_384, 14_104)],
)
def test_logs_of_real_sessions_replay_within_the_window_and_keep_most_prefixes(load, path, window, allowance):
    for case in load(path).cases[:2]:
        planner = Plan(client=Scripted("Noted."))
        frame = replay_frame(replay(case, planner, Budget(window_tokens=window), UTF8_BYTES_2))
        assert len(frame) == len(request_ends(case.messages))
        assert (frame["result_tokens"] <= allowance).all()
        assert frame["source_tokens"].max() > allowance
        assert (~frame["prefix_changed"].dropna()).mean() > 0.5
        assert 0 < frame["calls"].sum() < 16
