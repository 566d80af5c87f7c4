"""Loading 16 MiB of valid cases of schema 1.1, every rule checked, against `json.loads` of each line and nothing else."""

from __future__ import annotations

import json
import random
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pairs import paired
from benchmarks.texts import history, prose
from ctxlab.dataset import Case, Fact, Pattern, Scope, Snippet
from ctxlab.loading import dataset_bytes, load_dataset
from ctxlab.messages import Message
from ctxlab.tokens import token_counter

if TYPE_CHECKING:
    from collections.abc import Callable

FILE_BYTES = 16 << 20
AT_MOST = 6.0
FACTS = 8


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per shape of case: many short ones, conversations with tools, long histories, evidence."""
    return [_row(shape, make, FILE_BYTES // (8 if quick else 1)) for shape, make in SHAPES.items()]


def _row(shape: str, make: Callable[[int], Case], size: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.jsonl"
        cases = _write(path, make, size)

        def plain() -> None:
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)

        timed = paired(lambda: load_dataset(path), plain)
        megabytes = path.stat().st_size / 1e6
    return {
        "shape": shape,
        "cases": cases,
        "mb": megabytes,
        "load_s": timed.work_s,
        "json_s": timed.against_s,
        "ratio": timed.ratio,
        "at_most": AT_MOST,
    }


def _write(path: Path, make: Callable[[int], Case], size: int) -> int:
    """Write cases until the file has its size; returns how many."""
    written = 0
    with path.open("wb") as file:
        for number in count():
            written += file.write(dataset_bytes([make(number)]))
            if written >= size:
                return number + 1
    raise AssertionError


def _short(number: int) -> Case:
    """A system message, a question, and facts."""
    chance = random.Random(number)
    messages = (
        Message(role="system", content=prose(chance, 300)),
        Message(role="user", content=prose(chance, 700)),
        Message(role="user", content="What is decided and what is still open?"),
    )
    return _case(number, messages, chance)


def _conversation(number: int) -> Case:
    return _case(
        number, history(token_counter(None), tokens=8_000, seed=number).messages, random.Random(number)
    )


def _long(number: int) -> Case:
    made = history(token_counter(None), tokens=400_000, seed=number).messages
    return _case(number, made, random.Random(number))


def _evidence(number: int) -> Case:
    """A question and 100 snippets."""
    chance = random.Random(number)
    snippets = tuple(
        Snippet(
            id=f"s{i}",
            title=f"Note {i}",
            text=prose(chance, 500),
            scope=Scope(workspace="w", project="p"),
            evidence_time="2025-03-04T09:14:02Z",
            superseded_by=(f"s{i + 1}",) if i % 5 == 0 else (),
        )
        for i in range(100)
    )
    question = (Message(role="user", content="What is decided and what is still open?"),)
    return _case(number, question, chance, snippets)


def _case(
    number: int, messages: tuple[Message, ...], chance: random.Random, snippets: tuple[Snippet, ...] = ()
) -> Case:
    texts = [message.text for message in messages[:-1] if message.text] or [one.text for one in snippets]
    return Case(
        schema_version="1.1",
        id=f"c{number}",
        category="made",
        messages=messages,
        facts=tuple(_fact(f"f{i}", chance.choice(texts), chance) for i in range(FACTS)),
        snippets=snippets,
        language="en",
    )


def _fact(fact_id: str, text: str, chance: random.Random) -> Fact:
    """A word of the source, with a status that must hold and one that must not be claimed."""
    words = text.split()
    return Fact(
        id=fact_id,
        kind="status",
        literals=(chance.choice(words), f"word {fact_id}"),
        must_hold=(Pattern(regex=r"\bnot (yet )?(done|run)\b", near=True),),
        must_not_claim=(Pattern(phrase="all done"), Pattern(regex=r"\bpassed\b", near=True)),
    )


SHAPES: dict[str, Callable[[int], Case]] = {
    "short": _short,
    "conversation": _conversation,
    "long history": _long,
    "evidence": _evidence,
}
"""How to make the case of a number, by shape."""
