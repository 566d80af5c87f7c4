"""A run with admission from end to end: rows, frame, report and registry tell the same."""

import json
from pathlib import Path

import pandas as pd
import pytest

from ctxlab.budget import Budget
from ctxlab.comparison import run
from ctxlab.frames import admission_frame, fits_frame, read_parquet, results_frame, run_frames
from ctxlab.registry import verify_run
from ctxlab.reports import read_report, report_bytes, run_report
from ctxlab.standins import stand_in
from tests.factories import make_case, make_dataset, make_fact, make_row, make_run, make_snippet, user

OLD = make_snippet(
    "s1", "Limit: 30 seconds.", title="Limit", evidence_time="2024-01-01", superseded_by=("s2",)
)
NEW = make_snippet("s2", "Limit: 45 seconds.", title="Limits", evidence_time="2025-01-01T08:00:00+02:00")
LONG = make_snippet("s3", "The gate is described here at length. " * 4 + "Gate seven is open.", title="Gate")
CASE = make_case(
    messages=(user("What is the limit?"),),
    snippets=(OLD, NEW, LONG),
    facts=(make_fact("now", "45 seconds"), make_fact("then", "30 seconds"), make_fact("gate", "Gate seven")),
)
# in halves of bytes: question 12 + 2 + 9; evidence 12 + 2 + ceil of 11, the entries and 46
# s2: 12 + 18 + 2, s1 under its label: 24 + 18 + 2, clip of s3: 10 + 4 + 19 + 2
BUDGET = Budget(
    window_tokens=2000, output_reserve_tokens=1800, protocol_reserve_tokens=0, safety_reserve_tokens=66
)  # U is 134: all of them take 23 + 14 + ceil((11 + 32 + 44 + 35 + 46) / 2) = 121, the whole of s3 80 more


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    client = stand_in("scripted", replies=("Limit: 45 seconds [s2], before 30 seconds [s1]; see [s4].",) * 6)
    return run(
        make_dataset(CASE),
        "full,admit,shorten:evidence=admit",
        client=client,
        budget=BUDGET,
        runs_dir=tmp_path_factory.mktemp("runs"),
        progress=False,
    )


# covers FRM-006, ADM-060, ADM-063
def test_the_admission_frame_has_one_row_per_row_and_snippet_that_was_decided_on(done):
    frame = admission_frame(done)
    assert frame.attrs["frame"] == "admission"
    assert list(frame["strategy"].unique()) == ["admit", "shorten[evidence=admit]"]
    told = frame[frame["strategy"] == "admit"].drop(columns=["run_id", "case_id", "strategy", "repeat"])
    rows = list(told.astype(object).where(told.notna(), None).itertuples(index=False, name=None))
    new, old = pd.Timestamp("2025-01-01T06:00:00Z"), pd.Timestamp("2024-01-01T00:00:00Z")
    # rank, position, topic, decision, reason, label, bytes, kept bytes, tokens of the whole entry, time
    assert rows == [
        ("s1", 0, 1, 0, "admitted", None, "superseded", 18, 18, 22, old),
        ("s2", 1, 0, 0, "admitted", None, None, 18, 18, 16, new),
        ("s3", 2, 2, 1, "clipped", None, None, 171, 19, 92, None),
    ]


# covers EVA-023, FRM-030
def test_recall_of_evidence_is_that_of_what_was_sent(done):
    frame = results_frame(done).set_index("strategy")
    assert frame.loc["full", "status"] == "refused"
    assert frame.loc["admit", "outcome"] == "admitted"
    assert frame.loc["admit", "evidence_recall"] == 1.0
    fits = fits_frame(done).set_index("strategy")
    assert list(fits.loc["admit", ["admitted", "omitted", "clipped"]]) == [3, 0, 1]
    assert fits.loc["full", ["admitted", "omitted", "clipped"]].isna().all()


# covers ADM-064
def test_dropped_citations_are_counted_where_an_answer_was_given(done):
    assert {row.strategy: row.dropped_citations for row in done.rows} == {
        "full": None, "admit": 1, "shorten[evidence=admit]": 1,
    }  # fmt: skip


# covers EVA-094, ADM-060
def test_the_report_tells_of_the_admission_and_comes_back(done):
    cases = json.loads(report_bytes(run_report(done)))["cases"]
    told = {case["strategy"]: case["receipt"]["admission"] for case in cases}
    assert told["full"] is None
    assert told["admit"] == {
        "enabled": True, "request_built": True, "refusal": None, "target": 2000, "reserved_output": 1800,
        "envelope": 66, "schema": 0, "content": 121, "estimated_input": 187, "limit": 200,
        "counter": "utf8_bytes_2", "accounting": "chat", "admitted": ["s2", "s1", "s3"], "omitted": [],
        "clipped": [{"id": "s3", "original_bytes": 171, "kept_bytes": 19}],
        "labels": [{"id": "s1", "label": "superseded"}], "flags": [], "dropped_citations": 1,
    }  # fmt: skip
    read = read_report(Path(done.directory) / "evaluation.json")
    assert read.cases[1].receipt.admission.clipped[0].kept_bytes == 19


# covers FRM-009, EXP-046
def test_the_frame_is_kept_with_the_run_which_verifies(done):
    kept = read_parquet(Path(done.directory) / "frames" / "admission.parquet")
    pd.testing.assert_frame_equal(kept, admission_frame(done))
    assert verify_run(done.directory) == ()


def test_a_run_without_admission_has_no_such_frame_and_an_empty_one_has_all_columns():
    plain = make_run(make_row())
    assert "admission" not in run_frames(plain)
    empty = admission_frame(plain)
    assert len(empty) == 0
    assert str(empty["time"].dtype) == "datetime64[us, UTC]"
