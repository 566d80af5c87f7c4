"""Which cases changed, case by case."""

import pandas as pd
import pytest

from ctxlab.gates import transitions, transitions_frame
from tests.factories import error_row, make_case, make_run
from tests.reporting import answered


def run_of(**verdicts):
    return make_run(
        *(answered(case_id, passed=v, index=i) for i, (case_id, v) in enumerate(verdicts.items()))
    )


# covers EVA-078, FRM-040
def test_each_case_is_fixed_broken_unchanged_or_in_one_run_only():
    now = run_of(a=True, b=False, c=True, d=False, e=None, f=None, g=True, new=True)
    then = run_of(a=False, b=True, c=True, d=False, e=None, f=True, g=None, gone=False)
    assert {one.case_id: one.transition for one in transitions(now, then)} == {
        "a": "fixed",
        "b": "broken",
        "c": "unchanged",
        "d": "unchanged",
        "e": "unchanged",
        "f": "only_baseline",
        "g": "only_current",
        "new": "only_current",
        "gone": "only_baseline",
    }


# covers FRM-040, FRM-006
def test_the_frame_stands_in_the_order_of_the_current_run_then_of_the_baseline():
    frame = transitions_frame(run_of(z=True, a=False), run_of(y=True, a=True))
    assert frame["case_id"].tolist() == ["z", "a", "y"]
    assert frame["transition"].tolist() == ["only_current", "broken", "only_baseline"]
    assert frame["baseline_passed"].tolist() == [pd.NA, True, True]
    assert frame["current_passed"].tolist() == [True, False, pd.NA]
    assert frame.attrs["frame"] == "transitions"
    assert list(frame.columns) == ["strategy", "case_id", "baseline_passed", "current_passed", "transition"]


# covers FRM-040
@pytest.mark.parametrize(
    ("then", "now", "transition", "shown"),
    [
        ([True, False], [True, True], "fixed", (False, True)),
        ([True, True], [True, False], "broken", (True, False)),
        ([True, False], [False, True], "unchanged", (False, False)),
        ([True, False, False], [True, True, False], "fixed", (False, False)),
        ([None, True], [False, True], "broken", (True, False)),
    ],
)
def test_with_repeats_the_share_that_passed_is_compared(then, now, transition, shown):
    def run(verdicts):
        return make_run(*(answered("c", passed=v, repeat=i) for i, v in enumerate(verdicts)))

    frame = transitions_frame(run(now), run(then))
    assert frame["transition"].tolist() == [transition]
    assert (frame["baseline_passed"][0], frame["current_passed"][0]) == shown


# covers EVA-078
def test_a_row_in_error_counts_as_not_passed():
    now = make_run(error_row(make_case("a")))
    assert [one.transition for one in transitions(now, run_of(a=True))] == ["broken"]


# covers EVA-078
def test_other_answers_with_the_same_verdict_are_information():
    now, then = make_run(answered("a", answer="x")), make_run(answered("a", answer="y"))
    (one,) = transitions(now, then)
    assert (one.transition, one.answers_differ) == ("unchanged", True)
    assert transitions(now, now)[0].answers_differ is False
    unknown = make_run(answered("a", answer=None))
    assert transitions(now, unknown)[0].answers_differ is False


# covers EVA-078
def test_strategies_are_matched_by_name():
    now = make_run(answered("a", strategy="x"), answered("a", strategy="y"))
    then = make_run(answered("a", strategy="y", passed=False))
    assert [(one.strategy, one.transition) for one in transitions(now, then)] == [
        ("x", "only_current"),
        ("y", "fixed"),
    ]
