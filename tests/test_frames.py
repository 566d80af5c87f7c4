"""One frame per grain, from hand-made runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

from ctxlab import frames
from ctxlab.dataset import FACT_KINDS
from ctxlab.errors import InputError
from ctxlab.importers import ImportResult, ImportRow
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.records import FATES, EvaluatorResult
from ctxlab.schemas import SCHEMAS
from ctxlab.strategies.base import Span
from ctxlab.tokens import utf8_ratio
from tests.factories import (
    assistant,
    error_row,
    facts_found,
    judged,
    make_call,
    make_case,
    make_dataset,
    make_fact,
    make_fitted,
    make_helper,
    make_row,
    make_run,
    make_snippet,
    refused_row,
    user,
)

CASES = [
    make_case(
        "zeta", category="coding", language="en", facts=(make_fact("f0"), make_fact("f1")), tags=("a",)
    ),
    make_case("alpha", category="chat", facts=(make_fact("f0"), make_fact("f1"))),
]
NULL = pd.NA


def mixed_run(**fields):
    """Two cases, two strategies: completed, refused, error and not run."""
    helper = make_helper(0, duration_s=0.5, estimated_tokens=70, prompt_tokens=80, completion_tokens=9)
    main = make_call(
        1, duration_s=2.0, estimated_tokens=40, prompt_tokens=50, completion_tokens=6, total_tokens=56,
        finish_reason="stop", model_observed="model-1",
    )  # fmt: skip
    return make_run(
        make_row(
            CASES[0],
            strategy="full",
            calls=(make_call(prompt_tokens=900, completion_tokens=10, total_tokens=910),),
            answer="All is\nwell.",
            content_kind="text",
            passed=True,
            facts=facts_found(2, in_context=2, in_answer=2),
            evaluations=(
                EvaluatorResult(
                    name="non_empty", passed=True, score=1.0, failure_reason=None, expected_summary="text",
                    actual_summary="12 characters",
                ),
            ),
            request_tokens=1000,
            started_at=datetime(2026, 1, 2, tzinfo=UTC),
            invented_identifiers=0,
            context_invented_identifiers=0,
        ),
        make_row(
            CASES[0],
            strategy="summarize",
            fitted=make_fitted(strategy="summarize", outcome="summarized", result_tokens=300, target_tokens=256),
            calls=(helper, main),
            answer="Well.",
            passed=False,
            facts=facts_found(2, in_context=1, in_answer=0),
            request_tokens=300,
        ),
        refused_row(CASES[1], case_index=1, facts=facts_found(2)),
        make_row(CASES[1], case_index=1, strategy="summarize", status="not_run", fitted=None, facts=facts_found(2)),
        **fields,
    )  # fmt: skip


def rows_of(frame):
    """Rows as dictionaries, null as None."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def pick(row, *names):
    return tuple(row[name] for name in names)


# covers FRM-001, FRM-004, FRM-006
@pytest.mark.parametrize(
    "name", ["results", "evaluations", "facts", "fits", "ledger", "calls", "metrics", "kinds", "comparisons"]
)
def test_every_frame_of_a_run_has_its_schema_and_its_attributes(name):
    run = mixed_run()
    frame = getattr(frames, f"{name}_frame")(run)
    assert tuple(frame.columns) == tuple(column.name for column in SCHEMAS[name].columns)
    assert "object" not in set(map(str, frame.dtypes))
    assert frame.attrs["frame"] == name
    assert frame.attrs["version"] == 1
    assert frame.attrs["run_id"] == run.run_id
    assert frame.attrs["fingerprint"] == run.fingerprint
    assert frame.attrs["counter"] == "utf8_bytes_2"
    assert frame.attrs["client_kind"] == "endpoint"


# covers FRM-006, FRM-030
def test_results_hold_one_row_per_cell_in_the_order_of_the_run():
    found = rows_of(frames.results_frame(mixed_run()))
    assert [pick(row, "case_id", "strategy", "repeat", "status") for row in found] == [
        ("zeta", "full", 0, "completed"),
        ("zeta", "summarize", 0, "completed"),
        ("alpha", "full", 0, "refused"),
        ("alpha", "summarize", 0, "not_run"),
    ]


