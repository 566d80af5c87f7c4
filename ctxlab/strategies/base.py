"""The contract of every strategy: a case goes in, a fitted context with receipt and ledger comes out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from ctxlab.admission.receipt import AdmissionReceipt
    from ctxlab.budget import Budget
    from ctxlab.calls import CallKind, ChatRequest, Reply
    from ctxlab.dataset import Case
    from ctxlab.errors import CallError
    from ctxlab.messages import Message
    from ctxlab.tokens import Counter

Outcome = Literal[
    "unchanged", "shortened", "extracted", "summarized", "admitted", "not_applicable", "refused", "failed"
]
SpanFate = Literal["kept", "projected", "digested", "summarised", "admitted", "clipped", "omitted"]
SummaryOutcome = Literal[
    "completed", "empty_source", "insufficient_budget", "partition_limit", "call_limit", "merge_limit",
    "non_converging", "empty_summary", "fidelity_rejected", "cancelled", "failed",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The fate of the characters `start` to `end` of one part of one source item (STR-034).

    Attributes:
        item: `message` or `snippet`; `item_index` counts within the case.
        part: `content`, `arguments:<i>` of a message, or `text` of a snippet.
        start, end: half-open range in code points; an empty part has one span 0 to 0.
        call_index: the helper call that saw a `summarised` span.
        reason: why an `omitted` span was left out (STR-035).
    """

    item: Literal["message", "snippet"]
    item_index: int
    part: str
    start: int
    end: int
    fate: SpanFate
    call_index: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was decided and counted, in numbers, names and ids only (STR-030, STR-032).

    Token numbers are estimates by `counter`. `source_tokens` is the whole message list with its evidence before
    fitting, `result_tokens` after; `target_tokens` is null without an explicit or derived target. `admission` is the
    account of the snippets where they were decided on, else null.
    """

    strategy: str
    parameters: Mapping[str, object]
    counter: str
    window_tokens: int
    output_reserve_tokens: int
    protocol_reserve_tokens: int
    safety_reserve_tokens: int
    calibration_tokens: int
    allowance_tokens: int
    message_allowance_tokens: int
    tool_tokens: int
    guidance_tokens: int
    evidence_tokens: int
    pinned_tokens: int
    source_tokens: int
    result_tokens: int | None
    outcome: Outcome
    reason: str | None = None
    accounting: str = "chat"
    calibration_rule: str | None = None
    calibration_samples: int | None = None
    calibration_capped: bool | None = None
    target_tokens: int | None = None
    plan_reason: str | None = None
    summary_outcome: SummaryOutcome | None = None
    parts: int | None = None
    rounds: int | None = None
    helper_calls: int = 0
    helper_sent_tokens: int | None = None
    helper_result_tokens: int | None = None
    omitted_messages: int | None = None
    admitted: int | None = None
    omitted: int | None = None
    clipped: int | None = None
    admission: AdmissionReceipt | None = None
    instruction_tokens: int | None = None
    flags: tuple[str, ...] = ()

    @property
    def freed_tokens(self) -> int | None:
        """Source minus result, at least 0; belongs to one request and is never added up (STR-031)."""
        return None if self.result_tokens is None else max(0, self.source_tokens - self.result_tokens)

    @property
    def overshoot_tokens(self) -> int | None:
        """By how much the request of `result_tokens`, tools and guidance is above the allowance; at least 0."""
        if self.result_tokens is None:
            return None
        request = self.result_tokens + self.tool_tokens + self.guidance_tokens
        return max(0, request - self.allowance_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperCall:
    """One call that a strategy made while fitting; `call_index` counts within the row from 0.

    Attributes:
        given: the text that was to be summarised, without the instructions around it.
        made: what was used of the reply, a summary's heading included; null without a usable reply.
    """

    call_index: int
    kind: CallKind
    generation_index: int
    estimated_tokens: int
    target_tokens: int
    given: str = field(default="", repr=False, compare=False)
    made: str | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one fit took, whatever came of it (STR-097).

    Attributes:
        outcome: how the summary ended; `cancelled` if the fit was.
        calls: calls that were made.
        source_tokens: the whole message list with its evidence before fitting.
        sent_tokens: estimates of all prompts.
        result_tokens: the summary's message; 0 unless `completed`.
        allowance_tokens: U.
        elapsed_s: from beginning to end.
    """

    outcome: SummaryOutcome
    calls: int
    source_tokens: int
    sent_tokens: int
    result_tokens: int
    allowance_tokens: int
    elapsed_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedContext:
    """A case made to fit: what is sent, and the account of it.

    `messages` is empty unless the outcome lets a request be sent. `error` is set for the outcome `failed` only.
    """

    messages: tuple[Message, ...]
    outcome: Outcome
    receipt: Receipt
    ledger: tuple[Span, ...]
    helper_calls: tuple[HelperCall, ...] = ()
    error: CallError | None = None


class Helper(Protocol):
    """What a strategy asks for summaries: one request in, one reply out, `CallError` on failure."""

    async def complete(self, request: ChatRequest) -> Reply:
        """Send the request, recorded as a call of the row at work."""
        ...


class Strategy(Protocol):
    """A treatment: an immutable record with a name, a kind and parameters (STR-011).

    A plain `fit` is deterministic and is called once per case; an awaitable one makes calls, and each repeat
    makes its own (STR-100).
    """

    @property
    def name(self) -> str:
        """The name, unique within a run."""
        ...

    @property
    def kind(self) -> str:
        """The kind, for grouping."""
        ...

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext | Awaitable[FittedContext]:
        """Turn the case into a context within the budget's allowance, or refuse with a reason."""
        ...


class Treatment:
    """Name and parameters of ctxlab's own strategies, taken from their fields (STR-011, GEN-031).

    `reads_thresholds` is false for those that fit the same whatever the thresholds are. A field is a parameter unless its metadata says `parameter: False`, as `label` and clients do.
    """

    __slots__ = ()
    kind: ClassVar[str]
    reads_thresholds: ClassVar[bool] = True
    label: str | None

    @property
    def parameters(self) -> dict[str, object]:
        """Parameter values by name, in field order."""
        return {name: getattr(self, name) for name in parameter_names(type(self))}

    @property
    def name(self) -> str:
        """The label, or the kind followed by the parameters that differ from their defaults."""
        if self.label is not None:
            return self.label
        defaults = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        values = {name: getattr(self, name) for name in parameter_names(type(self))}
        changed = [f"{name}={value}" for name, value in values.items() if value != defaults[name]]
        return f"{self.kind}[{','.join(changed)}]" if changed else self.kind


def parameter_names(strategy: type, *, in_words: bool = False) -> tuple[str, ...]:
    """Names of a strategy's parameters, in field order; of those that can be given in words if asked for."""
    known = [f for f in fields(strategy) if f.metadata.get("parameter", True)]
    return tuple(f.name for f in known if f.metadata.get("words", True) or not in_words)


NOT_A_PARAMETER: Mapping[str, bool] = {"parameter": False}
PYTHON_ONLY: Mapping[str, bool] = {"words": False}
"""What marks a field as no parameter, or as one that cannot be given in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a strategy decided, before the books are made: the varying part of a fitted context."""

    messages: tuple[Message, ...]
    outcome: Outcome
    reason: str | None = None
    claims: tuple[Span, ...] = ()
    receipt: Mapping[str, Any] = field(default_factory=dict)
