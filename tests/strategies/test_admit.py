"""Evidence beside a history: all, admitted or none; what the ledger, the receipt and the facts say of it."""

import asyncio
from dataclasses import replace

import pytest

from ctxlab.admission.rendering import NOTICE
from ctxlab.budget import Budget, Thresholds
from ctxlab.facts import judge_facts
from ctxlab.messages import Message, Synthetic
from ctxlab.strategies.admit import Admit
from ctxlab.strategies.base import FittedContext
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.full import Full
from ctxlab.strategies.parse import parse_strategies
from ctxlab.strategies.plan import Plan
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize
from ctxlab.strategies.verify import violations
from ctxlab.tokens import UTF8_BYTES_1
from tests.factories import assistant, make_case, make_fact, make_snippet, user
from tests.parts import Asked

HISTORY = (
    Message(role="system", content="You help."),
    user("Which port?"),
    assistant("Port 8080."),
    user("What now?"),
)
# each message 12 + role + content: 12+6+9, 12+4+11, 12+9+10, 12+4+9
HISTORY_TOKENS = 27 + 27 + 31 + 25
AROUND = 12 + 4 + len("Evidence:\n\n") + len(NOTICE)


def fit(strategy, case, budget):
    fitted = strategy.fit(case, budget, UTF8_BYTES_1)
    fitted = fitted if isinstance(fitted, FittedContext) else asyncio.run(fitted)
    assert violations(case, fitted, budget, UTF8_BYTES_1) == []
    return fitted


def leaving(tokens, **fields):
    """A budget whose allowance is this many tokens."""
    return Budget(
        window_tokens=tokens,
        output_reserve_tokens=0,
        protocol_reserve_tokens=0,
        safety_reserve_tokens=0,
        **fields,
    )


def evidence_of(fitted):
    return [m for m in fitted.messages if isinstance(m, Synthetic) and m.made_by == "evidence"]


OLD = make_snippet(
    "old", "Limit: 30 seconds.", title="Limit", evidence_time="2024-01-01"
)  # [old] Limit: 12 + 18 + 2
NEW = make_snippet("new", "Limit: 45 seconds.", title="limit", evidence_time="2025-01-01")
CASE = make_case(messages=HISTORY, snippets=(OLD, NEW))


# covers STR-020, STR-022, ADM-002
def test_admit_keeps_the_history_whole_and_gives_the_evidence_what_is_left():
    fitted = fit(Admit(), CASE, leaving(HISTORY_TOKENS + AROUND + 32))
    assert fitted.outcome == "admitted"
    (evidence,) = evidence_of(fitted)
    assert fitted.messages == (*HISTORY[:3], evidence, HISTORY[3])
    assert evidence.role == "user"
    assert evidence.content == f"Evidence:\n\n[new] limit\nLimit: 45 seconds.\n\n{NOTICE}"
    receipt = fitted.receipt
    assert (receipt.admitted, receipt.omitted, receipt.clipped) == (1, 1, 0)
    assert (receipt.result_tokens, receipt.evidence_tokens) == (HISTORY_TOKENS + AROUND + 32, AROUND + 32)
    assert receipt.admission.omitted == {"old": "no_complete_sentence"}
    assert receipt.admission.estimated_input_tokens == receipt.allowance_tokens


# covers STR-022, ADM-009
@pytest.mark.parametrize(
    ("missing", "reason"), [(1, "no_evidence_admitted"), (AROUND + 33, "pinned_too_large")]
)
def test_admit_refuses_when_no_evidence_or_not_even_the_history_fits(missing, reason):
    fitted = fit(Admit(), CASE, leaving(HISTORY_TOKENS + AROUND + 32 - missing))
    assert (fitted.outcome, fitted.receipt.reason, fitted.messages) == ("refused", reason, ())
    assert fitted.receipt.result_tokens is None
    assert {s.fate for s in fitted.ledger} == {"omitted"}
    reasons = {s.item_index: s.reason for s in fitted.ledger if s.item == "snippet"}
    assert reasons == dict(enumerate(fitted.receipt.admission.omitted.values()))


# covers ADM-009, STR-020
def test_a_case_without_snippets_is_sent_as_it_is_or_refused():
    case = make_case(messages=HISTORY)
    fitted = fit(Admit(), case, leaving(HISTORY_TOKENS))
    assert (fitted.outcome, fitted.messages) == ("unchanged", HISTORY)
    assert fitted.receipt.admission.request_built
    refused = fit(Admit(), case, leaving(HISTORY_TOKENS - 1))
    assert (refused.outcome, refused.receipt.reason) == ("refused", "pinned_too_large")


