"""Where sentences of prose end, from the last one back, and whether one may cut there.

`ctxlab.segments` cuts a text into all its sentences and joins what it is unsure of. A cut that throws away what stands
before it needs more: here every end that might be none is unsure, by rules that rather doubt a good end.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import regex

from ctxlab.boundary_lists import DANGLING, LEANING, NAMES_WITH_MARKS, NUMBERED, SHORTENED, UNSPACED_LANGUAGES
from ctxlab.segment_rules import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    FREE_MARKS,
    LINE_KINDS,
    MONTHS,
    ORDINAL_LANGUAGES,
    SPACED_MARKS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ctxlab.admission.enclosures import Enclosures

_CLOSING = "[)\\]}”’»“‘」』）］】〉》\"'*_`]"
_END = regex.compile(rf"(?r)[{FREE_MARKS}{SPACED_MARKS}]+(?:{_CLOSING}{{0,8}}|[ \u00a0\u202f]»)")
_ITEM_LINE = regex.compile(rf"(?m)^{dict(LINE_KINDS)['item'].removesuffix(chr(92) + 'S')}")
_TOKEN = regex.compile(r"[^\s(\[{\"“„«‘「『（—–]{1,64}$")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_°º]+$")
_LETTER = regex.compile(r"\p{L}\p{M}*")
_INITIAL = regex.compile(r"\p{L}\p{M}*[°º]?")
_VOWEL = regex.compile(r"[aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýąęаеёиоуыэюя]")
_SHORT_WORD = 4
_LARGEST_DAY = 31
_MARKS = SPACED_MARKS + FREE_MARKS
_NEXT = regex.compile(r"\s*+(?:[\"'“„«‘「『*_`¿¡]\s?){0,4}(.[\p{L}\p{M}\p{N}]*)", regex.DOTALL)
_MAY_PRECEDE = regex.compile(r"[\p{L}\p{M}\p{N}%°$€£¥+#)\]}”’»“‘」』）］】〉》\"'*_`]")
_ROMAN = regex.compile(r"[IVXLCDM]+")
_MIXED = regex.compile(
    r"[{}]|;\s*$|=>|[=!<>]=|->|::|&&|\|\||\s[-+*/]?=\s|</?[A-Za-z][^>]*>|(?<!:)//|/\*|\w\(\)|\w\([^)\s]*\)\s*;|^\s*(?:>>>|\$|import|from\s\S+\simport|def|return|const|let|var)\s"
)
_SPACED_DOTS = regex.compile(r"(?:\.\s*){3}[^\w\s]*$")
_LINE_LOOKED_AT = 400


class End(NamedTuple):
    """An end of a sentence: its marks with all they close, and whether one may cut there."""

    marks: regex.Match[str]
    is_sure: bool


def ends_backward(
    text: str, start: int, end: int, pairs: Enclosures, *, language: str | None
) -> Iterator[End]:
    """The ends in `text[start:end]`, the last one first; ends inside pairs are none, those inside backticks are unsure."""
    while marks := _END.search(text, start, end):
        end = marks.start()
        if not _is_end(text, start, marks):
            continue
        around = pairs.around(marks.start(), marks.end())
        if around is None:
            yield End(marks, not _is_doubtful(text, start, marks, pairs, language=language))
        elif text[max(around, start)] == "`":
            yield End(marks, is_sure=False)
        else:
            end = max(around, start)


def _is_end(text: str, start: int, marks: regex.Match[str]) -> bool:
    """Whether the marks end anything: not inside a name or number, nor behind the marker of a list's item."""
    after = text[marks.end() : marks.end() + 1]
    if any(mark in FREE_MARKS for mark in marks[0]):
        return not (
            marks[0] == "．" and text[marks.start() - 1 : marks.start()].isalnum() and after.isalnum()
        )
    if after and not after.isspace():
        return False
    line = max(text.rfind("\n", max(start, marks.start() - 16), marks.start()) + 1, start)
    item = _ITEM_LINE.match(text, line)
    return item is None or marks.start() >= item.end()


