"""Cues: words by which a sentence says that it matters, in seven classes (STR-160, STR-163).

The lists are data, in `ctxlab.cue_lists`. A text is read once, word by word; the time is proportional to its length.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from ctxlab.cue_lists import CUE_LISTS, CUE_LISTS_VERSION, SUBSTRING_LANGUAGES
from ctxlab.messages import canonical_json

if TYPE_CHECKING:
    from collections.abc import Sequence

CueClass = Literal["constraint", "rejection", "pending", "decision", "failure", "status", "reason"]
CUE_CLASSES: tuple[CueClass, ...] = get_args(CueClass)

CUE_LISTS_SHA256 = hashlib.sha256(canonical_json([CUE_LISTS_VERSION, CUE_LISTS]).encode()).hexdigest()
"""Hash of the lists, for the fingerprint of a run."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PHRASE_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*'?\*?")
_STEM_LETTERS = 3
"""Letters of a word by which the beginnings are looked up; none is shorter."""


@dataclass(slots=True)
class _Node:
    """Phrases by their next word: by the whole word, or by its beginning where any ending will do.

    `ends` are the classes of the phrases that end here, `first_ends` of those that count only where the text begins.
    """

    words: dict[str, _Node] = field(default_factory=dict)
    stems: dict[str, list[tuple[str, _Node]]] = field(default_factory=dict)
    ends: set[CueClass] = field(default_factory=set)
    first_ends: set[CueClass] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lists:
    """The phrases of some languages: those made of words, and those that are found anywhere."""

    spaced: _Node
    anywhere: tuple[tuple[str, CueClass], ...]


def cues(text: str, *, language: str | None = None) -> frozenset[CueClass]:
    """The classes of the cues in a text.

    Args:
        text: a sentence or more.
        language: a BCP 47 tag whose first part chooses the list; without one, or without a list for it, all apply.
    """
    found: set[CueClass] = set()
    lists = _lists(language_of(language))
    folded = _folded(text)
    words = _WORD.findall(folded)
    spaced = lists.spaced
    for place, word in enumerate(words):
        if word in spaced.words or word[:_STEM_LETTERS] in spaced.stems:
            _follow(spaced, words, place, found, first=place == 0)
    if lists.anywhere and _UNSPACED.search(folded):
        found.update(cue for phrase, cue in lists.anywhere if cue not in found and phrase in folded)
    return frozenset(found)


def language_of(tag: str | None) -> str | None:
    """The language with a list that a tag names, or null."""
    primary = (tag or "").partition("-")[0].lower()
    return primary if primary in CUE_LISTS else None


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'")


def _follow(node: _Node, words: Sequence[str], place: int, found: set[CueClass], *, first: bool) -> None:
    """Add the classes of the phrases that the words from this place on complete."""
    if node.ends:
        found |= node.ends
    if first and node.first_ends:
        found |= node.first_ends
    if place == len(words):
        return
    word = words[place]
    if word in node.words:
        _follow(node.words[word], words, place + 1, found, first=first)
    if node.stems:
        for stem, after in node.stems.get(word[:_STEM_LETTERS], ()):
            if word.startswith(stem):
                _follow(after, words, place + 1, found, first=first)


@functools.cache
def _lists(language: str | None) -> _Lists:
    spaced = _Node()
    anywhere: dict[tuple[str, CueClass], None] = {}
    for name in CUE_LISTS if language is None else (language,):
        for cue in CUE_CLASSES:
            for phrase in CUE_LISTS[name][cue].split("|"):
                if name in SUBSTRING_LANGUAGES:
                    anywhere[_folded(phrase), cue] = None
                else:
                    _enter(spaced, _folded(phrase), cue)
    return _Lists(spaced=spaced, anywhere=tuple(anywhere))


def _enter(node: _Node, phrase: str, cue: CueClass) -> None:
    for word in _PHRASE_WORD.findall(phrase):
        if word.endswith("*"):
            after = _Node()
            node.stems.setdefault(word[:_STEM_LETTERS], []).append((word[:-1], after))
            node = after
        else:
            node = node.words.setdefault(word, _Node())
    (node.first_ends if phrase.startswith("^") else node.ends).add(cue)
