"""Identifiers: what a summary must neither lose nor invent, found by fixed rules (STR-160 to STR-162).

The rules are one ordered table of expressions. Each begins only where a word begins and never gives back what it
has taken, so the time is proportional to the text, whatever the text is. They are written for the standard
library's engine, which is three times as fast here as `regex`.
"""

from __future__ import annotations

import functools
import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from ctxlab.messages import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IdentifierKind = Literal[
    "url", "email", "uuid", "hex", "path", "file_line", "name", "word", "code", "version", "date", "quoted", "number"
]  # fmt: skip

# Scripts written without spaces, and punctuation beyond ASCII: an identifier ends where one of them begins.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff"
)
_FOREIGN = f"{_UNSPACED}\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65«»"
_UPPER, _LOWER = "A-ZÀ-ÖØ-ÞА-ЯЁ", "a-zß-öø-ÿа-яё"
_W = rf"[^\W{_UNSPACED}]"
_LETTER = rf"[^\W\d_{_UNSPACED}]"
_LETTER_OR_DIGIT = rf"[^\W_{_UNSPACED}]"
_INITIAL = rf"[^\W\d{_UNSPACED}]"
_HEX = "[0-9A-Fa-f]"

_NOT_IN_PATH = rf"\s:;,\"'`<>(){{}}\[\]|*?=#&!^{_FOREIGN}"
_PART = rf"[^{_NOT_IN_PATH}/\\]"
_PATH_START = rf"(?<![^{_NOT_IN_PATH}])(?![-+])"
_PATH_END = rf"(?![^{_NOT_IN_PATH}])"
_FILE_ENDINGS = (
    "7z|adoc|bash|bat|bin|bz2|c|cc|cfg|class|conf|cpp|crt|cs|css|csv|dat|db|dll|docx?|dylib|env|exe|gif|gguf|go|gradle|"
    "gz|h|h5|hpp|html?|ini|ipynb|jar|java|jpe?g|js|json|jsonl|jsx|key|kt|lock|log|lua|md|mjs|npy|npz|onnx|parquet|pdf|"
    "pem|php|pkl|pl|png|pptx?|proto|ps1|py|pyi|pyx|rb|rs|rst|safetensors|scala|scss|sh|so|sql|sqlite|svg|swift|tar|"
    "tex|tf|tgz|toml|traj|ts|tsv|tsx|txt|vue|wasm|whl|xlsx?|xml|xz|ya?ml|zip"
)
_ALTERNATIVES = (
    "and/or|before/after|client/server|either/or|he/she|him/her|his/her|input/output|n/a|no/yes|on/off|open/closed|"
    "pass/fail|read/write|s/he|she/he|start/stop|tcp/ip|true/false|w/o|yes/no|e/ou|sim/não|y/o|sí/no|et/ou|oui/non|"
    "und/oder|ja/nein|и/или|да/нет"
)
"""Words on both sides of a stroke that name a choice and no path."""
_SLASHED = rf"(?!(?i:{_ALTERNATIVES}|{_LETTER}/{_LETTER})\.?{_PATH_END})(?=[0-9_.\-+@%~$/]*+{_LETTER})/?{_PART}{{1,255}}+(?:/{_PART}{{1,255}}+){{1,40}}+(?=/?{_PATH_END})"
_BACKSLASHED = rf"(?:[A-Za-z]:|\.{{1,2}}|~|\\)(?:\\{{1,2}}{_PART}{{1,255}}+){{1,40}}+{_PATH_END}"
_FILE = rf"{_PART}{{0,126}}\.(?i:{_FILE_ENDINGS})(?!\.?{_W}|[-/\\@])"
_PATH = rf"{_PATH_START}(?:{_SLASHED}|{_BACKSLASHED}|{_FILE})"

_MONTHS = (
    "jan(?:uary|eiro|uar|vier)?|ene(?:ro)?|feb(?:ruary|rero|ruar)?|fev(?:ereiro)?|février|mar(?:ch|ço|zo|s)?|märz|"
    "apr(?:il)?|abr(?:il)?|avril|may|mai|maio|mayo|june?|jun(?:i|ho|io)|juin|july?|jul(?:i|ho|io)|juillet|"
    "aug(?:ust)?|ago(?:sto)?|août|sep(?:t|tember|tiembre|tembre)?|set(?:embro)?|oct(?:ober|ubre|obre)?|okt(?:ober)?|"
    "out(?:ubro)?|nov(?:ember|embro|iembre|embre)?|dec(?:ember)?|dez(?:ember|embro)?|dic(?:iembre)?|décembre|"
    "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
)
_YEAR = r"(?:(?: de|,)? [12][0-9]{3})?"
_DATE = "|".join(
    (
        r"[12][0-9]{3}-[01][0-9]-[0-3][0-9](?:T[0-2][0-9]:[0-5][0-9](?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?",
        r"[12][0-9]{3}/[0-9]{1,2}/[0-9]{1,2}",
        r"[0-9]{1,2}([./])[0-9]{1,2}\1(?:[12][0-9])?[0-9]{2}",
        r"[12][0-9]{3}年[0-9]{1,2}月(?:[0-9]{1,2}日)?",
        r"[0-9]{1,2}月[0-9]{1,2}日",
        rf"[0-9]{{1,2}}(?:st|nd|rd|th|º|\.)?(?: de| of)? (?i:{_MONTHS})\b{_YEAR}",
        rf"(?=[A-Za-z])(?i:{_MONTHS})\.? [0-9]{{1,2}}(?:st|nd|rd|th)?\b{_YEAR}",
    )
)

