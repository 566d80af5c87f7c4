"""Where sentences of prose end, from the last one back, and whether one may cut there.

`ctxlab.segments` cuts a text into all its sentences and joins what it is unsure of. A cut that throws away what stands
before it needs more: here every end that might be none is unsure, by rules that rather doubt a good end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

from ctxlab.admission.full_stops import is_shortened, token_before, word_before
from ctxlab.admission.wording import dangles
from ctxlab.boundary_lists import NAMES_WITH_MARKS
from ctxlab.segment_rules import FREE_MARKS, LINE_KINDS, SPACED_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.admission.enclosures import Enclosures

    Marks = regex.Match[str]

MARKS = SPACED_MARKS + FREE_MARKS
CLOSING_MARKS = ")]}”’»“‘」』）］】〉》\"'*_`"
"""What may stand behind the mark of a sentence and belongs to it."""
_END = regex.compile(rf"(?r)[{MARKS}]+(?:[{regex.escape(CLOSING_MARKS)}]{{0,8}}|[ \u00a0\u202f]»)")
_ITEM_LINE = regex.compile(rf"(?m)^{dict(LINE_KINDS)['item'].removesuffix(chr(92) + 'S')}")
_NEXT = regex.compile(r"\s*+(?:[\"'“„«‘「『*_`¿¡]\s?){0,4}(.[\p{L}\p{M}\p{N}]*)", regex.DOTALL)
_MAY_PRECEDE = regex.compile(r"[\p{L}\p{M}\p{N}\p{Sc}%°∅∞+#)\]}”’»“‘」』）］】〉》\"'*_`]")
_SPACED_DOTS = regex.compile(r"(?:\.\s*){3}[^\w\s]*$")
_NAMES = tuple(NAMES_WITH_MARKS.split("|"))
_CODE_IN_LINE = regex.compile(
    r"[{}] | ;\s*$ | => | [=!<>]= | -> | :: | && | \|\| | \s[-+*/]?=\s | </?[A-Za-z][^>]*> | (?<!:)// | /\* | \w\(\)"
    r" | \w\([^)\s]*\)\s*; | ^\s*(?:>>>|\$|import|from\s\S+\simport|def|return|const|let|var)\s",
    regex.VERBOSE,
)
_LINE_LOOKED_AT = 400
_WORDS_LOOKED_AT = 160
_SHORT_WORD = 3
_LONGEST_MARKER = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A text as prose, from a place on, with the brackets and quotation marks in it."""

    text: str
    start: int
    pairs: Enclosures
    language: str | None

    def ends(self) -> Iterator[Marks]:
        """The marks that end sentences, with all they close, the last one first; inside pairs none do, but in backticks."""
        stop = len(self.text)
        while marks := _END.search(self.text, self.start, stop):
            stop = marks.start()
            if not self._is_end(marks):
                continue
            around = self.pairs.around(marks.start(), marks.end())
            if around is None or self.text[max(around, self.start)] == "`":
                yield marks
            else:
                stop = max(around, self.start)

    def is_whole(self, marks: Marks) -> bool:
        """Whether the marks at the end of the text surely end its last sentence: no ellipsis, abbreviation, dangling word."""
        before = self._before(marks)
        if self._is_odd(marks) or _SPACED_DOTS.search(before + marks[0]):
            return False
        if marks[0][0] == "." and is_shortened(before, "", language=self.language):
            return False
        return not dangles(before, language=self.language)

    def may_cut(self, marks: Marks) -> bool:
        """Whether a sentence surely ends at the marks (ADM-045, ADM-046)."""
        if self.pairs.around(marks.start(), marks.end()) is not None or self._is_odd(marks):
            return False
        closes = marks[0].rstrip("*_")[-1] not in MARKS
        if any(mark in FREE_MARKS for mark in marks[0]):
            return not closes  # what was said may be followed by who said it
        if closes and (marks[0][0] != "." or not self._closes_its_own(marks)):
            return False
        if self._goes_on(marks) or self._is_mixed(marks):
            return False
        follows = _NEXT.match(self.text, marks.end())
        after = follows[1] if follows else ""
        return marks[0][0] != "." or not is_shortened(self._before(marks), after, language=self.language)

    def _before(self, marks: Marks) -> str:
        """What stands before the marks, as far as rules look."""
        return self.text[max(self.start, marks.start() - _WORDS_LOOKED_AT) : marks.start()]

    def _is_end(self, marks: Marks) -> bool:
        """Whether the marks end anything: not inside a name or number, nor in the marker of a list's item."""
        after = self.text[marks.end() : marks.end() + 1]
        if any(mark in FREE_MARKS for mark in marks[0]):
            return marks[0] != "．" or not (after.isdecimal() or (after.isascii() and after.isalnum()))
        if after and not after.isspace():
            return False
        begin = max(self.start, marks.start() - _LONGEST_MARKER)
        item = _ITEM_LINE.match(self.text, max(begin, self.text.rfind("\n", begin, marks.start()) + 1))
        return item is None or marks.start() >= item.end()

    def _is_odd(self, marks: Marks) -> bool:
        """Whether the marks are an ellipsis, stand apart from any word, belong to a name, or close what was not opened."""
        said, before = marks[0], self._before(marks)
        if "…" in said or ".." in said or "`" in said:
            return True
        if said[-1] not in MARKS + "*_":
            opening = self.pairs.closed_in(marks.start(), marks.end())
            if opening is None or opening < self.start:
                return True
        token = token_before(before)
        if (token + said[0]).casefold().replace("！", "!").endswith(_NAMES):
            return True
        if said[0] in FREE_MARKS:
            return False
        if said[0] in "!?" and before[-1:] in tuple(" \u00a0\u202f"):  # as French writes
            return not before[-2:-1].isalnum()
        return (said[0] in "!?" and "://" in token) or not _MAY_PRECEDE.match(before[-1:])

    def _closes_its_own(self, marks: Marks) -> bool:
        """Whether what closes behind a full stop is a quotation, or a bracket that holds a sentence of its own."""
        if marks[0][-1] not in ")]}）］】":
            return True
        opening = self.pairs.closed_in(marks.start(), marks.end())
        before = self.text[self.start : opening].rstrip()[-1:]
        return before == "" or before in MARKS

    def _goes_on(self, marks: Marks) -> bool:
        """Whether what follows may go on with the sentence: a small letter, a bracket, a dash, a sign, a number."""
        follows = _NEXT.match(self.text, marks.end())
        if follows is None:
            return True
        line = self.text.rfind("\n", marks.end(), follows.start(1)) + 1
        if line and _ITEM_LINE.match(self.text, line):
            return False
        first = follows[1][0]
        if first.isdecimal():
            return marks[0][0] == "." and len(word_before(self._before(marks))) <= _SHORT_WORD
        return first.islower() or not first.isalpha()

    def _is_mixed(self, marks: Marks) -> bool:
        """Whether the line of an end holds code too."""
        begin = max(self.start, marks.start() - _LINE_LOOKED_AT)
        stop = marks.end() + _LINE_LOOKED_AT
        line = max(begin, self.text.rfind("\n", begin, marks.start()) + 1)
        end = self.text.find("\n", marks.end(), stop)
        return _CODE_IN_LINE.search(self.text[line : end if end >= 0 else stop]) is not None
