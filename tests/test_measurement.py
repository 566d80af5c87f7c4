"""The measurement fixture and its numbers, byte for byte; timing with a clock that is given."""

import hashlib
import itertools
import json
import os
import threading
from datetime import UTC, datetime

import pandas as pd
import pytest

from ctxlab.errors import BudgetError, InputError
from ctxlab.estimates import compact_json
from ctxlab.experiments import Source
from ctxlab.measurement import (
    LANGUAGES,
    QUESTION,
    TEMPLATE,
    call_times,
    load_template,
    measurement_budget,
    measurement_csv,
    measurement_frame,
    request_with,
    request_without,
)
from ctxlab.measurement_receipt import measurement_receipt, write_measurement
from ctxlab.tokens import UTF8_BYTES_1, UTF8_BYTES_2, counter_named

T = load_template()
FRAME = measurement_frame(timing=False)
SIZES = {"window_tokens": 16_000, "output_reserve_tokens": 2_000, "envelope_tokens": 1_024}


def row(fixture, snippets, mode, question_bytes=32):
    found = FRAME[
        (FRAME["fixture"] == fixture)
        & (FRAME["snippets"] == snippets)
        & (FRAME["mode"] == mode)
        & (FRAME["question_bytes"] == question_bytes)
    ]
    (record,) = found.to_dict(orient="records")
    return record


def size(text):
    return len(text.encode())


# covers ADM-080
def test_64_rows_in_order():
    keys = ["fixture", "snippets", "question_bytes", "mode"]
    assert list(FRAME[keys].itertuples(index=False, name=None)) == list(
        itertools.product(["ASCII", "pt-BR", "CJK", "code"], [1, 10, 50, 100], [32, 160_000], ["off", "on"])
    )


# covers ADM-081
@pytest.mark.parametrize(
    ("fixture", "text_bytes", "sentence_bytes"),
    [("ASCII", 240, 40), ("pt-BR", 255, 43), ("CJK", 720, 120), ("code", 240, 40)],
)
def test_snippets_have_240_characters_and_a_last_sentence_of_40(fixture, text_bytes, sentence_bytes):
    text = T.texts[fixture]
    assert (len(text), size(text), size(text[-40:])) == (240, text_bytes, sentence_bytes)
    assert text[:-40].rstrip()[-1] in ".。;"
    snippets = T.snippets(fixture, 100)
    assert {size(s.id + s.title) for s in snippets} == {31}
    assert len({s.title for s in snippets}) == len({s.id for s in snippets}) == 100


# covers ADM-082
def test_the_template_has_its_fixed_sizes():
    assert size(T.system + T.user.replace("{question}", "")) == 498
    assert size(T.entry.format(number="", id="", title="", text="")) == 36
    assert [size(label) for label in T.extent.values()] == [18, 18]
    assert size(T.notice) == 190
    assert size(compact_json(T.answer_schema)) == 700
    assert size(QUESTION) == 32


# covers ADM-003, ADM-082
@pytest.mark.parametrize(
    ("fixture", "off", "on", "counts", "estimated"),
    [
        ("ASCII", 31_422, 12_156, (35, 65, 0), 13_880),
        ("pt-BR", 32_922, 12_131, (34, 66, 1), 13_855),
        ("CJK", 79_422, 12_220, (15, 85, 1), 13_944),
        ("code", 31_422, 12_156, (35, 65, 0), 13_880),
    ],
)
def test_the_table_of_100_snippets_holds_to_the_byte(fixture, off, on, counts, estimated):
    assert row(fixture, 100, "off")["content_bytes"] == off
    found = row(fixture, 100, "on")
    assert (found["content_bytes"], found["estimated_input"], found["schema_bytes"]) == (on, estimated, 700)
    assert (found["admitted"], found["omitted"], found["clipped"]) == counts


# covers ADM-083
@pytest.mark.parametrize("fixture", LANGUAGES)
def test_with_50_as_many_are_admitted_and_with_10_and_1_all(fixture):
    assert row(fixture, 50, "on")["admitted"] == row(fixture, 100, "on")["admitted"]
    for number in (10, 1):
        found = row(fixture, number, "on")
        assert (found["admitted"], found["omitted"], found["clipped"]) == (number, 0, 0)


