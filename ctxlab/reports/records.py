"""The JSON report of a run as a record, field by field as the file holds it (EVA-090 to EVA-095).

Fields with a default are those of schema 1.1; a report of schema 1.0 has none of them, and they are null when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from ctxlab.prices import Prices
from ctxlab.records import EvaluatorResult, Fate, RowStage, Status
from ctxlab.reports.admissions import AdmissionRecord

STRICT = ConfigDict(extra="forbid", strict=True)
Word = Annotated[str, Field(min_length=1, max_length=1024)]
Text = Annotated[str, Field(max_length=65_536)]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Seconds = Annotated[float, Field(ge=0)]
Money = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
UTC_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|\+00:00)$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Who was asked; a stand-in or the embedded model has its identity in place of a URL."""

    base_url: Text | None
    request_timeout_seconds: Annotated[float, Field(gt=0)] | None
    maximum_concurrency: Annotated[int, Field(ge=1, le=2**31)] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSource:
    """The checkout that the package ran from."""

    commit_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")]
    dirty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What the main request took and reported; seconds are null when nothing was sent."""

    duration_seconds: Seconds | None
    prompt_tokens: Count | None
    completion_tokens: Count | None
    total_tokens: Count | None
    backend_model: Text | None
    finish_reason: Text | None
    ttft_seconds: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseError:
    """Why a row has no answer: an error kind, its fixed message, and the status of an HTTP error."""

    type: Word
    message: Text
    http_status: Annotated[int, Field(ge=100, le=999)] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRecord:
    """What became of one fact.

    Attributes:
        in_context: null when nothing was fitted, and for a fact that is expected in answers only.
        detail: `no_literal` or `status_not_stated` for a missing fact, else null.
    """

    id: Word
    kind: Word
    in_source: bool
    in_context: bool | None
    fate: Fate
    detail: Literal["no_literal", "status_not_stated"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRecord:
    """What a strategy decided and counted (STR-030); the numbers are those of the `fits` frame.

    `admission` is the account of the snippets where they were decided on, else null.
    """

    strategy: Word
    parameters: Mapping[str, Any]
    counter: Word
    accounting: Word
    window_tokens: Count
    output_reserve_tokens: Count
    protocol_reserve_tokens: Count
    safety_reserve_tokens: Count
    calibration_tokens: Count
    calibration_rule: Word | None
    calibration_capped: bool | None
    allowance_tokens: Count
    message_allowance_tokens: Count
    target_tokens: Count | None
    tool_tokens: Count
    guidance_tokens: Count
    evidence_tokens: Count
    pinned_tokens: Count
    source_tokens: Count
    result_tokens: Count | None
    freed_tokens: Count | None
    outcome: Word
    reason: Word | None
    plan_reason: Word | None
    summary_outcome: Word | None
    parts: Count | None
    rounds: Count | None
    helper_calls: Count
    helper_sent_tokens: Count | None
    helper_result_tokens: Count | None
    omitted_messages: Count | None
    admitted: Count | None
    omitted: Count | None
    clipped: Count | None
    flags: tuple[Word, ...]
    admission: AdmissionRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """One row of the run (EVA-093, EVA-094)."""

    id: Annotated[str, Field(min_length=1, max_length=128)]
    category: Annotated[str, Field(min_length=1, max_length=64)]
    status: Status
    passed: bool | None
    response_preview: Text | None
    measurements: Measurements
    evaluator_results: tuple[EvaluatorResult, ...]
    error: CaseError | None
    strategy: Word | None = None
    repeat: Annotated[int, Field(ge=0, lt=100)] | None = None
    outcome: Word | None = None
    reason: Word | None = None
    stage: RowStage | None = None
    receipt: ReceiptRecord | None = None
    facts: tuple[FactRecord, ...] | None = None
    context_recall: Share | None = None
    answer_recall: Share | None = None
    evidence_recall: Share | None = None
    calls: Count | None = None
    usage_responses: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost: Money | None = None
    cost_uncached: Money | None = None
    attempts: Count | None = None
    content_kind: Literal["text", "parts", "null"] | None = None
    helper_duration_seconds: Seconds | None = None
    total_duration_seconds: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """All rows together, or those of one strategy (EVA-092); a token count that was not reported adds 0."""

    total_cases: Count
    completed_cases: Count
    passed_cases: Count
    failed_cases: Count
    error_cases: Count
    pass_rate: Share | None
    error_rate: Share | None
    average_request_duration_seconds: Seconds | None
    p50_request_duration_seconds: Seconds | None
    p95_request_duration_seconds: Seconds | None
    total_prompt_tokens: Count | None
    total_completion_tokens: Count | None
    refused_cases: Count | None = None
    unjudged_cases: Count | None = None
    not_run_cases: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRecord:
    """A strategy of the run with its parameters."""

    name: Word
    kind: Word
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRecord:
    """A strategy against `full` in one metric; `dropped` counts the cases in no pair by reason (EVA-060)."""

    strategy: Word
    metric: Word
    set: Literal["completed", "with_refused"]
    pairs: Count
    dropped: Mapping[str, Count]
    difference: float | None
    low: float | None
    high: float | None
    level: Share
    resamples: Count
    seed: Count
    wins: Count | None
    losses: Count | None
    ties: Count | None
    p: Share | None
    p_holm: Share | None
    test: Literal["mcnemar", "sign"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRecord:
    """An attached gate and what came of it."""

    strategy: Word
    gate: Word
    passed: bool | None
    current: float | None
    baseline: float | None
    threshold: float
    state: Literal["passed", "failed", "not_evaluated"]
    explanation: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRecord:
    """What was held back because providers had counted more than was estimated."""

    tokens: Count
    rule: Word | None
    capped: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport:
    """A run as its report tells it; `report_schema_version` is that of the file that was read."""

    __pydantic_config__ = STRICT  # for this record and all that it holds

    report_schema_version: Literal["1.0", "1.1"]
    run_id: Annotated[str, Field(min_length=1, max_length=128)]
    timestamp: Annotated[str, Field(pattern=UTC_TIME)] | None
    dataset_path: Text
    dataset_content_hash: Annotated[str, Field(min_length=1, max_length=128)]
    platform: Platform
    model_requested: Text | None
    aggregate: Aggregate
    cases: tuple[CaseRecord, ...]
    git: GitSource | None = None
    strategies: tuple[StrategyRecord, ...] | None = None
    by_strategy: Mapping[str, Aggregate] | None = None
    comparisons: tuple[ComparisonRecord, ...] | None = None
    gates: tuple[GateRecord, ...] | None = None
    budget: Mapping[str, Count] | None = None
    thresholds: Mapping[str, Any] | None = None
    token_counter: Word | None = None
    accounting: Word | None = None
    calibration: CalibrationRecord | None = None
    repeats: Annotated[int, Field(ge=1, le=100)] | None = None
    client_mode: Literal["buffered", "streaming"] | None = None
    client_kind: Word | None = None
    prices: Prices | None = None
    fingerprint: Word | None = None
    input_identity: Word | None = None
    incomplete: bool | None = None
    warnings: tuple[Text, ...] | None = None

    @property
    def upgraded(self) -> bool:
        """Whether it was read from schema 1.0, so that what 1.0 lacks is null."""
        return self.report_schema_version == "1.0"
