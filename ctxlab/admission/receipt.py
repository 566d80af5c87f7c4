"""What was decided about each snippet, and what was counted: numbers, names and ids, no text (ADM-060, STR-032)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from ctxlab.admission.lineage import Flag, Label

Reason = Literal[
    "too_large", "blocked_by_newer", "no_complete_sentence", "incomplete_tail", "ambiguous_boundary", "leaning_sentence",
    "empty",
]  # fmt: skip
"""Why a snippet was left out (ADM-063)."""
Refusal = Literal["pinned_too_large", "no_evidence_admitted"]
Accounting = Literal["chat", "content_bytes"]
Verdict = Literal["admitted", "clipped", "omitted"]


class Decision(NamedTuple):
    """What became of one snippet.

    Attributes:
        rank: its place in the retrieval list, from 0.
        topic: number of its topic in the order of admission, from 0.
        position: its place in the evidence, from 0; null if it was omitted.
        reason: why it was omitted, else null.
        label: what it is called in the evidence; null without a label, and if it was omitted.
        original_bytes, kept_bytes: of its text in UTF-8; a clip keeps neither ellipsis nor white space.
        tokens: estimate of its whole entry.
        start, end: the half-open range of its text that stands in the evidence, empty if it was omitted.
        time: the effective time, null if unknown.
    """

    snippet_id: str
    rank: int
    topic: int
    decision: Verdict
    position: int | None
    reason: Reason | None
    label: Label | None
    flags: tuple[Flag, ...]
    original_bytes: int
    kept_bytes: int
    tokens: int
    start: int
    end: int
    time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionReceipt:
    """The account of one admission; sizes in tokens of `counter` by `accounting`.

    Attributes:
        enabled: admission was on; without it nothing is decided and there is no estimate (ADM-008).
        request_built: false exactly if `content_tokens` is 0 (ADM-062).
        refusal: why no request was built, else null.
        target_tokens, reserved_output_tokens: what the model accepts, and what is held back for its output.
        envelope_tokens: what the request's form may cost besides its content.
        schema_tokens: answer schema, tool definitions and trailing guidance.
        content_tokens: all messages of the request that was built.
        estimated_input_tokens: content, schema and envelope; of a refused request what would have been needed.
        limit_tokens: the target without the reserved output.
        decisions: one per snippet, in rank order.
    """

    enabled: bool
    request_built: bool
    refusal: Refusal | None
    target_tokens: int
    reserved_output_tokens: int
    envelope_tokens: int
    schema_tokens: int | None
    content_tokens: int
    estimated_input_tokens: int | None
    limit_tokens: int
    counter: str
    accounting: Accounting
    decisions: tuple[Decision, ...]

    @property
    def admitted(self) -> tuple[str, ...]:
        """Ids in the order of the evidence, the clip among them."""
        standing = [one for one in self.decisions if one.position is not None]
        return tuple(one.snippet_id for one in sorted(standing, key=lambda one: one.position or 0))

    @property
    def omitted(self) -> dict[str, Reason]:
        """Ids and reasons in rank order."""
        return {one.snippet_id: one.reason for one in self.decisions if one.reason is not None}

    @property
    def clipped(self) -> dict[str, tuple[int, int]]:
        """Ids with original and kept bytes."""
        return {
            one.snippet_id: (one.original_bytes, one.kept_bytes)
            for one in self.decisions
            if one.decision == "clipped"
        }

    @property
    def labels(self) -> dict[str, Label]:
        """Ids of what stands in the evidence under a label."""
        return {one.snippet_id: one.label for one in self.decisions if one.label is not None}

    @property
    def flags(self) -> dict[str, tuple[Flag, ...]]:
        """Ids of what is odd about the lineage."""
        return {one.snippet_id: one.flags for one in self.decisions if one.flags}
