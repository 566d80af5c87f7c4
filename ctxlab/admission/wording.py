"""Words of the boundary lists, looked up by language: what is shortened, what leans, what dangles."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

import regex

from ctxlab.boundary_lists import DANGLING, LEANING, NUMBERED, SHORTENED, UNSPACED_LANGUAGES
from ctxlab.segment_rules import ABBREVIATIONS, ORDINAL_LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

Table = Literal["shortened", "numbered", "leaning", "dangling"]
_TABLES: Mapping[Table, Mapping[str, str]] = {
    "shortened": SHORTENED,
    "numbered": NUMBERED,
    "leaning": LEANING,
    "dangling": DANGLING,
}


def primary(language: str | None) -> str | None:
    """The language of a tag, in small letters; null if nothing is known of it."""
    tag = (language or "").partition("-")[0].lower()
    return tag if tag in LEANING or tag in ORDINAL_LANGUAGES else None


def lists_of(table: Table, language: str | None) -> Mapping[str, str]:
    """The lists that apply, by language: all of them where a language has none of its own (ADM-035)."""
    lists, own = _TABLES[table], primary(language)
    return {own: lists[own]} if own is not None and own in lists else lists


def is_listed(table: Literal["shortened", "numbered"], word: str, *, language: str | None) -> bool:
    """Whether a word stands in the lists that apply."""
    return word.casefold() in _words(table, primary(language))


@functools.cache
def _words(table: Table, language: str | None) -> frozenset[str]:
    words = {word for phrases in lists_of(table, language).values() for word in phrases.split("|")}
    if table == "shortened":
        words.update(word for listed in _abbreviations(language) for word in listed.split())
    return frozenset(words)


def _abbreviations(language: str | None) -> list[str]:
    """Those of segments: of the language, and the English ones, which stand in names everywhere; of no known one, all."""
    known = [ABBREVIATIONS[tag] for tag in (language, "en") if tag in ABBREVIATIONS]
    return known if language in ABBREVIATIONS else list(ABBREVIATIONS.values())


def leans(sentence: str, *, language: str | None) -> bool:
    """Whether a sentence opens with a pronoun or connective that leans on the one before it (ADM-034)."""
    opening = _BEFORE_WORDS.sub("", sentence[:_LOOKED_AT]).casefold()
    return _pattern("leaning", primary(language)).match(opening) is not None


def dangles(text: str, *, language: str | None) -> bool:
    """Whether a text ends in a connective that something has to follow (ADM-031)."""
    ending = _BEHIND_WORDS.sub("", text[-_LOOKED_AT:]).casefold()
    return _pattern("dangling", primary(language)).search(ending) is not None


_LOOKED_AT = 120
_BEFORE_WORDS = regex.compile(r"^[^\p{L}\p{N}]+")
_BEHIND_WORDS = regex.compile(r"[^\p{L}\p{M}\p{N}]++$")


@functools.cache
def _pattern(table: Literal["leaning", "dangling"], language: str | None) -> regex.Pattern[str]:
    lists = lists_of(table, language)
    words = _either(lists, spaced=True)
    characters = _either(lists, spaced=False)
    if table == "leaning":
        return regex.compile(rf"(?:{words})(?:(?<=[’',])|(?![\p{{L}}\p{{M}}\p{{N}}_]))|(?:{characters})")
    return regex.compile(rf"(?:(?<![^\s(\[\"'“«¿¡])(?:{words})|(?:{characters}))$")


def _either(lists: Mapping[str, str], *, spaced: bool) -> str:
    """A pattern of the phrases of the languages with spaces, or of those without; of none, one that never matches."""
    chosen = [listed for tag, listed in lists.items() if (tag not in UNSPACED_LANGUAGES) is spaced]
    phrases = sorted({phrase.casefold() for listed in chosen for phrase in listed.split("|")}, key=len)
    return "|".join(regex.escape(phrase) for phrase in reversed(phrases)) or "(?!)"
