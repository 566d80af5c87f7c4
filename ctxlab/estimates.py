"""Estimates of what a request costs: one function of (messages, tools, guidance, counter) for everybody (BUD-025)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ctxlab.messages import Message, Synthetic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ctxlab.messages import ToolCall
    from ctxlab.tokens import Counter

MESSAGE_TOKENS = 12
CALL_TOKENS = 20
TOOL_TOKENS = 24
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def message_tokens(message: Message, counter: Counter) -> int:
    """Tokens of one message in `chat` accounting, its tool calls included."""
    tokens = MESSAGE_TOKENS + counter(message.role) + counter(message.text)
    tokens += _optional(message.name, counter) + _optional(message.tool_call_id, counter)
    return tokens + sum(call_tokens(call, counter) for call in message.tool_calls)


def call_tokens(call: ToolCall, counter: Counter) -> int:
    """Tokens of one tool call in a message."""
    return CALL_TOKENS + counter(call.id) + counter(call.function.name) + counter(call.function.arguments)


def tool_tokens(tool: Mapping[str, Any], counter: Counter) -> int:
    """Tokens of one tool definition, in the form `{"type": "function", "function": {...}}` or the bare function."""
    function: Mapping[str, Any] = tool.get("function", tool)
    parameters = function.get("parameters")
    schema = "" if parameters is None else compact_json(parameters)
    return (
        TOOL_TOKENS
        + _optional(function.get("name"), counter)
        + _optional(function.get("description"), counter)
        + counter(schema)
    )


def tools_tokens(tools: Iterable[Mapping[str, Any]], counter: Counter) -> int:
    """Tokens of all tool definitions."""
    return sum(tool_tokens(tool, counter) for tool in tools)


def guidance_message(guidance: str) -> Message:
    """Trailing guidance as the user message that it is sent as (STR-013)."""
    return Synthetic(role="user", content=guidance, made_by="guidance")


def guidance_tokens(guidance: str | None, counter: Counter) -> int:
    """Tokens of trailing guidance, priced as one user message; 0 without guidance."""
    return 0 if guidance is None else message_tokens(guidance_message(guidance), counter)


def messages_tokens(messages: Iterable[Message], counter: Counter) -> int:
    """Tokens of a message list; a message's cost does not depend on its neighbours."""
    return sum(message_tokens(message, counter) for message in messages)


def request_tokens(
    messages: Iterable[Message],
    counter: Counter,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    guidance: str | None = None,
) -> int:
    """The estimate of a whole request in `chat` accounting: messages, tool definitions, trailing guidance."""
    return (
        messages_tokens(messages, counter) + tools_tokens(tools, counter) + guidance_tokens(guidance, counter)
    )


def content_tokens(
    messages: Iterable[Message], counter: Counter, *, answer_schema: Mapping[str, Any] | None = None
) -> int:
    """The estimate in `content_bytes` accounting: message contents and the answer schema, nothing per message."""
    schema = "" if answer_schema is None else compact_json(answer_schema)
    return sum(counter(message.text) for message in messages) + counter(schema)


def compact_json(value: object) -> str:
    """JSON as it is sent: no spaces, keys in their order, non-ASCII kept."""
    return _COMPACT.encode(value)


def _optional(text: str | None, counter: Counter) -> int:
    return 0 if text is None else counter(text)
