"""Writing a synthetic text out of quotations, so that its ledger comes with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxlab.strategies.base import Span
from ctxlab.text import flatten, safe_cut

if TYPE_CHECKING:
    from ctxlab.strategies.base import SpanFate

ELLIPSIS = "…"


@dataclass(slots=True, kw_only=True)
class Writer:
    """Collects text and, for each quotation, the span of the source that it shows."""

    fate: SpanFate
    pieces: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What was written so far."""
        return "".join(self.pieces)

    def write(self, text: str) -> None:
        """Add words of the strategy's own."""
        self.pieces.append(text)

    def quote(self, index: int, part: str, text: str, start: int, end: int) -> None:
        """Add the characters `start` to `end` of a part word for word."""
        self.pieces.append(text[start:end])
        self.spans.append(
            Span(
                item="message",
                item_index=index,
                part=part,
                start=start,
                end=end,
                fate=self.fate,
            )
        )

    def quote_line(self, index: int, text: str, *, lead: str, characters: int) -> None:
        """Add a lead and the beginning of a message's content as one line; nothing if no character fits.

        White space at the ends is left out, a line break becomes a space, a cut is shown by an ellipsis, and all
        but the lead counts as characters.
        """
        start = len(text) - len(text.lstrip())
        whole = len(text.rstrip())
        end = start + safe_cut(text[start:whole], characters=max(0, characters))
        if end < whole:
            end = start + safe_cut(text[start:whole], characters=max(0, characters - len(ELLIPSIS)))
        if end > start:
            self.write(lead)
            self.quote(index, "content", text, start, end)
            self.pieces[-1] = flatten(text[start:end]) + (ELLIPSIS if end < whole else "")
