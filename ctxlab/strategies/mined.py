"""Facts mined from a tool result: named values of its JSON, and the lines that tell of a failure (STR-054 to 058).

A fact quotes one span of the source. Where that span is a JSON string, or a part of one, it shows the characters that
the string stands for.
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import regex

from ctxlab.text import safe_cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FACT_CHARACTERS = 320
LEAST_FACT_CHARACTERS = 40
"""A fact that has to be cut shorter than this is left out: a shred of it says nothing."""
PARSED_LEVELS, WALKED_LEVELS, VISITED_NODES = 32, 4, 2048
ELLIPSIS = "…"

ROOT_NAMES = frozenset({"stdout", "stderr", "path", "resource", "operation", "files", "text", "error"})
STREAM_NAMES = frozenset({"stdout", "stderr", "text"})
FIRST_NAMES = ("error", "errors", "exitCode", "status", "timedOut")
OTHER_NAMES = (
    "success", "failed", "applied", "dryRun", "path", "filePath", "source", "destination", "resource", "uri", "url",
    "id", "revision", "nextCursor", "truncated", "created", "deleted", "returned", "total",
)  # fmt: skip
ID_ENDINGS = ("Id", "_id")


def _snake(name: str) -> str:
    return re.sub("(?=[A-Z])", "_", name).lower()


_RANKS = {name: rank for rank, first in enumerate(FIRST_NAMES) for name in (first, _snake(first))}
_LAST_RANK = len(FIRST_NAMES)
_OTHERS = frozenset(form for name in OTHER_NAMES for form in (name, _snake(name)))

_FAILURE = regex.compile("error|fail|exception|warning", regex.IGNORECASE)
_LINE_BREAK = re.compile(r"[\r\n]")
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,?")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_VALUE = rf'({_STRING.pattern}|[\[{{]|[^ \t\r\n,:"\[\]{{}}]++)'
_OBJECT_MEMBER = re.compile(rf"[ \t\r\n]*({_STRING.pattern})[ \t\r\n]*:[ \t\r\n]*{_VALUE}", re.DOTALL)
_ARRAY_MEMBER = re.compile(rf"[ \t\r\n]*(){_VALUE}", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)


class Fact(NamedTuple):
    """One fact: the name it goes by, what it says, and the half-open span of the source that says so.

    `escaped`: the span is a JSON string, or a part of one, and `text` what that stands for.
    """

    name: str
    text: str
    start: int
    end: int
    escaped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The facts that found room: their lines, and the spans they quote, those of JSON strings apart."""

    lines: tuple[str, ...]
    plain: tuple[tuple[int, int], ...]
    escaped: tuple[tuple[int, int], ...]

    @property
    def characters(self) -> int:
        """Characters of the lines, with the line break of each."""
        return sum(len(line) + 1 for line in self.lines)


def mine(text: str, *, characters: int) -> tuple[Fact, ...]:
    """The facts of a tool result, the most telling first, as many as this many characters can hold."""
    nodes = sorted(_walk(text), key=lambda node: (_RANKS.get(node.name, _LAST_RANK), node.start))
    facts = [fact for node in nodes if _is_kept(node.name) and (fact := _value(text, node))]
    streams = [node for node in nodes if node.name in STREAM_NAMES and node.string is not None]
    room = characters - sum(min(len(fact.text), FACT_CHARACTERS) for fact in facts)
    for line in _lines_of(text, streams):
        if room <= 0:
            break
        facts.append(line)
        room -= min(len(line.text), FACT_CHARACTERS) + 1
    return tuple(facts)


def within(facts: Iterable[Fact], text: str, *, characters: int, beginning: int = 0) -> Shown:
    """The first facts, cut at 320 characters, until the room ends; the last is cut to it if enough of it is left.

    A line of the source takes no room if its `beginning`, which is shown anyway, holds it whole, or if the line has
    to be cut and its failure is named there.
    """
    lines: dict[str, Fact] = {}
    for fact in facts:
        if not fact.name and not fact.escaped and _stands_in(fact, text, beginning):
            continue
        lead = f"{fact.name}: " if fact.name else ""
        room = min(FACT_CHARACTERS, characters - len(lead) - 1)
        if len(fact.text) > room < LEAST_FACT_CHARACTERS:
            break
        shown = fact if len(fact.text) <= room else _cut(fact, text, characters=room - len(ELLIPSIS))
        line = f"{lead}{shown.text}{'' if shown is fact else ELLIPSIS}"
        if line not in lines:
            lines[line] = shown
            characters -= len(line) + 1
    return Shown(
        lines=tuple(lines),
        plain=tuple((fact.start, fact.end) for fact in lines.values() if not fact.escaped),
        escaped=tuple((fact.start, fact.end) for fact in lines.values() if fact.escaped),
    )


def _stands_in(line: Fact, text: str, beginning: int) -> bool:
    if line.end <= beginning:
        return True
    is_cut = len(line.text) > FACT_CHARACTERS
    return is_cut and _FAILURE.search(text, line.start, max(line.start, beginning)) is not None


def _cut(fact: Fact, text: str, *, characters: int) -> Fact:
    length = safe_cut(fact.text, characters=characters)
    end = fact.start + length
    if fact.escaped:
        end = fact.start + end_of(text[fact.start : fact.end], characters=length)
    return fact._replace(text=fact.text[:length], end=end)


def end_of(quotation: str, *, characters: int) -> int:
    """Where the first so many characters end that a JSON string, or a part of one, stands for."""
    return next(_places(quotation, quotation.startswith('"'), [characters]))


