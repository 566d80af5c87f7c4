"""Deterministic stand-ins for a model, in process: what a strategy passes on can be measured without any model.

| name | replies with |
|---|---|
| `echo` | the last message as it is |
| `head` | the beginning of its input, as much as its room holds |
| `extractive` | the lines and sentences with most identifiers, newest first, as many as its room holds |
| `drop` | its material without about half of its lines, chosen by the request's seed |
| `empty` | the empty text |
| `error` | nothing: each call fails with HTTP status 500 |
| `slow` | what `echo` replies, after a wait |
| `truncated` | the beginning of its input for half of its room, with finish reason `length` |
| `grow` | its input twice, longer than the input whatever was asked for |
| `scripted` | given replies, one after the other in the order in which calls start, over and over |

The *input* is the source of a summary prompt, or else the question. The *material* is the source, or else all that
was sent beside the question. The *room* is the target that a summary prompt states ("at most N tokens" after its
source), else `max_tokens`, else 256. No reply is longer than `max_tokens`.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxlab.calls import Reply, Usage
from ctxlab.client import chat_payload
from ctxlab.errors import CallError, InputError
from ctxlab.tokens import UTF8_BYTES_2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence

    from ctxlab.calls import ChatRequest
    from ctxlab.tokens import Counter

DEFAULT_ROOM_TOKENS = 256
SLOW_S = 0.05
_SOURCE = re.compile(r"<source>\n(.*)\n</source>", re.DOTALL)
_TARGET = re.compile(r"at most (\d{1,9}) tokens")
_UNIT_END = re.compile(r"\n+|(?<=[.!?])\s+|(?<=[。！？])")
_AROUND_WORDS = ".,;:!?()[]{}<>\"'`*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a stand-in reads from a payload (see the module's text for the words)."""

    last: str
    input: str
    material: str
    room_tokens: int
    seed: int
    count: Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A stand-in as a client; it opens no connection.

    Attributes:
        name: a name of the table above.
        count: counts room and usage.
        replies: what `scripted` replies with.
        wait_s, sleep: how long `slow` waits, and how.
        clock: monotonic seconds, for durations.
    """

    name: str
    count: Counter = UTF8_BYTES_2
    replies: tuple[str, ...] = ()
    wait_s: float = SLOW_S
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.perf_counter, repr=False)

    def __post_init__(self) -> None:
        if self.name not in STAND_INS:
            by_name = ", ".join(name for name in STAND_INS if name != "scripted")
            raise InputError(f"stand-in: unknown name; allowed are {by_name}, and in Python scripted")
        if (self.name == "scripted") != bool(self.replies):
            raise InputError(
                "stand-in: scripted takes its replies in Python, at least one; the others take none"
            )

    @property
    def kind(self) -> str:
        """`stand-in:NAME`, as it stands in every row."""
        return f"stand-in:{self.name}"

    @property
    def model(self) -> str:
        """The stand-in's name."""
        return self.name

    @property
    def endpoint(self) -> str:
        """The same as its kind."""
        return self.kind

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """What an endpoint would be sent."""
        return chat_payload(request, model=self.name)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[StandInSession]:
        """A session of its own, in which `scripted` starts with its first reply."""
        yield StandInSession(stand_in=self, calls=itertools.count())


@dataclass(frozen=True, slots=True, kw_only=True)
class StandInSession:
    """A stand-in at work; it counts its calls, and knows nothing else about what went before."""

    stand_in: StandIn
    calls: Iterator[int] = field(repr=False)

    async def complete(self, payload: Mapping[str, Any]) -> Reply:
        """Reply to one payload; `error` raises `CallError`."""
        one, started = self.stand_in, self.stand_in.clock()
        call = next(self.calls)
        if one.name == "error":
            raise CallError("platform_http_error", http_status=500)
        if one.name == "slow":
            await one.sleep(one.wait_s)
        text = (
            one.replies[call % len(one.replies)]
            if one.replies
            else STAND_INS[one.name](read(payload, one.count))
        )
        bound = payload.get("max_tokens")
        kept = text if bound is None else beginning(text, room_tokens=bound, count=one.count)
        prompt = sum(one.count(message["content"] or "") for message in payload["messages"])
        completion = one.count(kept)
        return Reply(
            text=kept,
            finish_reason="length" if one.name == "truncated" or len(kept) < len(text) else "stop",
            model_observed=one.name,
            usage=Usage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion),
            duration_s=max(0.0, one.clock() - started),
        )


