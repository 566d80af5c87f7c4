"""Vectors of the specification, hand-made cases, and the public percentile faults."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.statistics import (
    Interval,
    bootstrap_mean,
    exact_two_sided,
    holm,
    mcnemar,
    mean,
    nearest_rank,
    pass_power,
    sign_test,
)

P50, P95, P99 = Fraction(50, 100), Fraction(95, 100), Fraction(99, 100)


# covers EVA-045, EVA-051
@pytest.mark.parametrize(
    ("values", "p50", "p95"),
    [
        (range(1, 6), 3, 5),
        ([4, 1, 3, 2], 2, 4),
        (range(1, 21), 10, 19),
        (range(1, 101), 50, 95),
        ([7], 7, 7),
        ([], None, None),
    ],
)
def test_percentiles_are_nearest_ranks(values, p50, p95):
    assert nearest_rank(list(values), share=P50) == p50
    assert nearest_rank(list(values), share=P95) == p95


# covers EVA-045: public cases P01 (overshoot at whole ranks) and P04 (tiny samples)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (list(range(1, 101)), (50, 95, 99)),
        ([10.0, 20.0, 30.0], (20.0, 30.0, 30.0)),
        ([7.0], (7.0, 7.0, 7.0)),
        ([], (None, None, None)),
    ],
)
def test_percentiles_of_the_public_cases(values, expected):
    assert tuple(nearest_rank(values, share=share) for share in (P50, P95, P99)) == expected


# covers EVA-045
def test_the_rank_is_computed_exactly_for_a_float_share():
    # 0.07 x 100 is 7.000000000000001 in floating point, which would give rank 8
    assert nearest_rank(list(range(1, 101)), share=0.07) == 7


@pytest.mark.parametrize("share", [0, 1.5, -0.1])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(ValueError, match="share"):
        nearest_rank([1], share=share)


# covers EVA-045
@given(st.lists(st.integers(), min_size=1), st.fractions(min_value=Fraction(1, 100), max_value=1))
@settings(max_examples=60)
def test_a_percentile_is_observed_and_has_its_share_at_or_below(values, share):
    found = nearest_rank(values, share=share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)
    assert sum(value < found for value in values) < share * len(values)


def test_a_mean_is_exact_and_unknown_without_values():
    assert mean([0.1, 0.2, 0.3]) == Fraction(1, 5)
    assert mean([Fraction(1, 3), 1]) == Fraction(2, 3)
    assert mean([]) is None


# covers EVA-063
def test_two_values_give_the_whole_range():
    # a quarter of all resamples of two values repeat one of them, far more than the tail of 2.5 %
    assert bootstrap_mean([0, 1]) == Interval(low=0.0, high=1.0)


# covers EVA-063
@pytest.mark.parametrize("values", [[], [0.5]])
def test_fewer_than_two_values_have_no_interval(values):
    assert bootstrap_mean(values) is None


# covers EVA-063
def test_equal_values_give_an_interval_without_width():
    assert bootstrap_mean([0.1, 0.1, 0.1]) == Interval(low=0.1, high=0.1)


# covers EVA-063
def test_the_interval_is_made_of_the_stated_draws_and_ranks():
    values = [0.0, 0.25, 0.5, 1.0, 1.0]
    draws = np.random.Generator(np.random.PCG64(0)).integers(0, 5, (10_000, 5))
    means = sorted(np.array(values)[draws].mean(axis=1))
    assert bootstrap_mean(values) == Interval(low=means[250 - 1], high=means[9_750 - 1])


# covers EVA-063
def test_a_large_sample_is_drawn_in_blocks_with_the_same_result():
    values = [i % 7 for i in range(3_000)]
    draws = np.random.Generator(np.random.PCG64(5)).integers(0, 3_000, (1_000, 3_000))
    means = sorted(np.array(values, dtype=float)[draws].mean(axis=1))
    found = bootstrap_mean(values, resamples=1_000, seed=5, level=0.9)
    assert found == Interval(low=means[50 - 1], high=means[950 - 1])


# covers EVA-063
def test_the_seed_is_a_parameter():
    values = [i * i % 101 for i in range(40)]
    assert bootstrap_mean(values, seed=0) == bootstrap_mean(values, seed=0)
    assert bootstrap_mean(values, seed=0) != bootstrap_mean(values, seed=1)


@pytest.mark.parametrize("parameters", [{"resamples": 0}, {"level": 1.0}, {"level": 0.0}])
def test_bootstrap_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ValueError, match="resamples"):
        bootstrap_mean([0, 1], **parameters)


# covers EVA-065, EVA-066, EVA-069
@pytest.mark.parametrize(
    ("b", "c", "p"),
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
def test_the_exact_tests_give_the_vectors(b, c, p):
    assert mcnemar(only_baseline=b, only_strategy=c) == p
    assert sign_test(wins=b, losses=c) == p
    assert sign_test(wins=c, losses=b) == p


# covers EVA-065
@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60)
def test_the_exact_p_value_is_the_sum_of_the_definition(b, c):
    n = b + c
    by_definition = Fraction(2 * sum(comb(n, i) for i in range(min(b, c) + 1)), 2**n)
    assert exact_two_sided(b, c) == min(1, by_definition)


# covers EVA-067
@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        ([], []),
        ([Fraction(1, 5)], [Fraction(1, 5)]),
        # 3 x 0.01, then max(0.03, 2 x 0.02), then max(0.04, 0.03)
        (
            [Fraction(3, 100), Fraction(1, 100), Fraction(2, 100)],
            [Fraction(4, 100), Fraction(3, 100), Fraction(4, 100)],
        ),
        ([Fraction(3, 5), Fraction(4, 5)], [Fraction(1), Fraction(1)]),
        ([None, Fraction(1, 10), None], [None, Fraction(1, 10), None]),
    ],
)
def test_holm_steps_down_and_keeps_the_order_given(raw, adjusted):
    assert holm(raw) == adjusted


# covers EVA-068
@pytest.mark.parametrize(
    ("cases", "k", "expected"),
    [
        ([(4, 4), (2, 4)], 1, Fraction(3, 4)),
        ([(4, 4), (2, 4)], 2, Fraction(7, 12)),  # (1 + 1/6) / 2
        ([(4, 4), (2, 4)], 3, Fraction(1, 2)),
        ([(0, 3)], 1, Fraction(0)),
        ([], 1, None),
    ],
)
def test_pass_power_of_small_samples(cases, k, expected):
    assert pass_power(cases, k=k) == expected


# covers EVA-068
def test_pass_power_of_fifty_cases_with_four_repeats():
    cases = [(i % 5, 4) for i in range(50)]  # ten cases each with 0, 1, 2, 3 and 4 passes
    # means over (0, 1, 2, 3, 4): k=1 (0+1+2+3+4)/4, k=2 (0+0+1+3+6)/6, k=3 (0+0+0+1+4)/4, k=4 (0+0+0+0+1)/1
    found = [pass_power(cases, k=k) for k in (1, 2, 3, 4)]
    assert found == [Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 5)]


@pytest.mark.parametrize("k", [0, 3])
def test_k_beyond_the_repeats_is_refused(k):
    with pytest.raises(ValueError, match="k:"):
        pass_power([(1, 2)], k=k)
