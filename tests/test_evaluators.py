"""Verdicts of the evaluators on answers, worked out by hand."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from ctxlab.dataset import Expected, Pattern
from ctxlab.evaluators import EVALUATOR_VERSION, evaluate, invented_in_context
from ctxlab.messages import Synthetic
from tests.factories import assistant, make_case, make_fact, make_snippet, summary, user


def case_1_0(**expected):
    return make_case(schema_version="1.0", expected=Expected(**expected))


def case_1_1(**expected):
    return make_case(expected=Expected(**{"unicode_form": "NFC", **expected}))


def verdict(answer, case, name):
    """The named evaluator's result."""
    (result,) = (result for result in evaluate(answer, case).results if result.name == name)
    return result


# covers EVA-001
def test_evaluators_run_in_fixed_order_and_unconfigured_ones_are_silent():
    everything = make_case(
        messages=(user("Port 8080."), user("Which port?")),
        expected=Expected(
            exact_match="8080",
            contains_all=("8080",),
            contains_any=("8080", "80"),
            not_contains=("443",),
            minimum_characters=1,
        ),
        facts=(make_fact("f1", "8080"),),
    )
    assert [result.name for result in evaluate("8080", everything).results] == [
        "non_empty", "exact_match", "contains_all", "contains_any", "not_contains", "response_length", "facts",
    ]  # fmt: skip
    only_length = case_1_0(minimum_characters=1)
    assert [result.name for result in evaluate("x", only_length).results] == ["non_empty", "response_length"]


# covers EVA-001, EVA-006
@pytest.mark.parametrize(
    ("answer", "passed"),
    [("x", True), ("", False), (" \n\t\u00a0\u3000", False), ("\u200b", True), ("\ufeff", True)],
)
def test_non_empty_needs_a_character_other_than_white_space(answer, passed):
    result = verdict(answer, case_1_0(not_contains=("q",)), "non_empty")
    assert (result.passed, result.score) == (passed, float(passed))


# covers EVA-004, EVA-005, EVA-006
@pytest.mark.parametrize(
    ("answer", "expected", "passed"),
    [
        ("  Hello \n world ", {"exact_match": "hello world"}, True),
        ("Hello world", {"exact_match": "hello world", "case_sensitive": True}, False),
        ("Hello  world", {"exact_match": "hello world", "normalize_whitespace": False}, False),
        ("STRASSE", {"exact_match": "Straße"}, True),
        ("42\u200b", {"exact_match": "42"}, False),
        ("42.", {"exact_match": "42"}, False),
        ("a\u3000b", {"exact_match": "a b"}, True),
    ],
)
def test_exact_match_compares_normalised_texts(answer, expected, passed):
    assert verdict(answer, case_1_0(**expected), "exact_match").passed is passed


# covers EVA-005: public case U07, one word in two normal forms
@pytest.mark.parametrize("evaluator", ["exact_match", "contains_all", "contains_any"])
def test_a_composed_and_a_decomposed_accent_agree_only_in_1_1(evaluator):
    value = "café" if evaluator == "exact_match" else ("café",)
    decomposed = "cafe\u0301"
    assert verdict(decomposed, case_1_0(**{evaluator: value}), evaluator).passed is False
    assert verdict(decomposed, case_1_1(**{evaluator: value}), evaluator).passed is True
    assert (
        verdict(decomposed, case_1_1(**{evaluator: value, "unicode_form": "none"}), evaluator).passed is False
    )


# covers EVA-004
def test_compatibility_form_folds_full_width_digits():
    assert verdict("４２", case_1_1(exact_match="42", unicode_form="NFKC"), "exact_match").passed is True
    assert verdict("４２", case_1_1(exact_match="42"), "exact_match").passed is False


# covers EVA-004: public case R07, reasoning in the content is judged like any other text
def test_reasoning_inside_an_answer_is_not_stripped_in_silence():
    case = case_1_0(exact_match="42", not_contains=("41",))
    answer = "<think>Maybe 41? No, 42.</think>\n42"
    assert [result.passed for result in evaluate(answer, case).results] == [True, False, False]


