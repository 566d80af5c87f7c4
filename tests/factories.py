"""Runs, rows and their parts made by hand: real records, with defaults for what a test is not about."""

from __future__ import annotations

from typing import Any

from ctxlab.calls import Usage
from ctxlab.dataset import Case, Dataset, Expected, Fact, Metadata, Scope, Snippet
from ctxlab.messages import Message, Synthetic
from ctxlab.records import Call, FactResult, Row, Run
from ctxlab.strategies.base import FittedContext, Receipt, Span

SHA = "0" * 64


def system(text: str) -> Message:
    return Message(role="system", content=text)


def user(text: str) -> Message:
    return Message(role="user", content=text)


def assistant(text: str | None, **fields: Any) -> Message:
    return Message(role="assistant", content=text, **fields)


def summary(text: str) -> Synthetic:
    return Synthetic(role="user", content=text, made_by="summary")


def make_fact(id: str = "f1", *literals: str, kind: str = "identifier", **fields: Any) -> Fact:  # noqa: A002
    return Fact(id=id, kind=kind, literals=literals or ("X-1",), **fields)


def make_snippet(id: str = "s1", text: str = "", **fields: Any) -> Snippet:  # noqa: A002
    defaults = {"title": "", "scope": Scope(workspace="w", project="p"), "evidence_time": None}
    return Snippet(id=id, text=text, **{**defaults, **fields})


def make_case(id: str = "c1", *, tags: tuple[str, ...] = (), **fields: Any) -> Case:  # noqa: A002
    defaults: dict[str, Any] = {
        "schema_version": "1.1",
        "category": "general",
        "messages": (user("What now?"),),
        "expected": Expected(minimum_characters=1, unicode_form="NFC"),
        "metadata": Metadata(tags=tags),
    }
    return Case(id=id, **{**defaults, **fields})


def make_dataset(*cases: Case, warnings: tuple[str, ...] = ()) -> Dataset:
    return Dataset(path="made.jsonl", sha256=SHA, cases=cases, warnings=warnings)


def make_receipt(**fields: Any) -> Receipt:
    defaults: dict[str, Any] = {
        "strategy": "full",
        "parameters": {},
        "counter": "utf8_bytes_2",
        "window_tokens": 8192,
        "output_reserve_tokens": 1000,
        "protocol_reserve_tokens": 256,
        "safety_reserve_tokens": 1024,
        "calibration_tokens": 0,
        "allowance_tokens": 5912,
        "message_allowance_tokens": 5912,
        "tool_tokens": 0,
        "guidance_tokens": 0,
        "evidence_tokens": 0,
        "pinned_tokens": 40,
        "source_tokens": 1000,
        "result_tokens": 1000,
        "outcome": "unchanged",
    }
    return Receipt(**{**defaults, **fields})


def make_fitted(
    *, ledger: tuple[Span, ...] = (), messages: tuple[Message, ...] | None = None, **receipt: Any
) -> FittedContext:
    made = make_receipt(**receipt)
    sent = () if made.outcome in ("refused", "not_applicable", "failed") else (user("What now?"),)
    return FittedContext(
        messages=sent if messages is None else messages, outcome=made.outcome, receipt=made, ledger=ledger
    )


def make_call(call_index: int = 0, **fields: Any) -> Call:
    usage = Usage(**{name: fields.pop(name) for name in Usage.__slots__ if name in fields})
    defaults: dict[str, Any] = {
        "attempt": 0,
        "stage": "main",
        "kind": "main",
        "generation_index": None,
        "request_sha256": SHA,
        "estimated_tokens": 100,
        "target_tokens": None,
        "outcome": "completed",
        "error_kind": None,
        "http_status": None,
        "duration_s": 1.0,
        "ttft_s": None,
        "model_requested": "model",
        "model_observed": None,
        "finish_reason": None,
    }
    return Call(call_index=call_index, usage=usage, **{**defaults, **fields})


def make_helper(call_index: int = 0, **fields: Any) -> Call:
    return make_call(call_index, **{"stage": "helper", "kind": "whole", "generation_index": 1, **fields})


def judged(
    fact_id: str = "f1",
    *,
    source: str = "history",
    in_context: bool | None = True,
    in_answer: bool | None = True,
    fate: str | None = None,
    **fields: Any,
) -> FactResult:
    fates = {True: "retained", False: "missing", None: "not_judged"}
    defaults: dict[str, Any] = {"kind": "identifier", "where": "both", "context_reversed": None}
    return FactResult(
        fact_id=fact_id,
        source=source,
        in_source=source != "none",
        in_context=in_context,
        in_answer=in_answer,
        fate=fate or fates[in_answer],
        detail="no_literal" if in_answer is False and fate in (None, "missing") else None,
        **{**defaults, **fields},
    )


def facts_found(
    n: int, *, in_context: int | None = None, in_answer: int | None = None, **fields: Any
) -> tuple[FactResult, ...]:
    """`n` facts of which the first so many are in context and answer; null means not fitted, not answered."""
    return tuple(
        judged(
            f"f{i}",
            in_context=None if in_context is None else i < in_context,
            in_answer=None if in_answer is None else i < in_answer,
            **fields,
        )
        for i in range(n)
    )


def make_row(case: Case | None = None, *, strategy: str = "full", **fields: Any) -> Row:
    defaults: dict[str, Any] = {
        "case": case or make_case(),
        "case_index": 0,
        "strategy_kind": strategy.partition("[")[0],
        "repeat": 0,
        "client_kind": "endpoint",
        "status": "completed",
        "fitted": make_fitted(strategy=strategy),
        "passed": None,
    }
    return Row(strategy=strategy, **{**defaults, **fields})


def refused_row(case: Case | None = None, *, strategy: str = "full", **fields: Any) -> Row:
    defaults: dict[str, Any] = {
        "status": "refused",
        "passed": False,
        "reason": "pinned_too_large",
        "error_kind": "budget_exceeded",
        "stage": "fit",
        "fitted": make_fitted(
            strategy=strategy, outcome="refused", result_tokens=9000, reason="pinned_too_large"
        ),
    }
    return make_row(case, strategy=strategy, **{**defaults, **fields})


def error_row(case: Case | None = None, *, strategy: str = "full", **fields: Any) -> Row:
    defaults = {"status": "error", "passed": False, "error_kind": "timeout", "stage": "main"}
    return make_row(case, strategy=strategy, **{**defaults, **fields})


def make_run(*rows: Row, **fields: Any) -> Run:
    cases = {row.case_index: row.case for row in rows}
    defaults: dict[str, Any] = {
        "run_id": "20260102T030405123456Z-0123456789ab-01234567",
        "fingerprint": "0123456789ab" + "0" * 52,
        "input_identity": "f" * 64,
        "identity": {},
        "dataset": make_dataset(*(cases[index] for index in sorted(cases))),
        "strategies": tuple(dict.fromkeys(row.strategy for row in rows)),
        "repeats": max((row.repeat for row in rows), default=0) + 1,
        "rows": rows,
        "counter": "utf8_bytes_2",
        "client_kind": rows[0].client_kind if rows else "endpoint",
        "model_requested": "model",
    }
    return Run(**{**defaults, **fields})
