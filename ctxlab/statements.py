"""Statements: the sentences and lines of a text, each with the titles under which it stands.

People put a status where it saves words: in the heading of a list ("Rejected:"), in the item under a heading that
names the matter, in an item below another. A statement therefore knows the headings above it, the line with a colon
that opens its list, and the items it is indented under.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from ctxlab.segment_rules import CLOSERS, LINE_KINDS
from ctxlab.segments import prose_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

LONGEST_TITLE_CHARACTERS = 160
"""A longer heading or item is a text of its own and stands over nothing."""
_MOST_TITLES = 8  # nobody nests deeper; it keeps the work in proportion to the text
_NARROWEST_COLUMNS = 40
"""Lines that are all shorter were not broken to fit a page: each is meant as a line."""
_BOLD_LEVEL = 7

_HEADING = re.compile(r"(#{1,6})\s")
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1)[^\n])+\1[:：]?$")
_HEADING_LINE = re.compile(r"#{1,6}[ \t][^\r\n]*|(\*\*|__)(?:(?!\1)[^\r\n])+\1[:：]?[ \t]*(?=[\r\n]|\Z)")
_SPACES = "\ufeff \t\r\n\v\f\x85\xa0\u2028\u2029\u3000"
_OPENS = re.compile(rf"[:：]{CLOSERS}\s*[\[{{]?$")
_ITEM = re.compile(dict(LINE_KINDS)["item"])
_ROW = re.compile(r"\|")
_SENTENCE = re.compile(rf"[:：]|[.!?…。！？]{CLOSERS}$")
_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_QUOTED = re.compile(r"(?:>\s*)+")


class Statement(NamedTuple):
    """One sentence or line.

    Attributes:
        text: the statement as it stands, without the white space around it.
        titles: headings, list openings and outer items over it, the outermost first.
        is_fragment: an item or line that is no sentence: what is said of it, its titles may say.
    """

    text: str
    titles: tuple[str, ...]
    is_fragment: bool


def statements(text: str, *, language: str | None = None) -> tuple[Statement, ...]:
    """The statements of a text in order; their texts hold every character but white space and quotation marks of lines."""
    pieces = [_Piece.of(text, span) for span in _spans(text, language)]
    above = _Above(_document_title(pieces))
    return tuple(above.place(piece) for piece in pieces)


class _Piece(NamedTuple):
    """A statement as it stands in its text.

    Attributes:
        indent: columns before it; null if it goes on in the line of the one before it.
        after_blank: a blank line stands before it.
        level: of a heading, from 1; a bold line alone is of a level below all others; null of anything else.
        mark: of a list item, `1` if it is numbered; null of anything else.
    """

    text: str
    indent: int | None
    after_blank: bool
    level: int | None
    mark: str | None

    @classmethod
    def of(cls, text: str, span: Span) -> _Piece:
        start, end = span
        line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        before = text[line:start].replace("\ufeff", "")
        indent = start - line if not before.strip() else None
        said = _QUOTED.sub("", text[start:end], count=1) if text[start] == ">" else text[start:end]
        heading, bold = _HEADING.match(said), _BOLD.match(said)
        item = _ITEM.match(said) if indent is not None else None
        return cls(
            text=said,
            indent=indent,
            after_blank=indent is not None and _is_blank_before(text, line),
            level=len(heading[1]) if heading else _BOLD_LEVEL if bold and indent is not None else None,
            mark=None if item is None else "1" if said.lstrip("(（")[:1].isdecimal() else said[0],
        )


def _is_blank_before(text: str, line: int) -> bool:
    """Whether the line before the one that starts here is blank, or there is none."""
    end = max(0, line - 2 if text[line - 2 : line] == "\r\n" else line - 1)
    start = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
    return not text[start:end].strip(" \t>\ufeff")


class _Outer(NamedTuple):
    """An item that may have others below it, or a line with a colon that opens a list or an object.

    Attributes:
        mark: of an item; null of a line.
        opens: it ends in a colon, or is bold as a whole.
        is_deep: what it opens is indented; null until the next statement shows it.
    """

    indent: int
    text: str
    mark: str | None
    opens: bool
    is_deep: bool | None = None

    def holds(self, piece: _Piece) -> bool:
        """Whether the piece stands below this."""
        indent = piece.indent or 0
        if indent != self.indent:
            return indent > self.indent
        if self.mark is not None:
            return self.opens and piece.mark is not None and piece.mark != self.mark
        is_text = piece.mark is None and not _ROW.match(piece.text)
        return not self.is_deep and not (is_text and (piece.after_blank or _OPENS.search(piece.text)))


class _Above:
    """What stands over the next statement."""

    def __init__(self, document_title: int | None) -> None:
        self._document_title = document_title
        self._headings: list[tuple[int, str]] = []
        self._outer: list[_Outer] = []

    def place(self, piece: _Piece) -> Statement:
        """The piece with its titles; what it is itself stands over those that follow."""
        if piece.level is not None:
            return self._place_heading(piece, piece.level)
        if piece.indent is not None:
            self._leave(piece)
        made = Statement(piece.text, self._titles(), self._is_fragment(piece))
        opens = _OPENS.search(piece.text) is not None
        if piece.mark is not None or opens:
            opens = opens or _BOLD.search(piece.text) is not None
            self._outer.append(_Outer(piece.indent or 0, piece.text, piece.mark, opens))
        return made

    def _place_heading(self, piece: _Piece, level: int) -> Statement:
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._outer = []
        made = Statement(piece.text, self._titles(), is_fragment=False)
        if level != self._document_title:
            self._headings.append((level, piece.text))
        return made

    def _leave(self, piece: _Piece) -> None:
        """Forget what does not stand over a piece that begins a line."""
        if self._outer and self._outer[-1].is_deep is None:
            is_deep = (piece.indent or 0) > self._outer[-1].indent
            self._outer[-1] = self._outer[-1]._replace(is_deep=is_deep)
        while self._outer and not self._outer[-1].holds(piece):
            self._outer.pop()

    def _titles(self) -> tuple[str, ...]:
        over = [text for _, text in self._headings] + [outer.text for outer in self._outer]
        return tuple(text for text in over[-_MOST_TITLES:] if len(text) <= LONGEST_TITLE_CHARACTERS)

    def _is_fragment(self, piece: _Piece) -> bool:
        stands_alone = piece.mark is not None or any(outer.mark is None for outer in self._outer)
        return stands_alone and not _ROW.match(piece.text) and not _SENTENCE.search(piece.text)


def _document_title(pieces: list[_Piece]) -> int | None:
    """The level of the first heading, if it is the highest and the only one of it: it names the whole text."""
    levels = [piece.level for piece in pieces if piece.level is not None]
    counts = Counter(levels)
    alone = len(levels) > 1 and levels[0] == min(levels) and counts[levels[0]] == 1
    return levels[0] if alone else None


def _spans(text: str, language: str | None) -> Iterator[Span]:
    """Sentences and lines, without the white space around them; a heading is one, whatever marks are in it."""
    done = 0
    for segment_start, end in prose_segments(text, language=language):
        start = _first(text, max(segment_start, done), end)
        heading = _HEADING_LINE.match(text, start)
        if heading and start < end and not text[text.rfind("\n", 0, start) + 1 : start].strip(_SPACES):
            done = heading.end()
            yield start, start + len(heading[0].rstrip())
            start = _first(text, done, end)
        if start < end and text[start:end].strip():
            yield from _lines_apart(text, start, start + len(text[start:end].rstrip()))


def _first(text: str, start: int, end: int) -> int:
    """Where something other than white space stands first."""
    return start + len(text[start:end]) - len(text[start:end].lstrip(_SPACES))


def _lines_apart(text: str, start: int, end: int) -> Iterator[Span]:
    """A sentence of several lines as one, if they were broken to fit a width; else each line, items with what follows."""
    breaks = list(_BREAK.finditer(text, start, end))
    if not breaks or _ITEM.match(text, start):
        yield start, end
        return
    widest = _widest(text, start, end)
    for match in breaks:
        if not _is_wrapped(text, match, widest):
            if text[start : match.start()].strip():
                yield start, match.start()
            start = match.end() + len(text[match.end() : end]) - len(text[match.end() : end].lstrip())
    yield start, end


def _widest(text: str, start: int, end: int) -> int:
    """Columns of the longest line of which a part is in the span."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return max(map(_columns, _BREAK.split(text[first : last if last >= 0 else len(text)])))


def _is_wrapped(text: str, match: re.Match[str], widest: int) -> bool:
    """Whether a line ends where it does because the next word would not have fitted."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    words = text[match.end() : match.end() + widest].split(None, 1)
    word = words[0] if words else ""
    return widest >= _NARROWEST_COLUMNS and _columns(line) + 1 + _columns(word) > widest


def _columns(text: str) -> int:
    """Width on a screen: characters of East Asian scripts take two columns."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)
