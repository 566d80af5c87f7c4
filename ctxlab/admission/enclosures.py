"""Brackets, quotation marks and backticks of a text: which pairs close, and whether one stays open."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from ctxlab.segment_rules import CLOSING, OPENING

_CLOSED_BY = {**{opening: {closing} for opening, closing in zip(OPENING, CLOSING, strict=True)}, "“": {"”"}}
_CLOSED_BY["„"] = {"“", "”"}
_ENCLOSING = re.compile(
    rf"[{re.escape(OPENING + CLOSING.replace('’', ''))}\"]|`+|(?<!\w)['’](?!s\b)|['’](?!\w)"
)
"""An apostrophe inside a word or before the `s` of a genitive encloses nothing."""
_LIST_MARKER = re.compile(r"(?:^|.*[\s(（])\w{1,3}\.?$", re.DOTALL)
_DEEPEST = 8
"""A closing mark looks for its opening mark this far down; deeper nesting is a text that is not understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosures:
    """The outermost pairs of a text, in order.

    Attributes:
        starts, ends: places of the opening and of the closing marks.
        is_open: a bracket or quotation mark is not closed.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    is_open: bool

    def around(self, start: int, end: int) -> int | None:
        """Where the pair opens that holds all of `text[start:end]`; null if none does."""
        index = bisect_left(self.starts, start) - 1
        return self.starts[index] if index >= 0 and end <= self.ends[index] else None

    def closed_in(self, start: int, end: int) -> int | None:
        """Where the pair opens that closes between two places; null if none does."""
        index = bisect_left(self.ends, start)
        return self.starts[index] if index < len(self.ends) and self.ends[index] < end else None


def enclosures(text: str, start: int, end: int) -> Enclosures:
    """The pairs of a text from one place to another. Time is proportional to the text.

    A mark that closes nothing was opened before the text begins, and encloses all from there.
    """
    opened: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for match in _ENCLOSING.finditer(text, start, end):
        mark, place = match[0], match.start()
        depth = _opening_of(opened, mark)
        if depth is not None:
            begin = opened[depth][1]
            del opened[depth:]
        elif mark in _CLOSED_BY or mark[0] in '"`' or (mark == "'" and _opens(text, place)):
            opened.append((mark, place))
            continue
        elif mark in "'’" or (mark == ")" and _LIST_MARKER.match(text[max(start, place - 6) : place])):
            continue
        else:
            begin = start - 1
        while pairs and pairs[-1][0] > begin:
            pairs.pop()
        pairs.append((begin, place))
    return Enclosures(
        starts=tuple(begin for begin, _ in pairs),
        ends=tuple(close for _, close in pairs),
        is_open=bool(opened),
    )


def _opening_of(opened: list[tuple[str, int]], mark: str) -> int | None:
    """Index of the mark that this one closes."""
    if not opened:
        return None
    for index in range(len(opened) - 1, max(-1, len(opened) - 1 - _DEEPEST), -1):
        opening = opened[index][0]
        if mark == opening if opening[0] in "\"'`" else mark in _CLOSED_BY[opening]:
            return index
    return None


def _opens(text: str, place: int) -> bool:
    """Whether a straight mark stands before a word and not behind one."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return not before.isalnum() and after != "" and not after.isspace()
