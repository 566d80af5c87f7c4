import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.budget import Budget, limits
from ctxlab.calls import Reply
from ctxlab.errors import CallError, StrategyError
from ctxlab.messages import Function, Message, Projected, Synthetic, ToolCall
from ctxlab.strategies.ledger import restore, source_parts
from ctxlab.strategies.parse import parse_strategies, with_helper
from ctxlab.strategies.plan import Memory, Plan
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize
from ctxlab.strategies.verify import violations
from ctxlab.tokens import UTF8_BYTES_1
from tests.factories import assistant, make_case, make_snippet, user
from tests.histories import cases

COUNTER = UTF8_BYTES_1  # one token per byte, so that sizes can be seen


class Scripted:
    """A helper that always answers the same."""

    def __init__(self, answer="SUMMARY 8080"):
        self.requests = []
        self.answer = answer

    async def complete(self, request):
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Reply(text=self.answer)


def allowing(tokens, **more):
    """A budget whose U is this."""
    return Budget(
        window_tokens=tokens + 1000, output_reserve_tokens=1000, protocol_reserve_tokens=0,
        safety_reserve_tokens=0, **more,
    )  # fmt: skip


def plan(messages, budget, helper=None, memory=None, **fields):
    case = make_case(messages=tuple(messages), **fields)
    return asyncio.run(Plan(client=helper).step(case, budget, COUNTER, memory=memory))


SYSTEM = Message(role="system", content="You help.")


