"""Reports that are refused: each with one line that names path and rule, and never a value."""

import json

import pytest

from ctxlab.errors import InputError
from ctxlab.reports import read_report
from tests.factories import facts_found, make_run
from tests.reporting import answered, as_file, bent, mixed_run, old, two_strategies


def refused(content, tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(InputError) as caught:
        read_report(path)
    text = str(caught.value)
    assert caught.value.exit_code == 2
    assert "\n" not in text
    return text


# covers EVA-090
@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        ("aggregate", ..., "aggregate: missing"),
        ("cases.0.status", ..., "cases[0].status: missing"),
        ("cases.0.measurements.prompt_tokens", ..., "cases[0].measurements.prompt_tokens: missing"),
        ("extra", 1, "extra: unknown_field"),
        ("cases.1.surprise", 1, "cases[1].surprise: unknown_field"),
        ("cases.0.measurements.more", 1, "cases[0].measurements.more: unknown_field"),
        ("platform.key", "SECRET", "platform.key: unknown_field"),
        ("report_schema_version", "1.2", "report_schema_version: value"),
        ("report_schema_version", 1.1, "report_schema_version: value"),
        ("run_id", "", "run_id: length"),
        ("run_id", 7, "run_id: type"),
        ("timestamp", "2026-01-02 03:04:05", "timestamp: pattern"),
        ("timestamp", "2026-01-02T03:04:05+02:00", "timestamp: pattern"),
        ("timestamp", "2026-02-30T03:04:05Z", "timestamp: time (there is no such time)"),
        ("git.commit_hash", "abc", "git.commit_hash: pattern"),
        ("git.commit_hash", "A" * 40, "git.commit_hash: pattern"),
        ("git.dirty", "no", "git.dirty: type"),
        ("aggregate.pass_rate", 1.5, "aggregate.pass_rate: range"),
        ("aggregate.pass_rate", "0.25", "aggregate.pass_rate: type"),
        ("aggregate.total_cases", 4.5, "aggregate.total_cases: type"),
        ("aggregate.total_cases", True, "aggregate.total_cases: type"),
        ("aggregate.total_prompt_tokens", -1, "aggregate.total_prompt_tokens: range"),
        ("cases.0.measurements.duration_seconds", -0.1, "cases[0].measurements.duration_seconds: range"),
        ("cases.0.passed", "true", "cases[0].passed: type"),
        ("cases.0.repeat", -1, "cases[0].repeat: range"),
        ("cases.0.status", "SECRET", "cases[0].status: value"),
        ("cases", {}, "cases: type"),
        ("cases", [], "cases: length (at least 1 case)"),
        ("client_mode", "fast", "client_mode: value"),
    ],
)
def test_a_field_that_breaks_a_rule_is_named_by_its_path(place, value, error, tmp_path):
    assert refused(bent(as_file(mixed_run()), place, value), tmp_path) == f"r.json: {error}"


# covers EVA-076, EVA-090
@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        ("cases.0.passed", False, "cases[0].passed"),
        ("cases.1.passed", True, "cases[1].passed"),
        ("cases.2.passed", True, "cases[2].passed"),
        ("cases.3.passed", None, "cases[3].passed"),
        ("cases.2.error", None, "cases[2].error"),
        ("cases.0.error", {"type": "timeout", "message": "", "http_status": None}, "cases[0].error"),
        ("cases.2.error.type", "budget_exceeded", "cases[2].error"),
        ("cases.2.error.message", "SECRET", "cases[2].error.message"),
        ("cases.2.error.http_status", 500, "cases[2].error.http_status"),
        ("cases.2.error.type", "SECRET", "cases[2].error.type"),
        ("cases.0.calls", 0, "cases[0].calls"),
        ("cases.0.usage_responses", 2, "cases[0].usage_responses"),
        ("cases.0.attempts", 0, "cases[0].attempts"),
        ("cases.1.id", "c1", "cases[1].id"),
        ("cases.0.repeat", 1, "cases[0].repeat"),
        ("cases.0.context_recall", 0.5, "cases[0].context_recall"),
        ("cases.0.answer_recall", 0.5, "cases[0].answer_recall"),
        ("cases.0.strategy", "other", "strategies"),
        ("aggregate.passed_cases", 0, "aggregate.completed_cases"),
        ("aggregate.total_cases", 5, "aggregate.total_cases"),
        ("aggregate.p95_request_duration_seconds", 1.0, "aggregate.p50_request_duration_seconds"),
        ("aggregate.p95_request_duration_seconds", None, "aggregate.average_request_duration_seconds"),
    ],
)
def test_a_contradiction_is_named_by_its_path(place, value, error, tmp_path):
    text = refused(bent(as_file(mixed_run()), place, value), tmp_path)
    assert text.startswith(f"r.json: {error}")
    assert ": contradiction (" in text
    assert "SECRET" not in text