# covers FRM-033, RUN-051
def test_results_of_a_completed_row_with_helper_calls():
    row = rows_of(frames.results_frame(mixed_run()))[1]
    assert pick(row, "calls", "helper_calls", "usage_responses", "attempts") == (2, 1, 2, 2)
    assert pick(row, "prompt_tokens", "completion_tokens", "total_tokens") == (50, 6, 56)
    assert pick(row, "input_tokens", "output_tokens", "cached_tokens", "usage_kind") == (
        130,
        15,
        None,
        "full",
    )
    assert pick(row, "duration_s", "helper_duration_s", "total_duration_s", "ttft_s") == (2.0, 0.5, 2.5, None)
    assert pick(row, "sent_tokens", "source_tokens", "result_tokens", "target_tokens") == (
        110,
        1000,
        300,
        256,
    )
    assert pick(row, "context_recall", "answer_recall", "evidence_recall") == (0.5, 0.0, None)
    assert pick(row, "outcome", "passed", "facts", "preview") == ("summarized", False, 2, "Well.")
    assert pick(row, "model_observed", "finish_reason", "client_kind") == ("model-1", "stop", "endpoint")
    assert pick(row, "category", "language", "case_index") == ("coding", "en", 0)


# covers FRM-005, FRM-031, FRM-032, FRM-034
def test_what_a_refused_row_does_not_know_is_null():
    row = rows_of(frames.results_frame(mixed_run()))[2]
    assert pick(row, "status", "outcome", "reason", "error_kind", "passed") == (
        "refused", "refused", "pinned_too_large", "budget_exceeded", False,
    )  # fmt: skip
    assert pick(row, "source_tokens", "result_tokens", "request_tokens", "sent_tokens") == (
        1000,
        None,
        None,
        0,
    )
    assert pick(row, "context_recall", "answer_recall", "prompt_tokens", "cost") == (None, None, None, None)
    assert pick(row, "duration_s", "total_duration_s", "calls", "language") == (None, None, 0, None)


# covers FRM-005, FRM-034
def test_a_row_that_was_not_run_knows_only_its_case():
    row = rows_of(frames.results_frame(mixed_run()))[3]
    assert pick(row, "passed", "outcome", "source_tokens", "allowance_tokens", "started_at") == (None,) * 5
    assert pick(row, "sent_tokens", "calls", "facts") == (0, 0, 2)


# covers FRM-034, EVA-003
def test_passed_is_null_for_fitted_and_unjudged_rows():
    run = make_run(
        make_row(CASES[0], status="fitted", client_kind="offline"),
        make_row(CASES[1], case_index=1, passed=None),
    )
    assert list(frames.results_frame(run)["passed"].isna()) == [True, True]


# covers FRM-010, EVA-120
def test_a_preview_is_one_line_of_at_most_240_characters():
    run = make_run(make_row(CASES[0], answer="word \n\t" * 100), make_row(CASES[1], case_index=1, answer=""))
    previews = list(frames.results_frame(run)["preview"])
    assert len(previews[0]) == 240
    assert previews[0].startswith("word word")
    assert previews[0].endswith("…")
    assert previews[1] == ""


# covers EVA-122
def test_without_previews_no_text_of_an_answer_is_left():
    run = mixed_run(previews=False)
    assert frames.results_frame(run)["preview"].isna().all()
    found = frames.evaluations_frame(run)
    assert found["expected_summary"].isna().all()
    assert found["actual_summary"].isna().all()
    assert rows_of(frames.evaluations_frame(mixed_run()))[0]["actual_summary"] == "12 characters"


def test_facts_of_every_row_have_their_place_and_fate():
    found = rows_of(frames.facts_frame(mixed_run()))
    assert len(found) == 8
    assert pick(found[2], "strategy", "fact_id", "in_context", "in_answer", "fate", "detail") == (
        "summarize", "f0", True, False, "missing", "no_literal",
    )  # fmt: skip
    assert pick(found[4], "case_id", "in_source", "in_context", "in_answer", "fate") == (
        "alpha", True, None, None, "not_judged",
    )  # fmt: skip


# covers FRM-035
def test_fits_show_the_receipt_of_every_fitted_row():
    fitted = make_fitted(
        strategy="shorten", outcome="shortened", result_tokens=400, flags=("many_tools", "helper_truncated"),
        accounting="chat", omitted_messages=7,
    )  # fmt: skip
    run = make_run(
        make_row(CASES[0], strategy="shorten", fitted=fitted),
        refused_row(CASES[1], case_index=1, strategy="shorten"),
        make_row(CASES[1], case_index=2, strategy="shorten", repeat=1, status="not_run", fitted=None),
    )
    found = rows_of(frames.fits_frame(run))
    assert len(found) == 2
    assert pick(found[0], "source_tokens", "result_tokens", "freed_tokens") == (1000, 400, 600)
    assert pick(found[0], "flags", "omitted_messages", "counter") == (
        "helper_truncated;many_tools",
        7,
        "utf8_bytes_2",
    )
    assert pick(found[1], "flags", "freed_tokens", "target_tokens") == (None, 0, None)


