"""Segments: the sentences of prose, and the lines of code and of results; joining them gives the text back.

A segment holds the white space after it. Prose is cut into blocks first, since a blank line, a heading, an item of a list
and a row of a table end whatever stands before them; a line break inside a block ends nothing. Where it is unsure
whether a full stop ends a sentence, none ends there: a longer segment loses nothing, a short one might lose its
qualification. Time is proportional to the text.
"""

from __future__ import annotations

import functools
import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from ctxlab.boundary_lists import BOUNDARY_LISTS
from ctxlab.messages import canonical_json
from ctxlab.segment_rules import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    CLOSERS,
    CLOSING,
    CODE_LINE,
    FREE_MARKS,
    LINE_KINDS,
    MONTHS,
    OPENING,
    ORDINAL_LANGUAGES,
    SEGMENT_RULES_VERSION,
    SPACED_MARKS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Span = tuple[int, int]


SEGMENT_RULES_SHA256 = hashlib.sha256(
    canonical_json(
        [
            SEGMENT_RULES_VERSION, OPENING, CLOSING, CLOSERS, SPACED_MARKS, FREE_MARKS, ABBREVIATIONS, BEFORE_NUMBERS,
            MONTHS, sorted(ORDINAL_LANGUAGES), LINE_KINDS, CODE_LINE.pattern, *BOUNDARY_LISTS,
        ]
    ).encode()
).hexdigest()  # fmt: skip
"""Hash of the rules and of the lists that clips need besides, for the fingerprint of a run."""


class End(NamedTuple):
    """The end of a sentence: its place, behind the marks and whatever they close, and whether it is sure."""

    place: int
    is_sure: bool


def prose_segments(text: str, *, language: str | None = None) -> tuple[Span, ...]:
    """Half-open spans of the sentences of a text, and of the lines of the code, lists and tables in it."""
    cuts: list[int] = []
    for start, end, is_code in _blocks(text):
        if is_code:
            cuts += (line for _, line in _lines(text, start, end))
        else:
            cuts += _sure_ends(text, start, end, language)
    return _segments(text, cuts)


def _sure_ends(text: str, start: int, end: int, language: str | None) -> Iterator[int]:
    """Where the sentences of a block end; marks without a word before them end none."""
    has_word = False
    for found in sentence_ends(text, start, end, language=language):
        has_word = has_word or _WORD.search(text, start, found.place) is not None
        start = found.place
        if found.is_sure and has_word:
            yield found.place
            has_word = False
    yield end


def line_segments(text: str) -> tuple[Span, ...]:
    """Half-open spans of the lines of a text."""
    return _segments(text, (end for _, end in _lines(text, 0, len(text))))


def _segments(text: str, cuts: Iterable[int]) -> tuple[Span, ...]:
    """The pieces between cuts, each with the white space after it; white space alone joins the piece next to it."""
    spans: list[Span] = []
    start = done = 0
    for cut in cuts:
        if cut <= done:
            continue
        done = _SPACE.match(text, cut).end()  # type: ignore[union-attr]
        if not text[start:done].isspace():
            spans.append((start, done))
            start = done
    if start < len(text):
        spans[-1:] = [(spans[-1][0] if spans else 0, len(text))]
    return tuple(spans)


_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"\w")
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    return (match.span() for match in _LINE.finditer(text, start, end))


# Blocks

