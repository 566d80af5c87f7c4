"""What a run leaves: one `Row` per (case, strategy, repeat), with its calls, verdicts and facts.

Records hold numbers as they were measured; `metrics` aggregates them, `frames` tabulates them, nothing here does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from fractions import Fraction

    from ctxlab.calls import CallKind, ContentKind, Stage, Usage
    from ctxlab.dataset import Case, Dataset, FactKind
    from ctxlab.prices import Prices
    from ctxlab.strategies.base import FittedContext, Observation

Status = Literal["completed", "refused", "error", "fitted", "not_run"]
Fate = Literal["not_judged", "reversed", "unsupported_claim", "retained", "missing"]
FATES: tuple[Fate, ...] = ("retained", "missing", "reversed", "unsupported_claim", "not_judged")
RowStage = Literal["fit", "helper", "main", "evaluate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One attempt of one call of a row, helper or main.

    Attributes:
        call_index: position among the row's calls, from 0; attempts of one call share it.
        attempt: from 0.
        outcome: `completed` or `error`; `error_kind` and `http_status` belong to the latter.
        reused: taken from the journal of an earlier part of the run, not sent again.
        reached: whether the request may have reached the platform (RUN-095).
        endpoint: identity of the endpoint, for calibration (BUD-080); null if it is not known.
    """

    call_index: int
    attempt: int
    stage: Stage
    kind: CallKind
    generation_index: int | None
    request_sha256: str
    estimated_tokens: int
    target_tokens: int | None
    outcome: Literal["completed", "error"]
    error_kind: str | None
    http_status: int | None
    usage: Usage
    duration_s: float | None
    ttft_s: float | None
    model_requested: str
    model_observed: str | None
    finish_reason: str | None
    reused: bool = False
    reached: bool = True
    endpoint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorResult:
    """The verdict of one evaluator; texts are one line of at most 240 characters (EVA-010)."""

    name: str
    passed: bool
    score: float | None
    failure_reason: str | None
    expected_summary: str | None
    actual_summary: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactResult:
    """What became of one fact: where a literal was found, and its fate in the answer (EVA-020 to EVA-028).

    Attributes:
        source: where a literal occurs: `history`, `snippet`, `both` or `none`.
        in_context: null when no context was fitted.
        in_answer: null when there is no answer.
        context_reversed: null when no context was fitted.
        detail: `no_literal` or `status_not_stated` for the fate `missing`, else null.
    """

    fact_id: str
    kind: FactKind
    where: Literal["both", "context", "answer"]
    source: Literal["history", "snippet", "both", "none"]
    in_source: bool
    in_context: bool | None
    in_answer: bool | None
    context_reversed: bool | None
    fate: Fate
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The result of one (case, strategy, repeat).

    Attributes:
        fitted: the fitted context with receipt and ledger; null if the row was not run or failed before.
        request_tokens: estimate of the request that was sent or, offline, built; null if none was.
        calls: attempts in the order in which they were made.
        answer: the stored answer text, null unless the row is completed or its evaluation failed.
        passed: EVA-002, EVA-003, FRM-034.
        dropped_citations: citations of the answer that name no snippet sent (ADM-064); null without snippets or answer.
        invented_identifiers: identifiers of the answer that stand in nothing sent (EVA-027a).
        duration_s, helper_duration_s, total_duration_s, ttft_s: RUN-051, RUN-053; null if not measured.
        cost, cost_uncached: null without prices or with an unknown number (RUN-092).
    """

    case: Case
    case_index: int
    strategy: str
    strategy_kind: str
    repeat: int
    client_kind: str
    status: Status
    started_at: datetime | None = None
    fitted: FittedContext | None = None
    reason: str | None = None
    error_kind: str | None = None
    stage: RowStage | None = None
    http_status: int | None = None
    request_tokens: int | None = None
    calls: tuple[Call, ...] = ()
    answer: str | None = None
    content_kind: ContentKind | None = None
    evaluations: tuple[EvaluatorResult, ...] = ()
    facts: tuple[FactResult, ...] = ()
    passed: bool | None = None
    invented_identifiers: int | None = None
    context_invented_identifiers: int | None = None
    dropped_citations: int | None = None
    cost: float | None = None
    cost_uncached: float | None = None

    @property
    def last_calls(self) -> tuple[Call, ...]:
        """The last attempt of each call, in call order: what counts as the call's usage and time (RUN-063)."""
        return tuple({call.call_index: call for call in self.calls}.values())

    @property
    def main_call(self) -> Call | None:
        """The last attempt of the main request, null if none was sent."""
        return next((call for call in self.last_calls if call.stage == "main"), None)

    @property
    def helper_calls(self) -> tuple[Call, ...]:
        """The last attempt of each helper call."""
        return tuple(call for call in self.last_calls if call.stage == "helper")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate for one strategy, with exact numbers; named like the columns of the `gates` frame.

    Attributes:
        passed: null when the gate was not evaluated.
        current, baseline: what was measured, null if it is missing or does not apply.
        explanation: one line.
    """

    strategy: str
    gate: str
    passed: bool | None
    current: Fraction | None
    baseline: Fraction | None
    threshold: Fraction
    state: Literal["passed", "failed", "not_evaluated"]
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What one summary took, and for which row; a cancelled one has an observation and no result (STR-097)."""

    case_id: str
    strategy: str
    repeat: int
    observation: Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One finished or interrupted run: its identity, its settings and its rows in order.

    Attributes:
        identity: the canonical object whose hash is the fingerprint (EXP-003).
        strategies: names in run order.
        rows: cases x strategies x repeats rows, in order of case, strategy, repeat (RUN-041).
        observations: what each summary of this part of the run took, in order of their ends.
        client_facts: facts about the client, such as model file hash, threads and context size (RUN-113).
        base_url: address of the platform as given, or the identity of the client in its place; null offline.
        prices: the prices by which costs were found, null without.
        gates: results of the gates attached to the run.
        directory: run directory as given by the user, null if nothing was kept on disk.
        incomplete: the run was interrupted; some rows are `not_run`.
        previews: whether frames and reports may show previews of answers and evaluator summaries (EVA-122).
    """

    run_id: str
    fingerprint: str
    input_identity: str
    identity: Mapping[str, object] = field(repr=False)
    dataset: Dataset = field(repr=False)
    strategies: tuple[str, ...]
    repeats: int
    rows: tuple[Row, ...] = field(repr=False)
    counter: str
    client_kind: str
    model_requested: str | None
    client_facts: Mapping[str, str | int | None] = field(default_factory=dict)
    base_url: str | None = None
    prices: Prices | None = None
    gates: tuple[GateResult, ...] = ()
    observations: tuple[Observed, ...] = field(default=(), repr=False)
    directory: str | None = None
    incomplete: bool = False
    previews: bool = True
    warnings: tuple[str, ...] = ()
