"""Runs with every kind of row, and reports as files, by hand."""

from __future__ import annotations

import copy
import json
from typing import Any

from ctxlab.experiments import Source
from ctxlab.records import EvaluatorResult
from ctxlab.reports import report_bytes, run_report
from tests.factories import (
    error_row,
    facts_found,
    make_call,
    make_case,
    make_fitted,
    make_row,
    make_run,
    refused_row,
)

COMMIT = "a" * 40
SOURCE = Source(commit=COMMIT, dirty=False, branch="main")
NO_SOURCE = Source()


def verdict(name: str = "non_empty", *, passed: bool = True, **fields: Any) -> EvaluatorResult:
    defaults: dict[str, Any] = {
        "score": 1.0 if passed else 0.0,
        "failure_reason": None if passed else "not found",
        "expected_summary": None,
        "actual_summary": None,
    }
    return EvaluatorResult(name=name, passed=passed, **{**defaults, **fields})


def answered(case_id: str, *, passed: bool = True, index: int = 0, seconds: float = 1.0, **fields: Any):
    """A completed row with one call."""
    usage = {
        name: fields.pop(name)
        for name in ("prompt_tokens", "completion_tokens", "total_tokens")
        if name in fields
    }
    call = make_call(duration_s=seconds, model_observed="m-1", finish_reason="stop", **usage)
    defaults = {
        "case_index": index,
        "calls": (call,),
        "passed": passed,
        "answer": "yes",
        "content_kind": "text",
        "evaluations": (verdict(passed=passed),),
    }
    return make_row(make_case(case_id), **{**defaults, **fields})


def mixed_run(**fields: Any):
    """Four cases under `full`: passed, failed, in error, refused; 1, 3 and 2 seconds."""
    return make_run(
        answered("c1", prompt_tokens=10, completion_tokens=5, total_tokens=15),
        answered("c2", passed=False, index=1, seconds=3.0),
        error_row(
            make_case("c3"),
            case_index=2,
            calls=(make_call(duration_s=2.0, outcome="error", error_kind="timeout"),),
        ),
        refused_row(make_case("c4"), case_index=3),
        **fields,
    )


def two_strategies(**fields: Any):
    """Two cases under `full` and `short`, with facts: 3 of 4 and 1 of 4 in the answers."""
    rows = []
    for index, (full, short) in enumerate([(2, 1), (1, 0)]):
        for name, found in (("full", full), ("short", short)):
            rows.append(
                answered(
                    f"c{index + 1}",
                    index=index,
                    strategy=name,
                    fitted=make_fitted(strategy=name),
                    facts=facts_found(2, in_context=2, in_answer=found),
                )
            )
    return make_run(*rows, **fields)


def as_file(run: Any) -> dict[str, Any]:
    """The report of a run as parsed JSON, to be bent."""
    return json.loads(report_bytes(run_report(run, source=SOURCE)))


OLD: dict[str, Any] = {
    "report_schema_version": "1.0",
    "run_id": "old-1",
    "timestamp": "2026-01-02T03:04:05Z",
    "dataset_path": "cases.jsonl",
    "dataset_content_hash": "0" * 64,
    "platform": {"base_url": "http://localhost:1", "request_timeout_seconds": 30, "maximum_concurrency": 1},
    "model_requested": "model",
    "aggregate": {
        "total_cases": 2,
        "completed_cases": 1,
        "passed_cases": 1,
        "failed_cases": 0,
        "error_cases": 1,
        "pass_rate": 0.5,
        "error_rate": 0.5,
        "average_request_duration_seconds": 1.5,
        "p50_request_duration_seconds": 1.0,
        "p95_request_duration_seconds": 2.0,
        "total_prompt_tokens": 7,
        "total_completion_tokens": 0,
    },
    "cases": [
        {
            "id": "c1",
            "category": "general",
            "status": "completed",
            "passed": True,
            "response_preview": "yes",
            "measurements": {
                "duration_seconds": 1.0,
                "prompt_tokens": 7,
                "completion_tokens": None,
                "total_tokens": None,
                "backend_model": None,
                "finish_reason": None,
            },
            "evaluator_results": [
                {
                    "name": "non_empty",
                    "passed": True,
                    "score": 1,
                    "failure_reason": None,
                    "expected_summary": None,
                    "actual_summary": None,
                }
            ],
            "error": None,
        },
        {
            "id": "c2",
            "category": "general",
            "status": "error",
            "passed": False,
            "response_preview": None,
            "measurements": {
                "duration_seconds": 2.0,
                "prompt_tokens": None,
                "completion_tokens": None,
                "total_tokens": None,
                "backend_model": None,
                "finish_reason": None,
            },
            "evaluator_results": [],
            "error": {
                "type": "timeout",
                "message": "The request exceeded its deadline.",
                "http_status": None,
            },
        },
    ],
}
"""A report of schema 1.0, written by hand."""


def old(**fields: Any) -> dict[str, Any]:
    """A copy of `OLD` with other fields."""
    return {**copy.deepcopy(OLD), **fields}


def bent(report: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """The report with another value at a dotted place; the value `...` removes it."""
    found: Any = report
    *steps, last = [int(step) if step.isdigit() else step for step in place.split(".")]
    for step in steps:
        found = found[step]
    if value is ...:
        del found[last]
    else:
        found[last] = value
    return report