# covers ADM-083
def test_the_sizes_of_ten_chinese_and_of_one_english_snippet():
    assert row("CJK", 10, "on")["content_bytes"] == 8_781
    assert [row("ASCII", 1, mode)["content_bytes"] for mode in ("off", "on")] == [838, 1_046]


# covers ADM-084
def test_a_long_question_builds_no_request_with_admission_on():
    long = FRAME[(FRAME["question_bytes"] == 160_000) & (FRAME["mode"] == "on")]
    assert len(long) == 16
    assert not long["request_built"].any()
    assert set(long["content_bytes"]) == {0}
    # 498 + 160,000 + schema 700 + envelope 1,024, without the notice
    assert set(long["estimated_input"]) == {162_222}
    assert (long["omitted"] == long["snippets"]).all()


# covers ADM-008, FRM-037
def test_with_admission_off_nothing_is_estimated_or_decided():
    off = FRAME[FRAME["mode"] == "off"]
    for name in ("schema_bytes", "estimated_input", "admitted", "omitted", "clipped"):
        assert off[name].isna().all()
    assert off["request_built"].all()
    assert (off["content_bytes"] > 0).all()


# covers ADM-008
def test_with_admission_off_the_request_is_the_template_with_every_snippet():
    snippets = T.snippets("pt-BR", 2)
    request = request_without(T, snippets, QUESTION, counter=UTF8_BYTES_1, **SIZES)
    entries = "".join(
        f"[{n}] Retrieved source {s.id}: {s.title}\nStatement:\n{s.text}\n\n"
        for n, s in enumerate(snippets, 1)
    )
    assert request.user == T.user.replace("{question}", QUESTION) + entries
    receipt = request.account()
    assert (receipt.enabled, receipt.schema_tokens, receipt.estimated_input_tokens) == (False, None, None)


# covers ADM-003, ADM-006, ADM-007
@pytest.mark.parametrize(
    "counter", [UTF8_BYTES_1, UTF8_BYTES_2, counter_named("o200k_base")], ids=lambda c: c.name
)
@pytest.mark.parametrize("fixture", LANGUAGES)
def test_the_estimate_is_that_of_the_rendered_request_and_within_the_bound(fixture, counter):
    budget = measurement_budget(template=T, counter=counter, window_tokens=9_000)
    request = request_with(T, T.snippets(fixture, 60), QUESTION, budget=budget, counter=counter)
    receipt = request.account()
    content = counter(request.system) + counter(request.user)
    schema = counter(compact_json(T.answer_schema))
    assert (receipt.content_tokens, receipt.schema_tokens) == (content, schema)
    assert receipt.estimated_input_tokens == content + schema + 1_024 <= receipt.limit_tokens == 7_000
    assert receipt.accounting == "content_bytes"
    assert receipt.counter == counter.name
    assert request.user.endswith(T.notice)


# covers ADM-023, ADM-024
def test_the_clip_of_the_portuguese_fixture_is_its_last_sentence():
    budget = measurement_budget(template=T)
    request = request_with(T, T.snippets("pt-BR", 100), QUESTION, budget=budget, counter=UTF8_BYTES_1)
    last = request.user.removesuffix(T.notice).split("\n\n[")[-1]
    assert last == (
        "34] Retrieved source m034: Measurement fixture, no 034\nStatement:\nExtent: last part\n"
        "… A fila já não aceita lotes após as onze.\n\n"
    )
    assert request.account().clipped == {"m034": (255, 43)}


# covers ADM-004
def test_another_counter_is_named():
    frame = measurement_frame(timing=False, counter=UTF8_BYTES_2)
    assert frame.attrs["counter"] == "utf8_bytes_2"
    assert FRAME.attrs["counter"] == "utf8_bytes_1"
    assert frame.attrs["run_id"] is None


# covers ADM-005
@pytest.mark.parametrize("window", [0, 500, 1_024, 3_724])
def test_a_window_that_reserve_envelope_and_schema_reach_is_refused(window):
    with pytest.raises(
        BudgetError, match="output reserve, envelope and schema reach it; allowed is over 3724"
    ):
        measurement_frame(timing=False, window_tokens=window)


# covers ADM-005
def test_one_token_more_is_a_window():
    assert measurement_budget(template=T, window_tokens=3_725).message_allowance_tokens() == 1