# covers EVA-007, EVA-008
@pytest.mark.parametrize(
    ("answer", "values", "score", "passed"),
    [
        ("The tokenizer works", ("token", "works"), 1.0, True),
        ("The tokenizer", ("token", "works"), 0.5, False),
        ("nothing", ("a1", "b2", "c3"), 0.0, False),
        ("one", ("one", "one", "two", "two"), 0.5, False),  # repeated values count repeatedly
        ("one", (" ", "two"), 0.5, False),  # empty after normalisation: always found
        ("Grüße", ("GRÜSSE",), 1.0, True),
    ],
)
def test_contains_all_scores_the_fraction_found(answer, values, score, passed):
    result = verdict(answer, case_1_0(contains_all=values), "contains_all")
    assert (result.score, result.passed) == (score, passed)


# covers EVA-007
@pytest.mark.parametrize(
    ("values", "score", "passed"),
    [(("token",), 1.0, True), (("x1", "works"), 0.5, True), (("x1", "x2"), 0.0, False)],
)
def test_contains_any_needs_one(values, score, passed):
    result = verdict("The tokenizer works", case_1_0(contains_any=values), "contains_any")
    assert (result.score, result.passed) == (score, passed)


# covers EVA-007
@pytest.mark.parametrize(("values", "score"), [(("x1",), 1.0), (("x1", "TOKEN"), 0.0)])
def test_not_contains_has_no_fraction(values, score):
    result = verdict("The tokenizer works", case_1_0(not_contains=values), "not_contains")
    assert (result.score, result.passed) == (score, score == 1.0)


# covers EVA-007, DAT-054
@pytest.mark.parametrize(
    ("answer", "value", "passed"),
    [
        ("the tokenizer", "token", False),
        ("the token.", "token", True),
        ("port 80801", "8080", False),
        ("使用token模型", "token", True),
    ],
)
def test_whole_words_is_a_choice_of_1_1(answer, value, passed):
    case = case_1_1(contains_all=(value,), whole_words=True)
    assert verdict(answer, case, "contains_all").passed is passed


# covers EVA-009, EVA-011
@pytest.mark.parametrize(
    ("answer", "bounds", "passed", "summary"),
    [
        ("four", (4, 4), True, "4..4"),
        ("four", (5, None), False, "5..unbounded"),
        ("four", (None, 3), False, "0..3"),
        (" four ", (6, None), True, "6..unbounded"),  # raw, not trimmed
        ("🦊🦊", (2, 2), True, "2..2"),  # code points
        ("e\u0301", (2, 2), True, "2..2"),
        ("", (None, 0), True, "0..0"),
    ],
)
def test_length_counts_code_points_of_the_raw_answer(answer, bounds, passed, summary):
    case = case_1_0(minimum_characters=bounds[0], maximum_characters=bounds[1])
    result = verdict(answer, case, "response_length")
    assert (result.passed, result.expected_summary, result.actual_summary) == (
        passed,
        summary,
        str(len(answer)),
    )


# covers EVA-009
@pytest.mark.parametrize("answer", ["", "x"])
def test_a_maximum_of_zero_characters_can_never_pass(answer):
    assert evaluate(answer, case_1_0(maximum_characters=0)).passed is False


# covers EVA-010, EVA-011, EVA-120
def test_summaries_and_reasons_are_one_bounded_line():
    values = tuple(f"value {i} with some more words" for i in range(32))
    result = verdict("line\none " * 200, case_1_0(contains_all=values), "contains_all")
    assert len(result.failure_reason) == 240
    assert result.failure_reason.startswith('missing: "value 0 with some more words", "value 1')
    assert result.failure_reason.endswith("…")
    exact = verdict("line\none " * 200, case_1_0(exact_match="x\r\ny"), "exact_match")
    assert exact.expected_summary == "x y"
    assert exact.actual_summary.startswith("line one line one")
    assert len(exact.actual_summary) == 240


# covers EVA-010, EVA-011
def test_a_reason_stands_only_beside_a_failure_and_names_the_values():
    case = case_1_0(contains_all=("a1", "b2"), not_contains=("c3", "d4"))
    results = {result.name: result for result in evaluate("b2 and C3", case).results}
    assert results["contains_all"].failure_reason == 'missing: "a1"'
    assert results["contains_all"].actual_summary == "1 of 2 found"
    assert results["not_contains"].failure_reason == 'found: "c3"'
    assert results["non_empty"].failure_reason is None


# covers EVA-002
def test_an_answer_passes_if_every_result_passes():
    case = case_1_0(contains_all=("a",), not_contains=("b",))
    assert evaluate("a", case).passed is True
    assert evaluate("a b", case).passed is False


