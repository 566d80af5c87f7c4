"""Tables for readers, made of runs by hand: which rows, which words, and what is left out."""

from __future__ import annotations

import pytest

from ctxlab.comparison import run
from ctxlab.dataset import Expected
from ctxlab.tables import (
    MOST_ROWS,
    answers_table,
    cases_table,
    differences_table,
    failures_table,
    fates_table,
    kinds_table,
    losses_table,
    metrics_table,
    provenance_table,
    times_table,
)
from ctxlab.thresholds import Thresholds
from tests.factories import (
    assistant,
    error_row,
    judged,
    make_call,
    make_case,
    make_dataset,
    make_fact,
    make_helper,
    make_row,
    make_run,
    refused_row,
    user,
)


def lines(table):
    """A table as its headings and rows."""
    return [list(table.columns), *[list(row) for row in table.itertuples(index=False)]]


CASES = [
    make_case(
        f"c{i}",
        messages=(user("Use X-1."), assistant("Yes."), user("Which?")),
        facts=(make_fact("a"), make_fact("b", kind="path")),
        language="en" if i == 0 else None,
    )
    for i in (0, 1)
]


def answered(i, strategy="full", *, in_context=(True, True), in_answer=(True, True), **fields):
    facts = tuple(
        judged(name, in_context=c, in_answer=a, kind=kind)
        for name, c, a, kind in zip("ab", in_context, in_answer, ("identifier", "path"), strict=True)
    )
    defaults = {
        "calls": (make_call(),),
        "answer": "X-1",
        "invented_identifiers": 0,
        "context_invented_identifiers": 0,
    }
    return make_row(CASES[i], case_index=i, strategy=strategy, facts=facts, **{**defaults, **fields})


def judged_not(i, make, strategy="full"):
    facts = tuple(judged(name, in_context=None, in_answer=None) for name in "ab")
    return make(CASES[i], case_index=i, strategy=strategy, facts=facts)


def two_strategies():
    return make_run(
        answered(0),
        answered(0, "shorten", in_context=(True, False), in_answer=(False, False)),
        answered(1),
        answered(1, "shorten", in_context=(True, False), in_answer=(True, False), invented_identifiers=2),
    )


def test_cases_are_shown_with_their_sizes():
    # 8 + 4 + 6 characters; the factories' receipts say 1,000 tokens.
    assert lines(cases_table(two_strategies())) == [
        ["case", "category", "language", "messages", "turns", "snippets", "facts", "characters", "tokens"],
        ["c0", "general", "en", "3", "2", "0", "2", "18", "1,000"],
        ["c1", "general", "unavailable", "3", "2", "0", "2", "18", "1,000"],
    ]


# covers GEN-058
def test_a_table_carries_run_counter_and_client():
    run = two_strategies()
    for table in (cases_table(run), failures_table(run), losses_table(run), provenance_table(run)):
        told = [table.attrs[name] for name in ("fingerprint", "counter", "client_kind")]
        assert told == [run.fingerprint, "utf8_bytes_2", "endpoint"]


# covers GEN-059
def test_failures_name_row_stage_and_reason_and_nothing_else():
    run = make_run(
        answered(0), judged_not(0, refused_row, "shorten"), judged_not(1, error_row), answered(1, "shorten")
    )
    assert lines(failures_table(run)) == [
        ["case", "strategy", "status", "stage", "reason", "error"],
        ["c0", "shorten", "refused", "fit", "pinned_too_large", "budget_exceeded"],
        ["c1", "full", "error", "main", "\N{EN DASH}", "timeout"],
    ]
    assert lines(failures_table(two_strategies()))[1:] == []


def test_differences_say_once_what_both_sets_say():
    # c0: 0/2 - 2/2 = -1, c1: 1/2 - 2/2 = -1/2; two losses: sign test p = 2/2^2 = 1/2.
    table = differences_table(two_strategies(), ["answer_recall", "cost"])
    assert lines(table) == [
        ["strategy", "metric", "set of cases", "pairs", "dropped", "difference", "from", "to",
         "higher", "lower", "equal", "p", "p (Holm)"],
        ["shorten", "answer_recall", "both", "2", "0", "-0.750", "-1.000", "-0.500", "0", "2", "0", "0.500", "0.500"],
    ]  # fmt: skip


def test_differences_show_both_sets_where_a_refusal_sets_them_apart():
    run = make_run(answered(0), judged_not(0, refused_row, "shorten"), answered(1), answered(1, "shorten"))
    table = differences_table(run, ["answer_recall"])
    # completed: only c1, 0 apart; with_refused: c0 counts 0 - 1 = -1, so the mean is -1/2.
    assert table[["set of cases", "pairs", "dropped", "difference"]].to_numpy().tolist() == [
        ["completed", "1", "1", "+0.000"],
        ["with_refused", "2", "0", "-0.500"],
    ]


def test_kinds_stand_in_rows_and_strategies_in_columns():
    assert lines(kinds_table(two_strategies())) == [
        ["kind", "facts", "full", "shorten"],
        ["identifier", "2", "1.000", "0.500"],
        ["path", "2", "1.000", "0.000"],
    ]


def test_fates_tell_what_was_lost_before_and_what_was_not_said():
    assert lines(fates_table(two_strategies())) == [
        ["strategy", "facts", "in context", "retained", "lost before", "not said", "reversed", "false claims",
         "not judged", "invented in answers", "invented in contexts"],
        ["full", "4", "4", "4", "0", "0", "0", "0", "0", "0", "0"],
        ["shorten", "4", "2", "1", "2", "1", "0", "0", "0", "2", "0"],
    ]  # fmt: skip


