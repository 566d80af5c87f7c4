"""The two passes: whole snippets in order, then at most one clip; nothing outdated without what outdates it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ctxlab.admission.clips import Clip, clip_of
from ctxlab.admission.lineage import Arrange, Place, arrange
from ctxlab.admission.receipt import AdmissionReceipt, Decision
from ctxlab.admission.rendering import EVIDENCE, Entry, Form, Growing
from ctxlab.segment_rules import CLOSERS, FREE_MARKS, SPACED_MARKS
from ctxlab.tokens import utf8_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.admission.receipt import Reason, Refusal, Verdict
    from ctxlab.budget import Budget
    from ctxlab.dataset import Snippet
    from ctxlab.tokens import Counter

_END = re.compile(f"[{SPACED_MARKS}{FREE_MARKS}\r\n]")
_TAIL = f"{SPACED_MARKS}{FREE_MARKS}{CLOSERS} \t\r\n;"

ClipOf = Callable[[str, str | None], "Clip | Reason"]
"""Where the complete last sentence of a text in a language begins, or why it may not be clipped."""


@dataclass(frozen=True, kw_only=True)
class Admission:
    """The evidence of one request: its text, null if none is sent, and the account of it.

    The account is made when it is first read: why each of many snippets was left out may take longer than admission.
    """

    text: str | None
    account: Callable[[], AdmissionReceipt] = field(repr=False, compare=False)

    @cached_property
    def receipt(self) -> AdmissionReceipt:
        """What was decided and counted."""
        return self.account()


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
    snippets = tuple(snippets)
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
        cheapest = min(map(passes.text.tokens_with, passes.entries.values() or [""]))
        return passes.refused("no_evidence_admitted", content_tokens=request.around_tokens + cheapest)
    return passes.with_evidence()


def ends_in_more_than(text: str, *, characters: int) -> bool:
    """Whether the last sentence surely has more characters: no sentence and no line ends among so many of the last."""
    body = text.rstrip(_TAIL)
    window = body[-characters:]
    return len(window) == characters and window[0].isalnum() and _END.search(window) is None


@dataclass(slots=True, kw_only=True)
class _Request:
    """What does not depend on the evidence: what all contents may cost, and what is among them in any case."""

    budget: Budget
    counter: Counter
    other_tokens: int
    form: Form
    bare_tokens: int = field(init=False)
    around_tokens: int = field(init=False)
    limit_tokens: int = field(init=False)

    def __post_init__(self) -> None:
        self.bare_tokens = self.other_tokens + self.form.bare_tokens(self.counter)
        self.around_tokens = self.other_tokens + self.form.framing_tokens(self.counter)
        self.limit_tokens = self.budget.message_allowance_tokens()

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
        entries: whole entries by rank, as they were tried.
        stale: by topic, the first tier in which a snippet is not in the evidence whole.
        unsought: ranks of what was too large and surely has no last sentence that fits.
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
    entries: dict[int, str] = field(default_factory=dict)
    stale: dict[int, int] = field(default_factory=dict)
    unsought: set[int] = field(default_factory=set)
    clip_start: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        request = self.request
        room = request.limit_tokens - request.around_tokens
        self.text = Growing(form=request.form, counter=request.counter, limit_tokens=room)

    def admit_whole(self) -> None:
        """Pass 1: in order, whatever fits and is not blocked (ADM-020, ADM-021)."""
        for place in self.order:
            reason = self._tried_whole(place)
            if reason is not None:
                self.reasons[place.rank] = reason
                self.stale.setdefault(place.topic, place.tier)

    def admit_clip(self) -> None:
        """Pass 2: the last sentence of the first snippet that was too large, may be clipped, and then fits (ADM-023).

        A last sentence that surely has no room is looked for only when the reason is asked for.
        """
        for place in self.order:
            if self.reasons.get(place.rank) != "too_large":
                continue
            snippet = self.snippets[place.rank]
            if self._has_no_room(place, snippet.text):
                self.unsought.add(place.rank)
                continue
            found = self._clip_of(snippet)
            if not isinstance(found, Clip):
                self.reasons[place.rank] = found
            elif self._take(place, self._written(place, snippet.text[found.start :].rstrip(), is_clip=True)):
                self.clip_start[place.rank] = found.start
                del self.reasons[place.rank]
                return

    def _clip_of(self, snippet: Snippet) -> Clip | Reason:
        return self.clip(snippet.text, snippet.language or self.language)

    def _has_no_room(self, place: Place, text: str) -> bool:
        """Whether a clip of this text surely does not fit; no is unsure, and the answer with counters of tokens."""
        left = self.text.bytes_left
        if left is None:
            return False
        around = utf8_bytes(self.entries[place.rank]) - utf8_bytes(text)
        return left <= around or ends_in_more_than(text, characters=left - around)

    def _tried_whole(self, place: Place) -> Reason | None:
        """Admit a snippet if nothing is against it, else say what is."""
        text = self.snippets[place.rank].text
        if not text.strip():
            return "empty"
        if self._is_blocked(place):
            return "blocked_by_newer"
        self.entries[place.rank] = self._written(place, text)
        if not self._take(place, self.entries[place.rank]):
            return "too_large"
        self.whole.add(place.rank)
        return None

    def _is_blocked(self, place: Place) -> bool:
        """Whether anything that obsoletes it is not in the evidence whole; tiers come in order, newest first."""
        if self.stale.get(place.topic, place.tier) < place.tier:
            return True
        return not self.whole.issuperset(place.successors)

    def _take(self, place: Place, piece: str) -> bool:
        """Add an entry if the whole request, measured with it, fits."""
        if not self.text.take(piece):
            return False
        self.positions[place.rank] = len(self.positions)
        return True

    def _written(self, place: Place, text: str, *, is_clip: bool = False) -> str:
        snippet, number = self.snippets[place.rank], len(self.positions) + 1
        return self.request.form.write(Entry(snippet, number, place.label, text, is_clip))

    def with_evidence(self) -> Admission:
        """What came of it, rendered and measured once more as a whole."""
        text = self.text.text
        content = self.request.around_tokens + self.request.counter(text)
        return Admission(text=text, account=partial(self._receipt, content_tokens=content))

    def without_evidence(self) -> Admission:
        """The request as it is: there are no snippets."""
        return Admission(text=None, account=partial(self._receipt, content_tokens=self.request.bare_tokens))

    def refused(self, refusal: Refusal, *, content_tokens: int) -> Admission:
        """No request, and what one would have needed."""
        account = partial(self._receipt, content_tokens=content_tokens, refusal=refusal)
        return Admission(text=None, account=account)

    def _receipt(self, *, content_tokens: int, refusal: Refusal | None = None) -> AdmissionReceipt:
        return self.request.receipt(self._decisions(), content_tokens=content_tokens, refusal=refusal)

    def _decisions(self) -> tuple[Decision, ...]:
        return tuple(self._decision(place) for place in sorted(self.order, key=lambda place: place.rank))

    def _decision(self, place: Place) -> Decision:
        rank = place.rank
        snippet, position = self.snippets[rank], self.positions.get(rank)
        size = utf8_bytes(snippet.text)
        verdict: Verdict = "omitted"
        start, end, kept = 0, 0, 0
        if rank in self.whole:
            verdict, end, kept = "admitted", len(snippet.text), size
        elif rank in self.clip_start:
            verdict, start, end = "clipped", self.clip_start[rank], len(snippet.text.rstrip())
            kept = utf8_bytes(snippet.text[start:end])
        return Decision(
            snippet_id=snippet.id,
            rank=rank,
            topic=place.topic,
            decision=verdict,
            position=position,
            reason=self._reason(rank),
            label=None if position is None else place.label,
            flags=place.flags,
            original_bytes=size,
            kept_bytes=kept,
            tokens=self.request.counter(self.entries.get(rank) or self._written(place, snippet.text)),
            start=start,
            end=end,
            time=place.time,
        )

    def _reason(self, rank: int) -> Reason | None:
        """Why a snippet was left out; what forbids a clip goes before its size."""
        found = self._clip_of(self.snippets[rank]) if rank in self.unsought else None
        return self.reasons.get(rank) if found is None or isinstance(found, Clip) else found