# covers EVA-003
@pytest.mark.parametrize("answer", ["anything", ""])
def test_a_case_with_nothing_to_judge_in_an_answer_is_unjudged(answer):
    case = make_case(expected=None, facts=(make_fact("f1", "X-1", where="context"),))
    found = evaluate(answer, case)
    assert found.passed is None
    assert [result.name for result in found.results] == ["non_empty"]


# covers EVA-001, EVA-022, EVA-024
def test_the_facts_evaluator_wants_every_judged_fact_retained_and_scores_literal_recall():
    case = make_case(
        messages=(user("A-1 open, B-2 closed, C-3 pending."), user("Status?")),
        expected=None,
        facts=(
            make_fact("f1", "A-1"),
            make_fact("f2", "B-2", must_not_claim=(Pattern(phrase="B-2 is open"),)),
            make_fact("f3", "C-3"),
            make_fact("f4", "A-1", where="context"),
        ),
    )
    bad = verdict("A-1 is open, B-2 is open.", case, "facts")
    assert (bad.passed, bad.score) == (False, 2 / 3)  # two literals of three are there, one of them reversed
    assert bad.failure_reason == "f2 reversed, f3 missing (no_literal)"
    assert (bad.expected_summary, bad.actual_summary) == ("3 retained", "1 retained, 1 missing, 1 reversed")
    good = verdict("A-1, B-2, C-3", case, "facts")
    assert (good.passed, good.score, good.failure_reason) == (True, 1.0, None)


# covers EVA-014
def test_a_runaway_expression_raises_and_is_no_verdict():
    case = make_case(facts=(make_fact("f1", "X", must_not_claim=(Pattern(regex="(a|aa)+$"),)),))
    with pytest.raises(TimeoutError):
        evaluate("a" * 200 + "b", case)


# covers EVA-015
def test_verdicts_are_the_same_in_any_order_and_thread():
    case = make_case(
        messages=(user("Ticket X-1: not run."), user("And?")),
        facts=(make_fact("f1", "X-1", must_hold=(Pattern(regex="not +run", near=True),)),),
    )
    answers = [f"{'X-1' if i % 3 else 'Y-2'} was {'not run' if i % 2 else 'run'} {i}" for i in range(60)]
    expected = [evaluate(answer, case) for answer in answers]
    order = list(range(60))
    random.Random(1).shuffle(order)
    with ThreadPoolExecutor(4) as pool:
        found = dict(zip(order, pool.map(lambda i: evaluate(answers[i], case), order), strict=True))
    assert [found[i] for i in range(60)] == expected
    assert EVALUATOR_VERSION


# Inventions


# covers EVA-027a
@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("See src/app.py and ticket APPROVAL-17.", 0),
        ("See src/app.py and ticket APPROVAL-18.", 1),
        ("APPROVAL-18, approval-18 again: APPROVAL-18.", 1),
        ("See SRC/APP.PY.", 0),  # case is no invention
        ("Use port 9090 of 10.2.3.4, in src/other.py", 2),
        ("Nothing special here.", 0),
        ('He said "APPROVAL-17".', 0),  # quotation marks do not belong to it
    ],
)
def test_identifiers_that_nothing_sent_holds_are_counted_once_each(answer, count):
    case = make_case(
        messages=(user("Port 9090, file src/app.py"), user("What of APPROVAL-17?")),
        snippets=(make_snippet(text="config.yaml"),),
    )
    assert evaluate(answer, case).invented_identifiers == count


# covers EVA-027a
def test_what_was_not_sent_is_an_invention_even_if_the_source_holds_it():
    case = make_case(messages=(user("File src/app.py"), user("Which file?")))
    assert evaluate("src/app.py", case).invented_identifiers == 0
    assert evaluate("src/app.py", case, (user("Which file?"),)).invented_identifiers == 1


# covers EVA-027a
@pytest.mark.parametrize(
    ("messages", "count"),
    [
        ((user("Which file?"),), 0),
        ((summary("It was src/app.py."), user("Which file?")), 0),
        ((summary("It was src/apple.py, see APPROVAL-17."), user("Which file?")), 2),
        ((summary("[Digest of 30 earlier turns]\nIt was src/app.py."), user("Which file?")), 0),
        # not a strategy's words, and a text of the user's own
        ((assistant("src/apple.py"), user("Which file?")), 0),
        ((Synthetic(role="user", content="src/apple.py", made_by="guidance"), user("Which file?")), 0),
    ],
)
def test_identifiers_that_a_summary_invents_are_counted(messages, count):
    case = make_case(messages=(user("File src/app.py"), user("Which file?")))
    assert invented_in_context(case, messages) == count
