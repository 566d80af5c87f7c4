import pandas as pd
import pytest

from ctxlab.budget import Budget, Calibration
from ctxlab.calibration import (
    Sample,
    calibrated,
    frame_samples,
    kept_samples,
    learned_counter,
    run_samples,
)
from ctxlab.comparison import run
from ctxlab.errors import BudgetError, InputError
from ctxlab.frames import calibration_frame, read_parquet, write_parquet
from ctxlab.strategies.full import Full
from ctxlab.tokens import UTF8_BYTES_1, UTF8_BYTES_2, token_counter
from tests.factories import make_call, make_case, make_dataset, make_helper, make_row, make_run, user

URL = "https://models.example/v1"
KEY = (URL, "m")


def sample(estimated, reported, *, endpoint=URL, model="m"):
    return Sample(endpoint=endpoint, model=model, estimated_tokens=estimated, reported_tokens=reported)


def of(window, reserve, **more):
    return Budget(window_tokens=window, output_reserve_tokens=reserve, **more)


# covers BUD-084, BUD-085, BUD-086
@pytest.mark.parametrize(
    ("window", "reserve", "rule", "estimated", "reported", "tokens", "capped", "allowance"),
    [
        (8192, 1000, "additive", 1000, 1900, 900, False, 5012),
        (8192, 1000, "additive", 1000, 6000, 2048, True, 3864),
        (4096, 512, "additive", 1000, 6000, 1024, True, 1280),
        (32_768, 4096, "additive", 4000, 16_000, 8192, True, 19_200),
        (8192, 1000, "ratio", 1000, 1200, 986, False, 4926),
        (8192, 1000, "ratio", 1000, 2050, 2048, True, 3864),
        (8192, 1000, "ratio", 1000, 900, 0, False, 5912),
        (32_768, 4096, "ratio", 4000, 5000, 5479, False, 21_913),
    ],
)
def test_the_vectors_of_the_specification(
    window, reserve, rule, estimated, reported, tokens, capped, allowance
):
    budget = calibrated(of(window, reserve), [sample(estimated, reported)], key=KEY, rule=rule)
    assert (budget.calibration_tokens, budget.allowance_tokens) == (tokens, allowance)
    assert budget.calibration == Calibration(rule=rule, samples=1, capped=capped)


# covers BUD-084
def test_reports_below_the_estimate_never_lower_the_reserve():
    budget = calibrated(Budget(), [sample(1000, 1900), sample(1000, 10)], key=KEY)
    assert budget.calibration_tokens == 900
    assert calibrated(Budget(), [sample(1000, 10)], key=KEY).calibration_tokens == 0


# covers BUD-083, BUD-084
def test_the_reserve_falls_when_the_large_sample_leaves_the_newest_16():
    large, small = sample(1000, 1900), sample(1000, 1100)
    assert calibrated(Budget(), [large, *[small] * 15], key=KEY).calibration_tokens == 900
    assert calibrated(Budget(), [large, *[small] * 16], key=KEY).calibration_tokens == 100


# covers BUD-084
def test_a_window_within_the_safety_reserve_takes_no_calibration_and_is_not_capped_by_its_share():
    budget = calibrated(of(1000, 0), [sample(100, 200)], key=KEY)
    assert budget.calibration_tokens == 0
    assert budget.calibration.capped is False  # a quarter of the window, 250, would be room enough for 100


# covers BUD-085
def test_without_an_allowance_the_ratio_asks_for_nothing():
    budget = calibrated(of(1000, 0), [sample(100, 300)], key=KEY, rule="ratio")
    assert (budget.calibration_tokens, budget.calibration.capped) == (0, False)


# covers BUD-086, BUD-087
def test_calibration_replaces_what_the_budget_held_before_and_leaves_the_argument_as_it_is():
    first = calibrated(Budget(), [sample(1000, 1900)], key=KEY)
    second = calibrated(first, [sample(1000, 1200)], key=KEY, rule="ratio")
    assert (first.calibration_tokens, second.calibration_tokens) == (900, 986)
    none = calibrated(second, [], key=KEY)
    assert none.calibration_tokens == 0
    assert none.calibration == Calibration(rule="additive", samples=0, capped=False)


# covers BUD-086
def test_the_receipt_states_rule_samples_tokens_and_cap():
    samples = [sample(1000, 6000), sample(1000, 1900)]
    case = make_case(messages=(user("What now?"),))
    receipt = Full().fit(case, calibrated(Budget(), samples, key=KEY), token_counter(None)).receipt
    assert (receipt.calibration_rule, receipt.calibration_samples) == ("additive", 2)
    assert (receipt.calibration_tokens, receipt.calibration_capped) == (2048, True)
    plain = Full().fit(case, Budget(calibration_tokens=5), token_counter(None)).receipt
    assert (plain.calibration_tokens, plain.calibration_rule, plain.calibration_samples) == (5, None, None)


# covers BUD-081, BUD-083
@pytest.mark.parametrize(
    ("estimated", "reported"), [(None, 5), (5, None), (0, 5), (5, 0), (-1, 5), (5, -1), (None, None)]
)
def test_a_pair_with_an_unknown_or_impossible_number_is_dropped_before_the_16_are_taken(estimated, reported):
    good = [sample(1000, 1000 + n) for n in range(1, 17)]
    assert kept_samples([*good, *[sample(estimated, reported)] * 20]) == tuple(good)


