"""The evidence beside fitted messages: all of it, what is admitted of it, or none (STR-020 to STR-024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ctxlab.admission.lineage import ORDERS
from ctxlab.admission.passes import admit_snippets
from ctxlab.admission.rendering import render_snippets
from ctxlab.estimates import message_tokens
from ctxlab.messages import Message, Synthetic
from ctxlab.strategies.base import Span
from ctxlab.thresholds import share_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.admission.receipt import AdmissionReceipt, Decision
    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.tokens import Counter

Evidence = Literal["all", "admit", "none"]
EVIDENCE: tuple[Evidence, ...] = ("all", "admit", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The evidence beside some messages.

    Attributes:
        message: null if nothing is shown.
        tokens: its estimate, 0 without one.
        claims: the fate of every snippet that was decided on; empty if all or none is shown.
        admission: the account of the decisions, null if none was made.
    """

    message: Synthetic | None = None
    tokens: int = 0
    claims: tuple[Span, ...] = ()
    admission: AdmissionReceipt | None = None

    def beside(self, messages: tuple[Message, ...], question: Message) -> tuple[Message, ...]:
        """The list with the evidence message right before the question (STR-020)."""
        if self.message is None:
            return messages
        place = next(i for i in range(len(messages) - 1, -1, -1) if messages[i] is question)
        return (*messages[:place], self.message, *messages[place:])

    @property
    def receipt(self) -> dict[str, Any]:
        """What a strategy's receipt says of the decisions; nothing if none was made."""
        if self.admission is None:
            return {}
        return {
            "evidence_tokens": self.tokens,
            "admitted": len(self.admission.admitted),
            "omitted": len(self.admission.omitted),
            "clipped": len(self.admission.clipped),
            "admission": self.admission,
        }

    @property
    def flags(self) -> set[str]:
        """What is odd about the lineage of any snippet."""
        return (
            {flag for flags in self.admission.flags.values() for flag in flags} if self.admission else set()
        )


NOTHING = Shown()


def whole_evidence(case: Case, counter: Counter) -> Shown:
    """Every snippet whole, in rank order; nothing of a case without snippets."""
    if not case.snippets:
        return NOTHING
    message = _message(render_snippets(case.snippets))
    return Shown(message=message, tokens=message_tokens(message, counter))


def reserved_tokens(evidence: Evidence, *, whole_tokens: int, budget: Budget) -> int:
    """What is set aside for the evidence while the history is fitted (STR-023, STR-024)."""
    share = share_tokens(budget.thresholds.evidence_share, budget.allowance_tokens)
    return {"all": whole_tokens, "admit": min(whole_tokens, share), "none": 0}[evidence]


def admitted_evidence(
    case: Case, budget: Budget, counter: Counter, *, other_tokens: int, order: str = "lineage"
) -> Shown:
    """What is admitted beside messages of this size, with all that they leave of the allowance."""
    admission = admit_snippets(
        case.snippets,
        budget=budget,
        counter=counter,
        other_tokens=other_tokens,
        language=case.language,
        arrange=ORDERS[order],
    )
    message = None if admission.text is None else _message(admission.text)
    return Shown(
        message=message,
        tokens=0 if message is None else message_tokens(message, counter),
        claims=tuple(
            span
            for one, snippet in zip(admission.receipt.decisions, case.snippets, strict=True)
            for span in _spans(one, characters=len(snippet.text))
        ),
        admission=admission.receipt,
    )


def _message(text: str) -> Synthetic:
    return Synthetic(role="user", content=text, made_by="evidence")


def _spans(one: Decision, *, characters: int) -> Iterator[Span]:
    """The fate of a snippet's text: one span, and of a clipped one also what stands around the clip."""
    if one.decision != "clipped":
        yield _span(one, 0, characters, reason=one.reason)
        return
    for start, end, reason in (
        (0, one.start, "clipped_away"),
        (one.start, one.end, None),
        (one.end, characters, "clipped_away"),
    ):
        if end > start:
            yield _span(one, start, end, reason=reason)


def _span(one: Decision, start: int, end: int, *, reason: str | None) -> Span:
    return Span(
        item="snippet",
        item_index=one.rank,
        part="text",
        start=start,
        end=end,
        fate="omitted" if reason is not None or one.decision == "omitted" else one.decision,
        reason=reason,
    )