_UNITS = (
    r"[%‰°$€£¥₽円元年月日時分秒人個]|°[CF]|[kKMGTP]i?B|[kMGT]?(?:Hz|bps|Wh?|V)|bytes?|bits?|[nmµ]?s|sec(?:onds?)?|"
    r"min(?:utes?)?|h(?:ours?)?|days?|weeks?|months?|years?|[kcm]?m|m?g|kg|[km]?l|px|pt|tokens?|rows?|lines?|requests?|"
    r"cases?|USD|EUR|GBP|JPY|BRL|CNY|RUB|dollars?|euros?|reais|руб(?:лей|ля)?"
)
_PAIRS = (("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"), ("‘", "’"))
_QUOTED = "|".join(
    (
        # The longer text between two straight quotes is passed over, so that the next one opens and does not close.
        *(rf"{q}(?!\s)([^{q}\\\n]{{1,64}}+)(?<!\s){q}|{q}(?:[^{q}\\\n]++|\\.)*+{q}?()" for q in ('"', "`")),
        rf"(?<!{_W})'(?!\s)([^'\n]{{1,64}}+)(?<!\s)'(?!{_W})",
        *(rf"{opened}([^{opened}{closed}\n]{{1,64}}+){closed}" for opened, closed in _PAIRS),
    )
)


class _Rule(NamedTuple):
    kind: IdentifierKind
    needs: str  # a text without it holds no such identifier; empty where nothing so simple can be said
    pattern: str  # the identifier is the group that matched, or the whole match if there is no group


_RULES = (
    _Rule("url", "://", rf"(?<!{_W})[A-Za-z][A-Za-z0-9+.\-]{{1,30}}+://[^\s<>\"'`|\\^{{}}\[\]{_FOREIGN}]++"),
    _Rule(
        "email",
        "@",
        r"(?<![A-Za-z0-9_.+%\-])[A-Za-z0-9_.+%\-]{1,64}+@[A-Za-z0-9\-]{1,63}+(?:\.[A-Za-z0-9\-]{1,63}+){1,8}+",
    ),
    _Rule("uuid", "-", rf"(?<!{_W}){_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?!{_W})"),
    _Rule(
        "hex",
        "",
        rf"(?<!{_W})(?:0[xX])?(?=[0-9]{{0,127}}+[A-Fa-f])(?=[A-Fa-f]{{0,127}}+[0-9]){_HEX}{{7,128}}+(?!{_W})",
    ),
    _Rule("path", "", _PATH),
    _Rule("file_line", ":", rf"{_PATH}:[0-9]{{1,7}}(?::[0-9]{{1,5}})?(?!{_W})"),
    _Rule(
        "name",
        "",
        rf"(?<!{_W})(?<![.:@])(?!(?:{_LETTER}\.)+{_LETTER}?(?!{_W})){_INITIAL}{_W}{{0,127}}+"
        rf"(?:(?:\.|::){_INITIAL}{_W}{{0,127}}+){{1,20}}+(?!{_W})",
    ),
    _Rule(
        "word",
        "",
        rf"(?<!{_W})(?={_W}{{0,126}}?(?:[{_LOWER}][{_UPPER}]|{_LETTER_OR_DIGIT}_++{_LETTER_OR_DIGIT})|_+{_LETTER})"
        rf"(?=[0-9_]{{0,127}}+{_LETTER}){_W}{{2,128}}+(?!{_W})",
    ),
    _Rule(
        "code",
        "",
        rf"(?<!{_W})(?<!-)(?=[0-9\-]{{0,127}}+[{_UPPER}])(?=[{_UPPER}]{{0,127}}+[0-9\-])"
        rf"[{_UPPER}0-9]{{1,64}}+(?:-[{_UPPER}0-9]{{1,64}}+){{0,8}}+(?!{_W}|-)",
    ),
    _Rule(
        "version",
        "",
        rf"(?<!{_W})(?<!\.)(?:[vV]?[0-9]{{1,6}}(?:\.[0-9]{{1,6}}){{1,5}}+"
        rf"(?:[-.]?(?:alpha|beta|rc|dev|post|a|b)\.?[0-9]{{0,4}}+)?+(?:\+[0-9A-Za-z.]{{1,32}}+)?+|[vV][0-9]{{1,6}}+)"
        rf"(?!{_W}|\.[0-9])",
    ),
    _Rule("date", "", rf"(?<!{_W})(?<![./\-])(?:{_DATE})(?!{_W})"),
    _Rule("quoted", "", _QUOTED),
    _Rule(
        "number",
        "",
        rf"(?<!{_W})(?<![.,:/])(?<!{_W}-)[$€£¥₽]?[0-9](?:[.,:]?[0-9]){{1,30}}+"
        rf"(?:[ \u00a0]?(?:{_UNITS})(?!{_W})|[A-Za-zµ]{{1,4}}+(?!{_W})|(?!{_W}))",
    ),
)

