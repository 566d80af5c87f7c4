"""One call of a model: what is asked, what comes back, and the protocol that every client keeps.

A client knows one thing: to turn a `ChatRequest` into a `Reply`, or to raise `CallError`. It is a record that
can be made anywhere; what it needs while it works (connections, a server process) lives in the session that
`open()` gives, inside the running loop.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from ctxlab.constraints import Absent, Range, Unwritten
from ctxlab.messages import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager

    from ctxlab.messages import Message

Stage = Literal["helper", "main", "warmup"]
CallKind = Literal["whole", "part", "merge", "main"]
ContentKind = Literal["text", "parts", "null"]
UsageKind = Literal["full", "partial", "absent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Sampling settings; null leaves the choice to the platform, and a case's value wins over a run's."""

    temperature: Absent[Annotated[float, Range(0, 2)]] = None
    max_tokens: Absent[Annotated[int, Range(1)]] = None
    seed: Unwritten[int] = None

    def over(self, other: Generation) -> Generation:
        """These settings, with the gaps filled from `other` (RUN-004)."""
        return Generation(
            temperature=other.temperature if self.temperature is None else self.temperature,
            max_tokens=other.max_tokens if self.max_tokens is None else self.max_tokens,
            seed=other.seed if self.seed is None else self.seed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request: what is sent, and beside it what the journal and the forecast say about it.

    Attributes:
        messages: the messages, in order.
        generation: sampling settings.
        tools: tool definitions, sent unchanged.
        response_format: an OpenAI `response_format` object, or null.
        stream: ask for server-sent events; only main requests do.
        stage, kind, generation_index: which work this call is; the index counts summaries of summaries from 1.
        estimated_tokens: the estimate of the whole request.
        target_tokens: how long the reply should be, for helper calls.
    """

    messages: tuple[Message, ...]
    generation: Generation = field(default_factory=Generation)
    tools: tuple[Mapping[str, Any], ...] = ()
    response_format: Mapping[str, Any] | None = None
    stream: bool = False
    stage: Stage = "main"
    kind: CallKind = "main"
    generation_index: int | None = None
    estimated_tokens: int = 0
    target_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the platform reported them; what it did not report is null, never 0 (RUN-016)."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cached_conflict: bool = False

    @property
    def kind(self) -> UsageKind:
        """`full` with prompt, completion and total, `absent` with none of them, else `partial` (RUN-017)."""
        known = [n is not None for n in (self.prompt_tokens, self.completion_tokens, self.total_tokens)]
        return "full" if all(known) else "partial" if any(known) else "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A usable answer of the platform.

    Attributes:
        text: the answer's text, possibly empty.
        content_kind: `text`, `parts` or `null` (RUN-013).
        finish_reason, model_observed: as reported, or null.
        usage: reported token counts.
        duration_s: monotonic seconds from sending to the last byte.
        ttft_s: seconds to the first non-empty content delta; null when the reply was not streamed.
    """

    text: str
    content_kind: ContentKind = "text"
    finish_reason: str | None = None
    model_observed: str | None = None
    usage: Usage = field(default_factory=Usage)
    duration_s: float = 0.0
    ttft_s: float | None = None


class ChatSession(Protocol):
    """A client at work inside one event loop."""

    async def complete(self, payload: Mapping[str, Any]) -> Reply:
        """Send one payload once and return the reply; raise `CallError` if the attempt fails."""
        ...


class ChatClient(Protocol):
    """What a run asks its questions of: an endpoint, the embedded model or a stand-in.

    Attributes:
        kind: `endpoint`, `local` or `stand-in:NAME`; stands in every row (`client_kind`).
        model: the requested model's name.
        endpoint: identity of the endpoint for journal and calibration (RUN-070, BUD-080).
    """

    @property
    def kind(self) -> str:
        """The kind, for grouping."""
        ...

    @property
    def model(self) -> str:
        """The requested model's name."""
        ...

    @property
    def endpoint(self) -> str:
        """The identity of the endpoint."""
        ...

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """The JSON object that is sent for a request; pure."""
        ...

    def open(self) -> AbstractAsyncContextManager[ChatSession]:
        """Open connections or start a server; close them on leaving."""
        ...


def request_sha256(payload: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a payload, in hex (RUN-072)."""
    text = canonical_json(payload)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