def is_whole(
    text: str, start: int, marks: regex.Match[str], pairs: Enclosures, *, language: str | None
) -> bool:
    """Whether the marks at the end of a text surely end its sentence: no ellipsis, abbreviation or dangling word."""
    if _is_odd(text, start, marks, pairs) or _SPACED_DOTS.search(
        text[max(0, marks.end() - 16) : marks.end()]
    ):
        return False
    if marks[0][0] == "." and _is_shortened(text, start, marks.start(), "", language=language):
        return False
    return not dangles(text[max(start, marks.start() - 60) : marks.start()], language=language)


def _is_doubtful(
    text: str, start: int, marks: regex.Match[str], pairs: Enclosures, *, language: str | None
) -> bool:
    if _is_odd(text, start, marks, pairs):
        return True
    closes = marks[0].rstrip("*_")[-1] not in _MARKS
    if any(mark in FREE_MARKS for mark in marks[0]):
        return closes  # what was said may be followed by who said it
    if closes and (marks[0][0] != "." or not _is_own(text, start, marks, pairs)):
        return True
    if _goes_on(text, marks) or _is_mixed(text, start, marks):
        return True
    after = _next_word(text, marks.end())
    return marks[0][0] == "." and _is_shortened(text, start, marks.start(), after, language=language)


def _is_odd(text: str, start: int, marks: regex.Match[str], pairs: Enclosures) -> bool:
    """Whether the marks are an ellipsis, stand apart from any word, belong to a name, or close what was not opened."""
    said = marks[0]
    if "…" in said or ".." in said or "`" in said:
        return True
    if said[-1] not in _MARKS + "*_":
        opening = pairs.closed_in(marks.start(), marks.end())
        if opening is None or opening < start:
            return True
    if said[0] in FREE_MARKS:
        return False
    before = text[max(start, marks.start() - 2) : marks.start()]
    if said[0] in "!?" and before[-1:] in tuple(" \u00a0\u202f"):  # as French writes
        return not before[:1].isalnum()
    token = _token(text, start, marks.start())
    is_name = "://" in token or token.casefold() + said[0] in NAMES_WITH_MARKS.split("|")
    return not _MAY_PRECEDE.match(before[-1:]) or (said[0] in "!?" and is_name)


def _is_own(text: str, start: int, marks: regex.Match[str], pairs: Enclosures) -> bool:
    """Whether what closes behind a full stop is a quotation, or a bracket that holds a sentence of its own."""
    if marks[0][-1] not in ")]}）］】":
        return True
    opening = pairs.closed_in(marks.start(), marks.end())
    before = text[start:opening].rstrip()[-1:]
    return before == "" or before in _MARKS


def _goes_on(text: str, marks: regex.Match[str]) -> bool:
    """Whether what follows may go on with the sentence: a small letter, a bracket, a dash, a sign, a number."""
    follows = _NEXT.match(text, marks.end())
    if follows is None:
        return True
    line = text.rfind("\n", marks.end(), follows.start(1)) + 1
    if line and _ITEM_LINE.match(text, line):
        return False
    first = follows[1][0]
    if first.isdecimal():
        return marks[0][0] == "." and len(_word(text, marks.start())) <= _SHORT_WORD
    return first.islower() or not first.isalpha()


def _is_mixed(text: str, start: int, marks: regex.Match[str]) -> bool:
    """Whether the line of an end holds code too (ADM-046)."""
    begin = max(start, marks.start() - _LINE_LOOKED_AT)
    stop = marks.end() + _LINE_LOOKED_AT
    line = max(begin, text.rfind("\n", begin, marks.start()) + 1)
    end = text.find("\n", marks.end(), stop)
    return _MIXED.search(text[line : end if end >= 0 else stop]) is not None


# Words before a full stop


def _token(text: str, start: int, stop: int) -> str:
    found = _TOKEN.search(text[max(start, stop - 64) : stop])
    return found[0] if found else ""


def _word(text: str, stop: int) -> str:
    found = _WORD.search(text[max(0, stop - 40) : stop])
    return found[0] if found else ""


def _next_word(text: str, place: int) -> str:
    found = _NEXT.match(text, place)
    return found[1] if found else ""