# covers FRM-036
def test_the_ledger_lists_spans_by_position_only():
    spans = (
        Span(item="message", item_index=0, part="content", start=0, end=5, fate="summarised", call_index=0),
        Span(item="message", item_index=0, part="content", start=5, end=9, fate="omitted", reason="strategy"),
    )
    run = make_run(make_row(CASES[0], fitted=make_fitted(ledger=spans)))
    found = rows_of(frames.ledger_frame(run))
    assert [pick(r, "start", "end", "fate", "call_index", "reason") for r in found] == [
        (0, 5, "summarised", 0, None), (5, 9, "omitted", None, "strategy"),
    ]  # fmt: skip
    assert "ledger" not in frames.run_frames(run)
    assert len(frames.run_frames(run, ledger=True)["ledger"]) == 2


# covers FRM-032
def test_calls_hold_one_row_per_attempt():
    failed = make_call(0, outcome="error", error_kind="timeout", duration_s=9.0)
    run = make_run(make_row(CASES[0], calls=(failed, make_call(0, attempt=1, cached_tokens=3, reused=True))))
    found = rows_of(frames.calls_frame(run))
    assert [pick(r, "call_index", "attempt", "stage", "call_kind", "outcome", "error_kind") for r in found] == [
        (0, 0, "main", "main", "error", "timeout"), (0, 1, "main", "main", "completed", None),
    ]  # fmt: skip
    assert [pick(r, "duration_s", "cached_tokens", "prompt_tokens", "reused") for r in found] == [
        (9.0, None, None, False), (1.0, 3, None, True),
    ]  # fmt: skip


# covers GEN-012, EVA-040
def test_metrics_stand_in_one_row_per_strategy():
    full, summarize = rows_of(frames.metrics_frame(mixed_run()))
    assert pick(full, "strategy", "rows", "completed", "passed", "refused", "pass_rate") == (
        "full",
        2,
        1,
        1,
        1,
        0.5,
    )
    assert pick(summarize, "rows", "not_run", "pass_rate", "error_rate") == (2, 1, 0.0, 0.0)
    assert pick(summarize, "sent_tokens", "context_recall", "missing", "not_judged") == (110, 0.5, 2, 2)
    assert pick(full, "context_recall_low", "cost", "rows_without_cost") == (None, None, 2)


# covers EVA-040, FRM-006
def test_metrics_by_a_column_have_it_in_the_key():
    frame = frames.metrics_frame(mixed_run(), by=["language"])
    assert list(frame.columns[:4]) == ["run_id", "strategy", "language", "rows"]
    assert [pick(r, "strategy", "language", "rows") for r in rows_of(frame)] == [
        ("full", "en", 1), ("full", "und", 1), ("summarize", "en", 1), ("summarize", "und", 1),
    ]  # fmt: skip
    assert frame["language"].dtype == "string"


# covers EVA-029
def test_kinds_stand_in_one_row_per_strategy_and_kind():
    facts = (judged("a", kind="status"), judged("b", kind="path", in_context=False, in_answer=False))
    found = rows_of(frames.kinds_frame(make_run(make_row(CASES[0], facts=facts))))
    assert [pick(r, "kind", "facts", "in_source", "in_context", "retained", "missing") for r in found] == [
        ("path", 1, 1, 0, 0, 1), ("status", 1, 1, 1, 1, 0),
    ]  # fmt: skip


# covers EVA-060, FRM-038
def test_comparisons_count_pairs_and_dropped_cases():
    found = rows_of(frames.comparisons_frame(mixed_run()))
    assert len(found) == 12
    first = found[0]
    assert pick(first, "strategy", "metric", "set", "pairs", "dropped") == (
        "summarize", "context_recall", "completed", 1, 1,
    )  # fmt: skip
    assert pick(first, "difference", "low", "high", "level", "resamples", "seed") == (
        -0.5, None, None, 0.95, 10_000, 0,
    )  # fmt: skip
    assert pick(first, "wins", "losses", "ties", "p", "p_holm", "test") == (0, 1, 0, 1.0, 1.0, "sign")


def test_a_run_without_the_baseline_has_no_comparisons():
    run = make_run(make_row(CASES[0], strategy="empty"))
    assert "comparisons" not in frames.run_frames(run)
    with pytest.raises(InputError):
        frames.comparisons_frame(run)


# covers FRM-035
def test_cases_are_described_by_what_they_hold():
    call = ToolCall(id="t1", function=Function(name="look_up", arguments="{}"))
    case = make_case(
        "c1",
        messages=(
            user("Hallo"),
            assistant(None, tool_calls=(call,)),
            Message(role="tool", content="äß", tool_call_id="t1"),
            user("Und?"),
        ),
        snippets=(make_snippet(text="abc"),),
        facts=(make_fact("f1", "abc"),),
    )
    (row,) = rows_of(frames.cases_frame(make_dataset(case), utf8_ratio(1)))
    assert pick(row, "messages", "turns", "tool_messages", "snippets", "facts") == (4, 2, 1, 1, 1)
    assert row["characters"] == 5 + 2 + 2 + 4 + 3
    # 12 per message and 20 per call; roles user, assistant, tool, user; texts; ids; name and arguments of the call
    messages = 4 * 12 + 20 + (4 + 9 + 4 + 4) + (5 + 4 + 4) + (2 + 2) + (7 + 2)
    evidence = 12 + 4 + len("Evidence:\n\n[s1] \nabc")
    assert row["tokens"] == messages + evidence
    assert pick(row, "schema_version", "category", "language", "warnings") == ("1.1", "general", None, None)