def test_losses_show_every_fact_under_every_strategy():
    assert lines(losses_table(two_strategies())) == [
        ["case", "fact", "kind", "full", "shorten"],
        ["c0", "a", "identifier", "kept", "not in answer"],
        ["c0", "b", "path", "kept", "not in context"],
        ["c1", "a", "identifier", "kept", "kept"],
        ["c1", "b", "path", "kept", "not in context"],
    ]


def row_with(fact, **fields):
    return make_row(CASES[0], facts=(fact,), answer="x", calls=(make_call(),), **fields)


@pytest.mark.parametrize(
    ("fact", "status", "word"),
    [
        (judged("a", in_context=False, in_answer=True), "completed", "kept"),
        (judged("a", in_answer=True, fate="reversed"), "completed", "reversed"),
        (judged("a", in_answer=True, fate="unsupported_claim"), "completed", "unsupported claim"),
        (judged("a", in_context=False, in_answer=False, where="answer"), "completed", "not in answer"),
        (judged("a", in_context=True, in_answer=None), "fitted", "in context"),
        (judged("a", in_context=False, in_answer=None), "fitted", "not in context"),
        (judged("a", in_context=True, in_answer=None), "error", "error"),
        (judged("a", in_context=None, in_answer=None), "not_run", "not run"),
    ],
)
def test_a_fate_is_told_in_a_word_or_two(fact, status, word):
    assert lines(losses_table(make_run(row_with(fact, status=status))))[1][-1] == word


def test_with_repeats_a_cell_counts_the_fates():
    kept, lost = judged("a", in_answer=True), judged("a", in_answer=False)
    rows = [row_with(fact, repeat=i) for i, fact in enumerate((kept, lost, kept))]
    assert lines(losses_table(make_run(*rows)))[1][-1] == "2 kept, 1 not in answer"


# covers RUN-116
def test_times_are_summed_per_strategy_with_summaries_apart():
    run = make_run(
        answered(0, calls=(make_call(duration_s=1.5),)),
        answered(0, "summarize", calls=(make_helper(0, duration_s=4.0), make_call(1, duration_s=0.25))),
        answered(1, calls=(make_call(duration_s=2.5, reused=True),)),
        answered(1, "summarize", calls=(make_helper(0, duration_s=6.0), make_call(1, duration_s=0.75))),
    )
    assert lines(times_table(run)) == [
        ["strategy", "rows", "calls", "reused calls", "total s", "of it in summaries s", "of it in answers s",
         "p50 s", "p95 s"],
        ["full", "2", "2", "1", "4.00", "\N{EN DASH}", "4.00", "1.50", "2.50"],
        ["summarize", "2", "4", "0", "11.00", "10.00", "1.00", "4.25", "6.75"],
    ]  # fmt: skip


# covers GEN-059, EVA-120
def test_answers_are_shown_as_bounded_previews_on_one_line():
    run = make_run(answered(0, answer="one\ntwo " + "x" * 500))
    [head, row] = lines(answers_table(run))
    assert head == ["case", "strategy", "status", "answer recall", "invented", "beginning of the answer"]
    assert row[:-1] == ["c0", "full", "completed", "1.000", "0"]
    assert row[-1].startswith("one two xxx")
    assert len(row[-1]) <= 240


def test_long_tables_are_bounded_and_say_so():
    facts = tuple(judged(f"f{i}") for i in range(MOST_ROWS + 7))
    table = losses_table(make_run(make_row(facts=facts, answer="x", calls=(make_call(),))))
    assert len(table) == MOST_ROWS + 1
    assert list(table.iloc[-1]) == ["and 7 more", *["\N{EN DASH}"] * 3]


# covers RUN-113
def test_provenance_tells_client_budget_and_changed_thresholds():
    identity = {
        "budget": {"window_tokens": 8192},
        "thresholds": Thresholds(max_rounds=2).canonical(),
        "generation": [0.5, None, 7],
        "prompts": ["1", "ab"],
        "evaluators": "3",
        "concurrency": 2,
        "attempts": 4,
        "commit": None,
    }
    run = make_run(
        answered(0),
        identity=identity,
        client_facts={"model_sha256": "ab" * 32, "threads": 2},
        incomplete=True,
    )
    told = dict(provenance_table(run).to_numpy().tolist())
    assert (
        told
        | {
            "fingerprint": run.fingerprint,
            "complete": "no: it was interrupted",
            "dataset": "made.jsonl",
            "window tokens": "8192",
            "thresholds": "max_rounds=2",
            "temperature": "0.5",
            "max tokens": "as the case or the client sets it",
            "seed": "7",
            "workers": "2",
            "attempts per call": "4",
            "version of prompts": "1",
            "version of evaluators": "3",
            "commit": "unavailable",
            "client: model_sha256": "ab" * 32,
            "client: threads": "2",
        }
        == told
    )


def headings(**options):
    done = run(
        options.pop("cases"),
        "full",
        client=options.pop("client", "stand-in:echo"),
        runs_dir=None,
        progress=False,
    )
    return set(metrics_table(done).columns)


def test_the_metrics_say_pass_rate_of_cases_with_expectations_and_fates_of_cases_with_facts():
    asked = (user("The code is ALPHA-1."), user("Which code is it?"))
    facts = make_dataset(make_case(messages=asked, expected=None, facts=(make_fact("f", "ALPHA-1"),)))
    expected = make_dataset(make_case(messages=asked, expected=Expected(contains_all=("ALPHA-1",))))
    of_facts, of_expectations = headings(cases=facts), headings(cases=expected)
    assert {"answer recall", "retained", "reversed"} <= of_facts
    assert "pass rate" not in of_facts
    assert "pass rate" in of_expectations
    assert of_expectations.isdisjoint({"answer recall", "retained", "reversed"})
    assert headings(cases=facts, client=None).isdisjoint(
        {"pass rate", "retained", "reversed", "answer recall"}
    )