# covers BUD-083
def test_the_newest_256_keys_are_kept_and_the_one_created_first_goes_first():
    samples = [sample(10, 20, model=f"m{n}") for n in range(256)]
    again = sample(10, 30, model="m0")  # an old key with a new sample is still the one created first
    kept = kept_samples([*samples, again, sample(10, 20, model="m256")])
    assert {s.model for s in kept} == {f"m{n}" for n in range(1, 257)}
    back = kept_samples([*samples, sample(10, 20, model="m256"), again])
    assert {s.model for s in back} == {f"m{n}" for n in [0, *range(2, 257)]}
    assert len(back) == 256


# covers BUD-088, BUD-080
def test_samples_of_one_key_never_move_another_and_trailing_slashes_do_not_make_a_key():
    samples = [
        sample(1000, 1900, model="other"),
        sample(1000, 1800, endpoint="https://elsewhere.example/v1"),
        sample(1000, 1100, endpoint=f"{URL}//"),
    ]
    assert calibrated(Budget(), samples, key=KEY).calibration_tokens == 100
    assert calibrated(Budget(), samples, key=(f"{URL}/", "other")).calibration_tokens == 900


def test_another_rule_is_refused():
    with pytest.raises(BudgetError, match="allowed is additive, ratio"):
        calibrated(Budget(), [], key=KEY, rule="mean")


def calls_run(*calls):
    return make_run(make_row(calls=calls))


# covers BUD-080, BUD-081
def test_every_call_of_a_run_with_a_reported_input_is_a_sample_of_its_endpoint_and_model():
    made = calls_run(
        make_helper(0, estimated_tokens=50, prompt_tokens=70, endpoint=URL, model_requested="h"),
        make_call(1, estimated_tokens=90, endpoint=URL, outcome="error", error_kind="timeout"),
        make_call(
            1, attempt=1, estimated_tokens=90, prompt_tokens=80, endpoint=f"{URL}/", model_requested="m"
        ),
        make_call(2, estimated_tokens=90, prompt_tokens=80),
    )
    assert [(s.key, s.estimated_tokens, s.reported_tokens) for s in run_samples(made)] == [
        ((URL, "h"), 50, 70),
        ((URL, "m"), 90, 80),
    ]


# covers BUD-082
@pytest.mark.parametrize(
    ("cached", "included", "reported"),
    [(30, True, [100]), (30, False, [130]), (None, True, [100]), (None, False, []), (0, False, [100])],
)
def test_cached_input_is_part_of_the_reported_input_unless_the_platform_reports_it_apart(
    cached, included, reported
):
    made = calls_run(make_call(0, prompt_tokens=100, cached_tokens=cached, endpoint=URL))
    assert [s.reported_tokens for s in run_samples(made, cached_included=included)] == reported


# covers BUD-087, BUD-080
def test_the_frame_of_a_run_holds_its_samples_and_makes_the_next_budget(tmp_path):
    calls = [make_call(n, estimated_tokens=100, prompt_tokens=100 + n, endpoint=URL) for n in range(1, 21)]
    other = make_call(21, estimated_tokens=7, prompt_tokens=9, endpoint=f"{URL}/", model_requested="other")
    frame = calibration_frame(calls_run(*calls, other))
    assert frame["order"].tolist() == [*range(16), 0]
    assert frame["reported_tokens"].tolist() == [*range(105, 121), 9]
    assert frame["endpoint"].unique().tolist() == [URL]
    write_parquet(frame, tmp_path / "calibration.parquet")
    again = read_parquet(tmp_path / "calibration.parquet")
    pd.testing.assert_frame_equal(again, frame)
    budget = calibrated(Budget(), frame_samples(again), key=(URL, "model"))
    assert (budget.calibration_tokens, budget.calibration.samples) == (20, 16)


# covers BUD-007
@pytest.mark.parametrize(
    ("counter", "pairs", "name"),
    [
        (UTF8_BYTES_2, [(1000, 800)], "utf8_ratio_2.500"),
        (UTF8_BYTES_2, [(1000, 500), (1000, 600)], "utf8_ratio_3.333"),  # 2 * 1000 / 600, cut
        (UTF8_BYTES_2, [(1000, 400)], "utf8_ratio_4.000"),  # 5 is clamped
        (UTF8_BYTES_2, [(1000, 3000)], "utf8_ratio_1.000"),  # 2/3 is clamped
        (UTF8_BYTES_1, [(1000, 400)], "utf8_ratio_2.500"),
        (UTF8_BYTES_2, [(1000, None)], "utf8_bytes_2"),
    ],
)
def test_bytes_per_token_are_learned_from_the_sample_that_needs_most_room(counter, pairs, name):
    samples = [sample(*pair) for pair in pairs]
    assert learned_counter(counter, samples, key=KEY).name == name
    assert learned_counter(counter, samples, key=(URL, "other")).name == counter.name


# covers BUD-007
def test_a_vocabulary_has_no_ratio_to_learn():
    with pytest.raises(InputError, match="only counters of bytes"):
        learned_counter(token_counter("gpt-4o"), [], key=KEY)


# covers BUD-080, BUD-087
def test_the_calls_of_a_run_know_the_endpoint_that_they_were_sent_to():
    dataset = make_dataset(make_case(messages=(user("What now?"),)))
    done = run(dataset, "full", client="stand-in:echo", runs_dir=None, progress=False)
    assert [s.key for s in run_samples(done)] == [("stand-in:echo", "echo")]
    (reported,) = calibration_frame(done)["reported_tokens"]
    assert reported == done.rows[0].main_call.usage.prompt_tokens