_KIND = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in LINE_KINDS))
_BROKEN = re.compile(r"[\r\n]+")
_ALONE = frozenset({"rule", "heading", "row"})
_ENDED = re.compile(rf"[{SPACED_MARKS}:：{FREE_MARKS}]{CLOSERS}\s*$")


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each block, and whether its lines stand for themselves."""
    for start, end, is_fenced in _fences(text):
        if is_fenced:
            yield start, end, True
        else:
            for block in _paragraphs(text, start, end):
                yield *block, _is_code(text, *block)


def _fences(text: str) -> Iterator[tuple[int, int, bool]]:
    """The text in pieces, fenced ones apart from those between; a fence that stays open is none."""
    if "```" not in text and "~~~" not in text:
        yield 0, len(text), False
        return
    bounds = [span for span in _lines(text, 0, len(text)) if line_kind(text[slice(*span)]) == "fence"]
    done = 0
    for (start, _), (_, end) in zip(bounds[::2], bounds[1::2], strict=False):
        yield done, start, False
        yield start, end, True
        done = end
    yield done, len(text), False


def _paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    """Blocks of prose: blank lines, headings, rows, items and fields end what stands before them."""
    opened = start
    previous, ended = "blank", True
    for line_start, line_end in _lines(text, start, end):
        line = text[line_start:line_end]
        kind = line_kind(line)
        begins = (
            kind in ("blank", "item") or kind in _ALONE or (kind == "field" and ended) or previous in _ALONE
        )
        if begins and line_start > opened:
            yield opened, line_start
            opened = line_start
        previous = kind
        ended = kind in ("blank", "field", "item") or kind in _ALONE or _ENDED.search(line) is not None
    if opened < end:
        yield opened, end


def line_kind(line: str) -> str:
    """The kind of a line by how it begins, one of `LINE_KINDS` or `plain`."""
    match = _KIND.match(line)
    return str(match.lastgroup) if match else "plain"


def _is_code(text: str, start: int, end: int) -> bool:
    block = text[start:end]
    if len(block.split(None, 1)) < 2 or not _BROKEN.search(block.strip()):
        return False
    lines = [line for line in _BROKEN.split(block) if line.strip()]
    return 2 * sum(CODE_LINE.match(line) is not None for line in lines) > len(lines)


# Sentences

_END = re.compile(
    rf"[{SPACED_MARKS}]+{CLOSERS}(?=\s|\Z)|[{FREE_MARKS}][{FREE_MARKS}{SPACED_MARKS}]*{CLOSERS}"
)
_ENCLOSING = re.compile(f'[{re.escape(OPENING + CLOSING)}"`]')
_MARKER = re.compile(dict(LINE_KINDS)["item"].removesuffix(r"\S"))
_NEXT_WORD = re.compile(r"\s*([\"'“„«‘「『(\[*_`]*)(\w*)")
_WORD_START = re.compile(r"[\s(\[{\"'“„«‘—–/]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_LONGEST_ABBREVIATION = 12


def sentence_ends(text: str, start: int, end: int, *, language: str | None = None) -> Iterator[End]:
    """The ends of sentences in a block of prose, in order, the unsure ones too."""
    marker = _MARKER.match(text, start, end)
    enclosed = _enclosed(text, start, end)
    position = 0
    for match in _END.finditer(text, marker.end() if marker else start, end):
        while position < len(enclosed) and enclosed[position][1] <= match.start():
            position += 1
        inside = (
            position < len(enclosed)
            and enclosed[position][0] < match.start() < match.end() <= enclosed[position][1]
        )
        if not inside:
            yield End(match.end(), _is_sure(text, start, match, end, language=language))


def _enclosed(text: str, start: int, end: int) -> list[Span]:
    """The outermost pairs of brackets, quotation marks and backticks that close, as the places of both."""
    opened: list[tuple[str, int]] = []
    pairs: list[Span] = []
    for match in _ENCLOSING.finditer(text, start, end):
        mark, place = match[0], match.start()
        depth = next(
            (i for i in range(len(opened) - 1, max(-1, len(opened) - 9), -1) if _closes(opened[i][0], mark)),
            None,
        )
        if depth is not None:
            begin = opened[depth][1]
            del opened[depth:]
            while pairs and pairs[-1][0] > begin:
                pairs.pop()
            pairs.append((begin, place))
        elif mark in OPENING or mark in '"`':
            opened.append((mark, place))
    return pairs


def _closes(opening: str, mark: str) -> bool:
    if opening in '"`':
        return mark == opening
    return mark == CLOSING[OPENING.index(opening)] or (opening == "“" and mark == "”")


def _is_sure(text: str, start: int, match: re.Match[str], end: int, *, language: str | None) -> bool:
    """Whether a mark surely ends a sentence: none does before a small letter, nor a full stop after an abbreviation."""
    mark = match[0][0]
    if mark in FREE_MARKS or match.end() >= end:
        return True
    follows = _NEXT_WORD.match(text, match.end(), end)
    after = follows[2] if follows else ""
    if after[:1].islower():
        return False
    return mark != "." or not _is_abbreviated(text, start, match.start(), after, language=language)


def _is_abbreviated(text: str, start: int, stop: int, after: str, *, language: str | None) -> bool:
    """Whether the word before a full stop may be shortened, given the word after it."""
    word = _WORD_START.split(text[max(start, stop - _LONGEST_ABBREVIATION - 1) : stop])[-1].casefold()
    if not word or len(word) > _LONGEST_ABBREVIATION:
        return False
    if word.isdecimal():
        ordinal = (language or "").partition("-")[0].lower() in ORDINAL_LANGUAGES
        return len(word) <= 2 and (ordinal or after.casefold() in _words("months"))
    if _INITIALS.fullmatch(word) or word in _words("abbreviations"):
        return True
    return after[:1].isdecimal() and word in _words("before numbers")


@functools.cache
def _words(name: str) -> frozenset[str]:
    lists: dict[str, Sequence[str]] = {
        "abbreviations": tuple(ABBREVIATIONS.values()),
        "before numbers": (BEFORE_NUMBERS,),
        "months": (MONTHS,),
    }
    return frozenset(word for words in lists[name] for word in words.split())
