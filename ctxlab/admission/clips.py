"""Where a snippet may be clipped: at the beginning of its complete last sentence or statement, or nowhere.

A sentence torn from what qualifies it says something else. So a text is clipped only where its last sentence is
complete, begins at a sure end, and does not lean on the one before it; in doubt it is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ctxlab.admission.code_ends import is_code, statement_ends
from ctxlab.admission.enclosures import enclosures
from ctxlab.admission.sentence_ends import CLOSING_MARKS, MARKS, Prose
from ctxlab.admission.wording import leans
from ctxlab.segments import line_kind

Reason = Literal["empty", "incomplete_tail", "no_complete_sentence", "ambiguous_boundary", "leaning_sentence"]
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)?")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~).*$", re.MULTILINE)
_LETTER = re.compile(r"[^\W\d_]")
_STRIPPED = CLOSING_MARKS + " \u00a0\u202f"
_BREAKS = frozenset({"blank", "fence", "rule", "heading", "row", "item"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """The complete last sentence or statement is `text[start:].rstrip()`."""

    start: int


def clip_of(text: str, language: str | None) -> Clip | Reason:
    """Where the complete last sentence or statement of a text begins, or why it may not be taken alone.

    An unknown language is judged by the lists of all. Time is proportional to the text.
    """
    written = text.rstrip()
    if not written:
        return "empty"
    if language == "code" or (written[-1] in ";{}):" and is_code(written)):
        return _clip_of_code(written)
    if written.rstrip(_STRIPPED)[-1:] not in tuple(MARKS):
        return "incomplete_tail"
    return _clip_of_prose(written, language)


def _clip_of_code(text: str) -> Clip | Reason:
    ends = statement_ends(text)
    if not ends or ends[-1].place != len(text):
        return "incomplete_tail"
    if len(ends) == 1:
        return "no_complete_sentence"
    if not (ends[-2].is_sure and ends[-1].is_sure):
        return "ambiguous_boundary"
    start = ends[-2].place
    return Clip(start=start + len(text[start:]) - len(text[start:].lstrip()))


def _clip_of_prose(text: str, language: str | None) -> Clip | Reason:
    start, is_fenced = _last_prose(text)
    pairs = enclosures(text, start, len(text))
    if is_fenced or pairs.is_open:
        return "incomplete_tail"
    prose = Prose(text=text, start=start, pairs=pairs, language=language)
    ends = prose.ends()
    last = next(ends, None)
    if last is None or last.end() != len(text) or not prose.is_whole(last):
        return "incomplete_tail"
    boundary = next(ends, None)
    if boundary is None:
        return "no_complete_sentence"
    place = boundary.end() + len(text[boundary.end() :]) - len(text[boundary.end() :].lstrip())
    if not _LETTER.search(text, place, last.start()) or not _is_one_block(text, start, place):
        return "no_complete_sentence"
    if not prose.may_cut(boundary):
        return "ambiguous_boundary"
    return "leaning_sentence" if leans(text[place:], language=language) else Clip(start=place)


def _last_prose(text: str) -> tuple[int, bool]:
    """Where the prose behind the last fenced code begins, and whether the text ends inside a fence."""
    fences = [match.end() for match in _FENCE.finditer(text)]
    return (fences[-1] if fences else 0), len(fences) % 2 == 1 or (bool(fences) and fences[-1] == len(text))


def _is_one_block(text: str, start: int, place: int) -> bool:
    """Whether the last sentence is within one block, and not an item under a line that ends no sentence (ADM-041)."""
    lines = [match[0] for match in _LINE.finditer(text, place) if match[0]]
    first = line_kind(lines[0])
    if first in ("heading", "row", "rule") or any(line_kind(line) in _BREAKS for line in lines[1:]):
        return False
    return first != "item" or _is_list_alone(text, start, place)


def _is_list_alone(text: str, start: int, place: int) -> bool:
    """Whether nothing that ends no sentence opens the list whose item begins at a place."""
    ended = True
    for line in reversed([match[0] for match in _LINE.finditer(text, start, place) if match[0]]):
        kind = line_kind(line)
        stands = line.rstrip().rstrip(_STRIPPED)[-1:]
        ended = kind == "blank" or stands in tuple(MARKS)
        if kind not in ("item", "blank"):
            return ended and kind == "plain"
    return True
