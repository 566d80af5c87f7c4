"""Whether a full stop may belong to the word before it: abbreviations, initials, ordinals, numbers of parts (ADM-045)."""

from __future__ import annotations

import regex

from ctxlab.admission.wording import is_listed, primary
from ctxlab.boundary_lists import UNITS
from ctxlab.segment_rules import BEFORE_NUMBERS, FREE_MARKS, MONTHS, ORDINAL_LANGUAGES, SPACED_MARKS

_TOKEN = regex.compile(r"[^\s(\[{\"“„«‘「『（—–]{1,64}$")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_°º]+$")
_LETTER = regex.compile(r"\p{L}\p{M}*")
_INITIAL = regex.compile(r"\p{L}\p{M}*[°º]?")
_VOWEL = regex.compile(r"[aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýąęóаеёиоуыэюя]")
_UNIT_PER = regex.compile(r"\p{L}+/\p{L}")
_ROMAN = regex.compile(r"[IVXLCDM]+")
_BEHIND_NUMBER = regex.compile(r"[0-9]\s?$")
_UNITS = frozenset(UNITS.split("|"))
_BEFORE_NUMBERS = frozenset(BEFORE_NUMBERS.split())
_MONTHS = frozenset(MONTHS.split())
_IN_NUMBERS = ".,:/-–−+±$€£¥%=~≈<>≤≥'’"
_SPACE_AND_CLOSING = " \t\r\n\u00a0\u202f)]”’»\"'*_"
_BEFORE_MARKERS = ("", "•", "·", *SPACED_MARKS, *FREE_MARKS)
_LONGEST_ORDINAL = 3
_LARGEST_DAY = 31
_CASELESS_LETTERS = 2
_LOOKED_AT = 64


def token_before(text: str) -> str:
    """What stands at the end of a text without white space or opening marks, at most 64 characters of it."""
    found = _TOKEN.search(text[-_LOOKED_AT:])
    return found[0] if found else ""


def word_before(text: str) -> str:
    """The letters and digits at the end of a text, at most 64 of them."""
    found = _WORD.search(text[-_LOOKED_AT:])
    return found[0] if found else ""


def is_shortened(before: str, after: str, *, language: str | None) -> bool:
    """Whether a full stop between two texts may belong to the word before it.

    Args:
        before: what stands before the full stop, its last 64 characters at least.
        after: the word that follows, empty at the end of a text.
        language: of the text; null if it is unknown.
    """
    word = word_before(before)
    if not word:
        return False
    if word.isdecimal():
        return _is_ordinal(before.removesuffix(word), word, after, language=language)
    token = token_before(before)
    if word.casefold() in _UNITS and _BEHIND_NUMBER.search(before.removesuffix(word)):
        return False
    if _INITIAL.fullmatch(word) and not _UNIT_PER.fullmatch(token):
        return True
    if is_listed("shortened", token, language=language) or is_listed("shortened", word, language=language):
        return True
    return _looks_shortened(word, language=language) or (
        _is_numbering(after) and not _BEFORE_NUMBERS.isdisjoint((token.casefold(), word.casefold()))
    )


def _looks_shortened(word: str, *, language: str | None) -> bool:
    """Whether a word that is in no list has the form of an abbreviation."""
    if _ROMAN.fullmatch(word):
        return primary(language) in {None, *ORDINAL_LANGUAGES}
    if word.lower() == word.upper():
        return 1 <= len(_LETTER.findall(word)) <= _CASELESS_LETTERS
    return word[0].isupper() and word.istitle() and not _VOWEL.search(word.casefold())


def _is_numbering(after: str) -> bool:
    return not after or after[0].isdecimal() or len(after) == 1 or _ROMAN.fullmatch(after) is not None


def _is_ordinal(before: str, number: str, after: str, *, language: str | None) -> bool:
    """Whether a number may be an ordinal, the marker of an item, or the number of a part."""
    beside = before[-1:].strip()
    if len(number) > _LONGEST_ORDINAL or (beside and beside in _IN_NUMBERS):
        return False
    said = before.rstrip(_SPACE_AND_CLOSING)
    if beside or said[-1:] in _BEFORE_MARKERS or is_listed("numbered", word_before(said), language=language):
        return True
    own = primary(language)
    if own is None or own in ORDINAL_LANGUAGES:
        return bool(after) or int(number) <= _LARGEST_DAY
    return own == "ru" and after.casefold() in _MONTHS
