"""Projection: a shortened view of one long tool result, its beginning and its end around a mark (STR-050 to 059)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.messages import Message, Projected
from ctxlab.strategies.base import Span
from ctxlab.text import safe_cut, safe_cut_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.budget import Thresholds
    from ctxlab.strategies.base import SpanFate

MARK = "[tool result of {name}: {characters} characters, shortened; run the tool again to see the rest]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A projection's text and the half-open ranges of the source that stand in it."""

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


def excerpt(text: str, *, name: str, room_characters: int, thresholds: Thresholds) -> Excerpt:
    """A mark, then the beginning and the end of a text that is longer than the room."""
    head_room = int(room_characters * thresholds.projection_head_share)
    head = safe_cut(text, characters=head_room)
    tail = safe_cut_back(text, characters=room_characters - head_room)
    lines = [MARK.format(name=name, characters=len(text)), text[:head], "…", text[tail:]]
    return Excerpt(text="\n".join(lines), ranges=((0, head), (tail, len(text))))


def project(
    message: Message, *, name: str, level: tuple[int, int], thresholds: Thresholds
) -> tuple[Message, Excerpt] | None:
    """A tool message with its result shortened to a level's head and tail, or null if it stays as it is.

    A result stays when it is no longer than head plus tail, and when it is a projection already (STR-053).
    """
    room = sum(level)
    if message.role != "tool" or isinstance(message, Projected) or len(message.text) <= room:
        return None
    short = excerpt(message.text, name=name, room_characters=room, thresholds=thresholds)
    projected = Projected(
        role="tool",
        content=short.text,
        name=message.name,
        tool_call_id=message.tool_call_id,
        source_characters=len(message.text),
    )
    return projected, short


def claims_of(index: int, short: Excerpt, *, fate: SpanFate, call_index: int | None = None) -> list[Span]:
    """Ledger spans of the parts of a message that stand in its excerpt; what lies between is omitted for it."""
    spans = [_content(index, start, end, fate, call_index, None) for start, end in short.ranges]
    (_, gap_start), (gap_end, _) = short.ranges
    if gap_start < gap_end:
        spans.append(_content(index, gap_start, gap_end, "omitted", None, "projection"))
    return spans


def _content(
    index: int, start: int, end: int, fate: SpanFate, call_index: int | None, reason: str | None
) -> Span:
    return Span(
        item="message",
        item_index=index,
        part="content",
        start=start,
        end=end,
        fate=fate,
        call_index=call_index,
        reason=reason,
    )
