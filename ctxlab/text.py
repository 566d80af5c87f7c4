"""Pure strings: normalising, previews, cuts that keep characters whole, finding literals."""

from __future__ import annotations

import functools
import string
import unicodedata
from typing import Literal

import regex

UnicodeForm = Literal["none", "NFC", "NFKC"]
Match = Literal["word", "substring"]
PREVIEW_CHARACTERS = 240


def collapse(text: str) -> str:
    """The text with every run of white space as one space, and trimmed; zero-width characters stay."""
    return " ".join(text.split())


def normalize(
    text: str, *, unicode_form: UnicodeForm | None, collapse_whitespace: bool, casefold: bool
) -> str:
    """The text as it is compared (EVA-004): Unicode form, then white space, then case; null is form `none`."""
    if unicode_form in ("NFC", "NFKC"):
        text = unicodedata.normalize(unicode_form, text)
    if collapse_whitespace:
        text = collapse(text)
    return text.casefold() if casefold else text


def searchable(text: str) -> str:
    """The text as literals and phrases of facts are found in it: NFC, collapsed, casefolded (DAT-053)."""
    if text.isascii():  # the same, in a third of the time
        return " ".join(text.split()).lower()
    return collapse(unicodedata.normalize("NFC", text)).casefold()


_LINE_BREAKS = regex.compile(r"[\r\n\v\f\x85\u2028\u2029]+")
_UNPRINTED = regex.compile(r"[\s\p{Cc}]+")


def flatten(text: str) -> str:
    """The text on one line: each run of line breaks becomes one space."""
    return _LINE_BREAKS.sub(" ", text)


def preview(text: str, *, characters: int = PREVIEW_CHARACTERS) -> str:
    """One line of at most this many characters: runs of white space and controls as one space, `…` at a cut."""
    line = _UNPRINTED.sub(" ", text)
    return line if len(line) <= characters else line[: safe_cut(line, characters=characters - 1)] + "…"


# Between these two characters there is always a boundary, whatever stands before and after them.
_SURE_BOUNDARY = regex.compile(r"(?r)(?<=[^\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=Prepend}])\p{GCB=Other}")
# A flag is spelled out because the general pattern counts the whole run again for each of its flags.
_CLUSTER = regex.compile(r"\p{GCB=RI}{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*|\X")


_READ_BY_MARKDOWN = regex.compile(r"[&<>|`\\*\[\]~]")


def escaped(text: str) -> str:
    """Text for a cell of a Markdown table: one line, with nothing in it that Markdown or HTML would read (EVA-112)."""
    return _READ_BY_MARKDOWN.sub(lambda found: f"&#{ord(found[0])};", _UNPRINTED.sub(" ", text)).strip()


def safe_cut(text: str, *, characters: int) -> int:
    """Length of the longest prefix of at most this many characters that ends at a grapheme cluster boundary.

    A cluster that alone exceeds the room is left out. Only the characters up to the cut and the one after it
    are looked at, and of those only what lies behind the last boundary that is sure by itself.
    """
    if characters >= len(text):
        return len(text)
    if characters <= 0:
        return 0
    sure = _SURE_BOUNDARY.search(text, 0, characters + 1)
    boundary = sure.start() if sure else 0
    for cluster in _CLUSTER.finditer(text, boundary, characters + 1):
        if cluster.end() > characters:
            break
        boundary = cluster.end()
    return boundary


def safe_cut_back(text: str, *, characters: int) -> int:
    """Start of the longest suffix of at most this many characters that begins at a grapheme cluster boundary."""
    start = max(0, len(text) - max(0, characters))
    before = safe_cut(text, characters=start)
    if before == start:
        return start
    cluster = _CLUSTER.match(text, before)
    return cluster.end() if cluster else len(text)


_UNSPACED = r"\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}"
WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{_UNSPACED}]]"
"""A character that continues a word, as a set of the `regex` module (V1): not one of a script without spaces."""
_WORD_CHARACTER = regex.compile(WORD, regex.V1)
_ASCII_WORD = frozenset(string.ascii_letters + string.digits + "_")


def find_literal(haystack: str, literal: str, *, match: Match = "word") -> int | None:
    """Where a literal first occurs, or null; both texts are normalised alike beforehand.

    With `word`, a literal that begins or ends in a letter, digit or underscore is not continued by one; scripts
    written without spaces neither continue a literal nor need this of it (DAT-054). An empty literal is at 0.
    """
    found = haystack.find(literal)
    if match == "substring" or not literal:
        return found if found >= 0 else None
    for _ in range(_TRIED):
        if found < 0:
            return None
        if _stands_alone(haystack, found, found + len(literal)):
            return found
        found = haystack.find(literal, found + 1)
    whole = _whole_word(literal).search(haystack, found) if found >= 0 else None
    return whole.start() if whole else None


_TRIED = 16  # an expression is made only where looking on one by one would take long


def _stands_alone(text: str, start: int, end: int) -> bool:
    if start > 0 and _joins(text[start - 1]) and _joins(text[start]):
        return False
    return not (end < len(text) and _joins(text[end]) and _joins(text[end - 1]))


def _joins(character: str) -> bool:
    if character.isascii():
        return character in _ASCII_WORD
    return _WORD_CHARACTER.match(character) is not None


@functools.lru_cache(4096)
def _whole_word(literal: str) -> regex.Pattern[str]:
    before = rf"(?<!{WORD})" if _WORD_CHARACTER.match(literal[0]) else ""
    after = rf"(?!{WORD})" if _WORD_CHARACTER.match(literal[-1]) else ""
    return regex.compile(before + regex.escape(literal) + after, regex.V1)


def is_bare_address(url: str) -> bool:
    """Whether a URL has no sign that sets off user info, query or fragment: the parts in which credentials travel."""
    return not any(sign in url for sign in "?#@\\")
