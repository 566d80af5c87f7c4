"""Grids of settings: every combination once, the same result whoever works on it, and what cannot be told apart."""

from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import ctxlab
from ctxlab.budget import Budget
from ctxlab.errors import InputError
from ctxlab.settings import grid, swept_from_words
from ctxlab.strategies.full import Empty, Full
from ctxlab.strategies.shorten import Shorten
from ctxlab.sweep_tables import flat_region, sensitivity_table, settings_table, sweep_frame
from ctxlab.sweeps import sweep
from ctxlab.tabulate import write_parquet
from ctxlab.tokens import CountedOnce, token_counter

CONTINUATION = Path(__file__).parents[1] / "data/continuation.jsonl"
TARGETS = {"target_tokens": [256, 512, 1024]}


# The grid


# covers EXP-060
def test_a_grid_is_every_combination_the_last_name_fastest():
    settings = grid(
        {"shorten.target_tokens": [256, 512], "summary_share": ["1/4", 0.5], "window_tokens": [4096]},
        budget=Budget(output_reserve_tokens=512),
        strategies=[Full(), Shorten()],
    )
    assert [setting.values for setting in settings] == [
        (256, "1/4", 4096), (256, 0.5, 4096), (512, "1/4", 4096), (512, 0.5, 4096),
    ]  # fmt: skip
    last = settings[-1]
    assert (last.budget.window_tokens, last.budget.output_reserve_tokens) == (4096, 512)
    assert str(last.budget.thresholds.summary_share) == "1/2"
    assert (last.strategies[1].target_tokens, last.strategies[1].name) == (512, "shorten")


@pytest.mark.parametrize(
    ("swept", "message"),
    [
        ({"bogus": [1]}, "a name is no field of the budget, no threshold and no parameter"),
        ({"extract.target_tokens": [1]}, "a name is no field of the budget"),
        ({"target_tokens": []}, "target_tokens: expected one or more values, each once"),
        ({"target_tokens": [5, 5]}, "target_tokens: expected one or more values, each once"),
        ({"target_tokens": ["five"]}, "sweep: target_tokens: expected a whole number of 1 or more"),
        ({"summary_share": [1.5]}, "sweep: summary_share: out of range; allowed is 0 to 1"),
        ({"window_tokens": [-1]}, "sweep: window_tokens: out of range"),
        (
            {"digest_tools": list(range(400)), "progress_tools": list(range(400))},
            "160,000 settings; at most 100,000",
        ),
    ],
)
def test_what_cannot_be_swept_is_one_line_that_says_why(swept, message):
    with pytest.raises(InputError, match=message):
        grid(swept, budget=Budget(), strategies=[Full(), Shorten()])


def test_values_are_read_from_words():
    assert swept_from_words(["target_tokens=256,512", "summary_share=1/4,0.5", "evidence=all,none"]) == {
        "target_tokens": [256, 512], "summary_share": ["1/4", 0.5], "evidence": ["all", "none"],
    }  # fmt: skip
    for words in (["target_tokens"], ["a=1", "a=2"], ["a="]):
        with pytest.raises(InputError, match="expected NAME=V1,V2, each name once"):
            swept_from_words(words)


# Work


