"""What can be quoted of a history: its units, with what their value is made of, found once per history (STR-071)."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ctxlab.cues import cues
from ctxlab.identifiers import identifiers
from ctxlab.segments import line_segments, prose_segments
from ctxlab.text import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from ctxlab.cues import CueClass
    from ctxlab.messages import Message, Role

Result = TypeVar("Result")

HISTORIES_KEPT = 4
"""Surveys that are remembered: settings of one history follow each other, and its texts are read once for all."""

MOST_SEARCHED = 2**18
"""Characters of one unit that are looked through for names and cues: a line of megabytes is hardly ever quoted whole."""

_MARKER = re.compile(r"\s*(?:[(（]?\d{1,6}\s?[:.)）、．|│]|[-*+•#>]+(?=\s))\s*")
"""What numbers an item or a line, and is no part of what it says."""
_DIGIT = re.compile(r"\d")
_BREAK = re.compile(r"[\r\n\v\f\x85\u2028\u2029]")
_WORD = re.compile(r"\w")


class Unit(NamedTuple):
    """A sentence or a line that is taken whole or not at all.

    Attributes:
        message: index of its message in the case.
        start, end: half-open span in the message's content, without white space at its ends.
        text: the span on one line.
        identifiers: the distinct identifiers in it.
        follows: no word stands between it and the unit before it.
        between: what does, if both stand on one line of one message; else null.
    """

    message: int
    start: int
    end: int
    text: str
    role: Role
    identifiers: frozenset[str]
    cues: frozenset[CueClass]
    has_number: bool
    follows: bool
    between: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """The units of one history, and what was worked out from them, which other settings ask for again."""

    units: tuple[Unit, ...]
    _known: dict[Hashable, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Unit]:
        return iter(self.units)

    def once(self, key: Hashable, work: Callable[[], Result]) -> Result:
        """What the work gave when it was first asked for under this key."""
        if key not in self._known:
            self._known[key] = work()
        result: Result = self._known[key]
        return result


@functools.lru_cache(HISTORIES_KEPT)
def survey(history: tuple[Message, ...], language: str | None) -> Survey:
    """The units of the messages before a question, those of system messages apart, in source order."""
    spans = [_spans(message, language) if message.role != "system" else () for message in history]
    texts = [m.text[start:end] for m, places in zip(history, spans, strict=True) for start, end in places]
    names = iter(
        _identifiers_of([text[:MOST_SEARCHED] for text in texts])
    )  # all at once: each search costs by itself
    units: list[Unit] = []
    left_out = False
    for index, (message, places) in enumerate(zip(history, spans, strict=True)):
        if message.role == "system":
            continue
        follows = bool(units) and not left_out
        found = list(_units(message, index, places, names, language=language, follows=follows))
        units += found
        left_out = bool(message.tool_calls) or (left_out and not found)
    return Survey(tuple(units))


def _spans(message: Message, language: str | None) -> Sequence[tuple[int, int]]:
    """Where the sentences or lines of a message lie."""
    in_lines = message.role == "tool" or language == "code"
    return line_segments(message.text) if in_lines else prose_segments(message.text, language=language)


def _units(
    message: Message,
    index: int,
    spans: Sequence[tuple[int, int]],
    names: Iterator[frozenset[str]],
    *,
    language: str | None,
    follows: bool,
) -> Iterator[Unit]:
    """The units of one message; `names` gives the identifiers of each span."""
    text = message.text
    done = 0
    for start, end in spans:
        piece, found = text[start:end], next(names)
        marker = _MARKER.match(piece)
        said = piece[marker.end() :] if marker else piece
        if not _WORD.search(said):
            continue
        first, last = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
        between = text[done:first]
        yield Unit(
            message=index,
            start=first,
            end=last,
            text=flatten(text[first:last]),
            role=message.role,
            identifiers=found,
            cues=cues(piece[:MOST_SEARCHED], language=language),
            has_number=_DIGIT.search(said) is not None,
            follows=follows,
            between=between if done and follows and not _BREAK.search(between) else None,
        )
        follows, done = True, last


def _identifiers_of(pieces: Sequence[str]) -> list[frozenset[str]]:
    """The identifiers of each piece, searched together on lines of their own."""
    found: list[set[str]] = [set() for _ in pieces]
    starts = list(accumulate((len(piece) + 1 for piece in pieces), initial=0))
    for identifier in identifiers("\n".join(pieces)):
        found[bisect_right(starts, identifier.start) - 1].add(identifier.text)
    return [frozenset(names) for names in found]
