"""Server-sent events to replies: chunks of bytes in, `Reply` out.

```text
chunks -> SseReader -> data of one event -> ReplyStream -> Reply
```
A chunk may end anywhere, inside a character or a line end included. A body that is one JSON object in place of
events is read as a buffered reply (specification, RUN-053 to RUN-056).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from ctxlab.calls import Reply, Usage
from ctxlab.responses import (
    label,
    malformed,
    part_texts,
    read_object,
    read_reply,
    read_usage,
    says_something_else,
    whole_characters,
    without_reasoning,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxlab.calls import ContentKind

_LINE_END = re.compile(rb"\r\n|\r|\n")
_DONE = b"[DONE]"
_BOM = b"\xef\xbb\xbf"


class SseReader:
    """Splits the chunks of an event stream into the data of its events."""

    def __init__(self) -> None:
        self._fragments: list[bytes] = []
        self._data: list[bytes] = []
        self._first_line = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """Data of each event that this chunk completes; data lines of one event are joined by a newline."""
        waiting = bool(self._fragments) and self._fragments[-1].endswith(b"\r")
        if not waiting and b"\n" not in chunk and b"\r" not in chunk:
            self._fragments.append(chunk)
            return []
        text = b"".join([*self._fragments, chunk])
        # A carriage return at the end may be the first half of a line end: it waits for the next chunk.
        held = text.endswith(b"\r")
        *lines, rest = _LINE_END.split(text[:-1] if held else text)
        self._fragments = [rest + b"\r" if held else rest]
        return self._events(lines)

    def close(self) -> list[bytes]:
        """Data of the last event, if the stream ended without the blank line after it."""
        last = b"".join(self._fragments).rstrip(b"\r")
        self._fragments = []
        return self._events([last, b""])

    def _events(self, lines: Iterable[bytes]) -> list[bytes]:
        events = []
        for line in lines:
            if self._first_line:
                line, self._first_line = line.removeprefix(_BOM), False
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events


class ReplyStream:
    """Builds one reply from the chunks of a streamed response.

    Attributes:
        has_text: whether a non-empty content delta was seen; the client takes the time when it turns true.
    """

    def __init__(self, *, strip_reasoning: bool = False) -> None:
        self.has_text = False
        self._strip_reasoning = strip_reasoning
        self._form: Literal["unknown", "json", "events"] = "unknown"
        self._body: list[bytes] = []
        self._reader = SseReader()
        self._done = False
        self._answered = False
        self._texts: list[str] = []
        self._kind: ContentKind | None = None
        self._something_else = False
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage = Usage()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; raises `CallError` at an error object or an unreadable event."""
        if self._form == "events":
            self._take_events(self._reader.feed(chunk))
            return
        self._body.append(chunk)
        if self._form == "unknown":
            begun = b"".join(self._body)
            first = begun.removeprefix(_BOM).lstrip()[:1]
            self._form = "unknown" if not first else "json" if first in b"{[" else "events"
            if self._form == "events":
                self._take_events(self._reader.feed(begun))

    def finish(self) -> Reply:
        """The reply, once the body has ended; durations are left at 0.

        Raises:
            CallError: `malformed_platform_response` if the stream was cut short or holds no answer.
        """
        if self._form == "json":
            return read_reply(b"".join(self._body), strip_reasoning=self._strip_reasoning)
        self._take_events(self._reader.close())
        if not self._answered or not (self._done or self._finish_reason):
            raise malformed()
        text = whole_characters("".join(self._texts))
        return Reply(
            text=without_reasoning(text) if self._strip_reasoning else text,
            # An empty answer sends no content delta at all, so silence alone is the empty text.
            content_kind=self._kind or ("null" if self._something_else else "text"),
            finish_reason=self._finish_reason,
            model_observed=self._model,
            usage=self._usage,
        )

    def _take_events(self, events: Iterable[bytes]) -> None:
        for event in events:
            if event.strip() == _DONE:
                self._done = True
            elif event.strip() and not self._done:
                self._take_event(read_object(event))

    def _take_event(self, event: dict[str, Any]) -> None:
        if event.get("error"):
            raise malformed()
        if self._model is None:
            self._model = label(event.get("model"), max_characters=200)
        if event.get("usage"):
            self._usage = read_usage(event["usage"])
        choices = event.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._take_choice(choices[0])

    def _take_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("index") not in (0, None):
            return
        reason = label(choice.get("finish_reason"), max_characters=100)
        # Some servers send an empty reason with every event: it ends nothing and gives way to a real one.
        if reason or self._finish_reason is None:
            self._finish_reason = reason
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._answered = True
            self._take_delta(delta)

    def _take_delta(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        self._something_else = self._something_else or says_something_else(delta)
        if isinstance(content, str):
            self._kind, texts = "text", [content]
        else:
            texts = part_texts(content) if isinstance(content, list) else []
            self._kind = "parts" if texts else self._kind
        self._texts += texts
        self.has_text = self.has_text or any(texts)
