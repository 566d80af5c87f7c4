"""Gates on runs made by hand, with exact arithmetic."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.errors import InputError
from ctxlab.gates import GateLimits, gates_frame, judge_gates, not_evaluated, workers_to_measure
from tests.factories import error_row, facts_found, make_case, make_row, make_run, refused_row
from tests.reporting import answered, mixed_run, two_strategies


def rated(passed, total, **fields):
    """A run in which so many of so many cases pass."""
    return make_run(*(answered(f"c{i}", passed=i < passed, index=i) for i in range(total)), **fields)


def timed(*seconds, **fields):
    return make_run(*(answered(f"c{i}", index=i, seconds=s) for i, s in enumerate(seconds)), **fields)


def judged(run, baseline=None, *, client_s=None, strategy=None, **limits):
    verdict = judge_gates(run, GateLimits(**limits), baseline=baseline, client_s=client_s, strategy=strategy)
    return verdict.results


def passed(run, baseline=None, **limits):
    (one,) = judged(run, baseline, **limits)
    return one.passed


# covers EVA-070, EVA-072
@pytest.mark.parametrize(("limit", "holds"), [("0.7", True), ("0.70001", False), ("0", True), ("1", False)])
def test_a_pass_rate_is_at_least_its_limit(limit, holds):
    (one,) = judged(rated(7, 10), min_pass_rate=limit)
    assert (one.passed, one.state, one.current) == (holds, "passed" if holds else "failed", Fraction(7, 10))


# covers EVA-072
def test_a_drop_from_8_to_7_of_10_passes_a_limit_of_a_tenth():
    # In floating point 0.8 - 0.7 is above 0.1.
    (one,) = judged(rated(7, 10), rated(8, 10), max_pass_rate_drop="0.1")
    assert (one.passed, one.current, one.baseline) == (True, Fraction(7, 10), Fraction(4, 5))
    assert not passed(rated(7, 10), rated(8, 10), max_pass_rate_drop="0.0999999999999")
    assert passed(rated(9, 10), rated(8, 10), max_pass_rate_drop="0")


# covers EVA-072
@given(st.integers(1, 60), st.data())
@settings(max_examples=40, deadline=None)
def test_every_share_passes_a_limit_of_itself(total, data):
    good = data.draw(st.integers(0, total))
    assert passed(rated(good, total), min_pass_rate=Fraction(good, total))
    if good < total:
        assert not passed(rated(good, total), min_pass_rate=Fraction(good * 1000 + 1, total * 1000))


# covers EVA-070
@pytest.mark.parametrize(("limit", "holds"), [("0.25", True), ("0.24", False)])
def test_an_error_rate_is_at_most_its_limit(limit, holds):
    assert passed(mixed_run(), max_error_rate=limit) is holds


# covers EVA-072
@pytest.mark.parametrize(("limit", "holds"), [("0.3", True), ("0.29", False), ("0.30000000000000004", True)])
def test_a_duration_counts_as_its_shortest_decimal_form(limit, holds):
    assert passed(timed(0.1, 0.3), max_p95_latency_seconds=limit) is holds
    assert passed(timed(0.1 + 0.2), max_p95_latency_seconds="0.3") is False  # 0.30000000000000004


# covers EVA-070, EVA-075
@pytest.mark.parametrize(("limit", "holds"), [("10", True), ("9.999", False), ("0", False)])
def test_an_increase_is_in_percent_of_the_baseline(limit, holds):
    (one,) = judged(timed(1.1), timed(1.0), max_p95_latency_increase_percent=limit)
    assert (one.passed, one.current, one.baseline) == (holds, Fraction(11, 10), Fraction(1))
    assert "10 %" in one.explanation


# covers EVA-073
def test_a_baseline_latency_of_nothing_fails_its_gate():
    for then in (timed(0.0), make_run(make_row(make_case("c0")))):
        (one,) = judged(timed(1.0), then, max_p95_latency_increase_percent="100")
        assert (one.passed, one.explanation) == (False, "a p95 latency above 0 is unavailable")


# covers EVA-073
@pytest.mark.parametrize("name", ["min_pass_rate", "max_error_rate", "max_p95_latency_seconds", "min_recall"])
def test_a_metric_that_is_missing_fails_its_gate(name):
    offline = make_run(make_row(status="fitted", client_kind="offline"))
    (one,) = judged(offline, **{name: "1"})
    assert (one.passed, one.state, one.current) == (False, "failed", None)


# covers EVA-073
def test_a_gate_against_a_baseline_needs_one():
    for name in ("max_pass_rate_drop", "max_p95_latency_increase_percent"):
        with pytest.raises(InputError, match=f"--{name.replace('_', '-')}: needs --baseline"):
            judged(rated(1, 1), **{name: "0"})


# covers EVA-070
def test_every_gate_is_judged_in_table_order_also_after_a_failure():
    results = judged(
        rated(1, 2), rated(2, 2), min_recall="1", max_error_rate="0", min_pass_rate="1", max_pass_rate_drop="0.5",
        max_p95_latency_seconds="5", max_p95_latency_increase_percent="0",
    )  # fmt: skip
    assert [(one.gate, one.passed) for one in results] == [
        ("min_pass_rate", False),
        ("max_pass_rate_drop", True),
        ("max_error_rate", True),
        ("max_p95_latency_seconds", True),
        ("max_p95_latency_increase_percent", True),
        ("min_recall", False),
    ]


# covers EVA-072
def test_recall_is_facts_over_facts_and_not_a_mean_over_cases():
    run = make_run(
        answered("c1", facts=facts_found(1, in_context=1, in_answer=1)),
        answered("c2", index=1, facts=facts_found(3, in_context=1, in_answer=0)),
    )
    (one,) = judged(run, min_recall="0.25")
    assert (one.passed, one.current) == (True, Fraction(1, 4))
    (one,) = judged(run, min_recall="0.5", recall="context")
    assert (one.passed, one.current) == (True, Fraction(2, 4))


# covers EVA-070, EVA-072, EVA-074
def test_a_recall_drop_is_against_full_in_the_same_run_for_every_other_strategy():
    (one,) = judged(two_strategies(), max_recall_drop="0.5")
    assert (one.strategy, one.passed, one.current, one.baseline) == (
        "short",
        True,
        Fraction(1, 4),
        Fraction(3, 4),
    )
    assert passed(two_strategies(), max_recall_drop="0.499") is False
    (one,) = judged(two_strategies(), max_recall_drop="0", recall="context")
    assert (one.passed, one.current, one.baseline) == (True, 1, 1)


# covers EVA-074
def test_several_strategies_need_one_to_be_named_but_not_for_the_recall_drop():
    run = two_strategies()
    with pytest.raises(InputError, match="--strategy: is needed; the report has 2 strategies"):
        judged(run, min_recall="0")
    with pytest.raises(InputError, match="--strategy: is not in the report"):
        judged(run, min_recall="0", strategy="other")
    (one,) = judged(run, min_recall="0.25", strategy="short")
    assert (one.strategy, one.passed) == ("short", True)
    both = judged(run, min_recall="0.5", max_recall_drop="0.1", strategy="full")
    assert [(one.strategy, one.gate, one.passed) for one in both] == [
        ("full", "min_recall", True),
        ("short", "max_recall_drop", False),
    ]


def test_a_recall_drop_needs_full_and_another_strategy():
    with pytest.raises(InputError, match="needs a strategy besides full"):
        judged(rated(1, 1), max_recall_drop="0")
    with pytest.raises(InputError, match="has no strategy full"):
        judged(make_run(answered("c", strategy="short")), max_recall_drop="0")


# covers EVA-074
def test_category_and_tag_restrict_the_rows_that_are_judged():
    def row(name, index, ok, category, *tags):
        return replace(
            answered(name, passed=ok, index=index), case=make_case(name, category=category, tags=tags)
        )

    run = make_run(row("a", 0, True, "x", "slow"), row("b", 1, False, "x"), row("c", 2, False, "y", "slow"))
    rates = [
        judge_gates(run, GateLimits(min_pass_rate="0"), category=category, tag=tag).results[0].current
        for category, tag in [(None, None), ("x", None), (None, "slow"), ("x", "slow")]
    ]
    assert rates == [Fraction(1, 3), Fraction(1, 2), Fraction(1, 2), 1]
    for category, tag, option in (("z", None, "--category"), (None, "fast", "--tag"), ("y", "fast", "--tag")):
        with pytest.raises(InputError, match=f"{option}: no row"):
            judge_gates(run, GateLimits(min_pass_rate="0"), category=category, tag=tag)


# covers EVA-077
def test_runs_of_other_cases_are_compared_only_if_that_is_allowed_and_then_it_is_said():
    now, then = rated(1, 2), rated(2, 3)
    limits = GateLimits(max_pass_rate_drop="1")
    with pytest.raises(InputError, match="--baseline: case ids are not those"):
        judge_gates(now, limits, baseline=then)
    other = replace(rated(1, 2), dataset=replace(now.dataset, sha256="1" * 64))
    with pytest.raises(InputError, match="--baseline: contents of the dataset are not those"):
        judge_gates(now, limits, baseline=other)
    verdict = judge_gates(now, limits, baseline=then, allow_different_dataset=True)
    assert verdict.passed
    assert verdict.notes == ("compared although case ids are not the same",)


# covers EVA-077
def test_other_settings_are_told_and_not_judged():
    now = rated(1, 1, model_requested="a", identity={"concurrency": 1, "budget": {"window_tokens": 1}})
    then = rated(1, 1, model_requested="b", counter="o200k_base", identity={"concurrency": 2})
    verdict = judge_gates(now, GateLimits(max_pass_rate_drop="0"), baseline=then)
    assert verdict.passed
    assert verdict.notes == ("the runs differ in model, counter, budget, concurrency",)


def test_a_run_that_was_interrupted_is_called_so():
    part, whole = rated(1, 1, incomplete=True), rated(1, 1)
    assert judge_gates(part, GateLimits(min_pass_rate="1")).notes == ("the current run was interrupted",)
    verdict = judge_gates(whole, GateLimits(max_pass_rate_drop="0"), baseline=part)
    assert (verdict.passed, verdict.notes) == (True, ("the baseline was interrupted",))


def test_a_baseline_without_the_strategy_is_refused():
    with pytest.raises(InputError, match="--baseline: has no row of the strategy"):
        judged(
            make_run(answered("c", strategy="a")),
            make_run(answered("c", strategy="b")),
            max_pass_rate_drop="0",
        )


# covers EVA-079
def test_too_few_samples_fail_a_latency_gate_on_either_side():
    few, many = timed(1.0), timed(1.0, 1.0, 1.0)
    (one,) = judged(many, max_p95_latency_seconds="2", min_samples=3)
    assert one.passed
    (one,) = judged(many, max_p95_latency_seconds="2", min_samples=4)
    assert (one.passed, one.explanation) == (False, "3 samples are fewer than 4")
    limits = GateLimits(max_p95_latency_increase_percent="0", min_samples=2)
    for now, then in ((few, many), (many, few)):
        verdict = judge_gates(now, limits, baseline=then, allow_different_dataset=True)
        assert verdict.results[0].explanation == "1 samples are fewer than 2"
    (one,) = judged(timed(1.0), min_pass_rate="1", min_samples=9)
    assert one.passed


def test_a_latency_gate_is_refused_where_the_client_adds_more_than_a_tenth():
    (one,) = judged(timed(0.5), max_p95_latency_seconds="1", client_s=0.1)
    assert one.passed
    (one,) = judged(timed(0.5), max_p95_latency_seconds="1", client_s=0.101)
    assert (one.passed, one.state) == (False, "failed")
    assert one.explanation.startswith("client_bound: ")
    # 1 s and 50 % more allow 1.5 s, a tenth of which is 0.15 s.
    for client_s, holds in ((0.15, True), (0.151, False)):
        (one,) = judged(timed(1.2), timed(1.0), max_p95_latency_increase_percent="50", client_s=client_s)
        assert one.passed is holds
    (one,) = judged(timed(0.5), min_pass_rate="1", client_s=99.0)
    assert one.passed


def test_the_client_is_measured_only_if_a_latency_gate_asks_and_a_client_stood_between():
    slow, right = GateLimits(max_p95_latency_seconds="1"), GateLimits(min_pass_rate="1")
    assert workers_to_measure(timed(1.0, identity={"concurrency": 8}), slow) == 8
    assert workers_to_measure(timed(1.0), slow) == 1
    assert workers_to_measure(timed(1.0), right) is None
    assert workers_to_measure(timed(1.0, client_kind="stand-in:head"), slow) is None


def paired(now, then, **limits):
    (one,) = judged(rated(*now), rated(*then), max_pass_rate_drop="0", paired=True, **limits)
    return one.passed, one.explanation


def test_a_paired_gate_fails_if_it_is_inconclusive_unless_that_is_allowed():
    # Of 10 cases 5 passed before and fail now: p 1/16; with 12 cases 6 would fail: p 1/32.
    ok, why = paired((5, 10), (10, 10))
    assert ok is False
    assert why == (
        "inconclusive: of 10 cases 5 broke and 0 were fixed; p 0.0625 for a drop of 0, level 0.95; "
        "about 2 more cases would settle it at these shares"
    )
    ok, why = paired((5, 10), (10, 10), allow_inconclusive=True)
    assert ok is True
    assert why.startswith("inconclusive (allowed): ")
    assert paired((5, 10), (10, 10), level="0.9")[1].startswith("failed by the exact paired test: ")


def test_a_paired_gate_decides_where_the_test_does():
    assert paired((4, 10), (10, 10))[0] is False
    assert paired((10, 10), (4, 10))[0] is True
    assert paired((3, 10), (3, 10)) == (
        True, "passed: of 10 cases 0 broke and 0 were fixed, too few for a drop of more than 0",
    )  # fmt: skip


def test_a_paired_gate_without_a_common_verdict_fails():
    now, then = (
        make_run(answered("c", passed=None), answered("d", index=1)),
        make_run(answered("c"), answered("d", passed=None, index=1)),
    )
    (one,) = judged(now, then, max_pass_rate_drop="0", paired=True)
    assert (one.passed, one.explanation) == (False, "no case was judged in both runs")


# covers GEN-041
def test_the_gates_of_a_run_with_an_error_are_not_evaluated():
    results = not_evaluated(mixed_run(), GateLimits(min_pass_rate="0", max_error_rate="1"), strategy="full")
    assert [(one.gate, one.passed, one.state, one.threshold) for one in results] == [
        ("min_pass_rate", None, "not_evaluated", 0),
        ("max_error_rate", None, "not_evaluated", 1),
    ]
    assert results[0].explanation == "a row ended in an operational error"


# covers GEN-041
def test_a_finished_report_is_judged_whatever_it_holds():
    run = make_run(
        error_row(make_case("a")), refused_row(make_case("b"), case_index=1), answered("c", index=2)
    )
    results = judged(run, min_pass_rate="0.3", max_error_rate="0.3")
    assert [one.passed for one in results] == [True, False]


# covers EVA-080
def test_judging_changes_neither_run():
    now, then = rated(1, 2), rated(2, 2)
    judged(now, then, max_pass_rate_drop="1")
    assert (now, then) == (rated(1, 2), rated(2, 2))


# covers EVA-075
def test_the_frame_has_one_row_per_strategy_and_gate():
    verdict = judge_gates(mixed_run(), GateLimits(min_pass_rate="0.5", min_recall="0.1"))
    frame = gates_frame(verdict)
    assert frame[["strategy", "gate", "passed", "state"]].to_dict(orient="records") == [
        {"strategy": "full", "gate": "min_pass_rate", "passed": False, "state": "failed"},
        {"strategy": "full", "gate": "min_recall", "passed": False, "state": "failed"},
    ]
    assert frame["current"].isna().tolist() == [False, True]
    assert frame["threshold"].tolist() == [0.5, 0.1]
    assert (frame.attrs["frame"], frame.attrs["run_id"]) == ("gates", verdict.run_id)
