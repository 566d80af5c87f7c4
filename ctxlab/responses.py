"""Chat completion bodies to replies: bytes in, `Reply` out, nothing else.

Servers differ in everything that is not needed: unknown fields are ignored everywhere, and an optional field of
the wrong type is null. Only a body without a readable answer is an error (specification, runner section 2).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ctxlab.calls import Reply, Usage
from ctxlab.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxlab.calls import ContentKind

_DIGITS = 20
"""Longer numbers lie beyond 64 bits; reading them could cost more than the whole body."""
_REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_details")
_THINK_BLOCK = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)


def malformed() -> CallError:
    """The error of a body that holds no readable answer."""
    return CallError("malformed_platform_response")


def read_reply(body: bytes, *, strip_reasoning: bool = False) -> Reply:
    """Read one buffered chat completion; durations are left at 0.

    Args:
        body: the whole body of a 2xx response, whatever its content type.
        strip_reasoning: remove one leading `<think>` block with the white space around it.

    Raises:
        CallError: `malformed_platform_response` if there is no answer to read.
    """
    answer = read_object(body)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise malformed()
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise malformed()
    text, kind = read_content(message)
    return Reply(
        text=without_reasoning(text) if strip_reasoning else text,
        content_kind=kind,
        finish_reason=label(choice.get("finish_reason"), max_characters=100),
        model_observed=label(answer.get("model"), max_characters=200),
        usage=read_usage(answer.get("usage")),
    )


def read_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object; integers beyond 64 bits become null.

    Raises:
        CallError: `malformed_platform_response` for anything else than one JSON object in UTF-8.
    """
    try:
        value = json.loads(body.decode("utf-8-sig"), parse_int=_integer, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise malformed() from None
    if not isinstance(value, dict):
        raise malformed()
    return value


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _DIGITS else None


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def read_content(message: Mapping[str, Any]) -> tuple[str, ContentKind]:
    """Text and kind of a message's content (RUN-012, RUN-013); reasoning is never used as content."""
    content = message.get("content")
    if isinstance(content, str):
        return whole_characters(content), "text"
    if content is not None and not isinstance(content, list):
        raise malformed()
    texts = part_texts(content or [])
    if texts:
        return whole_characters("".join(texts)), "parts"
    if not says_something_else(message):
        raise malformed()
    return "", "null"


def part_texts(parts: list[Any]) -> list[str]:
    """The texts of the parts of type `text`; other parts are ignored."""
    return [
        part["text"]
        for part in parts
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
    ]


def says_something_else(message: Mapping[str, Any]) -> bool:
    """Whether a message without text is an answer all the same: it holds calls, a refusal or reasoning."""
    calls, refusal, content = message.get("tool_calls"), message.get("refusal"), message.get("content")
    if (isinstance(calls, list) and calls) or (isinstance(refusal, str) and refusal):
        return True
    if any(isinstance(message.get(name), (str, list, dict)) and message[name] for name in _REASONING_FIELDS):
        return True
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "thinking" for part in parts)


def without_reasoning(text: str) -> str:
    """The text without one leading `<think>…</think>` block and the white space around it (RUN-020)."""
    block = _THINK_BLOCK.match(text)
    return text[block.end() :] if block else text


def whole_characters(text: str) -> str:
    """The text with surrogate pairs joined and each lone surrogate replaced by U+FFFD (RUN-019)."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def label(value: object, *, max_characters: int) -> str | None:
    """A short text such as a finish reason or a model's name; null if it is none or too long (RUN-015)."""
    if not isinstance(value, str) or len(value) > max_characters:
        return None
    return whole_characters(value)


def read_usage(usage: object) -> Usage:
    """Token counts, each taken on its own; what is absent or invalid is null (RUN-016, RUN-018)."""
    numbers = usage if isinstance(usage, dict) else {}
    details = numbers.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    reported = (
        _count(details.get("cached_tokens")),
        _count(numbers.get("num_cached_tokens")),
        _count(numbers.get("cached_tokens")),
        _count(numbers.get("prompt_cache_hit_tokens")),
    )
    cached = [number for number in reported if number is not None]
    return Usage(
        prompt_tokens=_count(numbers.get("prompt_tokens")),
        completion_tokens=_count(numbers.get("completion_tokens")),
        total_tokens=_count(numbers.get("total_tokens")),
        cached_tokens=cached[0] if cached else None,
        cache_write_tokens=_count(details.get("cache_write_tokens")),
        cached_conflict=len(set(cached)) > 1,
    )


def _count(value: object) -> int | None:
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if valid else None  # type: ignore[return-value]
