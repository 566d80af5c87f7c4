"""Digests: one synthetic message that stands for old turns, or for the completed head of the running turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.messages import Synthetic
from ctxlab.strategies.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxlab.budget import Thresholds
    from ctxlab.messages import Maker, Message
    from ctxlab.strategies.base import Span

LEAST_ENTRY_CHARACTERS = 40
"""Less room than this is left empty: a shorter shred of a turn says nothing."""


def digest_turns(
    messages: Sequence[Message],
    turns: Sequence[tuple[int, int]],
    *,
    characters: int,
    thresholds: Thresholds,
) -> tuple[Synthetic, list[Span]]:
    """One message for old turns (STR-063): chosen newest first until the room ends, printed oldest first."""
    entries: list[Writer] = []
    room = characters
    for start, end in reversed(turns):
        if room < LEAST_ENTRY_CHARACTERS:
            break
        entry = _turn_entry(messages, range(start, end), room=room, thresholds=thresholds)
        entries.append(entry)
        room -= len(entry.text)
    left_out = len(turns) - len(entries)
    heading = f"[Digest of {len(turns)} earlier turns, {left_out} of them left out]"
    return _bind(heading, reversed(entries), made_by="digest")


def digest_progress(
    messages: Sequence[Message], head: Sequence[int], *, characters: int, thresholds: Thresholds
) -> tuple[Synthetic, list[Span]]:
    """One message for the completed head of the running turn (STR-064)."""
    note = _last(messages, head, lambda m: m.role == "assistant" and bool(m.text.strip()))
    checkpoint = _last(messages, head, lambda m: isinstance(m, Synthetic) and m.made_by == "checkpoint")
    most = thresholds.digest_note_characters
    lines = (("note", note, most), ("checkpoint", checkpoint, most))
    entry = _entry(messages, head, lines, tools=thresholds.progress_tools, room=characters)
    return _bind(f"[Progress so far, {len(head)} messages left out]", [entry], made_by="progress")


def _turn_entry(messages: Sequence[Message], turn: range, *, room: int, thresholds: Thresholds) -> Writer:
    """A turn's first user text, its last assistant text without calls, and the tools it called."""
    user = next((i for i in turn if messages[i].role == "user" and messages[i].text.strip()), None)
    note = _last(
        messages, turn, lambda m: m.role == "assistant" and not m.tool_calls and bool(m.text.strip())
    )
    lines = (
        ("user", user, thresholds.digest_user_characters),
        ("assistant", note, thresholds.digest_note_characters),
    )
    return _entry(messages, turn, lines, tools=thresholds.digest_tools, room=room)


def _entry(
    messages: Sequence[Message],
    indices: Sequence[int],
    lines: Iterable[tuple[str, int | None, int]],
    *,
    tools: int,
    room: int,
) -> Writer:
    """Labelled first lines of some messages, each at most so many characters, then tool names, all within the room."""
    entry = Writer(fate="digested")
    for label, index, most in lines:
        if index is not None:
            lead = f"\n{label}: "
            free = room - len(entry.text) - len(lead)
            entry.quote_line(index, messages[index].text, lead=lead, characters=min(most, free))
    _tools(entry, messages, indices, most=tools, room=room - len(entry.text))
    return entry


def _tools(
    entry: Writer, messages: Sequence[Message], indices: Sequence[int], *, most: int, room: int
) -> None:
    """Write the distinct names of the tools called, in order of first use, as far as the room goes."""
    names = dict.fromkeys(call.function.name for i in indices for call in messages[i].tool_calls)
    chosen: list[str] = []
    used = len("\ntools: ")
    for name in list(names)[:most]:
        used += len(name) + 2
        if used > room:
            break
        chosen.append(name)
    if chosen:
        entry.write("\ntools: " + ", ".join(chosen))


def _last(
    messages: Sequence[Message], indices: Sequence[int], wanted: Callable[[Message], bool]
) -> int | None:
    return next((i for i in reversed(indices) if wanted(messages[i])), None)


def _bind(heading: str, entries: Iterable[Writer], *, made_by: Maker) -> tuple[Synthetic, list[Span]]:
    entries = list(entries)
    text = "\n".join([heading, *(entry.text.removeprefix("\n") for entry in entries if entry.text)])
    spans = [span for entry in entries for span in entry.spans]
    return Synthetic(role="user", content=text, made_by=made_by), spans
