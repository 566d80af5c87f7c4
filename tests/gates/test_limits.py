"""Limits as they are written and read."""

from fractions import Fraction

import pytest

from ctxlab.errors import InputError
from ctxlab.gates import GATES, GateLimits


# covers EVA-070
def test_gates_run_in_the_order_of_the_specification():
    assert GATES == (
        "min_pass_rate",
        "max_pass_rate_drop",
        "max_error_rate",
        "max_p95_latency_seconds",
        "max_p95_latency_increase_percent",
        "min_recall",
        "max_recall_drop",
    )
    limits = GateLimits(max_recall_drop="0.1", min_pass_rate="1", max_error_rate="0")
    assert list(limits.limits) == ["min_pass_rate", "max_error_rate", "max_recall_drop"]


# covers EVA-070
def test_at_least_one_gate_is_required():
    with pytest.raises(InputError, match="at least one"):
        GateLimits(min_samples=5)


# covers EVA-071, EVA-072
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", Fraction(0)),
        ("1", Fraction(1)),
        ("0.1", Fraction(1, 10)),
        ("00.50", Fraction(1, 2)),
        ("1e-1", Fraction(1, 10)),
        ("10E-2", Fraction(1, 10)),
        ("0.01e+1", Fraction(1, 10)),
        ("0.3333333333333333333333333", Fraction(3333333333333333333333333, 10**25)),
    ],
)
def test_a_number_is_exactly_what_is_written(text, value):
    assert GateLimits(min_pass_rate=text).min_pass_rate == value


# covers EVA-071
@pytest.mark.parametrize(
    "text",
    ["", " 0.5", "0.5 ", "+0.5", "-0.5", ".5", "5.", "1_0", "0,5", "nan", "NaN", "inf", "Infinity", "-inf", "1e", "e5",
     "0x1", "half", "1/2", "50%", "٠.٥", "0.5\n", "1e9999", "9" * 41, "1" + "0" * 5000],
    ids=lambda text: repr(text)[:20],
)  # fmt: skip
def test_other_text_is_no_number(text):
    with pytest.raises(InputError) as caught:
        GateLimits(max_error_rate=text)
    assert str(caught.value) == "--max-error-rate: expected a number such as 0.9"


# covers EVA-071
@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("min_pass_rate", "1.0001", "0 to 1"),
        ("max_pass_rate_drop", "2", "0 to 1"),
        ("max_error_rate", "1e1", "0 to 1"),
        ("min_recall", "1.1", "0 to 1"),
        ("max_recall_drop", "100", "0 to 1"),
        ("max_p95_latency_seconds", "0", "above 0"),
        ("max_p95_latency_seconds", "0.0e5", "above 0"),
    ],
)
def test_a_number_out_of_its_range_is_refused(name, text, allowed):
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')}: {allowed} is allowed"):
        GateLimits(**{name: text})


# covers EVA-071
def test_seconds_and_percent_have_no_upper_bound():
    limits = GateLimits(max_p95_latency_seconds="1e3", max_p95_latency_increase_percent="0")
    assert limits.max_p95_latency_seconds == 1000
    assert limits.max_p95_latency_increase_percent == 0
    assert GateLimits(max_p95_latency_increase_percent="250.5").max_p95_latency_increase_percent == Fraction(
        501, 2
    )


# covers EVA-072
def test_a_float_counts_as_its_shortest_decimal_form():
    assert GateLimits(max_pass_rate_drop=0.1).max_pass_rate_drop == Fraction(1, 10)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, True, Fraction(-1, 2)])
def test_other_values_are_refused_in_python_too(value):
    with pytest.raises(InputError):
        GateLimits(min_pass_rate=value)


@pytest.mark.parametrize("level", ["0", "1", "1.5"])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(InputError, match="--level"):
        GateLimits(max_pass_rate_drop="0", paired=True, level=level)


def test_a_paired_test_needs_the_gate_that_it_decides():
    with pytest.raises(InputError, match="--paired: needs --max-pass-rate-drop"):
        GateLimits(min_pass_rate="0.5", paired=True)


# covers EVA-079
def test_min_samples_is_1_or_more():
    assert GateLimits(min_pass_rate="0").min_samples == 1
    with pytest.raises(InputError, match="--min-samples"):
        GateLimits(min_pass_rate="0", min_samples=0)