class Clock:
    """Nanoseconds that go on by given steps from call to call."""

    def __init__(self):
        self.now = 0
        self.readings = 0

    def __call__(self):
        # a trial is two readings; trial n of a row takes 20 * n nanoseconds
        trial = self.readings // 2 % 31 + 1
        self.now += 20 * trial if self.readings % 2 else 1_000
        self.readings += 1
        return self.now


# covers ADM-085
def test_times_are_nearest_ranks_of_31_trials_of_20_calls_after_20_that_do_not_count():
    clock, calls = Clock(), []
    # nanoseconds per call are 1 to 31: rank 16 of 31 is 16, rank ceil(0.95 * 31) = 30 is 30
    assert call_times(lambda: calls.append(clock.readings), clock) == {"p50_ns": 16, "p95_ns": 30}
    assert len(calls) == 20 + 31 * 20
    assert calls[:40] == [0] * 20 + [1] * 20
    assert clock.readings == 31 * 2


# covers ADM-085
@pytest.mark.slow
def test_every_row_is_timed():
    frame = measurement_frame(clock=Clock())
    assert set(frame["p50_ns"]) == {16}
    assert set(frame["p95_ns"]) == {30}
    assert str(frame["p50_ns"].dtype) == "Int64"


# covers ADM-085
def test_without_timing_times_are_null_and_all_else_is_the_same():
    assert FRAME[["p50_ns", "p95_ns"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(FRAME, measurement_frame(timing=False))


# covers ADM-086
def test_csv_has_the_columns_and_marks():
    lines = measurement_csv(FRAME).split("\n")
    assert lines[0] == (
        "fixture,snippets,question_bytes,mode,request_built,content_bytes,schema_bytes,estimated_input,"
        "admitted,omitted,clipped,p50_ns,p95_ns"
    )
    assert lines[1] == "ASCII,1,32,off,True,838,NA,NA,NA,NA,NA,NA,NA"
    assert lines[2] == "ASCII,1,32,on,True,1046,700,2770,1,0,0,NA,NA"
    assert (len(lines), lines[-1]) == (66, "")
    assert "\r" not in measurement_csv(FRAME)


# covers ADM-087
def test_the_receipt_names_what_made_the_measurement(tmp_path):
    facts = tmp_path / "cpuinfo"
    facts.write_text(
        "processor\t: 0\nmodel name\t: A Processor @ 2 GHz\nprocessor\t: 1\nmodel name\t: other\n"
    )
    receipt = measurement_receipt(
        "csv\n",
        source=Source(commit="c" * 40, dirty=True),
        now=datetime(2026, 1, 2, tzinfo=UTC),
        cpu_facts=facts,
    )
    assert set(receipt) == {
        "package", "version", "commit", "dirty", "python", "os", "architecture", "cpu_model", "cpus", "time",
        "fixture_sha256", "csv_sha256", "note",
    }  # fmt: skip
    assert (receipt["package"], receipt["commit"], receipt["dirty"]) == ("ctxlab", "c" * 40, True)
    assert (receipt["cpu_model"], receipt["time"]) == ("A Processor @ 2 GHz", "2026-01-02T00:00:00+00:00")
    assert receipt["fixture_sha256"] == hashlib.sha256(TEMPLATE.read_bytes()).hexdigest() == T.sha256
    assert receipt["csv_sha256"] == hashlib.sha256(b"csv\n").hexdigest()
    assert "exploratory" in receipt["note"]
    assert all(receipt[name] for name in ("version", "python", "os", "architecture", "cpus"))


# covers ADM-087
def test_csv_and_receipt_stand_beside_each_other(tmp_path):
    beside = write_measurement(measurement_csv(FRAME), tmp_path / "admission.csv")
    assert beside == tmp_path / "admission.receipt.json"
    written = (tmp_path / "admission.csv").read_bytes()
    assert json.loads(beside.read_text())["csv_sha256"] == hashlib.sha256(written).hexdigest()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["admission.csv", "admission.receipt.json"]


def test_a_measurement_goes_through_a_pipe_without_a_receipt(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert write_measurement("a,b\n", pipe) is None
    reader.join(timeout=30)
    assert read == [b"a,b\n"]
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_measurement_that_cannot_be_written_names_the_option(tmp_path):
    with pytest.raises(InputError, match=r"--output: cannot be written \(No such file or directory\)"):
        write_measurement("a,b\n", tmp_path / "none" / "x.csv")