IDENTIFIER_RULES_VERSION = 2
IDENTIFIER_RULES_SHA256 = hashlib.sha256(canonical_json([list(rule) for rule in _RULES]).encode()).hexdigest()
"""Hash of the table, for the fingerprint of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """One identifier: its text, its half-open span in code points, and the rule that found it."""

    text: str
    start: int
    end: int
    kind: IdentifierKind


def identifiers(text: str) -> tuple[Identifier, ...]:
    """The identifiers of a text in order; of overlapping ones the longest, then the earlier rule, stands."""
    taken = bytearray(len(text))
    found = []
    for length, rule, start in sorted(_candidates(text)):
        end = start - length
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\x01" * (end - start)
            found.append(Identifier(text=text[start:end], start=start, end=end, kind=_RULES[rule].kind))
    return tuple(sorted(found, key=lambda identifier: identifier.start))


def _candidates(text: str) -> Iterator[tuple[int, int, int]]:
    """What each rule finds, as (minus length, index of the rule, start): the order in which candidates stand."""
    parts = _parts(text)
    for index, (rule, pattern) in enumerate(zip(_RULES, _patterns(), strict=True)):
        part = parts[_LOOKED_FOR_IN.get(rule.kind, "signed")]
        for match in pattern.finditer(part.text) if rule.needs in part.text else ():
            first, last = match.span(match.lastindex or 0) if rule.kind == "quoted" else match.span()
            start = part.place(first)
            if (end := _trimmed(text, start, start + last - first)) > start:
                yield start - end, index, start


# Where a rule is looked for: no expression is tried on words that cannot hold what it finds.

_LOOKED_FOR_IN = {"date": "dated", "number": "dated", "quoted": "quoted"}
_CHUNK = re.compile(r"\S+")
_SIGN = re.compile(rf"[0-9_/\\@]|\.{_W}|::|[{_LOWER}][{_UPPER}]|[{_UPPER}]-")
_DIGIT = re.compile("[0-9]")
_QUOTE = re.compile("[\"'`“„«「『‘]")
_CHUNKS_BEFORE, _CHUNKS_AFTER = (
    1,
    4,
)  # of a number, in the longest date: `May 15 of ...`, `15 de maio de 2024`


class _Part(NamedTuple):
    """Pieces of a text, a line each, and where each begins here and there."""

    text: str
    here: list[int]
    there: list[int]

    def place(self, position: int) -> int:
        """Where a position of the part lies in the text."""
        piece = bisect_right(self.here, position) - 1
        return self.there[piece] + position - self.here[piece]


def _part(text: str, spans: Sequence[tuple[int, int]]) -> _Part:
    lengths = (end - start + 1 for start, end in spans)
    return _Part(
        "\n".join(text[start:end] for start, end in spans),
        list(accumulate(lengths, initial=0)),
        [start for start, _ in spans],
    )


def _parts(text: str) -> dict[str, _Part]:
    """What may hold identifiers: words with a sign of one, words around a number, lines with a quotation mark."""
    chunks = [match.span() for match in _CHUNK.finditer(text)]
    signed: list[tuple[int, int]] = []
    dated: list[tuple[int, int]] = []
    reached = 0
    for index, (start, end) in enumerate(chunks):
        if _SIGN.search(text, start, end):
            signed.append((start, end))
            if _DIGIT.search(text, start, end):
                first = max(0, index - _CHUNKS_BEFORE)
                last = min(len(chunks), index + _CHUNKS_AFTER + 1)
                if dated and first < reached:
                    dated[-1] = (dated[-1][0], chunks[last - 1][1])
                else:
                    dated.append((chunks[first][0], chunks[last - 1][1]))
                reached = last
    return {
        "signed": _part(text, signed),
        "dated": _part(text, dated),
        "quoted": _part(text, _quoted_lines(text)),
    }


def _quoted_lines(text: str) -> list[tuple[int, int]]:
    lines, done = [], 0
    while match := _QUOTE.search(text, done):
        start = text.rfind("\n", done, match.start()) + 1 or done
        done = text.find("\n", match.end())
        done = len(text) if done < 0 else done
        lines.append((start, done))
    return lines


def _trimmed(text: str, start: int, end: int) -> int:
    """The end without sentence punctuation, and without closing brackets that nothing opens."""
    if text[end - 1] not in ".,;:!?…)]":
        return end
    piece = text[start:end]
    unopened = {")": piece.count(")") - piece.count("("), "]": piece.count("]") - piece.count("[")}
    while end > start and ((last := text[end - 1]) in ".,;:!?…" or unopened.get(last, 0) > 0):
        if last in unopened:
            unopened[last] -= 1
        end -= 1
    return end


@functools.cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rule.pattern) for rule in _RULES)