# covers EVA-090
@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        ("cases.0.facts.0.fate", "missing", "cases[0].facts"),
        ("cases.0.facts.1.detail", None, "cases[0].facts"),
        ("cases.0.facts.1.id", "f0", "cases[0].facts"),
        ("cases.0.answer_recall", 1.0, "cases[0].answer_recall"),
        ("cases.0.answer_recall", None, "cases[0].answer_recall"),
        ("cases.0.context_recall", 0.0, "cases[0].context_recall"),
        ("cases.0.context_recall", None, "cases[0].context_recall"),
    ],
)
def test_recall_and_fates_of_a_case_agree(place, value, error, tmp_path):
    report = as_file(make_run(answered("c1", facts=facts_found(2, in_context=2, in_answer=1))))
    assert refused(bent(report, place, value), tmp_path).startswith(f"r.json: {error}: contradiction")


# covers EVA-096
def test_aggregates_per_strategy_are_those_of_the_strategies_of_the_cases(tmp_path):
    report = as_file(two_strategies())
    del report["by_strategy"]["short"]
    assert refused(report, tmp_path).startswith("r.json: by_strategy: contradiction")


# covers EVA-090, EVA-097
@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        ("strategies", None, "strategies: unknown_field"),
        ("aggregate.refused_cases", 0, "aggregate.refused_cases: unknown_field"),
        ("cases.1.calls", 1, "cases[1].calls: unknown_field"),
        ("cases.0.status", "refused", "cases[0].passed: contradiction"),
        ("cases.0.passed", None, "cases[0].passed: contradiction"),
        (
            "cases.0.measurements.duration_seconds",
            None,
            "cases[0].measurements.duration_seconds: contradiction",
        ),
        ("model_requested", None, "model_requested: type"),
        ("timestamp", None, "timestamp: type"),
        ("aggregate.error_cases", 0, "aggregate.total_cases: contradiction"),
    ],
)
def test_schema_1_0_is_as_strict_and_knows_nothing_of_1_1(place, value, error, tmp_path):
    assert refused(bent(old(), place, value), tmp_path).startswith(f"r.json: {error}")


WHOLE = json.dumps(old()).encode()


BROKEN = {
    "cut in half": (WHOLE[: len(WHOLE) // 2], "-: json"),
    "empty": (b"", "-: json"),
    "a list": (b"[]", "-: not_an_object"),
    "null": (b"null", "-: not_an_object"),
    "100,000 brackets": (b"[" * 100_000 + b"]" * 100_000, "-: too_deep (at most 32 levels)"),
    "100,000 braces": (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, "-: too_deep (at most 32 levels)"),
    "40 brackets": (
        b'{"thresholds": {"a": ' + b"[" * 40 + b"]" * 40 + b"}}",
        "-: too_deep (at most 32 levels)",
    ),
    "5,000 digits": (
        WHOLE.replace(b'"total_cases": 2', b'"total_cases": ' + b"9" * 5000),
        "aggregate.total_cases: number_too_long (at most 40 digits)",
    ),
    "NaN": (
        WHOLE.replace(b'"pass_rate": 0.5', b'"pass_rate": NaN'),
        "aggregate.pass_rate: number_not_finite",
    ),
    "1e999": (
        WHOLE.replace(b'"pass_rate": 0.5', b'"pass_rate": 1e999'),
        "aggregate.pass_rate: number_not_finite",
    ),
    "a key twice": (WHOLE.replace(b'"run_id": ', b'"run_id": "a", "run_id": '), "run_id: duplicate_key"),
    "half a pair": (WHOLE.replace(b'"yes"', b'"\\ud800"'), "cases[0].response_preview: lone_surrogate"),
    "a BOM": (b"\xef\xbb\xbf" + WHOLE, "-: bom"),
    "UTF-16": (WHOLE.decode().encode("utf-16"), "-: bom"),
    "Latin-1": (WHOLE.replace(b"yes", b"\xff"), "-: utf8"),
    "more behind it": (WHOLE + b"x", "-: json"),
}


# covers EVA-090
@pytest.mark.parametrize("what", BROKEN)
def test_a_file_that_is_no_strict_json_is_refused_in_one_line(what, tmp_path):
    content, error = BROKEN[what]
    assert refused(content, tmp_path).startswith(f"r.json: {error}")


# covers EVA-090
def test_a_name_that_is_not_safe_to_show_is_not_shown(tmp_path):
    report = as_file(mixed_run()) | {"a\x1b[31m secret": 1}
    assert refused(report, tmp_path) == "r.json: -: unknown_field"


@pytest.mark.parametrize("name", ["nowhere.json", "."])
def test_what_is_no_file_cannot_be_read(name, tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_report(tmp_path / name)
