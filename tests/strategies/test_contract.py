"""What holds for every strategy: nothing over the allowance, no orphan, every character accounted for."""

import asyncio
from dataclasses import replace

import pytest

from ctxlab.budget import Budget
from ctxlab.calls import Reply
from ctxlab.errors import CallError
from ctxlab.messages import Function, Message, Synthetic, ToolCall
from ctxlab.strategies.base import FittedContext, Span
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.full import Empty, Full
from ctxlab.strategies.ledger import coverage_faults
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize
from ctxlab.strategies.verify import violations
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, make_snippet, user

COUNTER = token_counter(None)


class Echo:
    """A helper that answers with the middle of what it was asked."""

    def __init__(self, error=None):
        self.requests = []
        self.error = error

    async def complete(self, request):
        self.requests.append(request)
        if self.error:
            raise self.error
        return Reply(text=request.messages[0].text[:400])


def fit(strategy, case, budget):
    fitted = strategy.fit(case, budget, COUNTER)
    return fitted if isinstance(fitted, FittedContext) else asyncio.run(fitted)


HISTORY = (
    Message(role="system", content="You help."),
    user("First question about port 8080?"),
    assistant("Port 8080 is open."),
    user("What now?"),
)


# covers STR-040
def test_full_sends_everything_or_is_not_applicable():
    case = make_case(messages=HISTORY, snippets=(make_snippet("s1", "Evidence text.", title="T"),))
    fitted = fit(Full(), case, Budget())
    evidence = "Evidence:\n\n[s1] T\nEvidence text."
    assert [m.content for m in fitted.messages] == [
        "You help.",
        "First question about port 8080?",
        "Port 8080 is open.",
        evidence,
        "What now?",
    ]
    assert fitted.outcome == "unchanged"
    small = fit(Full(), case, Budget(window_tokens=2300))  # U = 20
    assert (small.outcome, small.receipt.reason, small.messages) == ("not_applicable", "full_too_large", ())


# covers STR-020, STR-021, STR-023
def test_evidence_is_one_user_message_right_before_the_question_and_is_priced():
    case = make_case(messages=HISTORY, snippets=(make_snippet("s1", "A"), make_snippet("s2", "B", title="t")))
    fitted = fit(Full(), case, Budget())
    evidence = fitted.messages[-2]
    assert isinstance(evidence, Synthetic)
    assert (evidence.role, evidence.made_by) == ("user", "evidence")
    assert evidence.content == "Evidence:\n\n[s1] \nA\n\n[s2] t\nB"
    # 12 + role 2 + ceil(28 / 2) = 28 tokens
    assert fitted.receipt.evidence_tokens == 28
    assert fitted.receipt.message_allowance_tokens == 5912 - 28
    none = fit(Shorten(evidence="none"), case, Budget())
    assert none.receipt.evidence_tokens == 0
    assert all(not isinstance(m, Synthetic) for m in none.messages)
    assert {s.fate for s in none.ledger if s.item == "snippet"} == {"omitted"}


# covers STR-041
def test_empty_sends_system_messages_question_and_running_turn_only():
    messages = (
        *HISTORY[:3],
        Message(role="system", content="In the middle."),
        user("And now?"),
        assistant("Working on it."),
    )
    fitted = fit(Empty(), make_case(messages=messages), Budget())
    assert [m.content for m in fitted.messages] == [
        "You help.",
        "In the middle.",
        "And now?",
        "Working on it.",
    ]
    assert fitted.outcome == "shortened"
    assert {(s.fate, s.reason) for s in fitted.ledger if s.item_index in (1, 2)} == {("omitted", "strategy")}


# covers STR-030, STR-031, STR-032
def test_a_receipt_states_what_was_counted_and_holds_no_text():
    case = make_case(messages=HISTORY)
    receipt = fit(Empty(), case, Budget(window_tokens=4096, output_reserve_tokens=512)).receipt
    # 12 + 3 + 5 = 20; 12 + 2 + 16 = 30; 12 + 5 + 9 = 26; 12 + 2 + 5 = 19
    assert (receipt.source_tokens, receipt.result_tokens, receipt.freed_tokens) == (95, 39, 56)
    assert (receipt.pinned_tokens, receipt.allowance_tokens) == (39, 2304)
    assert (receipt.strategy, receipt.counter, receipt.accounting) == ("empty", "utf8_bytes_2", "chat")
    assert receipt.omitted_messages == 2
    for text in ("port 8080", "You help", "What now"):
        assert text not in repr(receipt)


def tampered(fitted, **changes):
    return replace(fitted, **changes)


