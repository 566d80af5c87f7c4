"""Text of four kinds, and histories of any length: the same for the same seed and the same version of Python.

Prose is Python's own documentation, code its standard library; the rest is made up.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import random
import re
from typing import TYPE_CHECKING

from ctxlab.dataset import Case, Expected
from ctxlab.estimates import messages_tokens
from ctxlab.messages import Function, Message, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxlab.tokens import Counter

CJK = "测试系统需要在限制内完成请求否则会失败因为队列没有确认消息所以必须重试数据表迁移计划已经决定使用新的工具记录状态错误报告"


@functools.cache
def _sentences() -> tuple[str, ...]:
    from pydoc_data.topics import topics

    text = " ".join(topics[name] for name in sorted(topics))
    return tuple(sentence + " " for sentence in re.findall(r"[A-Z][^.?!]{20,300}[.?!](?=\s)", text))


@functools.cache
def _code_lines() -> tuple[str, ...]:
    import argparse
    import ast
    import typing

    source = "".join(inspect.getsource(module) for module in (argparse, ast, inspect, typing))
    return tuple(source.splitlines(keepends=True))


def prose(chance: random.Random, characters: int) -> str:
    """Sentences of documentation, an identifier or a cue among them now and then."""
    return _filled(characters, lambda: chance.choice(_sentences()) + _remark(chance))


def code(chance: random.Random, characters: int) -> str:
    """Lines of a program, as they follow each other."""
    lines = _code_lines()
    number = itertools.count(chance.randrange(len(lines)))
    return _filled(characters, lambda: lines[next(number) % len(lines)])


def cjk(chance: random.Random, characters: int) -> str:
    """Chinese sentences."""
    return _filled(characters, lambda: "".join(chance.choices(CJK, k=chance.randint(8, 30))) + "。")


def logs(chance: random.Random, characters: int) -> str:
    """JSON log lines."""
    return _filled(characters, lambda: json.dumps(_entry(chance)) + "\n")


KINDS: dict[str, Callable[[random.Random, int], str]] = {
    "prose": prose,
    "code": code,
    "cjk": cjk,
    "json": logs,
}
"""How to make each kind of text."""


def history(counter: Counter, *, tokens: int, seed: int = 0) -> Case:
    """A conversation of about this many tokens: a system message, turns of prose, code and tool results, a question."""
    chance = random.Random(seed)
    messages = [Message(role="system", content="You are a careful engineering assistant.")]
    made = 0
    while made < tokens:
        turn = _turn(chance, len(messages))
        messages += turn
        made += messages_tokens(turn, counter)
    messages.append(Message(role="user", content="What is decided, what failed and what is still open?"))
    return Case(
        schema_version="1.1",
        id=f"made-{tokens}-{seed}",
        category="made",
        messages=tuple(messages),
        expected=Expected(minimum_characters=1),
    )


def _turn(chance: random.Random, number: int) -> list[Message]:
    """What a user asks, what a tool finds, what the assistant says to it."""
    call = ToolCall(
        id=f"c{number}", function=Function(name="read_log", arguments=json.dumps({"lines": number}))
    )
    result = chance.choice([logs, code, _listing])(chance, chance.randint(200, 6000))
    fence = f"\n```python\n{code(chance, chance.randint(100, 1200))}```\n" if chance.random() < 0.4 else ""
    return [
        Message(role="user", content=prose(chance, chance.randint(60, 500))),
        Message(role="assistant", content=prose(chance, chance.randint(40, 200)), tool_calls=(call,)),
        Message(role="tool", content=result, tool_call_id=call.id),
        Message(role="assistant", content=prose(chance, chance.randint(300, 2500)) + fence),
    ]


def _filled(characters: int, piece: Callable[[], str]) -> str:
    pieces, made = [], 0
    while made < characters:
        pieces.append(piece())
        made += len(pieces[-1])
    return "".join(pieces)


def _remark(chance: random.Random) -> str:
    """Mostly nothing; sometimes what a history is about."""
    if chance.random() > 0.15:
        return ""
    number = chance.randint(10, 9999)
    return chance.choice(
        [
            f"We decided to keep INC-{number}. ",
            f"The limit must never exceed {number} ms. ",
            f"Please use part_{number}.py instead of part_{number - 1}.py. ",
            f"The check of src/app/part_{number}.py failed and is still pending. ",
        ]
    )


def _entry(chance: random.Random) -> dict[str, object]:
    return {
        "time": f"2025-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}T09:14:{chance.randint(10, 59)}Z",
        "level": chance.choice(["INFO", "INFO", "INFO", "WARN", "ERROR"]),
        "request_id": f"{chance.getrandbits(40):x}",
        "duration_ms": chance.randint(1, 5000),
        "message": chance.choice(_sentences())[:80],
    }


def _listing(chance: random.Random, characters: int) -> str:
    """One JSON object on one line, as many tools answer."""
    entries = [_entry(chance) for _ in range(characters // 200)]
    return json.dumps(
        {"path": "/var/log/app.log", "status": "ok", "text": "\n".join(map(str, entries)), "files": entries}
    )