def decoded(quotation: str) -> str | None:
    """What a JSON string, or a part of one with or without its quotes, stands for; null if it is none."""
    body = quotation.removeprefix('"')
    whole = quotation.startswith('"') and _STRING.fullmatch(quotation) is not None
    try:
        text = json.loads(quotation if whole else f'"{body}"')
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def joined(
    ranges: Iterable[tuple[int, int]], escaped: Iterable[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Ranges of the source that are shown as they stand, and those of JSON strings, made disjoint and ordered.

    What two of them share counts once. A JSON string is kept whole or, if another range holds it, dropped; a range
    that overlaps one or another range is trimmed.
    """
    strings = frozenset(escaped)
    chosen: list[tuple[int, int]] = []
    for start, end in sorted([*ranges, *strings], key=lambda r: (r[0], -r[1])):
        if chosen and end <= chosen[-1][1]:
            continue
        if chosen and start < chosen[-1][1]:
            if chosen[-1] in strings:
                start = chosen[-1][1]
            else:
                chosen[-1] = (chosen[-1][0], start)
        chosen.append((start, end))
    return tuple(chosen)


# Values


class _Node(NamedTuple):
    """A named scalar of a JSON result: its name, its token's span, and its text if it is a string."""

    name: str
    start: int
    end: int
    string: str | None


def _is_kept(name: str) -> bool:
    return name in _RANKS or name in _OTHERS or name.endswith(ID_ENDINGS)


def _value(text: str, node: _Node) -> Fact | None:
    """A named value as a fact; null if it is blank or no text that can be sent."""
    shown = text[node.start : node.end] if node.string is None else node.string
    if not shown.strip() or shown == "null" or _SURROGATE.search(shown):
        return None
    return Fact(node.name, shown, node.start, node.end, node.string is not None)


def _refuse(_: str) -> None:
    raise ValueError


# Numbers stay text: their digits are what is shown, and their value is of no interest.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


def _walk(text: str) -> Iterator[_Node]:
    """The streams and kept scalars of a JSON result that is mined, within the limits; none for other text."""
    root = _root(text)
    containers = deque([] if root is None else [(root, 1, "")])
    left = VISITED_NODES
    while containers:
        opening, level, inherited = containers.popleft()
        for key, start, end in islice(_members(text, opening), left):
            left -= 1
            name = inherited if key is None else key
            if text[start] in "{[":
                if level < WALKED_LEVELS:
                    containers.append((start, level + 1, name if text[start] == "[" else ""))
            elif name in STREAM_NAMES or _is_kept(name):
                yield _Node(name, start, end, _string(text[start:end]) if text[start] == '"' else None)


def _root(text: str) -> int | None:
    """Where the root of a JSON result stands that is to be mined; null for malformed, deep and other results."""
    at = _space(text, 0)
    if text[at : at + 1] not in ("{", "["):
        return None
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    if _space(text, end) != len(text) or not (isinstance(value, list) or ROOT_NAMES & value.keys()):
        return None
    return at if _depth_is_allowed(value) else None


def _depth_is_allowed(value: object) -> bool:
    """Whether containers stand in each other at most 32 deep, the root counted."""
    level = [value]
    for _ in range(PARSED_LEVELS):
        inner = (
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))
        )
        level = [one for members in inner for one in members if isinstance(one, (dict, list))]
        if not level:
            return True
    return False


def _members(text: str, opening: int) -> Iterator[tuple[str | None, int, int]]:
    """Key and span of each member of the well-formed container that opens here; items of arrays have no key."""
    pattern = _OBJECT_MEMBER if text[opening] == "{" else _ARRAY_MEMBER
    match = pattern.match(text, opening + 1)
    while match:
        end = match.end(2)
        if text[match.start(2)] in "{[":
            end = _DECODER.scan_once(text, match.start(2))[1]  # type: ignore[attr-defined]
        yield _string(match[1]) if match[1] else None, match.start(2), end
        match = pattern.match(text, _COMMA.match(text, end).end())  # type: ignore[union-attr]


def _string(token: str) -> str:
    """What the token of a JSON string stands for."""
    return str(json.loads(token)) if "\\" in token else token[1:-1]


def _space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


# Lines


def _lines_of(text: str, streams: Sequence[_Node]) -> Iterator[Fact]:
    """The failure lines of the streams, or of the whole result if it has none."""
    if not streams:
        yield from (Fact("", text[start:end], start, end, False) for start, end in _failure_lines(text))
    for node in streams:
        lines = list(_failure_lines(node.string or ""))
        bounds = _places(text, node.start + 1, [place for line in lines for place in line])
        for (start, end), (first, last) in zip(lines, _pairs(bounds), strict=True):
            line = (node.string or "")[start:end]
            if not _SURROGATE.search(line):
                yield Fact("", line, first, last, True)


def _pairs(places: Iterator[int]) -> Iterator[tuple[int, int]]:
    return zip(places, places, strict=True)


def _failure_lines(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the lines that tell of a failure, without the white space around them."""
    done = 0
    while match := _FAILURE.search(text, done):
        start = max(done, *(text.rfind(mark, done, match.start()) + 1 for mark in "\r\n"))
        broken = _LINE_BREAK.search(text, match.end())
        done = broken.start() if broken else len(text)
        line = text[start:done]
        yield done - len(line.lstrip()), start + len(line.rstrip())


def _places(text: str, start: int, lengths: Iterable[int]) -> Iterator[int]:
    """Where in the source the first so many characters of the JSON string end that opens before `start`.

    The lengths ascend. Each escape stands for one character, and so does each pair of surrogate escapes.
    """
    escapes = _ESCAPE.finditer(text, start)
    place, passed, escape = start, 0, next(escapes, None)
    for length in lengths:
        while escape and escape.start() - place < length - passed:
            passed += escape.start() - place + 1
            place, escape = escape.end(), next(escapes, None)
        place, passed = place + length - passed, length
        yield place
