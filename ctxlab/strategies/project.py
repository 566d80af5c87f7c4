"""Projection: a shortened view of one long tool result: a mark, facts, its beginning and its end (STR-050 to 059)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.messages import Message, Projected
from ctxlab.strategies.base import Span
from ctxlab.strategies.mined import joined, mine, within
from ctxlab.text import safe_cut, safe_cut_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.budget import Thresholds
    from ctxlab.strategies.base import SpanFate
    from ctxlab.strategies.mined import Fact

MARK = "[tool result of {name}: {characters} characters, shortened; run the tool again to see the rest]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A projection's text and the half-open ranges of the source that stand in it, disjoint and in order."""

    text: str
    ranges: tuple[tuple[int, int], ...]


def tool_names(messages: Sequence[Message]) -> dict[int, str]:
    """Name of the tool behind each tool message, by index, through the call it answers; else `tool` (STR-059)."""
    names: dict[int, str] = {}
    called: dict[str, str] = {}
    for index, message in enumerate(messages):
        if message.role == "assistant" and message.tool_calls:
            called = {call.id: call.function.name for call in message.tool_calls}
        elif message.role == "tool":
            names[index] = called.get(message.tool_call_id or "", "tool")
    return names


def mine_within(text: str, thresholds: Thresholds) -> tuple[Fact, ...]:
    """The facts of a result, as many as any level of projection has room for."""
    return mine(text, characters=max(sum(level) for level in thresholds.projection_levels))


def excerpt(
    text: str, *, name: str, room_characters: int, thresholds: Thresholds, facts: Sequence[Fact] = ()
) -> Excerpt:
    """A mark, the facts that find room, then the beginning and the end of a text that is longer than the room."""
    fact_room = int(room_characters * thresholds.projection_fact_share)
    least_head = int((room_characters - fact_room) * thresholds.projection_head_share)
    shown = within(
        facts, text, characters=fact_room, beginning=safe_cut(text, characters=least_head) if facts else 0
    )
    room = room_characters - shown.characters
    head_room = int(room * thresholds.projection_head_share)
    head = safe_cut(text, characters=head_room)
    tail = safe_cut_back(text, characters=room - head_room)
    lines = [MARK.format(name=name, characters=len(text)), *shown.lines, text[:head], "…", text[tail:]]
    ranges = joined([(0, head), (tail, len(text)), *shown.plain], shown.escaped)
    return Excerpt(text="\n".join(lines), ranges=ranges)


def project(
    message: Message,
    *,
    name: str,
    level: tuple[int, int],
    thresholds: Thresholds,
    facts: Sequence[Fact] | None = None,
) -> tuple[Message, Excerpt] | None:
    """A tool message with its result shortened to a level's head and tail, or null if it stays as it is.

    A result stays when it is no longer than head plus tail, and when it is a projection already (STR-053). Facts
    that were mined before are passed in; otherwise the result is mined here.
    """
    room = sum(level)
    if not is_projected(message, room_characters=room):
        return None
    mined = mine_within(message.text, thresholds) if facts is None else facts
    short = excerpt(message.text, name=name, room_characters=room, thresholds=thresholds, facts=mined)
    projected = Projected(
        role="tool",
        content=short.text,
        name=message.name,
        tool_call_id=message.tool_call_id,
        source_characters=len(message.text),
    )
    return projected, short


def is_projected(message: Message, *, room_characters: int) -> bool:
    """Whether a message is a tool result too long for the room."""
    return (
        message.role == "tool" and not isinstance(message, Projected) and len(message.text) > room_characters
    )


def claims_of(index: int, short: Excerpt, *, fate: SpanFate) -> list[Span]:
    """Ledger spans of the parts of a message that stand in its excerpt; what lies between is omitted for it."""
    spans = []
    done = 0
    for start, end in short.ranges:
        if start > done:
            spans.append(_content(index, done, start, "omitted", "projection"))
        spans.append(_content(index, start, end, fate))
        done = end
    return spans


def _content(index: int, start: int, end: int, fate: SpanFate, reason: str | None = None) -> Span:
    return Span(
        item="message",
        item_index=index,
        part="content",
        start=start,
        end=end,
        fate=fate,
        reason=reason,
    )
