"""Cutting a text into consecutive pieces that fit a prompt each: parts of a source, groups of summaries (STR-083).

Joining the pieces gives the text back. A cut is placed where the least is torn apart: between messages, else at a
newline, else at a sentence end, else between two grapheme clusters.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.segments import prose_segments
from ctxlab.text import safe_cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOOK_BACK_CHARACTERS = 16_384
"""How far before the end of a piece a sentence end is looked for: what is longer is no sentence."""

LEFT_OVER_SHARE = 64
"""A piece may be shorter than it could be by one part in so many: each time less is left over, the whole is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """How a text is cut.

    Attributes:
        text: what is cut.
        blocks: where its messages or summaries begin, ascending, the first at 0.
        size: tokens of the prompt over a piece.
        limit_tokens: what a prompt may use.
        language: BCP 47 tag of the text, for its sentence ends.
    """

    text: str
    blocks: Sequence[int]
    size: Callable[[str], int]
    limit_tokens: int
    language: str | None = None

    def pieces(self, *, most: int) -> tuple[str, ...]:
        """The pieces in order; one more than `most` if there are too many, none if something cannot be cut to fit."""
        pieces: list[str] = []
        start = 0
        while start < len(self.text) and len(pieces) <= most:
            end = self._end(start)
            if end == start:
                return ()
            pieces.append(self.text[start:end])
            start = end
        return tuple(pieces)

    def _fits(self, start: int, end: int) -> bool:
        return self.size(self.text[start:end]) <= self.limit_tokens

    def _end(self, start: int) -> int:
        """Where the piece ends that begins here; here if nothing fits."""
        room_tokens = self.limit_tokens - self.size("")
        if room_tokens <= 0:
            return start
        end = start + longest(
            lambda length: self._fits(start, start + length),
            most=len(self.text) - start,
            guess=room_tokens,
            left_over=room_tokens // LEFT_OVER_SHARE,
        )
        cut = self._cut(start, end)
        while not self._fits(start, cut):  # counts can jump at a boundary (STR-151)
            cut = self._cut(start, cut - 1)
        return cut

    def _cut(self, start: int, end: int) -> int:
        """The best place for a cut behind `start` and at most at `end`; `start` if there is none.

        What is all white space is cut like that only between messages: by itself it is no piece to summarise.
        """
        if end == len(self.text):
            return end
        block = self.blocks[bisect_right(self.blocks, end) - 1]
        if block > start:
            return block
        newline = self.text.rfind("\n", start, end) + 1
        if newline > start and not self.text[start:newline].isspace():
            return newline
        first = max(start, newline, end - LOOK_BACK_CHARACTERS)
        segments = prose_segments(self.text[first : end + 1], language=self.language)
        sentences = (first + begin for begin, _ in reversed(segments[1:]))
        safe = (place for place in sentences if self._boundary(start, place) == place)
        return next(safe, None) or self._boundary(start, end)

    def _boundary(self, start: int, end: int) -> int:
        return start + safe_cut(self.text[start : end + 1], characters=end - start)


def longest(fits: Callable[[int], bool], *, most: int, guess: int, left_over: int = 0) -> int:
    """The greatest length up to `most` that fits, or one at most `left_over` shorter; 0 if none is found.

    Lengths are tried from the guess on, twice as many each time, so that what is far too long is never counted.
    """
    low, high = 0, min(most, max(1, guess))
    while fits(high):
        if high == most:
            return most
        low, high = high, min(most, 2 * high)
    while high - low > 1 + left_over:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