# covers STR-012
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda f: tampered(f, messages=f.messages[1:]), "STR-003"),
        (lambda f: tampered(f, messages=f.messages[:-1]), "STR-004"),
        (
            lambda f: tampered(f, messages=(f.messages[0], f.messages[2], f.messages[1], f.messages[3])),
            "STR-006",
        ),
        (lambda f: tampered(f, messages=(*f.messages, user("One more."))), "STR-004"),
        (lambda f: tampered(f, ledger=f.ledger[1:]), "cover"),
        (lambda f: tampered(f, ledger=(*f.ledger, f.ledger[0])), "cover"),
        (lambda f: tampered(f, messages=()), "no message"),
        (lambda f: tampered(f, outcome="refused"), "not sent"),
    ],
    ids=range(8),
)
def test_the_check_after_every_fit_finds_what_no_strategy_may_do(change, found):
    case = make_case(messages=HISTORY)
    fitted = fit(Full(), case, Budget())
    assert violations(case, fitted, Budget(), COUNTER) == []
    faults = " | ".join(violations(case, change(fitted), Budget(), COUNTER))
    assert found in faults or (found == "cover" and "out of order" in faults)


# covers STR-012, STR-002
def test_a_result_over_the_allowance_is_found():
    case = make_case(messages=HISTORY)
    fitted = fit(Full(), case, Budget())
    assert violations(case, fitted, Budget(window_tokens=2374), COUNTER) == [  # U = 94
        "STR-002: 95 tokens of messages, allowed 94"
    ]
    assert violations(case, fitted, Budget(window_tokens=2375), COUNTER) == []


# covers STR-005, STR-006
def test_a_call_group_kept_in_part_is_found():
    call = ToolCall(id="c1", function=Function(name="read", arguments="{}"))
    messages = (
        user("Read it."),
        assistant(None, tool_calls=(call,)),
        Message(role="tool", content="text", tool_call_id="c1"),
        assistant("Done."),
        user("What now?"),
    )
    case = make_case(messages=messages)
    fitted = fit(Full(), case, Budget())
    ledger = tuple(
        replace(s, fate="omitted", reason="strategy") if s.item_index == 2 else s for s in fitted.ledger
    )
    broken = replace(fitted, messages=tuple(m for i, m in enumerate(messages) if i != 2), ledger=ledger)
    assert "STR-006: a call group is kept in part" in violations(case, broken, Budget(), COUNTER)


# covers STR-037
def test_a_span_that_does_not_stand_where_the_ledger_says_is_found():
    case = make_case(messages=HISTORY)
    fitted = fit(Empty(), case, Budget())
    ledger = tuple(
        replace(s, fate="digested", reason=None) if s.item_index == 2 else s for s in fitted.ledger
    )
    assert violations(case, replace(fitted, ledger=ledger), Budget(), COUNTER) == [
        "STR-037: a digested span is not in the result"
    ]


# covers STR-034
def test_coverage_finds_gaps_overlaps_and_missing_reasons():
    case = make_case(messages=(user("abc"),))
    whole = Span(item="message", item_index=0, part="content", start=0, end=3, fate="kept")
    assert coverage_faults([whole], case) == []
    assert coverage_faults([replace(whole, end=2)], case) == ["the spans do not cover the source exactly"]
    assert coverage_faults([replace(whole, end=2), replace(whole, start=1)], case)
    assert coverage_faults([replace(whole, fate="omitted")], case)
    assert coverage_faults([], case)


# covers STR-095, STR-097
def test_a_failed_helper_call_fails_the_fit_and_keeps_what_was_tried():
    case = make_case(messages=HISTORY)
    helper = Echo(error=CallError("timeout", duration_s=1.0))
    fitted = fit(Summarize(client=helper), case, Budget())
    assert (fitted.outcome, fitted.receipt.summary_outcome, fitted.messages) == ("failed", "failed", ())
    assert fitted.error.kind == "timeout"
    assert len(fitted.helper_calls) == 1
    assert {s.fate for s in fitted.ledger if s.item_index == 2} == {"summarised"}


LONG = make_case(
    messages=(Message(role="system", content="s" * 400), *(user("u" * 400) for _ in range(6)), user("q"))
)
"""A preamble of 218 tokens, six messages of 214, and a question of 15."""


# covers STR-015
@pytest.mark.parametrize(
    ("strategy", "window", "reason"),
    [
        (Full(), 1000, "full_too_large"),
        (Empty(), 200, "pinned_too_large"),
        (Shorten(), 200, "pinned_too_large"),
        (Extract(), 200, "pinned_too_large"),
        (Shorten(target_tokens=240), 1000, "target_not_reached"),
        (Summarize(client=Echo(), requested_tokens=4000), 1_000_000, "no_gain"),
        (Summarize(client=Echo()), 250, "insufficient_budget"),
        (Summarize(client=Echo()), 200, "pinned_too_large"),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else str(value),
)
def test_a_refusal_has_a_reason_of_the_list_and_sends_nothing(strategy, window, reason):
    budget = Budget(
        window_tokens=window + 4000,
        output_reserve_tokens=4000,
        protocol_reserve_tokens=0,
        safety_reserve_tokens=0,
    )
    case = LONG if reason != "no_gain" else make_case(messages=(user("short"), user("q")))
    fitted = fit(strategy, case, budget)
    assert (fitted.receipt.reason, fitted.messages) == (reason, ())
    assert fitted.outcome == ("not_applicable" if reason == "full_too_large" else "refused")
    assert len(fitted.helper_calls) == (reason == "no_gain")
