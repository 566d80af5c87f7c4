"""Strategies against a baseline: pairs, what was dropped, differences and tests, worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.errors import InputError
from ctxlab.paired import compare_strategies
from tests.factories import (
    error_row,
    facts_found,
    make_call,
    make_case,
    make_fact,
    make_row,
    make_run,
    refused_row,
)

CASES = [make_case(f"c{i}", facts=(make_fact("f0"),)) for i in range(12)]


def answered(i: int, strategy: str, found: int | None, *, of: int = 4, repeat: int = 0, **fields):
    """A row of case i that found so many of its facts, in context and answer."""
    return make_row(
        CASES[i],
        case_index=i,
        strategy=strategy,
        repeat=repeat,
        facts=() if found is None else facts_found(of, in_context=found, in_answer=found),
        **fields,
    )


def verdict(i: int, strategy: str, passed: bool | None, *, repeat: int = 0):
    return make_row(CASES[i], case_index=i, strategy=strategy, repeat=repeat, passed=passed)


def one(run, metric: str, pair_set: str = "completed", **options):
    (found,) = compare_strategies(run, metrics=[metric], sets=[pair_set], **options)
    return found


# covers EVA-060, EVA-063
def test_a_recall_difference_is_the_mean_over_the_same_cases_with_its_interval():
    run = make_run(
        answered(0, "full", 4), answered(0, "shorten", 2),
        answered(1, "full", 3), answered(1, "shorten", 3),
    )  # fmt: skip
    found = one(run, "answer_recall")
    assert (found.strategy, found.pairs, found.dropped) == ("shorten", 2, {})
    assert found.difference == Fraction(-1, 4)  # (-1/2 + 0) / 2
    assert (found.low, found.high) == (-0.5, 0.0)
    assert (found.wins, found.losses, found.ties, found.test) == (0, 1, 1, "sign")
    assert (found.level, found.resamples, found.seed) == (0.95, 10_000, 0)


# covers EVA-063, FRM-038
def test_one_pair_has_a_difference_but_no_interval():
    found = one(make_run(answered(0, "full", 4), answered(0, "shorten", 1)), "context_recall")
    assert (found.pairs, found.difference, found.low, found.high) == (1, Fraction(-3, 4), None, None)


# covers EVA-061, EVA-060
def test_refused_rows_are_dropped_from_one_set_and_count_as_zero_in_the_other():
    case_facts = facts_found(4)
    run = make_run(
        answered(0, "full", 4), answered(0, "summarize", 4),
        answered(1, "full", 4), refused_row(CASES[1], case_index=1, strategy="summarize", facts=case_facts),
        answered(2, "full", 2), error_row(CASES[2], case_index=2, strategy="summarize", facts=case_facts),
        refused_row(CASES[3], case_index=3, facts=case_facts), answered(3, "summarize", 1),
    )  # fmt: skip
    completed = one(run, "answer_recall")
    assert (completed.pairs, completed.difference) == (1, 0)
    assert completed.dropped == {"error": 1, "refused": 2}
    both = one(run, "answer_recall", "with_refused")
    # case 0: 0; case 1: 0 - 1; case 3: 1/4 - 0
    assert (both.pairs, both.difference, both.dropped) == (3, Fraction(-1, 4), {"error": 1})
    assert (both.wins, both.losses, both.ties) == (1, 1, 1)


# covers EVA-061
def test_a_refused_row_counts_as_not_passed_in_the_second_set():
    run = make_run(
        verdict(0, "full", True), refused_row(CASES[0], strategy="empty"),
        verdict(1, "full", True), make_row(CASES[1], case_index=1, strategy="empty", passed=True),
    )  # fmt: skip
    found = one(run, "passed", "with_refused")
    assert (found.pairs, found.difference, found.losses, found.p) == (2, Fraction(-1, 2), 1, 1)


# covers EVA-061
def test_a_refused_row_of_a_case_without_facts_has_no_recall_to_lose():
    run = make_run(answered(0, "full", None), refused_row(CASES[0], strategy="empty", facts=()))
    found = one(run, "answer_recall", "with_refused")
    assert (found.pairs, found.dropped, found.difference) == (0, {"no_value": 1}, None)


# covers EVA-060
def test_reasons_of_dropping_are_told_apart():
    run = make_run(
        answered(0, "full", None), answered(0, "empty", 1),
        make_row(CASES[1], case_index=1, status="not_run", fitted=None), answered(1, "empty", 1),
        error_row(CASES[2], case_index=2), refused_row(CASES[2], case_index=2, strategy="empty"),
        answered(3, "full", 1), answered(3, "empty", 1),
    )  # fmt: skip
    found = one(run, "answer_recall")
    assert found.dropped == {"error": 1, "not_run": 1, "no_value": 1}
    assert found.pairs + sum(found.dropped.values()) == 4


# covers EVA-062, EVA-066
def test_repeats_are_averaged_first_and_verdicts_then_take_the_sign_test():
    run = make_run(
        verdict(0, "full", True), verdict(0, "full", True, repeat=1),
        verdict(0, "empty", True), verdict(0, "empty", False, repeat=1),
        verdict(1, "full", False), verdict(1, "full", False, repeat=1),
        verdict(1, "empty", True), verdict(1, "empty", True, repeat=1),
    )  # fmt: skip
    found = one(run, "passed")
    assert (found.pairs, found.difference, found.test) == (2, Fraction(1, 4), "sign")  # (-1/2 + 1) / 2
    assert (found.wins, found.losses, found.ties, found.p) == (1, 1, 0, 1)


# covers EVA-061, EVA-062
def test_a_repeat_in_error_drops_the_case_from_the_first_set_and_stays_out_of_the_second():
    run = make_run(
        answered(0, "full", 4), answered(0, "full", 4, repeat=1),
        answered(0, "empty", 2), error_row(CASES[0], strategy="empty", repeat=1, facts=facts_found(4)),
    )  # fmt: skip
    assert one(run, "answer_recall").dropped == {"error": 1}
    second = one(run, "answer_recall", "with_refused")
    assert (second.pairs, second.difference) == (1, Fraction(-1, 2))


# covers EVA-066
def test_ties_are_found_in_exact_fractions():
    # 0.1 + 0.2 is 0.30000000000000004 in floating point; as case means of repeats both are 3/20
    def cost(strategy: str, repeat: int, amount: float):
        return make_row(CASES[0], strategy=strategy, repeat=repeat, cost=amount)

    run = make_run(cost("full", 0, 0.1), cost("full", 1, 0.2), cost("empty", 0, 0.3), cost("empty", 1, 0.0))
    assert one(run, "cost").difference == 0
    thirds = make_run(
        answered(0, "full", 1, of=3), answered(0, "full", 2, of=6, repeat=1),
        answered(0, "empty", 2, of=6), answered(0, "empty", 1, of=3, repeat=1),
    )  # fmt: skip
    assert (one(thirds, "answer_recall").ties, one(thirds, "answer_recall").p) == (1, 1)


# covers EVA-065, EVA-069
def test_single_verdicts_take_mcnemar_on_discordant_pairs():
    rows = []
    for i in range(8):  # 6 lost, 1 kept, 1 failed by both
        rows += [verdict(i, "full", i != 7), verdict(i, "empty", i == 6)]
    found = one(make_run(*rows), "passed")
    assert (found.test, found.wins, found.losses, found.ties) == ("mcnemar", 0, 6, 2)
    assert found.p == Fraction(1, 32)
    assert found.difference == Fraction(-6, 8)


# covers EVA-067
def test_p_values_are_adjusted_over_the_strategies_of_one_metric_and_set():
    rows = []
    for i in range(6):
        rows += [
            verdict(i, "full", True),
            verdict(i, "empty", False),  # b, c = 6, 0: 1/32
            verdict(i, "shorten", i == 5),  # 5, 0: 1/16
            verdict(i, "extract", True),  # 0, 0: 1
        ]
    found = {
        c.strategy: c for c in compare_strategies(make_run(*rows), metrics=["passed"], sets=["completed"])
    }
    assert [found[name].p for name in ("empty", "shorten", "extract")] == [
        Fraction(1, 32),
        Fraction(1, 16),
        1,
    ]
    assert found["empty"].p_holm == Fraction(3, 32)
    assert found["shorten"].p_holm == Fraction(4, 32)
    assert found["extract"].p_holm == 1


# covers EVA-064
def test_differences_of_duration_tokens_and_cost_have_intervals_but_no_test():
    def row(i: int, strategy: str, seconds: float, tokens: int, cost: float):
        call = make_call(duration_s=seconds, prompt_tokens=tokens)
        return make_row(CASES[i], case_index=i, strategy=strategy, calls=(call,), cost=cost)

    run = make_run(
        row(0, "full", 2.0, 100, 0.3), row(0, "shorten", 1.5, 40, 0.1),
        row(1, "full", 3.0, 200, 0.5), row(1, "shorten", 1.0, 60, 0.2),
    )  # fmt: skip
    expected = {"total_duration_s": (-2.0, -0.5), "input_tokens": (-140.0, -60.0), "cost": (-0.3, -0.2)}
    for metric, interval in expected.items():
        found = one(run, metric)
        assert (found.low, found.high) == interval
        assert (found.wins, found.p, found.p_holm, found.test) == (None, None, None, None)
    assert one(run, "cost").difference == Fraction(-1, 4)


# covers EVA-061, EVA-042
def test_offline_pairs_are_fitted_rows_and_nothing_is_said_of_answers():
    def fitted(i: int, strategy: str, found: int):
        facts = facts_found(4, in_context=found)
        return make_row(
            CASES[i], case_index=i, strategy=strategy, status="fitted", facts=facts, client_kind="offline"
        )

    run = make_run(
        fitted(0, "full", 4), fitted(0, "shorten", 3),
        fitted(1, "full", 4), refused_row(CASES[1], case_index=1, strategy="shorten", facts=facts_found(4)),
    )  # fmt: skip
    assert one(run, "context_recall").difference == Fraction(-1, 4)
    assert one(run, "context_recall", "with_refused").difference == Fraction(-5, 8)  # (-1/4 - 1) / 2
    for metric in ("answer_recall", "passed"):
        found = one(run, metric, "with_refused")
        assert (found.pairs, found.difference, found.p, found.wins) == (0, None, None, None)


# covers EVA-060
def test_rows_are_in_order_of_strategy_metric_and_set_and_leave_the_baseline_out():
    run = make_run(*(answered(0, name, 1) for name in ("empty", "full", "shorten")))
    found = compare_strategies(run)
    assert len(found) == 2 * 6 * 2
    assert [c.strategy for c in found[:12]] == ["empty"] * 12
    assert [(c.metric, c.set) for c in found[:3]] == [
        ("context_recall", "completed"), ("context_recall", "with_refused"), ("answer_recall", "completed"),
    ]  # fmt: skip
    against_empty = compare_strategies(run, baseline="empty", metrics=["cost"])
    assert [c.strategy for c in against_empty] == ["full", "full", "shorten", "shorten"]


def test_a_baseline_that_was_not_run_is_refused():
    with pytest.raises(InputError, match="baseline: not a strategy of the run; allowed are empty"):
        compare_strategies(make_run(answered(0, "empty", 1)))


kinds = st.sampled_from(["completed", "refused", "error", "not_run", "no_facts"])


# covers EVA-060, EVA-066
@given(st.lists(st.tuples(kinds, kinds, st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_every_case_is_a_pair_or_dropped_and_signs_add_up(cells):
    def row(i: int, strategy: str, kind: str, found: int):
        if kind == "completed":
            return answered(i, strategy, found)
        if kind == "no_facts":
            return answered(i, strategy, None)
        return make_row(
            CASES[i], case_index=i, strategy=strategy, status=kind, fitted=None, facts=facts_found(4),
            passed=None if kind == "not_run" else False,
        )  # fmt: skip

    rows = []
    for i, (left, right, found, base) in enumerate(cells):
        rows += [row(i, "full", right, base), row(i, "empty", left, found)]
    for found in compare_strategies(make_run(*rows), resamples=50, metrics=["answer_recall", "passed"]):
        assert found.pairs + sum(found.dropped.values()) == len(cells)
        if found.pairs:
            assert found.wins + found.losses + found.ties == found.pairs
            assert -1 <= found.difference <= 1