class Counting:
    """A counter that notes what it is asked."""

    name, vocabulary_sha256 = "utf8_bytes_2", None

    def __init__(self):
        self.texts = []

    def __call__(self, text):
        self.texts.append(text)
        return -(-len(text.encode()) // 2)


# covers EXP-060, EXP-061
def test_every_setting_has_every_strategy_and_both_baselines():
    frame = sweep_frame(sweep(CONTINUATION, "shorten", TARGETS))
    assert list(frame["setting"]) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert list(frame["strategy"]) == ["full", "shorten", "empty"] * 3
    assert list(frame["target_tokens"]) == [256] * 3 + [512] * 3 + [1024] * 3
    full = frame[frame["strategy"] == "full"]
    assert list(full["context_recall"]) == [1.0, 1.0, 1.0]
    assert full["difference_low"].isna().all()
    shortened = frame[frame["strategy"] == "shorten"]
    run = ctxlab.run(CONTINUATION, "shorten:target_tokens=512", client=None, counter=token_counter("gpt-4o"),
                     runs_dir=None, progress=False)  # fmt: skip
    alone = ctxlab.metrics_frame(run).iloc[1]
    assert shortened.iloc[1]["context_recall"] == alone["context_recall"]
    assert shortened.iloc[1]["result_tokens_mean"] == alone["result_tokens_mean"]
    differences = ctxlab.comparisons_frame(run)
    own = differences[(differences["metric"] == "context_recall") & (differences["set"] == "completed")].iloc[
        0
    ]
    assert (shortened.iloc[1]["difference_low"], shortened.iloc[1]["difference_high"]) == (
        own["low"],
        own["high"],
    )


# covers EXP-060, EXP-063
def test_settings_that_come_to_the_same_are_worked_on_once():
    """Spellings of one share, and a threshold that a strategy does not read, cost nothing."""

    def asked(swept):
        counter = Counting()
        sweep(CONTINUATION, "extract:target_tokens=512", swept, counter=counter)
        return len(counter.texts)

    asked({"summary_share": ["1/4"]})  # units of the histories are counted once in a process
    one = asked({"summary_share": ["1/4"]})
    assert asked({"summary_share": ["1/4", 0.25]}) == one
    assert asked({"summary_share": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}) == one


# covers EXP-063
def test_the_number_of_counted_texts_does_not_grow_with_the_settings():
    def counted(values):
        inner = token_counter("gpt-4o")
        seen = []

        class Spy:
            name, vocabulary_sha256 = inner.name, inner.vocabulary_sha256

            def __call__(self, text):
                seen.append(text)
                return inner(text)

        sweep(CONTINUATION, "extract", {"target_tokens": values}, counter=CountedOnce(Spy()))
        source = {m.text for case in ctxlab.load_dataset(CONTINUATION).cases for m in case.messages}
        return sum(text in source for text in seen)

    assert counted([300, 600]) == counted(list(range(300, 900, 50)))


# covers EXP-063, EXP-065
@pytest.mark.parametrize("executor", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_the_frame_is_the_same_bytes_whoever_works(tmp_path, executor):
    here = sweep_frame(sweep(CONTINUATION, "shorten,extract", TARGETS | {"recent_keep_turns": [0, 2]}))
    with executor(2) as workers:
        there = sweep_frame(
            sweep(CONTINUATION, "shorten,extract", TARGETS | {"recent_keep_turns": [0, 2]}, executor=workers)
        )
    write_parquet(here, tmp_path / "here.parquet")
    write_parquet(there, tmp_path / "there.parquet")
    assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "there.parquet").read_bytes()


class Failing:
    """An executor whose every second task is lost."""

    def __init__(self):
        self.tasks = 0

    def submit(self, work, *arguments):
        self.tasks += 1
        future = Future()
        if self.tasks % 2:
            future.set_result(work(*arguments))
        else:
            future.set_exception(RuntimeError("a worker died"))
        return future


# covers EXP-065
def test_a_lost_task_is_rows_in_error_and_no_row_is_missing():
    frame = sweep_frame(sweep(CONTINUATION, "shorten", TARGETS, executor=Failing()))
    assert list(frame["setting"]) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert list(frame["errors"]) == [0, 0, 0, 3, 3, 3, 0, 0, 0]
    lost = frame[frame["setting"] == 1]
    assert lost["context_recall"].isna().all()
    assert list(lost["rows"]) == [3, 3, 3]


# What a reader asks


# covers EXP-062
def test_the_flat_region_names_settings_that_reach_the_best_and_no_winner():
    made = sweep(CONTINUATION, "extract", {"target_tokens": [64, 128, 512, 600, 1024]})
    frame = sweep_frame(made)
    extract = frame[frame["strategy"] == "extract"]
    best = extract.loc[extract["context_recall"].astype(float).idxmax()]
    reaches = [bool(high >= best["context_recall_low"]) for high in extract["context_recall_high"].dropna()]
    assert list(extract["within_best"].dropna()) == reaches
    (said,) = flat_region(made)
    assert said.startswith(
        f"extract: {sum(reaches)} of 5 settings cannot be told from the best (context recall 1.000)"
    )


# covers EXP-062
def test_sensitivity_is_the_range_of_mean_recall_with_the_others_averaged():
    made = sweep(CONTINUATION, "extract", {"target_tokens": [256, 512], "window_tokens": [8192, 16384]})
    frame = sweep_frame(made)
    extract = frame[frame["strategy"] == "extract"]
    low, high = (
        extract[extract["target_tokens"] == tokens]["context_recall"].mean() for tokens in (256, 512)
    )
    table = sensitivity_table(made)
    assert list(table["name"]) == ["target_tokens", "window_tokens"]
    assert list(table["range"]) == [f"{high - low:.3f}", "0.000"]
    assert list(settings_table(made)["setting"]) == [str(n) for n in range(4) for _ in range(3)]


# Live


# covers EXP-064
def test_a_live_sweep_needs_a_limit_and_stays_within_it():
    told = []
    words = {"dataset": CONTINUATION, "strategies": "summarize", "swept": {"requested_tokens": [200, 400]}}
    options = {"client": "stand-in:extractive", "runs_dir": None, "progress": False, "told": told.append}
    for limit, message in (
        (None, "is needed with a client; this grid would send 24 requests"),
        (23, "allowed are 23"),
    ):
        with pytest.raises(InputError, match=message):
            sweep(**words, **options, max_calls=limit)
    assert told == []
    made = sweep(**words, **options, max_calls=24)  # 2 settings, 3 cases: full 1, summarize 2, empty 1
    assert [one.calls for one in told] == [24]
    assert sum(record["calls"] for record in made.records) == 24
    assert made.recall == "answer_recall"
    assert set(sweep_frame(made).attrs.values()) >= {"stand-in:extractive"}


def test_a_strategy_that_asks_a_model_is_swept_with_a_client_only():
    with pytest.raises(InputError, match="summarize asks a model, so that a client is needed"):
        sweep(CONTINUATION, "summarize", {"requested_tokens": [200]})
    with pytest.raises(InputError, match="sweep: repeats: only with a client"):
        sweep(CONTINUATION, "shorten", TARGETS, repeats=2)


def test_both_baselines_are_put_in_once():
    made = sweep(CONTINUATION, [Empty(), Shorten()], TARGETS)
    assert [record["strategy"] for record in made.records[:3]] == ["full", "empty", "shorten"]