# covers FRM-035, DAT-042, DAT-055
def test_warnings_of_a_case_are_a_sorted_list_or_null():
    def call(name: str) -> ToolCall:
        return ToolCall(id=name, function=Function(name="f", arguments=""))

    answered = Message(role="tool", content="Y", tool_call_id="t1")
    facts = (make_fact("f1", "nowhere"), make_fact("f2", "What"), make_fact("f3", "nowhere else"))
    cases = [
        make_case("c1", messages=(user("What?"), assistant(None, tool_calls=(call("t1"),))), facts=facts),
        make_case("c2", messages=(user("What?"), assistant(None, tool_calls=(call("t1"),)), answered)),
        make_case("c3", messages=(user("Y"), assistant("Z")), facts=(make_fact("f1", "Z"),)),
    ]
    found = frames.cases_frame(make_dataset(*cases), utf8_ratio(2))["warnings"]
    assert found[0] == "fact_not_in_source;literal_in_question;unanswered_call"
    assert found[1:].isna().all()


# covers FRM-007
def test_frames_are_made_anew_and_change_nothing():
    run = mixed_run()
    before = replace(run)
    first = frames.results_frame(run)
    first.loc[0, "status"] = "changed"
    assert frames.results_frame(run)["status"][0] == "completed"
    assert run == before


# covers FRM-009
def test_every_frame_of_a_run_survives_parquet(tmp_path):
    for name, frame in frames.run_frames(mixed_run(), ledger=True).items():
        frames.write_parquet(frame, tmp_path / f"{name}.parquet")
        again = frames.read_parquet(tmp_path / f"{name}.parquet")
        pd.testing.assert_frame_equal(again, frame, check_exact=True)
        assert again.attrs == frame.attrs


# covers FRM-011
def test_sums_of_unknown_columns_stay_unknown():
    run = make_run(error_row(CASES[0], calls=(make_call(outcome="error"),)), make_row(CASES[1], case_index=1))
    assert rows_of(frames.metrics_frame(run))[0]["prompt_tokens"] is None
    assert frames.results_frame(run)["prompt_tokens"].sum(min_count=1) is NULL


# covers FRM-041
def test_values_of_closed_vocabularies_are_those_of_the_records():
    facts = frames.facts_frame(mixed_run())
    assert set(facts["fate"]) <= set(FATES)
    assert set(facts["kind"]) <= set(FACT_KINDS)
    assert set(facts["source"]) <= {"history", "snippet", "both", "none"}
    results = frames.results_frame(mixed_run())
    assert set(results["status"]) <= {"completed", "refused", "error", "fitted", "not_run"}


# covers FRM-008
def test_shares_are_from_0_to_1_and_a_unit_in_a_name_means_a_number_of_it():
    made = frames.run_frames(mixed_run(), ledger=True)
    numbers = [(name, column, frame[column]) for name, frame in made.items() for column in frame.columns]
    for name, column, values in numbers:
        known = values.dropna()
        if column.endswith(("_rate", "_recall")) or column in (
            "score",
            "answer_recall_low",
            "context_recall_high",
        ):
            assert known.between(0, 1).all(), (name, column)
        if column.endswith("_s"):
            assert (values.dtype, (known >= 0).all()) == ("Float64", True), (name, column)
        if column.endswith(("_tokens", "_characters", "_bytes")):
            assert (values.dtype, (known >= 0).all()) == ("Int64", True), (name, column)


# covers DAT-140, FRM-003
def test_imports_tell_of_each_record_its_case_or_why_there_is_none():
    result = ImportResult(
        cases=(),
        rows=(
            ImportRow(record=1, part=1, case_id="tau_bench-000001", reason=None, flags=("cut", "added:2"), messages=9, facts=2),
            ImportRow(record=2, part=1, case_id=None, reason="nothing_to_score"),
        ),
    )  # fmt: skip
    found = rows_of(frames.imports_frame(result))
    assert [pick(r, "record", "part", "case_id", "reason", "flags", "messages", "facts") for r in found] == [
        (1, 1, "tau_bench-000001", None, "added:2;cut", 9, 2),
        (2, 1, None, "nothing_to_score", None, None, None),
    ]  # fmt: skip
    assert len(frames.imports_frame(ImportResult(cases=(), rows=()))) == 0