def stand_in(name: str, *, count: Counter = UTF8_BYTES_2, replies: Sequence[str] = ()) -> StandIn:
    """The stand-in with this name; `count` measures its room, `replies` are for `scripted`."""
    return StandIn(name=name, count=count, replies=tuple(replies))


def read(payload: Mapping[str, Any], count: Counter) -> Task:
    """What a stand-in needs of a payload."""
    messages = payload["messages"]
    asked = next(
        (index for index in range(len(messages) - 1, -1, -1) if messages[index]["role"] == "user"),
        len(messages) - 1,
    )
    last = messages[asked]["content"] or ""
    source = _SOURCE.search(last)
    target = _TARGET.search(last, source.end()) if source else None
    beside = "\n".join(text for i, m in enumerate(messages) if i != asked and (text := m["content"]))
    return Task(
        last=last,
        input=source[1] if source else last,
        material=source[1] if source else beside or last,
        room_tokens=int(target[1]) if target else payload.get("max_tokens") or DEFAULT_ROOM_TOKENS,
        seed=payload.get("seed") or 0,
        count=count,
    )


def beginning(text: str, *, room_tokens: int, count: Counter) -> str:
    """The longest beginning of a text that bisection finds to fit a room."""
    if count(text) <= room_tokens:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if count(text[:middle]) <= room_tokens else (fits, middle)
    return text[:fits]


def units(text: str) -> list[str]:
    """Lines and sentences of a text, in order, blank ones left out."""
    return [unit.strip() for unit in _UNIT_END.split(text) if unit.strip()]


def identifiers(unit: str) -> set[str]:
    """The words that look like names rather than prose: a digit, a joint, or a capital inside."""
    words = (word.strip(_AROUND_WORDS) for word in unit.split())
    return {word for word in words if any(_is_mark(sign) for sign in word[1:]) or word[:1].isdigit()}


def _is_mark(sign: str) -> bool:
    return sign.isdigit() or sign.isupper() or sign in "_/\\@.:#"


def extract(task: Task) -> str:
    """The units with most identifiers that fit the room, in their order; of equals the newest.

    If none fits, it is the beginning of the best one.
    """
    found = units(task.material)
    weights = [len(identifiers(unit)) for unit in found]
    ranked = sorted(range(len(found)), key=lambda index: (-weights[index], -index))
    chosen: dict[int, str] = {}
    taken: set[str] = set()
    room_tokens = task.room_tokens
    for index in ranked:
        cost = task.count(found[index] + "\n")
        if cost <= room_tokens and found[index] not in taken:
            chosen[index] = found[index]
            taken.add(found[index])
            room_tokens -= cost
    if ranked and not chosen:
        return beginning(found[ranked[0]], room_tokens=task.room_tokens, count=task.count)
    return "\n".join(chosen[index] for index in sorted(chosen))


def drop(task: Task) -> str:
    """The units that chance keeps, seeded per unit so that a unit's fate does not depend on its neighbours."""
    kept = [unit for unit in units(task.material) if random.Random(f"{task.seed}:{unit}").random() < 0.5]
    return beginning("\n".join(kept), room_tokens=task.room_tokens, count=task.count)


def head(task: Task) -> str:
    """The beginning of the input for the whole room."""
    return beginning(task.input, room_tokens=task.room_tokens, count=task.count)


def truncated(task: Task) -> str:
    """The beginning of the input for half of the room."""
    return beginning(task.input, room_tokens=task.room_tokens // 2, count=task.count)


STAND_INS: Mapping[str, Callable[[Task], str]] = {
    "echo": lambda task: task.last,
    "head": head,
    "extractive": extract,
    "drop": drop,
    "empty": lambda task: "",
    "error": lambda task: "",
    "slow": lambda task: task.last,
    "truncated": truncated,
    "grow": lambda task: f"{task.input}\n{task.input}",
    "scripted": lambda task: "",
}
"""What each stand-in replies with; `error` and `scripted` have their own ways."""
