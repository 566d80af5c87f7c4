"""A case as strategies look at it: laid out, counted once, with its evidence rendered; and the books made at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ctxlab.budget import size_flags
from ctxlab.estimates import message_tokens
from ctxlab.messages import Layout, Message, lay_out
from ctxlab.strategies.base import Draft, FittedContext, HelperCall, Receipt
from ctxlab.strategies.evidence import (
    NOTHING,
    Evidence,
    Shown,
    admitted_evidence,
    reserved_tokens,
    whole_evidence,
)
from ctxlab.strategies.ledger import build_ledger

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.errors import CallError
    from ctxlab.strategies.base import Span
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A case laid out and counted once.

    Attributes:
        tokens: estimate of each message of the case.
        evidence: what becomes of the snippets, and `order` the rule by which they are admitted.
        whole_evidence: all of them rendered, whatever becomes of them.
        evidence_tokens: what is set aside for them while the history is fitted.
        source_tokens: estimate of all messages and of the whole evidence, whatever the treatment makes of it.
        pinned_tokens: estimate of the pinned messages.
        message_allowance_tokens: M, what the messages without evidence may use.
    """

    case: Case
    layout: Layout
    budget: Budget
    counter: Counter
    tokens: tuple[int, ...]
    evidence: Evidence
    whole_evidence: Shown
    evidence_tokens: int
    source_tokens: int
    pinned_tokens: int
    message_allowance_tokens: int
    order: str = "lineage"

    @property
    def messages(self) -> tuple[Message, ...]:
        """The case's messages."""
        return self.case.messages

    @property
    def instruction_tokens(self) -> int:
        """Estimate of the preamble."""
        return sum(self.tokens[: self.layout.preamble])

    def cost(self, messages: Iterable[Message]) -> int:
        """Estimate of a message list."""
        return sum(message_tokens(message, self.counter) for message in messages)

    def cost_of_result(self, messages: Iterable[Message]) -> int:
        """Estimate of a message list in which the case's own messages, counted before, are not counted again."""
        known = dict(zip(map(id, self.messages), self.tokens, strict=True))
        return sum(
            known[id(message)] if id(message) in known else message_tokens(message, self.counter)
            for message in messages
        )

    def evidence_beside(self, messages: tuple[Message, ...]) -> Shown:
        """The evidence that is sent with these messages; with `admit` what they leave room for (STR-024)."""
        if self.evidence == "none":
            return NOTHING
        if self.evidence == "all":
            return self.whole_evidence
        other_tokens = self.cost_of_result(messages)
        return admitted_evidence(
            self.case, self.budget, self.counter, other_tokens=other_tokens, order=self.order
        )


def look_at(
    case: Case, budget: Budget, counter: Counter, *, evidence: Evidence = "all", order: str = "lineage"
) -> Source:
    """Lay a case out and count each of its texts once."""
    layout = lay_out(case.messages)
    tokens = tuple(message_tokens(message, counter) for message in case.messages)
    whole = whole_evidence(case, counter)
    evidence_tokens = reserved_tokens(evidence, whole_tokens=whole.tokens, budget=budget)
    return Source(
        case=case,
        layout=layout,
        budget=budget,
        counter=counter,
        tokens=tokens,
        evidence=evidence,
        order=order,
        whole_evidence=whole,
        evidence_tokens=evidence_tokens,
        source_tokens=sum(tokens) + whole.tokens,
        pinned_tokens=sum(tokens[i] for i in layout.pinned),
        message_allowance_tokens=budget.message_allowance_tokens(evidence_tokens=evidence_tokens),
    )