# covers ADM-008, STR-021
def test_full_shows_every_snippet_in_rank_order_without_label_and_has_no_account_of_admission():
    fitted = fit(Full(), CASE, leaving(1000))
    (evidence,) = evidence_of(fitted)
    assert (
        evidence.content == "Evidence:\n\n[old] Limit\nLimit: 30 seconds.\n\n[new] limit\nLimit: 45 seconds."
    )
    receipt = fitted.receipt
    assert (receipt.admission, receipt.admitted, receipt.omitted, receipt.clipped) == (None, None, None, None)
    assert [s.fate for s in fitted.ledger if s.item == "snippet"] == ["kept", "kept"]


CLIPPED = make_snippet(
    "c",
    "The first rule said that the port is 8080. Port 9443 is used.  \n",
    title="Ports",
    evidence_time="2025-01-01",
)


# covers ADM-063, STR-022, ADM-024
def test_the_ledger_tells_the_fate_of_every_character_of_a_clip():
    case = make_case(messages=HISTORY, snippets=(CLIPPED, make_snippet("e", ""), make_snippet("w", " \n")))
    fitted = fit(Admit(), case, leaving(HISTORY_TOKENS + AROUND + 10 + 64 + 2 - 1))
    spans = [(s.item_index, s.start, s.end, s.fate, s.reason) for s in fitted.ledger if s.item == "snippet"]
    assert spans == [
        (0, 0, 43, "omitted", "clipped_away"),
        (0, 43, 61, "clipped", None),
        (0, 61, 64, "omitted", "clipped_away"),
        (1, 0, 0, "omitted", "empty"),
        (2, 0, 2, "omitted", "empty"),
    ]
    assert "[c] Ports\n… Port 9443 is used.\n\n" in evidence_of(fitted)[0].content


# covers EVA-023, ADM-074
def test_facts_are_looked_for_in_what_was_admitted_or_clipped_and_nowhere_else():
    facts = (
        make_fact("clipped", "9443"),
        make_fact("cut-away", "first rule"),
        make_fact("omitted", "30 s", match="substring"),
        make_fact("admitted", "45 s", match="substring"),
        make_fact("under-label", "60 s", match="substring"),
    )
    older = make_snippet("x", "It was 60 s.", title="limit", evidence_time="2023-01-01")
    oldest = make_snippet("y", "The limit is 30 s, or so it was.", title="limit", evidence_time="2022-01-01")
    case = make_case(messages=HISTORY, snippets=(NEW, older, oldest, CLIPPED), facts=facts)
    # new takes 12 + 18 + 2, x `[x] (older) limit` 18 + 12 + 2, the clip 10 + 4 + 18 + 2
    fitted = fit(Admit(), case, leaving(HISTORY_TOKENS + AROUND + 32 + 32 + 34))
    assert fitted.receipt.admission.admitted == ("new", "x", "c")
    assert fitted.receipt.admission.labels == {"x": "older"}
    judged = {fact.fact_id: fact for fact in judge_facts(case, fitted.messages, None)}
    assert {name: fact.in_context for name, fact in judged.items()} == {
        "clipped": True, "cut-away": False, "omitted": False, "admitted": True, "under-label": True,
    }  # fmt: skip
    assert {fact.source for fact in judged.values()} == {"snippet"}


LONG = make_case(
    messages=(
        *(m for i in range(40) for m in (user(f"Question {i}?"), assistant(f"Answer {i}. " * 8))),
        user("What now?"),
    ),
    snippets=tuple(
        make_snippet(f"s{i}", f"Statement number {i} is here. " * 6, title=f"Title {i}") for i in range(12)
    ),
)
HISTORY_STRATEGIES = (
    Shorten(evidence="admit"),
    Extract(evidence="admit"),
    Summarize(evidence="admit", client=Asked(lambda n: "The answers were given."), requested_tokens=256),
    Plan(evidence="admit"),
)


# covers STR-023, STR-024
@pytest.mark.parametrize("strategy", HISTORY_STRATEGIES, ids=lambda s: s.kind)
def test_history_strategies_set_aside_a_share_and_admit_into_all_that_is_left(strategy):
    # the whole evidence is over 2/5 of U = 4,000, so 1,600 are set aside
    fitted = fit(strategy, LONG, leaving(4000) if strategy.kind != "summarize" else _with_output(4000))
    receipt = fitted.receipt
    assert receipt.message_allowance_tokens == 4000 - 1600
    assert fitted.outcome in ("shortened", "extracted", "summarized")
    assert receipt.admitted > 0
    assert receipt.admitted + receipt.omitted == 12
    history = receipt.result_tokens - receipt.evidence_tokens
    assert history <= 2400
    # nothing else fits: the shortest entry left out takes more than what is free
    assert 4000 - receipt.result_tokens < min(
        (d.tokens for d in receipt.admission.decisions if d.reason), default=4001
    )


