"""The JSON report of a run: what it holds, and that it comes back as it was written."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ctxlab.errors import IntegrityError
from ctxlab.experiments import Source
from ctxlab.metrics import metrics, overall
from ctxlab.prices import ModelPrices, Prices
from ctxlab.records import GateResult
from ctxlab.reports import (
    demand_recomputed,
    read_report,
    report_bytes,
    restored_run,
    run_report,
    write_report,
)
from tests.factories import (
    error_row,
    facts_found,
    judged,
    make_call,
    make_case,
    make_fitted,
    make_helper,
    make_row,
    make_run,
)
from tests.reporting import (
    COMMIT,
    NO_SOURCE,
    OLD,
    SOURCE,
    answered,
    as_file,
    mixed_run,
    old,
    two_strategies,
    verdict,
)

TOP = {
    "report_schema_version", "run_id", "timestamp", "dataset_path", "dataset_content_hash", "platform",
    "model_requested", "aggregate", "cases", "git",
    "strategies", "by_strategy", "comparisons", "gates", "budget", "thresholds", "token_counter", "accounting",
    "calibration", "repeats", "client_mode", "client_kind", "prices", "fingerprint", "input_identity", "incomplete",
    "warnings",
}  # fmt: skip
AGGREGATE = {
    "total_cases", "completed_cases", "passed_cases", "failed_cases", "error_cases", "pass_rate", "error_rate",
    "average_request_duration_seconds", "p50_request_duration_seconds", "p95_request_duration_seconds",
    "total_prompt_tokens", "total_completion_tokens", "refused_cases", "unjudged_cases", "not_run_cases",
}  # fmt: skip
CASE = {
    "id", "category", "status", "passed", "response_preview", "measurements", "evaluator_results", "error",
    "strategy", "repeat", "outcome", "reason", "stage", "receipt", "facts", "context_recall", "answer_recall",
    "evidence_recall", "calls", "usage_responses", "input_tokens", "output_tokens", "cached_tokens", "cost",
    "cost_uncached", "attempts", "content_kind", "helper_duration_seconds", "total_duration_seconds",
}  # fmt: skip


# covers EVA-090, EVA-091, EVA-092, EVA-093, EVA-094, EVA-095
def test_a_report_has_the_fields_of_the_specification_and_no_other():
    found = as_file(mixed_run())
    assert found["report_schema_version"] == "1.1"
    assert set(found) == TOP
    assert set(found["platform"]) == {"base_url", "request_timeout_seconds", "maximum_concurrency"}
    assert set(found["git"]) == {"commit_hash", "dirty"}
    assert set(found["aggregate"]) == AGGREGATE
    assert {frozenset(case) for case in found["cases"]} == {frozenset(CASE)}
    assert set(found["cases"][0]["measurements"]) == {
        "duration_seconds", "prompt_tokens", "completion_tokens", "total_tokens", "backend_model", "finish_reason",
        "ttft_seconds",
    }  # fmt: skip
    assert set(found["cases"][0]["evaluator_results"][0]) == {
        "name", "passed", "score", "failure_reason", "expected_summary", "actual_summary",
    }  # fmt: skip
    assert found["cases"][2]["error"] == {
        "type": "timeout", "message": "The request exceeded its deadline.", "http_status": None,
    }  # fmt: skip


# covers EVA-092, EVA-046
def test_the_aggregate_counts_every_row_and_a_missing_token_count_adds_nothing():
    assert as_file(mixed_run())["aggregate"] == {
        "total_cases": 4,
        "completed_cases": 2,
        "passed_cases": 1,
        "failed_cases": 1,
        "error_cases": 1,
        "refused_cases": 1,
        "unjudged_cases": 0,
        "not_run_cases": 0,
        "pass_rate": 0.25,
        "error_rate": 0.25,
        "average_request_duration_seconds": 2.0,
        "p50_request_duration_seconds": 2.0,
        "p95_request_duration_seconds": 3.0,
        "total_prompt_tokens": 10,
        "total_completion_tokens": 5,
    }


# covers EVA-046
@pytest.mark.parametrize(("reported", "total"), [([None, None], 0), ([None, 4], 4), ([0, 0], 0)])
def test_totals_of_tokens_that_nobody_reported_are_0_in_the_aggregate(reported, total):
    rows = [answered(f"c{i}", index=i, prompt_tokens=n) for i, n in enumerate(reported)]
    assert as_file(make_run(*rows))["aggregate"]["total_prompt_tokens"] == total


# covers EVA-046
def test_a_total_that_is_too_large_is_null_and_not_0():
    rows = [answered(f"c{i}", index=i, prompt_tokens=2**62) for i in range(2)]
    with pytest.warns(RuntimeWarning, match="beyond"):
        found = run_report(make_run(*rows), source=NO_SOURCE)
    assert found.aggregate.total_prompt_tokens is None


# covers EVA-092
def test_the_request_duration_is_that_of_helper_calls_and_main_request_together():
    calls = (make_helper(0, duration_s=1.5), make_call(1, duration_s=2.0))
    found = as_file(make_run(answered("c1", calls=calls)))
    assert found["aggregate"]["average_request_duration_seconds"] == 3.5
    case = found["cases"][0]
    assert (case["measurements"]["duration_seconds"], case["helper_duration_seconds"]) == (2.0, 1.5)
    assert (case["total_duration_seconds"], case["calls"], case["attempts"]) == (3.5, 2, 2)


# covers EVA-092
def test_an_offline_run_has_no_rates_and_no_durations():
    run = make_run(make_row(status="fitted", client_kind="offline"))
    aggregate = as_file(run)["aggregate"]
    assert (aggregate["total_cases"], aggregate["completed_cases"]) == (1, 0)
    assert aggregate["pass_rate"] is None
    assert aggregate["p95_request_duration_seconds"] is None


# covers EVA-094
def test_facts_hold_where_they_were_found_and_their_fate():
    facts = (
        judged("a"),
        judged("b", in_answer=False),
        judged("c", where="answer", source="none", in_context=True),
    )
    case = as_file(make_run(answered("c1", facts=facts)))["cases"][0]
    assert case["facts"] == [
        {"id": "a", "kind": "identifier", "in_source": True, "in_context": True, "fate": "retained", "detail": None},
        {"id": "b", "kind": "identifier", "in_source": True, "in_context": True, "fate": "missing",
         "detail": "no_literal"},
        {"id": "c", "kind": "identifier", "in_source": False, "in_context": None, "fate": "retained", "detail": None},
    ]  # fmt: skip
    assert case["answer_recall"] == pytest.approx(2 / 3)
    assert case["context_recall"] == 1.0


# covers EVA-094
def test_the_receipt_holds_what_was_decided_and_counted():
    fitted = make_fitted(
        strategy="short", parameters={"target_tokens": 512}, outcome="shortened", target_tokens=512,
        source_tokens=1000, result_tokens=400, flags=("b", "a"),
    )  # fmt: skip
    receipt = as_file(make_run(answered("c1", strategy="short", fitted=fitted)))["cases"][0]["receipt"]
    told = {
        "strategy": "short", "parameters": {"target_tokens": 512}, "counter": "utf8_bytes_2", "accounting": "chat",
        "window_tokens": 8192, "output_reserve_tokens": 1000, "protocol_reserve_tokens": 256,
        "safety_reserve_tokens": 1024, "calibration_tokens": 0, "allowance_tokens": 5912,
        "message_allowance_tokens": 5912, "target_tokens": 512, "tool_tokens": 0, "guidance_tokens": 0,
        "evidence_tokens": 0, "source_tokens": 1000, "result_tokens": 400, "freed_tokens": 600,
        "outcome": "shortened", "reason": None, "flags": ["a", "b"], "helper_calls": 0, "parts": None, "rounds": None,
        "helper_sent_tokens": None, "helper_result_tokens": None, "summary_outcome": None,
    }  # fmt: skip
    assert {name: receipt[name] for name in told} == told


# covers EVA-095
def test_a_report_tells_the_settings_of_its_run():
    prices = Prices(currency="EUR", models={"model": ModelPrices(input="1", cached_input="1", output="2")})
    gate = GateResult(
        strategy="full", gate="min_pass_rate", passed=False, current=None, baseline=None, threshold=0.5,
        state="failed", explanation="pass rate is unavailable",
    )  # fmt: skip
    identity = {
        "strategies": [{"name": "full", "kind": "full", "parameters": {}}],
        "budget": {"window_tokens": 8192}, "thresholds": {"max_calls": 64}, "accounting": "chat",
        "client": ["endpoint", "buffered"], "concurrency": 4, "timeout_s": 30,
    }  # fmt: skip
    found = as_file(
        mixed_run(
            identity=identity,
            prices=prices,
            gates=(gate,),
            base_url="http://localhost:1",
            warnings=("take care",),
        )
    )
    assert found["platform"] == {
        "base_url": "http://localhost:1", "request_timeout_seconds": 30.0, "maximum_concurrency": 4,
    }  # fmt: skip
    assert found["strategies"] == [{"name": "full", "kind": "full", "parameters": {}}]
    assert (found["budget"], found["thresholds"]) == ({"window_tokens": 8192}, {"max_calls": 64})
    assert (found["accounting"], found["client_mode"], found["client_kind"]) == (
        "chat",
        "buffered",
        "endpoint",
    )
    assert (found["repeats"], found["incomplete"], found["warnings"]) == (1, False, ["take care"])
    assert found["prices"]["currency"] == "EUR"
    assert found["gates"][0]["state"] == "failed"
    assert found["git"] == {"commit_hash": COMMIT, "dirty": False}
    assert found["token_counter"] == "utf8_bytes_2"


# covers EVA-091
def test_the_time_of_a_report_is_that_of_the_run_id_in_utc():
    assert as_file(mixed_run())["timestamp"] == "2026-01-02T03:04:05.123456+00:00"
    moment = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
    stored = make_run(answered("c1", started_at=moment), run_id="stored-0123456789ab")
    assert as_file(stored)["timestamp"] == "2026-05-06T07:08:09+00:00"


# covers EVA-096
def test_with_several_strategies_cases_are_all_rows_and_each_strategy_has_an_aggregate():
    found = as_file(two_strategies())
    assert [(case["id"], case["strategy"]) for case in found["cases"]] == [
        ("c1", "full"), ("c1", "short"), ("c2", "full"), ("c2", "short"),
    ]  # fmt: skip
    assert found["aggregate"]["total_cases"] == 4
    assert {name: one["total_cases"] for name, one in found["by_strategy"].items()} == {"full": 2, "short": 2}
    recall = next(
        one for one in found["comparisons"] if (one["metric"], one["set"]) == ("answer_recall", "completed")
    )
    assert (recall["strategy"], recall["pairs"], recall["dropped"], recall["difference"]) == (
        "short",
        2,
        {},
        -0.5,
    )


# covers EVA-096
def test_one_strategy_has_no_aggregate_of_its_own():
    assert as_file(mixed_run())["by_strategy"] is None


# covers EVA-098
def test_the_file_is_sorted_indented_and_ends_in_one_line_break():
    content = report_bytes(
        run_report(make_run(answered("c1", answer="Grüße – 你好")), source=SOURCE)
    ).decode()
    assert "Grüße – 你好" in content
    assert content.startswith('{\n  "accounting": ')
    assert content.endswith("}\n")
    assert not content.endswith("\n\n")
    assert content == json.dumps(json.loads(content), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


# covers EVA-098
@pytest.mark.parametrize("make", [mixed_run, two_strategies])
def test_writing_reading_and_writing_gives_the_same_bytes(make, tmp_path):
    path, _ = write_report(make(), tmp_path, source=SOURCE)
    first = path.read_bytes()
    assert report_bytes(read_report(path)) == first


# covers EVA-098
@pytest.mark.parametrize("seconds", [0.00012345678901234567, 5e-324, 1e-7, 0.1 + 0.2, 86_400.0])
def test_every_duration_comes_back_as_it_was_measured(seconds, tmp_path):
    path, _ = write_report(make_run(answered("c1", seconds=seconds)), tmp_path, source=NO_SOURCE)
    assert read_report(path).cases[0].measurements.duration_seconds == seconds


# covers EVA-099
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("data/cases.jsonl", "data/cases.jsonl"),
        ("../c.jsonl", "../c.jsonl"),
        ("/srv/c.jsonl", "c.jsonl"),
    ],
)
def test_the_dataset_is_told_as_given_and_by_its_name_if_that_was_absolute(path, told):
    run = mixed_run()
    assert as_file(replace(run, dataset=replace(run.dataset, path=path)))["dataset_path"] == told


# covers EVA-123
@pytest.mark.parametrize("source", [Source(), Source(commit=COMMIT, dirty=None)])
def test_a_checkout_that_is_not_known_is_left_out(source):
    assert b'"git"' not in report_bytes(run_report(mixed_run(), source=source))


# covers EVA-122
def test_without_previews_no_text_of_answers_or_evaluators_is_told():
    row = answered(
        "c1", answer="secret words",
        evaluations=(verdict(failure_reason="secret words", expected_summary="secret", actual_summary="secret"),),
    )  # fmt: skip
    shown, hidden = (
        report_bytes(run_report(make_run(row, previews=on), source=NO_SOURCE)) for on in (True, False)
    )
    assert shown.count(b"secret") == 4
    assert b"secret" not in hidden
    case = json.loads(hidden)["cases"][0]
    assert case["response_preview"] is None
    assert case["evaluator_results"][0]["name"] == "non_empty"
    assert case["evaluator_results"][0]["actual_summary"] is None


# covers EVA-093
def test_a_preview_is_one_line():
    case = as_file(make_run(answered("c1", answer="a\n\tb\x00\x1b[31m c")))["cases"][0]
    assert case["response_preview"] == "a b [31m c"


# covers EVA-097
def test_a_report_of_schema_1_0_is_read_with_what_it_lacks_as_null(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps(OLD))
    report = read_report(tmp_path / "old.json")
    assert report.upgraded
    assert report.strategies is None
    assert report.aggregate.refused_cases is None
    assert report.cases[0].receipt is None
    written = json.loads(report_bytes(report))
    assert written["report_schema_version"] == "1.1"
    assert written["cases"][1]["answer_recall"] is None


# covers EVA-097
def test_an_upgraded_report_has_the_metrics_that_it_tells(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps(old()))
    total = overall(restored_run(read_report(tmp_path / "old.json")))
    assert (total.rows, total.passed, total.errors, total.pass_rate) == (2, 1, 1, 0.5)
    assert (total.duration_p95_s, total.prompt_tokens, total.completion_tokens) == (2.0, 7, None)


# covers EVA-076, GEN-012
@pytest.mark.parametrize("make", [mixed_run, two_strategies])
def test_a_restored_run_has_the_metrics_of_the_run(make, tmp_path):
    run = make()
    restored = restored_run(read_report(write_report(run, tmp_path, source=NO_SOURCE)[0]))
    names = (
        "strategy", "rows", "completed", "passed", "failed", "errors", "refused", "pass_rate", "error_rate",
        "context_recall_pooled", "answer_recall", "answer_recall_pooled", "retained", "missing", "duration_mean_s",
        "duration_p50_s", "duration_p95_s", "prompt_tokens", "completion_tokens", "cost",
    )  # fmt: skip
    for one, other in zip(metrics(run), metrics(restored), strict=True):
        assert {n: getattr(one, n) for n in names} == {n: getattr(other, n) for n in names}


# covers EVA-072, EVA-076
def test_recall_is_restored_as_counts_also_where_an_answer_reverses_a_fact():
    facts = (
        judged("a", in_answer=True),
        judged("b", in_answer=True, fate="reversed"),
        judged("c", in_answer=False, fate="reversed"),
        judged("d", in_answer=False),
        judged("e", where="context", in_answer=None),
        judged("f", where="answer", source="none", in_answer=True),
        judged("g", where="answer", in_context=True, in_answer=False),
    )
    run = make_run(answered("c1", facts=facts))
    restored = restored_run(run_report(run, source=NO_SOURCE))
    one, other = overall(run), overall(restored)
    assert (other.answer_recall_pooled.numerator, other.answer_recall_pooled.denominator) == (1, 2)  # 3 of 6
    assert one.answer_recall_pooled == other.answer_recall_pooled
    assert one.context_recall_pooled == other.context_recall_pooled == 1  # 5 of 5


# covers EVA-076
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pass_rate", 1.0),
        ("pass_rate", None),
        ("error_rate", 0.0),
        ("average_request_duration_seconds", 1.9),
        ("p50_request_duration_seconds", 1.0),
        ("p95_request_duration_seconds", 2.0),
        ("total_prompt_tokens", 11),
        ("total_completion_tokens", None),
    ],
)
def test_an_aggregate_that_the_cases_do_not_give_is_named(field, value):
    report = run_report(mixed_run(), source=NO_SOURCE)
    demand_recomputed(report, "r.json")
    changed = replace(report, aggregate=replace(report.aggregate, **{field: value}))
    with pytest.raises(IntegrityError) as caught:
        demand_recomputed(changed, "r.json")
    assert str(caught.value) == f"r.json: aggregate.{field}: differs from what the cases give"
    assert caught.value.exit_code == 4


# covers EVA-076
def test_counts_that_were_moved_from_failed_to_passed_are_found():
    report = run_report(mixed_run(), source=NO_SOURCE)
    changed = replace(report.aggregate, passed_cases=2, failed_cases=0, pass_rate=0.5)
    with pytest.raises(IntegrityError, match=r"aggregate\.passed_cases"):
        demand_recomputed(replace(report, aggregate=changed), "r.json")


# covers EVA-076, EVA-096
def test_the_aggregate_of_each_strategy_is_recomputed_too():
    report = run_report(two_strategies(), source=NO_SOURCE)
    short = replace(report.by_strategy["short"], total_prompt_tokens=1)
    changed = replace(report, by_strategy={**report.by_strategy, "short": short})
    with pytest.raises(IntegrityError, match=r"by_strategy\[short\]\.total_prompt_tokens"):
        demand_recomputed(changed, "r.json")


# covers EVA-076
def test_a_mean_that_another_program_rounded_differently_is_the_same():
    report = run_report(mixed_run(), source=NO_SOURCE)
    nearly = replace(report.aggregate, average_request_duration_seconds=2.0000000000000004)
    demand_recomputed(replace(report, aggregate=nearly), "r.json")


# covers EVA-092, EVA-094
def test_interrupted_and_unjudged_rows_are_counted_apart():
    rows = (
        answered("c1", passed=None, evaluations=()),
        make_row(make_case("c2"), case_index=1, status="not_run", fitted=None, facts=facts_found(1)),
        error_row(make_case("c3"), case_index=2, fitted=None, stage="fit", error_kind="internal_error"),
    )
    found = as_file(make_run(*rows, incomplete=True))
    aggregate = found["aggregate"]
    assert (aggregate["unjudged_cases"], aggregate["not_run_cases"], aggregate["error_cases"]) == (1, 1, 1)
    assert aggregate["pass_rate"] == 0.0
    assert aggregate["error_rate"] == 0.5
    assert found["incomplete"] is True
    assert [case["receipt"] is None for case in found["cases"]] == [False, True, True]
