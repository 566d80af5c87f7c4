"""Messages out of OpenAI-shaped objects, and what has to be mended so that they are a case (DAT-144 to DAT-147)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import regex

from ctxlab.estimates import compact_json
from ctxlab.importers.results import SkippedError
from ctxlab.messages import Function, Message, Role, ToolCall
from ctxlab.text import safe_cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ctxlab.importers.results import Flags

OnLong = Literal["cut", "skip"]

MAXIMUM_CHARACTERS = 1_048_576
MAXIMUM_MESSAGES = 10_000
NO_RESULT = "[no result recorded]"
CUT_MARKER = "\n[cut: {characters} characters left out]"

_NAME = regex.compile(r"[A-Za-z0-9_.-]{1,64}")
_OMITTED = {
    "image": "image", "image_url": "image", "input_image": "image",
    "audio": "audio", "input_audio": "audio",
    "file": "file", "input_file": "file",
}  # fmt: skip
_REASONING = ("reasoning", "thinking", "redacted_thinking", "reasoning_content")


def messages_from_wire(raw: object, flags: Flags) -> list[Message]:
    """The messages of a list of OpenAI-shaped objects; those without content and calls are left out and counted."""
    if not isinstance(raw, list):
        raise SkippedError("no_messages")
    messages = []
    for entry in raw:
        message = message_from_wire(entry, flags)
        if message.content or message.tool_calls or message.role == "tool":
            messages.append(message)
        else:
            flags["empty_dropped"] += 1
    return messages


def message_from_wire(raw: object, flags: Flags) -> Message:
    """One message; raises `SkippedError` if it is no message."""
    if not isinstance(raw, dict) or raw.get("role") not in get_args(Role):
        raise SkippedError("unknown_role")
    role: Role = raw["role"]
    name = raw.get("name")
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        flags["names_dropped"] += 1
        name = None
    calls = _calls(raw.get("tool_calls")) if role == "assistant" else ()
    content = content_text(raw.get("content"), flags)
    if role == "tool":
        content = content or ""
    return Message(
        role=role,
        content=content or (None if calls else ""),
        name=name,
        tool_calls=calls,
        tool_call_id=_text_or_none(raw.get("tool_call_id")) if role == "tool" else None,
    )


def content_text(content: object, flags: Flags) -> str:
    """The text of a content: a string, null, or a list of parts joined by newlines (DAT-144)."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise SkippedError("unknown_content")
    return "\n".join(text for part in content if (text := _part_text(part, flags)) is not None)


def _part_text(part: object, flags: Flags) -> str | None:
    """The text of one part, a marker for what is no text, null for what is dropped."""
    if isinstance(part, str):
        return part
    kind = str(part.get("type")) if isinstance(part, dict) else ""
    if kind in _OMITTED:
        flags[f"{_OMITTED[kind]}_omitted"] += 1
        return f"[{_OMITTED[kind]} omitted]"
    if kind in _REASONING:
        flags["reasoning_dropped"] += 1
        return None
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(text, str):
        raise SkippedError("unknown_content")
    return text


def _calls(raw: object) -> tuple[ToolCall, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise SkippedError("unknown_tool_call")
    return tuple(map(_call, raw))


def _call(raw: Any) -> ToolCall:
    function = raw.get("function") if isinstance(raw, dict) else None
    if not isinstance(function, dict) or raw.get("type", "function") != "function":
        raise SkippedError("unknown_tool_call")
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else "" if arguments is None else compact_json(arguments)
    return ToolCall(
        id=_text_or_none(raw.get("id")) or "",
        function=Function(name=_text_or_none(function.get("name")) or "", arguments=text),
    )


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def paired(messages: Iterable[Message], flags: Flags) -> list[Message]:
    """The messages with every result after its call: stray results dropped, missing ones added (DAT-147).

    Calls of the group that ends the list may stay unanswered.
    """
    mended: list[Message] = []
    waiting: dict[str, None] = {}
    for message in messages:
        if message.role != "tool":
            mended += _missing(waiting, flags)
            waiting = dict.fromkeys(call.id for call in message.tool_calls)
        elif message.tool_call_id in waiting:
            del waiting[message.tool_call_id]
        else:
            flags["orphans_dropped"] += 1
            continue
        mended.append(message)
    return mended


def _missing(waiting: Mapping[str, None], flags: Flags) -> Iterator[Message]:
    for call_id in waiting:
        flags["results_added"] += 1
        yield Message(role="tool", content=NO_RESULT, tool_call_id=call_id)


def within_length(messages: Iterable[Message], flags: Flags) -> list[Message]:
    """The messages with none over the limit: texts are split into several messages, tool results cut (DAT-145)."""
    shorter: list[Message] = []
    for message in messages:
        if len(message.text) <= MAXIMUM_CHARACTERS:
            shorter.append(message)
            continue
        flags["cut"] += 1
        shorter += [_cut_result(message)] if message.role == "tool" else _split(message)
    return shorter


def _split(message: Message) -> Iterator[Message]:
    """Messages of the same role; calls stay with the last, which their results follow."""
    text = message.text
    while len(text) > MAXIMUM_CHARACTERS:
        end = text.rfind("\n", 0, MAXIMUM_CHARACTERS) + 1
        end = end or safe_cut(text, characters=MAXIMUM_CHARACTERS) or MAXIMUM_CHARACTERS
        yield replace(message, content=text[:end], tool_calls=())
        text = text[end:]
    yield replace(message, content=text)


def _cut_result(message: Message) -> Message:
    room = MAXIMUM_CHARACTERS - len(CUT_MARKER.format(characters=len(message.text)))
    end = safe_cut(message.text, characters=room)
    return replace(
        message, content=message.text[:end] + CUT_MARKER.format(characters=len(message.text) - end)
    )


def within_count(messages: Sequence[Message], flags: Flags, *, on_long: OnLong) -> list[Message]:
    """At most 10,000 messages: the preamble and the newest from a turn's start on (DAT-146)."""
    if len(messages) <= MAXIMUM_MESSAGES:
        return list(messages)
    if on_long == "skip":
        raise SkippedError("too_many_messages")
    preamble = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    first = preamble + len(messages) - MAXIMUM_MESSAGES
    start = next((i for i in range(first, len(messages)) if messages[i].role == "user"), None)
    if start is None:
        raise SkippedError("too_many_messages")
    flags["history_cut"] += 1
    return [*messages[:preamble], *messages[start:]]