def close_books(
    source: Source,
    draft: Draft,
    *,
    strategy: str,
    parameters: Mapping[str, object],
    kept: Iterable[int] = (),
    reasons: Mapping[int, str] | None = None,
    reason: str = "strategy",
    helper_calls: tuple[HelperCall, ...] = (),
    error: CallError | None = None,
) -> FittedContext:
    """Make receipt and ledger for a draft; a draft without messages keeps nothing, whatever `kept` says."""
    draft, shown = _with_evidence(source, draft)
    sent = bool(draft.messages)
    messages = shown.beside(draft.messages, source.messages[source.layout.question])
    claims = draft.claims if sent else _reached_a_helper(draft.claims)
    ledger = build_ledger(
        source.case,
        kept=frozenset(kept) if sent else frozenset(),
        snippets_kept=sent and source.evidence == "all",
        claims=(*claims, *shown.claims),
        reasons=reasons if sent else None,
        reason=reason if sent else "strategy",
    )
    return FittedContext(
        messages=messages,
        outcome=draft.outcome,
        receipt=_receipt(source, draft, shown, strategy, parameters, messages, helper_calls, ledger),
        ledger=ledger,
        helper_calls=helper_calls,
        error=error,
    )


def _with_evidence(source: Source, draft: Draft) -> tuple[Draft, Shown]:
    """The draft with its evidence; without any of what should be admitted there is nothing to send (ADM-009)."""
    if not draft.messages:
        return draft, NOTHING
    shown = source.evidence_beside(draft.messages)
    if shown.admission is not None and shown.admission.refusal is not None:
        return replace(draft, messages=(), outcome="refused", reason=shown.admission.refusal), shown
    if shown.admission is not None and shown.message is not None and draft.outcome == "unchanged":
        return replace(draft, outcome="admitted"), shown
    return draft, shown


def _reached_a_helper(claims: Iterable[Span]) -> tuple[Span, ...]:
    """Of a refused row's claims those that still hold: what was in a helper's prompt."""
    return tuple(claim for claim in claims if claim.fate == "summarised")


def _receipt(
    source: Source,
    draft: Draft,
    shown: Shown,
    strategy: str,
    parameters: Mapping[str, object],
    messages: tuple[Message, ...],
    helper_calls: tuple[HelperCall, ...],
    ledger: tuple[Span, ...],
) -> Receipt:
    budget, calibration = source.budget, source.budget.calibration
    values: dict[str, Any] = {
        "strategy": strategy,
        "parameters": parameters,
        "counter": source.counter.name,
        "window_tokens": budget.window_tokens,
        "output_reserve_tokens": budget.output_reserve_tokens,
        "protocol_reserve_tokens": budget.protocol_reserve_tokens,
        "safety_reserve_tokens": budget.safety_reserve_tokens,
        "calibration_tokens": budget.calibration_tokens,
        "calibration_rule": calibration.rule if calibration else None,
        "calibration_samples": calibration.samples if calibration else None,
        "calibration_capped": calibration.capped if calibration else None,
        "allowance_tokens": budget.allowance_tokens,
        "message_allowance_tokens": source.message_allowance_tokens,
        "tool_tokens": budget.tool_tokens,
        "guidance_tokens": budget.guidance_tokens,
        "evidence_tokens": source.evidence_tokens,
        "pinned_tokens": source.pinned_tokens,
        "source_tokens": source.source_tokens,
        "result_tokens": source.cost_of_result(messages) if messages else None,
        "outcome": draft.outcome,
        "reason": draft.reason,
        "helper_calls": len(helper_calls),
        "omitted_messages": _omitted_messages(ledger) if messages else None,
        "instruction_tokens": source.instruction_tokens,
    }
    values |= shown.receipt
    values |= draft.receipt
    values["flags"] = tuple(sorted({*values.get("flags", ()), *shown.flags, *_size_flags(source)}))
    return Receipt(**values)


def _size_flags(source: Source) -> tuple[str, ...]:
    """What the user sends along that is larger than it should be; it is flagged and never cut (BUD-042)."""
    budget = source.budget
    return size_flags(
        budget,
        instruction_tokens=source.instruction_tokens,
        guidance_tokens=budget.guidance_tokens,
        tool_schema_tokens=budget.tool_tokens,
        n_tools=budget.n_tools,
    )


def _omitted_messages(ledger: tuple[Span, ...]) -> int:
    """How many messages left no character in the result or in a helper's prompt."""
    items = {span.item_index for span in ledger if span.item == "message"}
    reached = {span.item_index for span in ledger if span.item == "message" and span.fate != "omitted"}
    return len(items - reached)
