"""Groups of rows, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.errors import InputError
from ctxlab.metrics import Metrics, kind_metrics, metrics, metrics_of, overall, pass_powers
from tests.factories import (
    error_row,
    facts_found,
    judged,
    make_call,
    make_case,
    make_fitted,
    make_helper,
    make_row,
    make_run,
    refused_row,
)


def completed(passed: bool | None, **fields: object):
    return make_row(passed=passed, **fields)


# covers EVA-040, EVA-041
def test_counts_and_rates_of_a_mixed_group():
    rows = [
        completed(True),
        completed(True),
        completed(False),
        completed(None),  # unjudged
        error_row(),
        refused_row(),
        refused_row(),
        make_row(status="not_run", fitted=None),
    ]
    found = metrics_of(rows)
    assert (found.rows, found.completed, found.passed, found.failed) == (8, 4, 2, 1)
    assert (found.errors, found.refused, found.unjudged, found.not_run) == (1, 2, 1, 1)
    assert found.pass_rate == Fraction(2, 6)  # 8 - 1 unjudged - 1 not run
    assert found.error_rate == Fraction(1, 7)
    assert found.refused_rate == Fraction(2, 7)


# covers EVA-041
def test_of_a_finished_run_of_simple_cases_rates_are_over_all_rows():
    found = metrics_of([completed(True), completed(False), error_row(), completed(True)])
    assert (found.pass_rate, found.error_rate) == (Fraction(2, 4), Fraction(1, 4))


# covers EVA-041
@pytest.mark.parametrize(
    "rows", [[], [make_row(status="not_run", fitted=None)]], ids=["no rows", "nothing was run"]
)
def test_rates_without_a_denominator_are_unknown(rows):
    found = metrics_of(rows)
    assert (found.pass_rate, found.error_rate, found.refused_rate) == (None, None, None)


# covers EVA-041, EVA-003
def test_a_group_of_unjudged_rows_has_no_pass_rate_but_an_error_rate():
    found = metrics_of([completed(None), completed(None)])
    assert (found.pass_rate, found.error_rate, found.unjudged) == (None, Fraction(0), 2)


# covers EVA-042
def test_an_offline_run_has_no_pass_and_error_rates_for_any_strategy():
    run = make_run(
        make_row(status="fitted", client_kind="offline"),
        refused_row(strategy="shorten", client_kind="offline"),
    )
    full, shorten = metrics(run)
    assert (full.pass_rate, full.error_rate, full.refused_rate) == (None, None, Fraction(0))
    assert (shorten.pass_rate, shorten.error_rate, shorten.refused_rate) == (None, None, Fraction(1))


# covers EVA-042
def test_an_offline_run_that_refused_everything_is_still_offline():
    (only,) = metrics(make_run(refused_row(client_kind="offline")))
    assert (only.pass_rate, only.error_rate) == (None, None)


# covers EVA-043
def test_recall_is_the_mean_over_rows_with_the_pooled_recall_beside_it():
    rows = [
        make_row(case_index=0, facts=facts_found(4, in_context=4, in_answer=1)),
        make_row(case_index=1, facts=facts_found(2, in_context=1, in_answer=1)),
        refused_row(case_index=2, facts=facts_found(3)),
        make_row(case_index=3, facts=()),
    ]
    found = metrics_of(rows)
    assert found.context_recall == Fraction(3, 4)  # (1 + 1/2) / 2
    assert found.context_recall_pooled == Fraction(5, 6)
    assert found.context_recall_rows == 2
    assert found.answer_recall == Fraction(3, 8)  # (1/4 + 1/2) / 2
    assert found.answer_recall_pooled == Fraction(2, 6)
    assert found.answer_recall_rows == 2


# covers EVA-023
def test_evidence_recall_is_the_mean_over_rows_with_evidence_facts():
    rows = [
        make_row(facts=(judged("a", source="snippet"), judged("b", source="both", in_context=False))),
        make_row(facts=(judged("a", source="snippet"),)),
        make_row(facts=(judged("a"),)),
    ]
    assert metrics_of(rows).evidence_recall == Fraction(3, 4)


# covers FRM-031
def test_recall_is_unknown_when_no_row_has_one():
    found = metrics_of([refused_row(facts=facts_found(3)), error_row(fitted=None, facts=facts_found(3))])
    assert (found.context_recall, found.context_recall_pooled, found.context_recall_rows) == (None, None, 0)
    assert (found.answer_recall, found.evidence_recall) == (None, None)


# covers EVA-063, EVA-062
def test_the_recall_interval_is_over_cases_after_averaging_repeats():
    def row(case_index: int, repeat: int, found: int):
        return make_row(
            case_index=case_index, repeat=repeat, facts=facts_found(2, in_context=found, in_answer=2)
        )

    two_cases = [row(0, 0, 0), row(0, 1, 0), row(1, 0, 1), row(1, 1, 2)]
    found = metrics_of(two_cases)
    # the cases are worth 0 and 3/4; a quarter of the resamples repeat either one
    assert (found.context_recall_low, found.context_recall_high) == (0.0, 0.75)
    assert (found.answer_recall_low, found.answer_recall_high) == (1.0, 1.0)
    one_case = metrics_of(two_cases[:2])
    assert (one_case.context_recall, one_case.context_recall_low, one_case.context_recall_high) == (
        0,
        None,
        None,
    )


# covers EVA-029
def test_the_five_fates_add_up_to_the_facts():
    rows = [
        make_row(
            facts=(
                judged("a"),
                judged("b", in_answer=False),
                judged("c", fate="reversed"),
                judged("d", fate="unsupported_claim"),
                judged("e", where="context"),
            )
        ),
        make_row(facts=(judged("a"), judged("e", in_answer=None))),
    ]
    rows[0] = replace(
        rows[0], facts=(*rows[0].facts[:4], replace(rows[0].facts[4], fate="not_judged", detail=None))
    )
    found = metrics_of(rows)
    fates = (found.retained, found.missing, found.reversed, found.unsupported_claim, found.not_judged)
    assert fates == (2, 1, 1, 1, 2)
    assert sum(fates) == 7


# covers EVA-044
def test_latency_is_over_all_rows_that_have_one_rows_in_error_included():
    rows = [
        make_row(calls=(make_helper(0, duration_s=2.0), make_call(1, duration_s=2.0, ttft_s=0.5))),
        make_row(calls=(make_call(0, duration_s=1.0, ttft_s=0.1),)),
        error_row(calls=(make_call(0, duration_s=10.0, outcome="error"),)),
        refused_row(),
    ]
    found = metrics_of(rows)
    assert found.duration_mean_s == 5
    assert (found.duration_p50_s, found.duration_p95_s) == (4.0, 10.0)
    assert (found.ttft_p50_s, found.ttft_p95_s) == (0.1, 0.5)


# covers EVA-046, FRM-033
def test_token_totals_are_of_main_requests_and_of_all_calls():
    rows = [
        make_row(
            calls=(
                make_helper(0, prompt_tokens=40, completion_tokens=5),
                make_call(1, prompt_tokens=60, completion_tokens=7, cached_tokens=0),
            )
        ),
        make_row(calls=(make_call(0),)),
    ]
    found = metrics_of(rows)
    assert (found.prompt_tokens, found.completion_tokens) == (60, 7)
    assert (found.input_tokens, found.output_tokens, found.cached_tokens) == (100, 12, 0)
    assert (found.calls, found.usage_responses) == (3, 2)


# covers EVA-046, FRM-011
def test_token_totals_are_unknown_when_nothing_was_reported():
    found = metrics_of([make_row(calls=(make_call(),)), error_row(calls=(make_call(outcome="error"),))])
    assert (found.prompt_tokens, found.completion_tokens, found.input_tokens) == (None, None, None)
    assert (found.calls, found.usage_responses) == (2, 0)


# covers EVA-047
@pytest.mark.parametrize(
    ("rows", "cost", "without"),
    [
        ([make_row(cost=0.1), make_row(cost=0.2)], Fraction(3, 10), 0),
        ([make_row(cost=0.1), make_row(cost=None)], None, 1),
        # an unknown cost of a row in error does not hide the sum of the others, but is counted
        ([make_row(cost=0.1), error_row(cost=None)], Fraction(1, 10), 1),
        ([refused_row(), error_row()], None, 2),
        ([refused_row(cost=0.0)], Fraction(0), 0),
    ],
)
def test_cost_is_a_sum_of_known_numbers_only(rows, cost, without):
    found = metrics_of(rows)
    assert (found.cost, found.rows_without_cost) == (cost, without)


# covers EVA-048
def test_sizes_are_mean_tail_and_peak_and_nothing_of_refused_rows():
    def row(source: int, result: int):
        fitted = make_fitted(source_tokens=source, result_tokens=result)
        return make_row(fitted=fitted, calls=(make_call(estimated_tokens=result + 10),))

    found = metrics_of([row(1000, 100), row(2000, 200), row(3000, 600), refused_row()])
    assert found.source_tokens_mean == 1750  # the refused row's source has 1,000
    assert found.result_tokens_mean == 300
    assert (found.result_tokens_p95, found.result_tokens_max) == (600, 600)
    assert found.sent_tokens == 930


# covers EVA-040
def test_groups_by_category_language_and_tag_keep_the_order_of_the_run():
    cases = [
        make_case("c1", category="zeta", language="pt-BR", tags=("long", "code")),
        make_case("c2", category="alpha", tags=("long",)),
        make_case("c3", category="zeta", language="pt-BR"),
    ]
    rows = [
        make_row(case, case_index=index, strategy=name)
        for index, case in enumerate(cases)
        for name in ("full", "empty")
    ]
    run = make_run(*rows)

    def groups(*by: str):
        return [(one.strategy, *one.group, one.rows) for one in metrics(run, by)]

    assert groups() == [("full", 3), ("empty", 3)]
    assert groups("category") == [
        ("full", "zeta", 2), ("full", "alpha", 1), ("empty", "zeta", 2), ("empty", "alpha", 1),
    ]  # fmt: skip
    assert groups("language")[:2] == [("full", "pt-BR", 2), ("full", "und", 1)]
    assert groups("tag")[:2] == [("full", "long", 2), ("full", "code", 1)]
    assert groups("category", "tag")[:3] == [
        ("full", "zeta", "long", 1), ("full", "zeta", "code", 1), ("full", "alpha", "long", 1),
    ]  # fmt: skip


def test_an_unknown_group_is_refused_with_what_is_allowed():
    with pytest.raises(InputError, match="by: 1 unknown names; allowed are category, language, tag"):
        metrics(make_run(make_row()), ["kind"])


# covers EVA-040
def test_all_rows_together_are_a_group_without_strategy():
    run = make_run(completed(True), completed(False, strategy="empty"))
    assert (overall(run).strategy, overall(run).rows, overall(run).pass_rate) == (None, 2, Fraction(1, 2))


# Frontier


def point(
    strategy: str, *, recall: int, tokens: int, cost: float | None = None, source: int = 1000, **fields
):
    """A row with `recall` of 10 facts answered, whose one prompt has so many tokens."""
    return make_row(
        strategy=strategy,
        fitted=make_fitted(source_tokens=source, result_tokens=tokens),
        calls=(make_call(estimated_tokens=tokens),),
        facts=facts_found(10, in_context=10, in_answer=recall),
        cost=cost,
        **fields,
    )


def frontier(*rows):
    return {one.strategy: one.on_frontier for one in metrics(make_run(*rows))}


# covers EVA-049
def test_the_frontier_is_by_tokens_when_cost_is_unknown():
    found = frontier(
        point("full", recall=10, tokens=1000),
        point("shorten", recall=6, tokens=400),
        point("summarize", recall=6, tokens=500),  # not beaten: nothing has more recall for 500 or less
        point("extract", recall=5, tokens=450),  # beaten by shorten
        point("empty", recall=0, tokens=50),
    )
    assert found == {"full": True, "shorten": True, "summarize": True, "extract": False, "empty": True}


# covers EVA-049
def test_the_frontier_is_by_cost_where_it_is_known():
    found = frontier(
        point("full", recall=10, tokens=1000, cost=0.5),
        point("shorten", recall=6, tokens=400, cost=0.9),
        point("empty", recall=0, tokens=50, cost=0.1),
    )
    assert found == {"full": True, "shorten": False, "empty": True}


# covers EVA-049
def test_a_strategy_that_saves_nothing_is_excluded_but_full_is_not():
    found = frontier(
        point("full", recall=4, tokens=1000),
        point("shorten", recall=9, tokens=1000),  # result tokens reach the source's
        point("empty", recall=0, tokens=50),
    )
    assert found == {"full": True, "shorten": False, "empty": True}


# covers EVA-049
def test_a_strategy_without_recall_has_no_place_on_the_frontier():
    found = frontier(point("full", recall=4, tokens=900), refused_row(strategy="summarize"))
    assert found == {"full": True, "summarize": None}


# covers EVA-049
def test_offline_the_frontier_is_by_the_size_of_the_requests_built():
    def fitted(strategy: str, *, recall: int, tokens: int):
        return make_row(
            strategy=strategy,
            status="fitted",
            client_kind="offline",
            fitted=make_fitted(source_tokens=1000, result_tokens=tokens),
            facts=facts_found(10, in_context=recall),
        )

    found = frontier(
        fitted("full", recall=10, tokens=1000),
        fitted("shorten", recall=3, tokens=600),
        fitted("extract", recall=7, tokens=500),
    )
    assert found == {"full": True, "shorten": False, "extract": True}


# Kinds


# covers EVA-043, EVA-029
def test_per_kind_recall_is_pooled_and_fates_are_counted():
    facts_1 = (judged("a", kind="path"), judged("b", kind="path", in_context=False, in_answer=False))
    facts_2 = (judged("a", kind="path"), judged("c", kind="status", fate="reversed"))
    run = make_run(make_row(facts=facts_1), make_row(make_case("c2"), case_index=1, facts=facts_2))
    path, status = kind_metrics(run)
    assert (path.strategy, path.kind, path.facts) == ("full", "path", 3)
    assert (path.in_source, path.in_context) == (3, 2)
    assert (path.context_recall, path.answer_recall) == (Fraction(2, 3), Fraction(2, 3))
    assert (path.retained, path.missing) == (2, 1)
    assert (status.kind, status.reversed, status.answer_recall) == ("status", 1, 1)


# covers EVA-029, FRM-031
def test_kinds_of_a_refused_strategy_count_facts_without_recall():
    (found,) = kind_metrics(make_run(refused_row(facts=facts_found(3))))
    assert (found.facts, found.in_source, found.in_context, found.not_judged) == (3, 3, None, 3)
    assert (found.context_recall, found.answer_recall) == (None, None)


# covers EVA-027a
def test_invented_identifiers_are_added_up_over_rows():
    found = metrics_of([make_row(invented_identifiers=2, context_invented_identifiers=0), refused_row()])
    assert (found.invented_identifiers, found.context_invented_identifiers) == (2, 0)


# covers EVA-068
def test_pass_powers_go_up_to_the_repeats_that_all_judged_cases_have():
    rows = [
        make_row(case_index=case, repeat=repeat, passed=passed)
        for case, verdicts in enumerate([(True, True), (True, False)])
        for repeat, passed in enumerate(verdicts)
    ]
    assert pass_powers(rows) == {1: Fraction(3, 4), 2: Fraction(1, 2)}
    assert pass_powers([completed(None)]) == {}


statuses = st.sampled_from(["completed", "refused", "error", "not_run", "fitted"])


# covers EVA-040, GEN-002
@given(st.lists(st.tuples(statuses, st.sampled_from([True, False, None])), max_size=12))
@settings(max_examples=60)
def test_every_row_is_in_exactly_one_count(marks):
    rows = [
        make_row(
            status=status,
            passed=passed if status == "completed" else False if status in ("refused", "error") else None,
        )
        for status, passed in marks
    ]
    found: Metrics = metrics_of(rows)
    fitted = sum(status == "fitted" for status, _ in marks)
    assert found.passed + found.failed + found.unjudged == found.completed
    assert found.completed + found.errors + found.refused + found.not_run + fitted == found.rows
    for rate in (found.pass_rate, found.error_rate, found.refused_rate):
        assert rate is None or 0 <= rate <= 1