def _is_shortened(text: str, start: int, stop: int, after: str, *, language: str | None) -> bool:
    """Whether the word before a full stop may be an abbreviation, an initial, an ordinal or the number of a part."""
    token, word = _token(text, start, stop), _word(text, stop)
    if not word:
        return False
    if word.isdecimal():
        return _is_number(text, start, stop, word, after, language=language)
    names = {token.casefold(), word.casefold()}
    if _INITIAL.fullmatch(word) or not names.isdisjoint(words("shortened", primary(language))):
        return True
    if _ROMAN.fullmatch(word) and primary(language) in {None, *ORDINAL_LANGUAGES}:
        return True
    if word.lower() == word.upper():
        return len(_LETTER.findall(word)) <= 2
    if word.istitle() and len(word) > 1 and not _VOWEL.search(word.casefold()):
        return True
    numbers = not after or after[0].isdecimal() or len(after) == 1 or _ROMAN.fullmatch(after) is not None
    return numbers and not names.isdisjoint(words("before numbers", None))


def _is_number(text: str, start: int, stop: int, number: str, after: str, *, language: str | None) -> bool:
    """Whether a number before a full stop may be an ordinal, the marker of an item, or the number of a part."""
    place = stop - len(number)
    if len(number) > 3 or (place > start and not text[place - 1].isspace()):
        return False
    before = text[max(start, place - 40) : place].rstrip()
    own = primary(language)
    if before[-1:] in ("", "•", "·", ")", *_MARKS) or _word(before, len(before)).casefold() in words(
        "numbered", own
    ):
        return True
    if own is not None and own not in ORDINAL_LANGUAGES:
        return own == "ru" and after.casefold() in MONTHS.split()
    return bool(after) or int(number) <= _LARGEST_DAY


# Lists


def primary(language: str | None) -> str | None:
    """The language of a tag, in small letters; null if it is unknown or there are no lists for it."""
    tag = (language or "").partition("-")[0].lower()
    return tag if tag in LEANING or tag in ORDINAL_LANGUAGES else None


_TABLES: Mapping[str, Mapping[str, str]] = {
    "shortened": SHORTENED,
    "numbered": NUMBERED,
    "leaning": LEANING,
    "dangling": DANGLING,
}


@functools.cache
def words(table: str, language: str | None) -> frozenset[str]:
    """The words of a list: those of a language, or of all if it is null."""
    if table == "before numbers":
        return frozenset(BEFORE_NUMBERS.split())
    lists = _TABLES[table]
    own = lists.values() if language is None else [lists.get(language, "")]
    found = {word for phrases in own for word in phrases.split("|") if word}
    if table == "shortened":
        found.update(word for all_words in ABBREVIATIONS.values() for word in all_words.split())
    return frozenset(found)


def leans(sentence: str, *, language: str | None) -> bool:
    """Whether a sentence opens with a pronoun or connective that leans on the one before it."""
    opening = _OPENING.sub("", sentence[:120]).casefold()
    return _phrases("leaning", primary(language)).match(opening) is not None


def dangles(text: str, *, language: str | None) -> bool:
    """Whether a text ends in a connective that something has to follow."""
    return _phrases("dangling", primary(language)).search(_TAIL.sub("", text).casefold()) is not None


_OPENING = regex.compile(r"^[^\p{L}\p{N}]+")
_TAIL = regex.compile(r"[^\p{L}\p{M}\p{N}]+$")


@functools.cache
def _phrases(table: str, language: str | None) -> regex.Pattern[str]:
    lists = _TABLES[table]
    chosen = lists if language is None else {language: lists.get(language, "")}
    spaced = [
        p for tag, phrases in chosen.items() if tag not in UNSPACED_LANGUAGES for p in phrases.split("|")
    ]
    unspaced = [p for tag, phrases in chosen.items() if tag in UNSPACED_LANGUAGES for p in phrases.split("|")]
    return regex.compile(_pattern(table, list(filter(None, spaced)), list(filter(None, unspaced))))


def _pattern(table: str, spaced: list[str], unspaced: list[str]) -> str:
    word, character = (_either(spaced), _either(unspaced))
    if table == "leaning":
        return rf"(?:{word})(?:(?<=[’',])|(?![\p{{L}}\p{{M}}\p{{N}}_]))|(?:{character})"
    return rf"(?:(?<![^\s(\[\"'“«¿¡])(?:{word})|(?:{character}))$"


def _either(phrases: list[str]) -> str:
    return "|".join(regex.escape(p.casefold()) for p in sorted(phrases, key=len, reverse=True)) or "(?!)"
