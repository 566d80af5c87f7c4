"""What a run says in sentences: numbers from the run, failures named, and limits that fit the client."""

from __future__ import annotations

from ctxlab.sentences import failures, findings, frontier, inventions, limitations
from tests.factories import (
    error_row,
    facts_found,
    make_call,
    make_case,
    make_fitted,
    make_row,
    make_run,
    refused_row,
)

CASES = [make_case(f"c{i}") for i in (0, 1)]


def answered(i, strategy="full", *, kept=4, tokens=100, **fields):
    """A row with 4 facts in context, so many of them in the answer, and one call of so many tokens in 2 s.

    All but `full` make the source smaller.
    """
    size = 1000 if strategy == "full" else 400
    call = make_call(estimated_tokens=tokens, duration_s=2.0)
    return make_row(
        CASES[i], case_index=i, strategy=strategy, answer="x", calls=(call,), fitted=make_fitted(strategy=strategy, result_tokens=size), facts=facts_found(4, in_context=4, in_answer=kept),
        **{"invented_identifiers": 0, "context_invented_identifiers": 0, **fields},
    )  # fmt: skip


# covers GEN-059
def test_failures_are_counted_by_strategy_and_reason():
    run = make_run(
        answered(0),
        refused_row(CASES[0], strategy="empty"),
        error_row(CASES[1], case_index=1),
        answered(1, "empty"),
        incomplete=True,
    )
    assert failures(run) == (
        "Of 4 rows: 2 completed, 1 refused, 1 in error, 0 not run.",
        "The run was interrupted: its numbers are those of a part.",
        "empty: 1 refused (pinned too large)",
        "full: 1 in error (timeout)",
    )


def test_a_run_without_failures_says_so():
    assert failures(make_run(answered(0), answered(1))) == (
        "Of 2 rows: 2 completed, 0 refused, 0 in error, 0 not run.",
    )


# covers GEN-059
def test_findings_tell_recall_cost_and_the_paired_difference():
    run = make_run(
        answered(0, tokens=1500),
        answered(0, "shorten", kept=2),
        answered(1, tokens=2000),
        answered(1, "shorten", kept=1),
    )
    # shorten: 2/4 - 1 and 1/4 - 1, in the mean -0.625; two losses: p = 2/2^2.
    assert findings(run) == (
        "full: 8 of 8 facts in the answer (answer recall 1.000), 3,500 sent tokens, 2.00 s per row (median).",
        "shorten: 3 of 8 facts in the answer (answer recall 0.375), 200 sent tokens, 2.00 s per row (median); "
        "mean difference from full -0.625 (2 pairs, 95 % interval -0.750 to -0.500, p 0.500 by the sign test).",
    )
    assert frontier(run) == (
        "On the frontier: full, shorten (no other has a higher answer recall at an equal or lower number of sent tokens).",
    )


def test_a_strategy_without_answers_has_a_sentence_too():
    run = make_run(answered(0), refused_row(CASES[0], strategy="summarize"))
    assert findings(run)[1] == "summarize: no answer recall, 0 sent tokens; no pair with full."


def test_below_two_pairs_there_is_no_interval():
    said = findings(make_run(answered(0), answered(0, "shorten", kept=3)))[1]
    assert said.endswith(
        "mean difference from full -0.250 (1 pairs, no interval below 2 pairs, p 1.000 by the sign test)."
    )


def offline(strategy, *, in_context, size):
    return make_row(
        CASES[0], strategy=strategy, status="fitted", client_kind="offline",
        facts=facts_found(4, in_context=in_context), fitted=make_fitted(strategy=strategy, result_tokens=size),
    )  # fmt: skip


# covers GEN-057
def test_where_no_model_answered_findings_speak_of_the_context_and_of_sizes():
    run = make_run(offline("full", in_context=4, size=900), offline("shorten", in_context=2, size=90.5))
    said = findings(run)
    assert (
        said[0]
        == "full: 4 of 4 facts in the context (context recall 1.000), requests of 900 tokens in the mean."
    )
    assert (
        "2 of 4 facts in the context (context recall 0.500), requests of 90.5 tokens in the mean" in said[1]
    )
    assert failures(run) == ("Of 2 rows: 2 fitted, 0 refused, 0 in error, 0 not run.",)


# covers EVA-027a
def test_inventions_name_only_those_who_invent():
    run = make_run(
        answered(0),
        answered(0, "summarize", invented_identifiers=3, context_invented_identifiers=1),
    )
    assert inventions(run) == (
        "Identifiers in answers that stand in nothing that was sent: summarize 3.",
        "Identifiers in summaries that stand nowhere in the source: summarize 1.",
        "Facts that answers reversed: none.",
        "Claims that a case forbids: none.",
    )


# covers GEN-081
def test_a_stand_in_says_nothing_about_a_model():
    said = " ".join(limitations(make_run(answered(0), client_kind="stand-in:echo")))
    assert "No model answered (client stand-in:echo)" in said
    assert "say nothing about any model" in said


# covers GEN-081, GEN-082
def test_a_model_is_promised_nothing_and_estimates_are_called_so():
    said = " ".join(limitations(make_run(answered(0), answered(1))))
    assert "they promise no quality of a model" in said
    assert "words alone do not establish meaning" in said
    assert "Sizes before sending are estimates (utf8_bytes_2)" in said
    assert (
        "2 cases are few: no exact test on them can give a p below 0.5, and no interval reaches beyond the values"
        in said
    )
    assert "sampled once" in said


# covers GEN-082
def test_with_a_known_vocabulary_only_framing_is_an_estimate():
    said = " ".join(limitations(make_run(answered(0), counter="o200k_base")))
    assert "Sizes are counted with o200k_base; what frames each message remains an estimate." in said


def test_with_many_cases_and_repeats_size_is_no_limit():
    cases = [make_case(f"c{i}") for i in range(21)]
    rows = [make_row(case, case_index=i, repeat=r) for i, case in enumerate(cases) for r in (0, 1)]
    assert not any("few" in sentence or "once" in sentence for sentence in limitations(make_run(*rows)))