def _with_output(tokens):
    return replace(leaving(tokens), window_tokens=tokens + 500, output_reserve_tokens=500)


# covers STR-024
def test_the_whole_evidence_is_set_aside_if_it_is_smaller_than_the_share():
    whole = fit(Full(), CASE, leaving(4000)).receipt.evidence_tokens
    fitted = fit(Shorten(evidence="admit"), CASE, leaving(4000))
    assert fitted.receipt.message_allowance_tokens == 4000 - whole
    narrow = leaving(4000, thresholds=Thresholds(evidence_share="1/100"))
    assert fit(Shorten(evidence="admit"), CASE, narrow).receipt.message_allowance_tokens == 4000 - 40


# covers STR-023
def test_all_subtracts_the_whole_evidence_and_none_shows_none():
    everything = fit(Shorten(), CASE, leaving(4000))
    assert everything.receipt.message_allowance_tokens == 4000 - everything.receipt.evidence_tokens
    nothing = fit(Shorten(evidence="none"), CASE, leaving(4000))
    assert nothing.receipt.message_allowance_tokens == 4000
    assert evidence_of(nothing) == []


# covers STR-023
def test_a_history_that_fits_with_admitted_evidence_is_told_as_admitted():
    fitted = fit(Shorten(evidence="admit"), CASE, leaving(1000))
    assert fitted.outcome == "admitted"
    assert [m for m in fitted.messages if not isinstance(m, Synthetic)] == list(HISTORY)


# covers STR-092
def test_a_summary_beside_admitted_evidence_has_to_make_the_request_smaller():
    strategy = Summarize(evidence="admit", client=Asked(lambda n: "word " * 11), requested_tokens=256)
    case = make_case(messages=HISTORY, snippets=(NEW,))
    assert fit(strategy, case, _with_output(2000)).receipt.reason == "no_gain"


# covers ADM-009
def test_a_history_beside_which_no_evidence_fits_is_refused():
    big = make_case(messages=HISTORY, snippets=(make_snippet("b", "x" * 5000),))
    fitted = fit(Shorten(evidence="admit"), big, leaving(1000))
    assert (fitted.outcome, fitted.receipt.reason) == ("refused", "no_evidence_admitted")
    assert fitted.receipt.admission.omitted == {"b": "incomplete_tail"}


# covers STR-030, STR-032
def test_flags_of_lineage_stand_on_the_receipt_which_holds_no_text():
    loop = tuple(
        make_snippet(name, f"Secret {name}.", title=f"Hidden {name}", superseded_by=(other,))
        for name, other in (("a", "b"), ("b", "a"))
    )
    fitted = fit(Admit(), make_case(messages=HISTORY, snippets=loop), leaving(1000))
    assert fitted.receipt.flags == ("lineage_cycle",)
    assert "Secret" not in repr(fitted.receipt)
    assert "Hidden" not in repr(fitted.receipt)


# covers STR-012, STR-020
@pytest.mark.parametrize(
    "order",
    [(0, 1, 2, 4), (0, 1, 2, 4, 3), (0, 3, 1, 2, 4), (0, 1, 2, 3, 3, 4)],
    ids=["gone", "after", "early", "twice"],
)
def test_the_check_after_every_fit_finds_evidence_that_is_not_right_before_the_question(order):
    budget = leaving(2000)
    fitted = fit(Admit(), CASE, budget)
    moved = replace(fitted, messages=tuple(fitted.messages[i] for i in order))
    assert any(fault.startswith("STR-020") for fault in violations(CASE, moved, budget, UTF8_BYTES_1))


# covers STR-012, STR-037
def test_the_check_after_every_fit_finds_an_admitted_snippet_that_is_not_there():
    budget = leaving(HISTORY_TOKENS + AROUND + 32)
    fitted = fit(Admit(), CASE, budget)
    claimed = tuple(
        replace(s, fate="admitted", reason=None) if s.item == "snippet" else s for s in fitted.ledger
    )
    faults = violations(CASE, replace(fitted, ledger=claimed), budget, UTF8_BYTES_1)
    assert faults == ["STR-037: a admitted span is not in the result"]


# covers GEN-003, GEN-030
def test_admit_and_evidence_are_given_in_words():
    admit, shorten = parse_strategies("admit,shorten:evidence=admit")
    assert (admit, admit.name, admit.parameters) == (Admit(), "admit", {"order": "lineage"})
    assert shorten == Shorten(evidence="admit")
