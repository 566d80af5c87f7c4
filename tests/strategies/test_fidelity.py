"""The fidelity guard: names that bind, were rejected or are pending are in the summary, or there is none."""

import asyncio

import pytest

from ctxlab.budget import Budget
from ctxlab.calls import Reply
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.strategies.base import Span
from ctxlab.strategies.fidelity import guarded_identifiers, lost_identifiers
from ctxlab.strategies.summarize import Summarize
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, user

CALL = ToolCall(id="c1", function=Function(name="run", arguments="{}"))
PADDING = " And so on, at some length." * 30

HISTORY = (
    user("Never touch /etc/hosts. The report is in out/report.md." + PADDING),
    assistant("Plan B-12 was rejected. Ticket OPS-77 is still pending. We decided on port 9090." + PADDING),
)


def summarize(replies, messages=HISTORY, **options):
    replies = list(replies)

    class Scripted:
        async def complete(self, request):
            return Reply(text=replies.pop(0))

    strategy = Summarize(client=Scripted(), **{"fidelity_guard": True, **options})
    case = make_case(messages=(*messages, user("What now?")))
    return asyncio.run(strategy.fit(case, Budget(), token_counter(None)))


# covers STR-096, STR-095, STR-098
@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Keep /etc/hosts as it is; no B-12; OPS-77 open.", "completed"),
        ("keep /ETC/HOSTS\nas it is, b-12, ops-77", "completed"),
        ("No B-12; OPS-77 open.", "fidelity_rejected"),
        ("Keep /etc/hosts; OPS-77 open.", "fidelity_rejected"),
        ("Keep /etc/hosts; no B-12; port 9090; out/report.md", "fidelity_rejected"),
        # the name has to stand alone
        ("Keep /etc/hosts; no B-120; OPS-77 open.", "fidelity_rejected"),
    ],
    ids=["all", "letter case", "constraint lost", "rejection lost", "pending lost", "part of a longer name"],
)
def test_a_summary_without_a_guarded_name_is_rejected(reply, outcome):
    fitted = summarize([reply])
    receipt = fitted.receipt
    assert receipt.summary_outcome == outcome
    assert (fitted.messages == ()) == (outcome != "completed")
    assert receipt.reason == (None if outcome == "completed" else outcome)
    assert receipt.helper_calls == 1
    assert (receipt.helper_result_tokens == 0) == (outcome != "completed")
    assert {s.fate for s in fitted.ledger if s.item_index < 2} == {"summarised"}


# covers STR-096, STR-080
def test_without_the_guard_names_may_be_lost():
    assert summarize(["Nothing."], fidelity_guard=False).outcome == "summarized"
    assert Summarize().fidelity_guard is False


# covers STR-096
def test_a_name_lost_by_a_later_generation_or_by_the_cut_is_lost():
    kept = "Keep /etc/hosts; no B-12; OPS-77 open."
    lost = summarize([kept, "Keep /etc/hosts; no B-12.", kept], generations=3)
    assert (lost.receipt.reason, lost.receipt.helper_calls) == ("fidelity_rejected", 2)
    assert summarize([kept, kept, kept], generations=3).outcome == "summarized"
    assert summarize(["x" * 2000 + kept]).receipt.reason == "fidelity_rejected"


# covers STR-096
def test_sentences_of_all_messages_but_pinned_ones_are_guarded():
    case = make_case(
        messages=(
            Message(role="system", content="Never use SYS-1."),
            user("Never use USR-2. Perhaps USR-3."),
            assistant("TOD-4 is pending.", tool_calls=(CALL,)),
            Message(role="tool", content="must not run: LIN-5\nran: LIN-6", tool_call_id="c1"),
            user("Never ask QUE-7?"),
        )
    )
    assert guarded_identifiers(case) == {"USR-2", "TOD-4", "LIN-5"}


# covers STR-096, STR-081
def test_what_a_projection_hid_in_part_cannot_be_demanded():
    case = make_case(messages=(user("Never use A-1. Never use B-2. Never use C-3."), user("And?")))
    # the three sentences begin at 0, 15 and 30 and end at 14, 29 and 44
    hidden = Span(
        item="message", item_index=0, part="content", start=14, end=30, fate="omitted", reason="projection"
    )
    assert guarded_identifiers(case, [hidden]) == {"A-1", "C-3"}
    other = [
        user("Run."),
        assistant(None, tool_calls=(CALL,)),
        Message(
            role="tool",
            content=f"must keep A-1\n{'y' * 4000}\nmust keep B-2\n{'z' * 2000}",
            tool_call_id="c1",
        ),
    ]
    assert summarize(["A-1 it is"], other).outcome == "summarized"
    assert summarize(["B-2 it is"], other).receipt.reason == "fidelity_rejected"


# covers STR-096
def test_names_are_compared_as_literals_of_facts_are():
    assert lost_identifiers(["A-1", "B-2"], "a-1 and B-22") == {"B-2"}
    assert lost_identifiers(["caf\u00e9_x"], "cafe\u0301_x") == frozenset()
    assert lost_identifiers(["12 ms"], "took 12\n ms") == frozenset()