def history(turns, characters=300):
    """Turns of a user's and an assistant's message, 16 + 21 + 2 * characters tokens each, then a question of 26."""
    said = [m for i in range(turns) for m in (user(f"u{i}" * (characters // 2)), assistant("a" * characters))]
    return [SYSTEM, *said, user("What now?!")]


CALL = ToolCall(id="c1", function=Function(name="read", arguments="{}"))


def running(*results, calls=(CALL,)):
    """A call and its results, after a question."""
    return [
        assistant(None, tool_calls=calls),
        *(Message(role="tool", content=r, tool_call_id=c.id) for r, c in zip(results, calls, strict=True)),
    ]


# covers STR-111, STR-007
def test_what_fits_is_the_same_list_and_the_memory_is_forgotten():
    messages = history(2)
    _, memory = plan(history(6), allowing(2500), memory=Memory())
    assert memory.result is not None
    fitted, after = plan(messages, allowing(2500), memory=memory)
    assert fitted.messages == tuple(messages)
    assert (fitted.outcome, fitted.receipt.plan_reason) == ("unchanged", "none")
    assert after == Memory()


# covers STR-110, STR-111
def test_m_itself_fits_and_one_token_less_does_not():
    messages = history(6)  # 27 + 6 * 637 + 26 = 3,875
    assert plan(messages, allowing(3875))[0].receipt.plan_reason == "none"
    assert plan(messages, allowing(3874))[0].receipt.plan_reason == "input_pressure"


# covers STR-113
def test_shortening_goes_to_four_fifths_of_m_with_a_memory_and_to_m_without():
    with_memory, memory = plan(history(6), allowing(3000), memory=Memory())
    assert with_memory.receipt.target_tokens == 2400
    assert with_memory.receipt.result_tokens <= 2400
    assert memory.messages == tuple(history(6))
    without, none = plan(history(6), allowing(3000))
    assert (without.receipt.target_tokens, none) == (3000, None)
    shortened = Shorten().fit(make_case(messages=tuple(history(6))), allowing(3000), COUNTER)
    assert without.messages == shortened.messages
    assert (without.outcome, without.receipt.plan_reason) == ("shortened", "input_pressure")


# covers STR-113
def test_a_result_over_the_target_but_within_m_is_used():
    messages = [SYSTEM, user("x" * 500), assistant("y" * 500), user("q" * 4000)]
    # preamble 27 and question 4,016 alone are over 4/5 of 5,000
    fitted, memory = plan(messages, allowing(5000), memory=Memory())
    assert fitted.receipt.target_tokens == 4000
    assert 4000 < fitted.receipt.result_tokens <= 5000
    assert (fitted.outcome, fitted.receipt.plan_reason) == ("shortened", "input_pressure")
    assert memory.result is not None


# covers STR-112
def test_a_remembered_result_is_used_again_with_the_new_messages_while_it_fits():
    messages = history(6)
    first, memory = plan(messages, allowing(3000), memory=Memory())
    added = [assistant("Noted."), user("And then?")]
    second, kept = plan([*messages, *added], allowing(3000), memory=memory)
    assert second.messages == (*first.messages, *added)
    assert (second.outcome, second.receipt.plan_reason) == ("shortened", "reused_projection")
    assert second.receipt.result_tokens == first.receipt.result_tokens + (12 + 9 + 6) + (12 + 4 + 9)
    assert kept == memory
    large = [*messages, assistant("z" * 1000), user("And then?")]
    assert plan(large, allowing(3000), memory=memory)[0].receipt.plan_reason == "input_pressure"


# covers STR-112
def test_another_beginning_or_a_smaller_m_does_not_use_what_is_remembered():
    messages = history(6)
    first, memory = plan(messages, allowing(3000), memory=Memory())
    other = [SYSTEM, user("Something else."), *messages[2:], assistant("Noted."), user("And then?")]
    assert plan(other, allowing(3000), memory=memory)[0].receipt.plan_reason == "input_pressure"
    longer = [*messages, assistant("Noted."), user("And then?")]
    smaller = allowing(first.receipt.result_tokens + 51)
    assert plan(longer, smaller, memory=memory)[0].receipt.plan_reason == "input_pressure"
    just = allowing(first.receipt.result_tokens + 52)
    assert plan(longer, just, memory=memory)[0].receipt.plan_reason == "reused_projection"


# covers STR-116
def test_a_run_fits_each_case_on_its_own():
    strategy = Plan()
    case = make_case(messages=tuple(history(6)))
    first = asyncio.run(strategy.fit(case, allowing(3000), COUNTER))
    longer = replace(case, messages=(*case.messages, assistant("Noted."), user("And then?")))
    second = asyncio.run(strategy.fit(longer, allowing(3000), COUNTER))
    assert [f.receipt.plan_reason for f in (first, second)] == ["input_pressure"] * 2
    assert first == asyncio.run(strategy.fit(case, allowing(3000), COUNTER))


def work(result=50):
    """Work in one turn: pinned are 27, a question of 3,316, a call of 49 and a result of 18 + its length."""
    said = [assistant("n" * 300) for _ in range(4)]
    return [SYSTEM, user("q" * 3300), *said, *running("r" * result)]


# covers STR-114, STR-092
def test_when_shortening_does_not_suffice_one_summary_of_all_that_is_not_pinned_is_sent():
    messages, helper, budget = work(), Scripted(), allowing(3700)
    refused, _ = plan(messages, budget)
    assert (refused.outcome, refused.receipt.plan_reason) == ("refused", "input_pressure")
    assert refused.receipt.result_tokens > 3700
    fitted, _ = plan(messages, budget, helper)
    assert (fitted.outcome, fitted.receipt.plan_reason) == ("summarized", "llm_fallback")
    summary = fitted.messages[1]
    assert isinstance(summary, Synthetic)
    assert "SUMMARY 8080" in summary.text
    assert fitted.messages == (SYSTEM, summary, messages[1], *messages[-2:])
    # 27 + 3,316 + 49 + 68 pinned, and 12 + 4 + 38 + 12 for the summary with its heading
    assert fitted.receipt.result_tokens == 3460 + 66
    assert (fitted.receipt.helper_calls, fitted.receipt.target_tokens) == (1, 370)
    assert helper.requests[0].target_tokens == limits(budget).turn_summary_tokens == 370
    assert {s.item_index for s in fitted.ledger if s.fate == "summarised"} == {2, 3, 4, 5}
    assert violations(make_case(messages=tuple(messages)), fitted, budget, COUNTER) == []


# covers STR-114
def test_there_is_no_call_while_shortening_suffices():
    helper = Scripted()
    fitted, _ = plan(work(), allowing(3900), helper)
    assert (fitted.outcome, fitted.receipt.plan_reason, helper.requests) == (
        "shortened",
        "input_pressure",
        [],
    )


# covers STR-112, STR-114
def test_an_accepted_summary_is_remembered_like_a_shortened_result():
    messages, helper = work(), Scripted()
    first, memory = plan(messages, allowing(3700), helper, Memory())
    added = [assistant("Noted.", tool_calls=(CALL,)), Message(role="tool", content="ok", tool_call_id="c1")]
    second, _ = plan([*messages, *added], allowing(3700), helper, memory)
    assert second.messages == (*first.messages, *added)
    assert (second.outcome, second.receipt.plan_reason) == ("summarized", "reused_projection")
    assert len(helper.requests) == 1


# covers STR-114
def test_an_overflow_that_pinned_messages_cause_costs_no_call():
    helper = Scripted()
    fitted, memory = plan(
        [SYSTEM, user("old"), assistant("x" * 900), user("q" * 2000)], allowing(1500), helper, Memory()
    )
    assert (fitted.outcome, fitted.receipt.reason) == ("refused", "pinned_too_large")
    assert (helper.requests, fitted.receipt.helper_calls, memory) == ([], 0, Memory())


# covers STR-114, STR-115
@pytest.mark.parametrize(
    ("allowance", "answer", "outcome", "calls"),
    [
        (3500, "SUMMARY 8080", "completed", 1),  # with the summary 3,526
        (3700, "   ", "empty_summary", 1),
        (3700, "long " * 100, "completed", 1),  # cut at 370 tokens: 3,830
    ],
)
def test_a_summary_that_is_not_usable_is_refused_and_its_call_counts(allowance, answer, outcome, calls):
    fitted, memory = plan(work(), allowing(allowance), Scripted(answer), Memory())
    receipt = fitted.receipt
    assert (fitted.outcome, receipt.reason, receipt.plan_reason) == (
        "refused",
        "target_not_reached",
        "llm_fallback",
    )
    assert (receipt.summary_outcome, receipt.helper_calls) == (outcome, calls)
    assert memory == Memory()


# covers STR-114, BUD-060
def test_where_summaries_are_off_the_fallback_makes_no_call():
    messages = [SYSTEM, user("q" * 200), *[assistant("n" * 900)] * 2, *running("r" * 50)]
    helper = Scripted()
    fitted, _ = plan(messages, allowing(600), helper)  # a tenth is 60 tokens, below the floor of 64
    assert (fitted.outcome, fitted.receipt.summary_outcome) == ("refused", "insufficient_budget")
    assert helper.requests == []


# covers STR-114
def test_a_failed_call_fails_the_fit():
    fitted, memory = plan(work(), allowing(3700), Scripted(CallError("timeout", duration_s=1.0)), Memory())
    assert (fitted.outcome, fitted.error.kind) == ("failed", "timeout")
    assert (fitted.messages, fitted.receipt.plan_reason) == ((), "llm_fallback")
    assert (fitted.receipt.helper_calls, memory) == (1, Memory())


# covers STR-115
def test_a_refusal_names_sizes_and_whether_compaction_ran():
    messages = [SYSTEM, user("old"), assistant("x" * 900), user("q" * 2000)]
    budget = allowing(1500, tool_tokens=100)
    receipt = plan(messages, budget)[0].receipt
    assert (receipt.allowance_tokens, receipt.message_allowance_tokens, receipt.tool_tokens) == (
        1500,
        1400,
        100,
    )
    assert (receipt.window_tokens, receipt.output_reserve_tokens, receipt.instruction_tokens) == (
        2500,
        1000,
        27,
    )
    assert receipt.result_tokens > 27 + 2016
    assert receipt.overshoot_tokens == receipt.result_tokens + 100 - 1500
    assert receipt.flags == ("compaction_ran",)
    assert receipt.omitted_messages is not None


# covers STR-115
def test_a_refusal_says_so_when_instructions_tools_and_reserves_fill_the_window():
    messages = [Message(role="system", content="s" * 500), user("old"), assistant("x"), user("q")]
    helper = Scripted()
    fitted, _ = plan(messages, allowing(600, tool_tokens=82), helper)  # 12 + 6 + 500 = 518 of 518
    assert fitted.receipt.flags == ("large_instructions", "no_compaction_can_help")
    assert (fitted.receipt.reason, fitted.receipt.omitted_messages) == ("pinned_too_large", 0)
    assert helper.requests == []
    assert "no_compaction_can_help" not in plan(messages, allowing(601, tool_tokens=82))[0].receipt.flags


# covers STR-005, STR-114
def test_the_newest_results_are_projected_when_they_leave_no_room_for_the_summary():
    messages = work(result=1500)
    fitted, _ = plan(messages, allowing(4200), Scripted())
    assert fitted.receipt.plan_reason == "llm_fallback"
    assert isinstance(fitted.messages[-1], Projected)
    assert violations(make_case(messages=tuple(messages)), fitted, allowing(4200), COUNTER) == []
    assert {s.fate for s in fitted.ledger if s.item_index == 7 and s.part == "content"} == {
        "projected",
        "omitted",
    }


# covers STR-023
def test_evidence_is_part_of_the_request_or_left_out_as_chosen():
    case = make_case(messages=tuple(history(6)), snippets=(make_snippet("s1", "E" * 400),))
    budget = allowing(3000)
    all_of_it = asyncio.run(Plan().fit(case, budget, COUNTER))
    none = asyncio.run(Plan(evidence="none").fit(case, budget, COUNTER))
    assert all_of_it.receipt.evidence_tokens > 400
    assert all_of_it.messages[-2].text.endswith("E" * 400)
    assert none.receipt.evidence_tokens == 0
    with pytest.raises(StrategyError, match="evidence"):
        Plan(evidence="some")


# covers STR-010, GEN-030
def test_plan_is_read_from_words_and_gets_the_helper_without_waiting_for_one():
    (strategy,) = parse_strategies("p=plan:evidence=none")
    assert strategy == Plan(evidence="none", label="p")
    helper = Scripted()
    planner, summary = with_helper([strategy, Summarize()], helper)
    assert planner.client is helper
    assert summary.client is helper
    assert planner.parameters == {"evidence": "none"}


class Echo(Scripted):
    async def complete(self, request):
        self.requests.append(request)
        return Reply(text=request.messages[0].text[:60])


# covers STR-002, STR-003, STR-004, STR-005, STR-006, STR-112
@given(case=cases(), allowance=st.integers(0, 6000), cut=st.integers(1, 40), smaller=st.integers(0, 3000))
@settings(max_examples=60, deadline=None)
def test_the_contract_holds_with_a_memory_at_any_step_and_size(case, allowance, cut, smaller):
    planner = Plan(client=Echo())
    memory = Memory()
    for end, tokens in ((min(cut, len(case.messages)), allowance), (len(case.messages), allowance - smaller)):
        part = replace(case, messages=case.messages[:end])
        budget = allowing(max(0, tokens))
        fitted, memory = asyncio.run(planner.step(part, budget, COUNTER, memory=memory))
        assert violations(part, fitted, budget, COUNTER) == []
        assert restore(fitted.ledger, part) == dict(source_parts(part))
