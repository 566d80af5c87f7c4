"""The exact paired test behind a drop: decided by hand, and by the vectors of the specification."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.gates.noise import decide, decide_counts, p_value
from ctxlab.gates.transitions import Transition
from ctxlab.statistics import mcnemar

LEVEL = Fraction(19, 20)


def decision(pairs, broken, fixed, drop="0", level=LEVEL):
    return decide_counts(pairs=pairs, broken=broken, fixed=fixed, most_drop=Fraction(drop), level=level)


# covers EVA-065, EVA-069
@pytest.mark.parametrize(
    ("broken", "fixed", "p"),
    [
        (0, 0, Fraction(1)),
        (5, 0, Fraction(1, 16)),
        (6, 0, Fraction(1, 32)),
        (1, 5, Fraction(7, 32)),
        (8, 2, Fraction(7, 64)),
        (15, 5, Fraction(5425, 131072)),
        (10, 10, Fraction(1)),
    ],
)
def test_for_no_drop_the_p_value_is_that_of_mcnemar(broken, fixed, p):
    assert p_value(pairs=100, broken=broken, fixed=fixed, drop=Fraction(0)) == p
    assert p_value(pairs=100, broken=fixed, fixed=broken, drop=Fraction(0)) == p


def test_for_a_drop_the_chance_to_break_is_moved_by_what_is_allowed():
    # 10 cases, 2 changed, 1/10 allowed: a changed case breaks with (1 + 1/10 * 10 / 2) / 2 = 3/4.
    # Two broken: at least 2 has 9/16, at most 2 has 1, so twice 9/16 is over 1. None broken: at most 0 has 1/16.
    tenth = Fraction(1, 10)
    assert p_value(pairs=10, broken=2, fixed=0, drop=tenth) == 1
    assert p_value(pairs=10, broken=0, fixed=2, drop=tenth) == Fraction(1, 8)
    assert p_value(pairs=10, broken=1, fixed=1, drop=tenth) == Fraction(7, 8)  # at most 1: 7/16


@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(0, 30),
    st.fractions(0, 1, max_denominator=50),
)
@settings(max_examples=60)
def test_the_p_value_is_twice_the_smaller_binomial_tail(broken, fixed, same, drop):
    pairs, changed = broken + fixed + same, broken + fixed
    if changed == 0 or drop * pairs >= changed:
        return
    chance = (1 + drop * pairs / changed) / 2
    terms = [comb(changed, i) * chance**i * (1 - chance) ** (changed - i) for i in range(changed + 1)]
    tail = min(sum(terms[: broken + 1]), sum(terms[broken:]))
    assert p_value(pairs=pairs, broken=broken, fixed=fixed, drop=drop) == min(1, 2 * tail)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((10, 6, 0), "failed"),  # p 1/32
        ((10, 0, 6), "passed"),
        ((10, 5, 0), "inconclusive"),  # p 1/16
        ((10, 0, 5), "inconclusive"),
        ((10, 0, 0), "passed"),  # nothing changed
        ((40, 15, 5), "failed"),  # p 0.0414
        ((40, 10, 10), "inconclusive"),
    ],
)
def test_a_drop_is_passed_failed_or_inconclusive_by_the_test(counts, expected):
    assert decision(*counts).decision == expected


def test_changes_that_even_together_make_no_greater_drop_pass_without_a_test():
    found = decision(100, 10, 0, drop="0.1")
    assert (found.decision, found.too_few_changed) == ("passed", True)
    assert decision(100, 11, 0, drop="0.1").too_few_changed is False


def test_the_level_decides():
    assert decision(10, 5, 0, level=Fraction(9, 10)).decision == "failed"  # 1/16 is at most 1/10
    assert decision(10, 6, 0, level=Fraction(99, 100)).decision == "inconclusive"


# The share of broken cases is 5 of 10: with 12 cases 6 would have broken, which settles it (p 1/32).
def test_an_inconclusive_test_says_how_many_more_cases_would_settle_it():
    assert decision(10, 5, 0).more_cases == 2
    assert decision(10, 6, 0).more_cases is None


def test_where_as_many_break_as_are_fixed_no_dataset_settles_it():
    found = decision(10, 1, 1)
    assert (found.decision, found.more_cases) == ("inconclusive", None)


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=40)
def test_with_that_many_more_cases_it_is_settled(same, broken, fixed):
    found = decision(same + broken + fixed, broken, fixed)
    if found.more_cases is None:
        return
    cases = found.pairs + found.more_cases
    more = decision(cases, broken * cases // found.pairs, fixed * cases // found.pairs)
    assert more.decision != "inconclusive"


# covers EVA-066
def test_cases_count_by_whether_they_got_worse_and_those_without_two_verdicts_do_not():
    def case(name, then, now):
        return Transition(strategy="full", case_id=name, baseline_share=then, current_share=now)

    half = Fraction(1, 2)
    changes = [
        case("a", Fraction(1), half),
        case("b", half, Fraction(1)),
        case("c", half, half),
        case("d", None, Fraction(1)),
        case("e", Fraction(1), None),
    ]
    found = decide(changes, most_drop=Fraction(0), level=LEVEL)
    assert (found.pairs, found.broken, found.fixed, found.p) == (3, 1, 1, 1)
    assert decide(changes[3:], most_drop=Fraction(0), level=LEVEL) is None


@given(st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=40)
def test_both_tests_of_ctxlab_agree(broken, fixed):
    assert p_value(pairs=100, broken=broken, fixed=fixed, drop=Fraction(0)) == mcnemar(
        only_baseline=broken, only_strategy=fixed
    )
