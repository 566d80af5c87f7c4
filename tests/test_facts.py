"""Facts and fates: where literals are, and what an answer makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.dataset import Pattern
from ctxlab.facts import PatternTime, fact_warnings, is_judged, judge_facts
from ctxlab.messages import Function, Message, Synthetic, ToolCall
from ctxlab.records import FATES
from tests.factories import assistant, make_case, make_fact, make_snippet, summary, user

QUESTION = user("What is left to do?")


def near(phrase: str) -> Pattern:
    return Pattern(phrase=phrase, near=True)


def case_of(*facts, history=(), snippets=(), question=QUESTION, **fields):
    return make_case(facts=facts, messages=(*history, question), snippets=snippets, **fields)


def fate_of(fact, answer, *, history=(), fitted=None, **fields):
    (result,) = judge_facts(case_of(fact, history=history, **fields), fitted, answer)
    return result.fate, result.detail


# Where literals are found


# covers EVA-020
@pytest.mark.parametrize(
    ("history", "snippets", "expected"),
    [
        ("Port 8080 is open.", "", "history"),
        ("Nothing.", "Port 8080 is open.", "snippet"),
        ("Port 8080.", "Also 8080.", "both"),
        ("Nothing.", "Nothing.", "none"),
    ],
)
def test_a_fact_is_in_the_source_if_history_or_snippets_hold_a_literal(history, snippets, expected):
    case = case_of(make_fact("f1", "8080"), history=[user(history)], snippets=[make_snippet(text=snippets)])
    (result,) = judge_facts(case, None, None)
    assert result.source == expected
    assert result.in_source is (expected != "none")


# covers EVA-020
def test_the_question_is_neither_source_nor_context():
    question = user("Is port 8080 open?")
    case = case_of(make_fact("f1", "8080"), history=[user("Hello.")], question=question)
    (result,) = judge_facts(case, case.messages, None)
    assert (result.in_source, result.in_context) == (False, False)


# covers EVA-020
def test_an_earlier_message_with_the_words_of_the_question_counts():
    question = user("Is port 8080 open?")
    case = case_of(make_fact("f1", "8080"), history=[question, assistant("Yes.")], question=question)
    (result,) = judge_facts(case, case.messages, None)
    assert (result.in_source, result.in_context) == (True, True)


# covers EVA-020
def test_messages_after_the_question_are_source_and_synthetic_ones_are_context():
    tool = Message(role="tool", content="order A-17 failed", tool_call_id="t1")
    call = ToolCall(id="t1", function=Function(name="look_up", arguments='{"order": "B-18"}'))
    case = make_case(
        facts=(make_fact("f1", "A-17"), make_fact("f2", "B-18"), make_fact("f3", "look_up")),
        messages=(QUESTION, assistant(None, tool_calls=(call,)), tool),
    )
    digest = Synthetic(role="user", content="look_up said: order A-17 failed", made_by="progress")
    in_source = judge_facts(case, (QUESTION, digest), None)
    assert [fact.in_source for fact in in_source] == [True, True, True]
    assert [fact.in_context for fact in in_source] == [True, False, True]


# covers EVA-020, STR-013
def test_trailing_guidance_is_no_context():
    case = case_of(make_fact("f1", "A-17"), history=[user("A-17")])
    guidance = Synthetic(role="user", content="Mention A-17.", made_by="guidance")
    (result,) = judge_facts(case, (QUESTION, guidance), None)
    assert result.in_context is False


# covers EVA-020, DAT-053, DAT-054
@pytest.mark.parametrize(
    ("literal", "match", "text", "found"),
    [
        ("8080", "word", "port 80801", False),
        ("8080", "substring", "port 80801", True),
        ("8080", "word", "port 8080.", True),
        ("STRASSE 5", "word", "Straße\n  5", True),
        ("caf\u00e9", "word", "un cafe\u0301", True),
        ("token", "word", "tokenizer", False),
        ("端口", "word", "打开端口八", True),
        ("GPT4", "word", "使用GPT4模型", True),
        ("8.1", "word", "version 8.1.", True),
    ],
)
def test_literals_are_compared_normalised_and_as_words(literal, match, text, found):
    case = case_of(make_fact("f1", literal, match=match), history=[user(text)])
    (result,) = judge_facts(case, None, None)
    assert result.in_source is found


# covers EVA-020
def test_a_literal_is_not_put_together_from_two_messages():
    case = case_of(make_fact("f1", "blue green"), history=[user("blue"), assistant("green")])
    (result,) = judge_facts(case, None, None)
    assert result.in_source is False


# covers EVA-020, FRM-031
def test_without_a_fitted_context_nothing_is_said_of_it():
    (result,) = judge_facts(case_of(make_fact()), None, None)
    assert (result.in_context, result.in_answer, result.context_reversed) == (None, None, None)
    assert (result.fate, result.detail) == ("not_judged", None)


# Fates


HISTORY = [user("Ticket X-1: unit tests were not run.")]
FACT = make_fact(
    "f1",
    "X-1",
    must_hold=(Pattern(phrase="not run"),),
    must_not_claim=(Pattern(phrase="tests passed"),),
)


# covers EVA-022, EVA-024, EVA-027
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, ("not_judged", None)),
        ("X-1: the tests were not run.", ("retained", None)),
        ("X-1: tests passed, lint was not run.", ("reversed", None)),
        ("All tests passed.", ("reversed", None)),  # also without a literal
        ("X-1 is a ticket.", ("missing", "status_not_stated")),
        ("The tests were not run.", ("missing", "no_literal")),
        ("", ("missing", "no_literal")),
    ],
)
def test_the_first_rule_that_applies_gives_the_fate(answer, expected):
    assert fate_of(FACT, answer, history=HISTORY) == expected


# covers EVA-022
def test_a_fact_for_the_context_only_is_not_judged_in_an_answer():
    fact = make_fact("f1", "X-1", where="context", must_not_claim=(Pattern(phrase="passed"),))
    assert fate_of(fact, "X-1 passed", history=HISTORY) == ("not_judged", None)


# covers EVA-022
def test_a_literal_that_was_never_sent_is_an_unsupported_claim():
    fact = make_fact("f1", "X-1")
    assert fate_of(fact, "X-1", history=HISTORY) == ("retained", None)
    assert fate_of(fact, "X-1", history=HISTORY, fitted=(QUESTION,)) == ("unsupported_claim", None)
    # the question was sent too, so an answer that repeats it invents nothing
    asked = user("What about X-1?")
    assert fate_of(fact, "X-1", question=asked, fitted=(asked,)) == ("retained", None)
    expected_anyway = make_fact("f1", "X-1", where="answer")
    assert fate_of(expected_anyway, "X-1", fitted=(QUESTION,)) == ("retained", None)


# covers EVA-022
def test_a_reversal_comes_before_an_unsupported_claim():
    assert fate_of(FACT, "X-1: tests passed", fitted=(QUESTION,)) == ("reversed", None)


# covers EVA-025, DAT-051
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The build passed and the unit tests were not run.", "reversed"),  # one clause
        ("The build passed; the unit tests were not run.", "retained"),
        ("The unit tests were not run on Monday; they passed on Tuesday.", "reversed"),
        ("The build passed. The unit tests were not run.", "retained"),
        ("Build: passed\nUnit tests: not run", "retained"),  # lines count as sentences
        ("- unit tests: not run\n- build: passed", "retained"),
        ("The unit tests\npassed", "missing"),
        (
            "Here is what happened in the night: the unit\ntests passed.",
            "reversed",
        ),  # a line that was wrapped
        ("Everything passed.", "missing"),  # no literal, so no sentence to look in
    ],
)
def test_near_patterns_look_only_in_sentences_that_hold_a_literal(answer, expected):
    fact = make_fact("f1", "unit tests", must_hold=(near("not run"),), must_not_claim=(near("passed"),))
    assert fate_of(fact, answer, history=[user("unit tests not run")])[0] == expected


REDLOCK = make_fact("f1", "Redlock", must_hold=(near("rejected"),), must_not_claim=(near("approved"),))


# covers EVA-025, EVA-030
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("## Rejected\n- Redlock\n\n## Approved\n- outbox", "retained"),
        ("## Approved\n- Redlock\n\n## Rejected\n- outbox", "reversed"),
        ("Approved:\n- outbox\n\nRejected:\n- Redlock", "retained"),
        ("The following was approved:\n\n- outbox\n\nRedlock is rejected.", "retained"),
        ("### Redlock\n\nApproved. It needs a store.", "reversed"),
        ("### Redlock\n\nIt needs a store.\n\nApproved in May.", "reversed"),
        ("### 2. Redlock (proposal)\nRejected.\n### 3. Outbox\nApproved.", "retained"),
        ("- **Redlock**\n  - rejected in May\n- **outbox**\n  - approved", "retained"),
        ("- Rejected\n  - Redlock\n- Approved\n  - outbox", "retained"),
        ("| Item | Status |\n|---|---|\n| Redlock | rejected |\n| outbox | approved |", "retained"),
        ("| Item | Status |\n|---|---|\n| Redlock | approved |\n| outbox | rejected |", "reversed"),
        ("```yaml\nredlock:\n  status: rejected\noutbox:\n  status: approved\n```", "retained"),
        # a title claims it of an item whatever the item adds, but not of a sentence that states the fact
        ("## Approved\n- Redlock (rejected in May)", "reversed"),
        ("## Approved and not\n\nRedlock was rejected in May.", "retained"),
        # a title that says more than the literal is no name of what stands below
        ("## What became of Redlock and the other proposals\n\nRedlock: rejected.\n\nThe outbox was approved.", "retained"),
        ("# Approved changes\n\n## Locking\n- Redlock: rejected\n\n## Storage\n- outbox", "retained"),
    ],
)  # fmt: skip
def test_a_status_counts_where_headings_lists_and_tables_put_it(answer, expected):
    assert fate_of(REDLOCK, answer, history=[user("Redlock is rejected.")])[0] == expected


# covers EVA-028
def test_a_heading_of_a_summary_can_reverse_a_status():
    case = case_of(REDLOCK, history=[user("Redlock is rejected.")])
    (result,) = judge_facts(case, (summary("Approved:\n- Redlock"), QUESTION), None)
    assert result.context_reversed is True


# covers EVA-026
@pytest.mark.parametrize(
    ("pattern", "answer", "found"),
    [
        (Pattern(phrase="NOT   run"), "X-1 was not\nrun", True),
        (Pattern(phrase="passe\u0301"), "X-1 PASS\u00c9", True),
        (Pattern(regex=r"not run\b"), "X-1 was NOT \n RUN.", True),
        (Pattern(regex=r"^x-1 was"), "X-1 was", True),
        (Pattern(regex=r"stra\u00dfe"), "X-1 STRASSE", False),  # case is ignored, not folded
        (Pattern(regex=r"a\nb"), "X-1 a\nb", False),  # white space is collapsed before
    ],
)
def test_phrases_are_folded_and_expressions_are_not(pattern, answer, found):
    fact = make_fact("f1", "X-1", must_hold=(pattern,))
    assert fate_of(fact, answer, history=HISTORY)[0] == ("retained" if found else "missing")


# covers EVA-014
def test_an_expression_that_searches_too_long_is_stopped():
    fact = make_fact("f1", "X-1", must_not_claim=(Pattern(regex=r"(a|aa)+$"),))
    case = case_of(fact, history=HISTORY)
    with pytest.raises(TimeoutError):
        judge_facts(case, None, "a" * 200 + "b")
    # the same text in a context is no answer: whether it claims something stays unknown
    (result,) = judge_facts(case, (summary("a" * 200 + "b"), QUESTION), None)
    assert (result.fate, result.context_reversed) == ("not_judged", None)


# covers EVA-014
def test_expressions_share_one_allowance_of_time():
    time = PatternTime(seconds=0.0)
    with pytest.raises(TimeoutError):
        time.finds("x", "x")
    assert PatternTime().finds("x", "X")


# covers EVA-028
@pytest.mark.parametrize(
    ("context", "source", "expected"),
    [
        (summary("X-1: tests passed."), "X-1: tests were not run.", True),
        (summary("X-1: tests were not run."), "X-1: tests were not run.", False),
        # the source claims it as well, so the summary reversed nothing
        (summary("X-1: tests passed."), "X-1: tests passed.", False),
        # not a strategy's words
        (user("X-1: tests passed."), "X-1: tests were not run.", False),
    ],
)
def test_a_reversal_by_a_summary_is_told_from_one_by_the_model(context, source, expected):
    (result,) = judge_facts(case_of(FACT, history=[user(source)]), (context, QUESTION), None)
    assert result.context_reversed is expected


# covers EVA-003
def test_a_case_with_nothing_to_judge_in_an_answer_is_not_judged():
    context_only = make_fact("f1", "X-1", where="context")
    assert is_judged(make_case(facts=(context_only,)))  # it has expectations
    assert not is_judged(make_case(expected=None, facts=(context_only,)))
    assert is_judged(make_case(expected=None, facts=(context_only, make_fact("f2", "Y"))))


# covers DAT-055
def test_facts_that_are_nowhere_or_given_away_by_the_question_are_named():
    case = case_of(
        make_fact("here", "X-1"),
        make_fact("nowhere", "Y-2"),
        make_fact("expected-anyway", "Z-3", where="answer"),
        make_fact("asked", "left to do"),
        history=HISTORY,
    )
    assert fact_warnings(case) == (("fact_not_in_source", "nowhere"), ("literal_in_question", "asked"))


words = st.sampled_from(["X-1", "Y-2", "tests passed", "not run", ".", "\n", "项目", " "])
texts = st.lists(words, max_size=6).map(" ".join)


# covers EVA-029, EVA-015
@given(texts, texts, st.none() | texts, st.booleans())
@settings(max_examples=80)
def test_every_fact_has_one_fate_and_the_same_each_time(history, fitted, answer, send):
    facts = (FACT, make_fact("f2", "Y-2", where="context"), make_fact("f3", "项目", where="answer"))
    case = case_of(*facts, history=[user(history)])
    messages = (user(fitted), QUESTION) if send else None
    first, again = judge_facts(case, messages, answer), judge_facts(case, messages, answer)
    assert first == again
    assert [fact.fact_id for fact in first] == ["f1", "f2", "f3"]
    for fact in first:
        assert fact.fate in FATES
        assert (fact.fate == "not_judged") == (answer is None or fact.where == "context")
        assert (fact.detail is None) == (fact.fate != "missing")
        assert fact.fate != "retained" or fact.in_answer is True
