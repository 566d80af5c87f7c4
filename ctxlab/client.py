"""The client of an OpenAI-compatible endpoint: where requests go and what they hold.

The record knows address and model and can be made anywhere; `open()` gives the session that sends (`sending`).
"""

from __future__ import annotations

import os
import re
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from ctxlab.errors import InputError
from ctxlab.messages import Message, to_wire
from ctxlab.sending import EndpointSession, open_http
from ctxlab.text import is_bare_address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from ctxlab.calls import ChatRequest

API_KEY_VARIABLE = "CTXLAB_API_KEY"
DEADLINE_S = 120.0
MAX_BODY_BYTES = 8 << 20
_VERSION_SEGMENT = re.compile(r"v[0-9]")
_SENDABLE = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointClient:
    """An endpoint that speaks OpenAI-compatible chat completions.

    Attributes:
        base_url: absolute http or https URL without user info, query or fragment.
        model: name of the requested model.
        timeout_s: deadline of one attempt, from the first connect to the last body byte.
        join_roles: join neighbouring messages of one role, for servers that demand alternation.
        strip_reasoning: remove one leading `<think>` block from each reply.
        max_bytes: largest accepted body, after decompression.
        transport: makes the httpx transport inside the loop; null takes the one of `httpx-aiohttp`.
        clock: monotonic seconds, for durations.
    """

    base_url: str
    model: str
    timeout_s: float = DEADLINE_S
    join_roles: bool = False
    strip_reasoning: bool = False
    max_bytes: int = MAX_BODY_BYTES
    transport: Callable[[], httpx.AsyncBaseTransport] | None = field(default=None, repr=False)
    clock: Callable[[], float] = field(default=time.perf_counter, repr=False)

    def __post_init__(self) -> None:
        demand_base_url(self.base_url)
        if not self.model:
            raise InputError("model: is empty; an endpoint needs the name of a model")
        if not 0 < self.timeout_s < float("inf"):
            raise InputError("timeout_s: must be a number of seconds above 0")

    @property
    def kind(self) -> str:
        """`endpoint`."""
        return "endpoint"

    @property
    def endpoint(self) -> str:
        """The base URL without trailing slashes (BUD-080)."""
        return self.base_url.rstrip("/")

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """The JSON object that is sent for a request."""
        return chat_payload(request, model=self.model, join_roles=self.join_roles)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[EndpointSession]:
        """Open connections; the API key is read here, from the environment, and nowhere else."""
        key = api_key()
        async with open_http(self.base_url, key=key, transport=self.transport) as http:
            yield EndpointSession(
                http=http,
                url=completions_url(self.base_url),
                timeout_s=self.timeout_s,
                max_bytes=self.max_bytes,
                strip_reasoning=self.strip_reasoning,
                clock=self.clock,
            )


def demand_base_url(base_url: str) -> None:
    """Raise `InputError` unless this is a plain absolute URL; the error does not repeat it (RUN-002)."""
    problem = InputError("base URL: must be absolute http or https, without user info, query or fragment")
    if not _SENDABLE.fullmatch(base_url) or not is_bare_address(base_url):
        raise problem
    try:
        parts = urlsplit(base_url)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        httpx.URL(base_url)
    except (ValueError, httpx.InvalidURL):
        raise problem from None
    if not plain:
        raise problem


def completions_url(base_url: str) -> str:
    """The address of chat completions below a base URL, whose path may name an API version (RUN-001)."""
    base = base_url.rstrip("/")
    versioned = any(_VERSION_SEGMENT.match(segment) for segment in urlsplit(base).path.split("/"))
    return f"{base}/chat/completions" if versioned else f"{base}/v1/chat/completions"


def api_key() -> str | None:
    """The API key of the environment, or null if it is not set or empty."""
    key = os.environ.get(API_KEY_VARIABLE, "")
    if key and not _SENDABLE.fullmatch(key):
        raise InputError(f"{API_KEY_VARIABLE}: holds a character that no header can carry")
    return key or None


def chat_payload(request: ChatRequest, *, model: str, join_roles: bool = False) -> dict[str, Any]:
    """The chat completions object of a request; optional keys are there only when they are set (RUN-003)."""
    messages = join_neighbours(request.messages) if join_roles else request.messages
    optional = {
        "temperature": request.generation.temperature,
        "max_tokens": request.generation.max_tokens,
        "seed": request.generation.seed,
        "tools": [dict(tool) for tool in request.tools] or None,
        "response_format": None if request.response_format is None else dict(request.response_format),
        "stream_options": {"include_usage": True} if request.stream else None,
    }
    return {
        "model": model,
        "messages": [to_wire(message) for message in messages],
        "stream": request.stream,
        **{key: value for key, value in optional.items() if value is not None},
    }


def join_neighbours(messages: Iterable[Message]) -> list[Message]:
    """Neighbouring messages of one role as one, texts with a blank line between them (RUN-007).

    Tool messages stay apart, because each answers a call of its own; calls of joined messages stand in order.
    """
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role != "tool":
            joined[-1] = _join(joined[-1], message)
        else:
            joined.append(message)
    return joined


def _join(first: Message, second: Message) -> Message:
    texts = [message.content for message in (first, second) if message.content]
    plain = Message(role=first.role, content=None)
    return replace(
        plain,
        content="\n\n".join(texts) if texts else first.content,
        name=first.name if first.name == second.name else None,
        tool_calls=(*first.tool_calls, *second.tool_calls),
    )
