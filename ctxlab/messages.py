"""Messages, call groups and turns: what a conversation holds and how its parts hang together.

```text
[preamble] [ history: turns of messages, other system messages ] [question] [ running turn ]
  pinned                                       pinned              pinned     newest call group: pinned
```
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ctxlab.constraints import Absent, Form, Size

if TYPE_CHECKING:
    from collections.abc import Sequence

Role = Literal["system", "user", "assistant", "tool"]
Maker = Literal["digest", "progress", "extract", "summary", "checkpoint", "evidence", "guidance", "interlude"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """Name and arguments of a call; `arguments` is text that is never parsed."""

    name: Annotated[str, Size(1, 128)]
    arguments: Annotated[str, Size(0, 32_768)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call of an assistant message, in the form in which files and requests hold it."""

    id: Annotated[str, Size(1, 128)]
    function: Function
    type: Literal["function"] = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; `content` is null only in an assistant message that has calls."""

    role: Role
    content: str | None
    name: Absent[Annotated[str, Form("[A-Za-z0-9_.-]{1,64}")]] = None
    tool_calls: Annotated[tuple[ToolCall, ...], Size(1, 64)] = ()
    tool_call_id: Absent[Annotated[str, Size(1, 128)]] = None

    @property
    def text(self) -> str:
        """The content, empty if null."""
        return self.content or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic(Message):
    """A user-role message that a strategy made; being synthetic is its type, not its text (STR-010)."""

    made_by: Maker


@dataclass(frozen=True, slots=True, kw_only=True)
class Projected(Message):
    """A tool message whose content is a projection of the source's (STR-053)."""

    source_characters: int


def to_wire(message: Message) -> dict[str, Any]:
    """The message as an OpenAI chat completions object; absent fields are left out."""
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.name is not None:
        wire["name"] = message.name
    if message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": call.type,
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def canonical_json(value: object) -> str:
    """JSON with sorted keys, no spaces, non-ASCII kept and no NaN: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where the parts of a message list lie, as indices into it.

    Attributes:
        preamble: number of leading system messages.
        question: index of the last user message, or of the last message if there is none.
        groups: for each assistant message with calls, its index and those of the results that follow it.
        pinned: indices that no strategy removes (specification, glossary).
        turns: history turns as half-open index ranges, oldest first; what stands before the first user
            message belongs to the oldest turn (STR-067). The question's turn is not among them.
        end: number of messages.
    """

    preamble: int
    question: int
    groups: tuple[tuple[int, ...], ...]
    pinned: frozenset[int]
    turns: tuple[tuple[int, int], ...]
    end: int

    @property
    def running(self) -> range:
        """Indices of the running turn: every message after the question."""
        return range(self.question + 1, self.end)

    @property
    def history(self) -> range:
        """Indices between preamble and question, system messages in the middle included."""
        return range(self.preamble, self.question)

    @property
    def newest_group(self) -> tuple[int, ...]:
        """The newest call group after the question, or empty."""
        return next((group for group in reversed(self.groups) if group[0] > self.question), ())


def call_groups(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Indices of each assistant message with calls and of the tool messages that directly follow it."""
    groups: list[list[int]] = []
    open_group = False
    for index, message in enumerate(messages):
        if message.role == "assistant" and message.tool_calls:
            groups.append([index])
            open_group = True
        elif message.role == "tool" and open_group:
            groups[-1].append(index)
        else:
            open_group = False
    return tuple(tuple(group) for group in groups)


def question_place(messages: Sequence[Message]) -> int:
    """Index of the last user message, or of the last message if there is none."""
    last = len(messages) - 1
    return next((i for i in range(last, -1, -1) if messages[i].role == "user"), last)


def lay_out(messages: Sequence[Message]) -> Layout:
    """Find preamble, question, call groups, pinned messages and turns of a non-empty message list."""
    end = len(messages)
    preamble = next((i for i, message in enumerate(messages) if message.role != "system"), end)
    question = question_place(messages)
    groups = call_groups(messages)
    newest = next((group for group in reversed(groups) if group[0] > question), ())
    systems = (i for i, message in enumerate(messages) if message.role == "system")
    starts = [
        i
        for i in range(preamble, question)
        if messages[i].role == "user" and not isinstance(messages[i], Synthetic)
    ]
    if preamble < question:
        starts = [preamble, *starts[1:]]
    return Layout(
        preamble=min(preamble, question),
        question=question,
        groups=groups,
        pinned=frozenset({*range(preamble), *systems, question, *newest}),
        turns=tuple(zip(starts, [*starts[1:], question], strict=True)) if starts else (),
        end=end,
    )
