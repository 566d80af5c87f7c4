"""The two passes: whole snippets in order, then at most one clip; nothing outdated without what outdates it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxlab.admission.clips import Clip, clip_of
from ctxlab.admission.lineage import Arrange, Place, arrange
from ctxlab.admission.receipt import AdmissionReceipt, Decision
from ctxlab.admission.rendering import EVIDENCE, Entry, Form, Growing
from ctxlab.tokens import utf8_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.admission.receipt import Reason, Refusal, Verdict
    from ctxlab.budget import Budget
    from ctxlab.dataset import Snippet
    from ctxlab.tokens import Counter

ClipOf = Callable[[str, str | None], "Clip | Reason"]
"""Where the complete last sentence of a text in a language begins, or why it may not be clipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The evidence of one request: its text, null if none is sent, and the account of it."""

    text: str | None
    receipt: AdmissionReceipt


def admit_snippets(
    snippets: Sequence[Snippet],
    *,
    budget: Budget,
    counter: Counter,
    other_tokens: int,
    form: Form = EVIDENCE,
    language: str | None = None,
    arrange: Arrange = arrange,
    clip: ClipOf = clip_of,
) -> Admission:
    """Choose the snippets for one request so that all of it fits; pure (ADM-001).

    Args:
        snippets: the retrieval list, best first; it stays as it is.
        budget: its window is the target; protocol, safety and calibration reserves are the envelope; tools and
            guidance are the schema.
        counter: what sizes are counted by.
        other_tokens: what the request's messages cost besides the one that holds the evidence.
        form: how evidence is written and accounted for.
        language: of snippets that name none.
        arrange: the rules of order and of what is outdated.
        clip: the rules of sentence ends.

    Raises:
        InputError: two snippets have one id.
    """
    order = arrange(snippets)
    request = _Request(budget=budget, counter=counter, other_tokens=other_tokens, form=form)
    passes = _Passes(snippets=snippets, order=order, request=request, language=language, clip=clip)
    if request.bare_tokens > request.limit_tokens:
        passes.reasons = dict.fromkeys(range(len(snippets)), "too_large")
        return passes.refused("pinned_too_large", content_tokens=request.bare_tokens)
    if not snippets:
        return passes.without_evidence()
    passes.admit_whole()
    passes.admit_clip()
    if not passes.positions:
        cheapest = min(passes.tried.values(), default=passes.text.tokens)
        return passes.refused("no_evidence_admitted", content_tokens=request.around_tokens + cheapest)
    return passes.with_evidence()


@dataclass(slots=True, kw_only=True)
class _Request:
    """What does not depend on the evidence: the room for contents, and what is in it in any case."""

    budget: Budget
    counter: Counter
    other_tokens: int
    form: Form
    bare_tokens: int = field(init=False)
    around_tokens: int = field(init=False)

    def __post_init__(self) -> None:
        self.bare_tokens = self.other_tokens + self.form.bare_tokens(self.counter)
        self.around_tokens = self.other_tokens + self.form.framing_tokens(self.counter)

    @property
    def limit_tokens(self) -> int:
        """What all contents may cost."""
        return self.budget.message_allowance_tokens()

    def receipt(
        self, decisions: tuple[Decision, ...], *, content_tokens: int, refusal: Refusal | None = None
    ) -> AdmissionReceipt:
        budget = self.budget
        envelope = budget.protocol_reserve_tokens + budget.safety_reserve_tokens + budget.calibration_tokens
        schema = budget.tool_tokens + budget.guidance_tokens
        return AdmissionReceipt(
            enabled=True,
            request_built=refusal is None,
            refusal=refusal,
            target_tokens=budget.window_tokens,
            reserved_output_tokens=budget.output_reserve_tokens,
            envelope_tokens=envelope,
            schema_tokens=schema,
            content_tokens=content_tokens if refusal is None else 0,
            estimated_input_tokens=content_tokens + schema + envelope,
            limit_tokens=max(0, budget.window_tokens - budget.output_reserve_tokens),
            counter=self.counter.name,
            accounting=self.form.accounting,
            decisions=decisions,
        )


@dataclass(slots=True, kw_only=True)
class _Passes:
    """An admission in the making.

    Attributes:
        whole: ranks of what was admitted whole.
        positions: place in the evidence by rank.
        reasons: why the others were left out, by rank.
        tried: size of the text with each snippet that was tried, as it would have become.
        stale: by topic, the first tier in which a snippet is not in the evidence whole.
        clip_start: where the text of the clip begins, by rank; at most one.
    """

    snippets: Sequence[Snippet]
    order: Sequence[Place]
    request: _Request
    language: str | None
    clip: ClipOf
    text: Growing = field(init=False)
    whole: set[int] = field(default_factory=set)
    positions: dict[int, int] = field(default_factory=dict)
    reasons: dict[int, Reason] = field(default_factory=dict)
    tried: dict[int, int] = field(default_factory=dict)
    stale: dict[int, int] = field(default_factory=dict)
    clip_start: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.text = Growing(form=self.request.form, counter=self.request.counter)

    def admit_whole(self) -> None:
        """Pass 1: in order, whatever fits and is not blocked (ADM-020, ADM-021)."""
        for place in self.order:
            reason = self._tried_whole(place)
            if reason is not None:
                self.reasons[place.rank] = reason
                self.stale.setdefault(place.topic, place.tier)

    def admit_clip(self) -> None:
        """Pass 2: the last sentence of the first snippet that was too large, may be clipped, and then fits (ADM-023)."""
        for place in self.order:
            if self.reasons.get(place.rank) != "too_large":
                continue
            snippet = self.snippets[place.rank]
            found = self.clip(snippet.text, snippet.language or self.language)
            if not isinstance(found, Clip):
                self.reasons[place.rank] = found
            elif self._take(place, snippet.text[found.start :].rstrip(), is_clip=True):
                self.clip_start[place.rank] = found.start
                del self.reasons[place.rank]
                return

    def _tried_whole(self, place: Place) -> Reason | None:
        """Admit a snippet if nothing is against it, else say what is."""
        text = self.snippets[place.rank].text
        if not text.strip():
            return "empty"
        if self._is_blocked(place):
            return "blocked_by_newer"
        if not self._take(place, text):
            return "too_large"
        self.whole.add(place.rank)
        return None

    def _is_blocked(self, place: Place) -> bool:
        """Whether anything that obsoletes it is not in the evidence whole; tiers come in order, newest first."""
        if self.stale.get(place.topic, place.tier) < place.tier:
            return True
        return any(successor not in self.whole for successor in place.successors)

    def _take(self, place: Place, text: str, *, is_clip: bool = False) -> bool:
        """Add an entry if the whole request, measured with it, fits."""
        piece = self._written(place, text, is_clip=is_clip)
        size = self.text.tokens_with(piece)
        self.tried[place.rank] = min(size, self.tried.get(place.rank, size))
        if self.request.around_tokens + size > self.request.limit_tokens:
            return False
        self.text.add(piece)
        self.positions[place.rank] = len(self.positions)
        return True

    def _written(self, place: Place, text: str, *, is_clip: bool = False) -> str:
        snippet, number = self.snippets[place.rank], len(self.positions) + 1
        return self.request.form.write(Entry(snippet, number, place.label, text, is_clip))

    def with_evidence(self) -> Admission:
        """What came of it, rendered and measured once more as a whole."""
        text = self.text.text
        content = self.request.around_tokens + self.request.counter(text)
        return Admission(text=text, receipt=self.request.receipt(self._decisions(), content_tokens=content))

    def without_evidence(self) -> Admission:
        """The request as it is: there are no snippets."""
        return Admission(text=None, receipt=self.request.receipt((), content_tokens=self.request.bare_tokens))

    def refused(self, refusal: Refusal, *, content_tokens: int) -> Admission:
        """No request, and what one would have needed."""
        receipt = self.request.receipt(self._decisions(), content_tokens=content_tokens, refusal=refusal)
        return Admission(text=None, receipt=receipt)

    def _decisions(self) -> tuple[Decision, ...]:
        return tuple(self._decision(place) for place in sorted(self.order, key=lambda place: place.rank))

    def _decision(self, place: Place) -> Decision:
        snippet, position = self.snippets[place.rank], self.positions.get(place.rank)
        start, end = self._range(place.rank)
        return Decision(
            snippet_id=snippet.id,
            rank=place.rank,
            topic=place.topic,
            decision=self._verdict(place.rank),
            position=position,
            reason=self.reasons.get(place.rank),
            label=None if position is None else place.label,
            flags=place.flags,
            original_bytes=utf8_bytes(snippet.text),
            kept_bytes=utf8_bytes(snippet.text[start:end]),
            tokens=self.request.counter(self._written(place, snippet.text)),
            start=start,
            end=end,
            time=place.time,
        )

    def _verdict(self, rank: int) -> Verdict:
        if rank in self.whole:
            return "admitted"
        return "clipped" if rank in self.clip_start else "omitted"

    def _range(self, rank: int) -> tuple[int, int]:
        """The characters of a snippet that stand in the evidence."""
        text = self.snippets[rank].text
        if rank in self.whole:
            return 0, len(text)
        return (self.clip_start[rank], len(text.rstrip())) if rank in self.clip_start else (0, 0)
