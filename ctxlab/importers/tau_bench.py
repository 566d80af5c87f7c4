"""tau-bench runs: a customer conversation with tools, scored by the values that its task needs (DAT-161)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxlab.importers.conversation import OnLong, messages_from_wire
from ctxlab.importers.drafts import DEFAULT_QUESTION, facts_in_history, import_records, with_question
from ctxlab.importers.reading import leaves
from ctxlab.importers.results import Draft, Flags, ImportResult, SkippedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ctxlab.dataset import FactKind
    from ctxlab.messages import Message

STOP = "###STOP###"
SHORTEST_FACT_CHARACTERS = 4


def import_tau_bench(
    path: str | Path,
    *,
    question: str = DEFAULT_QUESTION,
    on_long: OnLong = "cut",
    keep_unscored: bool = False,
) -> ImportResult:
    """Import a file of tau-bench runs: one case per run, which asks what matters for going on."""

    def convert(record: Any) -> list[Draft]:
        if not isinstance(record, dict) or not isinstance(record.get("traj"), list):
            raise SkippedError("not_a_run")
        flags = Flags()
        history = [
            spoken
            for message in messages_from_wire(record["traj"], flags)
            if (spoken := _without_stop(message))
        ]
        candidates: list[tuple[FactKind, str]] = [("identifier", text) for text in _values(record)]
        return [
            Draft(
                messages=with_question(history, question),
                facts=facts_in_history(candidates, history),
                tags=tuple(
                    f"{name}:{json.dumps(record[name])}"[:64]
                    for name in ("reward", "trial")
                    if name in record
                ),
                flags=flags,
            )
        ]

    return import_records(path, convert, name="tau_bench", on_long=on_long, keep_unscored=keep_unscored)


def _without_stop(message: Message) -> Message | None:
    """A user message without the sign that ends a run; null if that was all it said."""
    if message.role != "user" or not message.text.rstrip().endswith(STOP):
        return message
    text = message.text.rstrip().removesuffix(STOP).rstrip()
    return replace(message, content=text) if text else None


def _values(record: dict[str, Any]) -> Iterator[str]:
    """Texts and numbers of the task's actions and outputs, in order."""
    info = record.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    if not isinstance(task, dict):
        return
    actions = task.get("actions")
    for action in actions if isinstance(actions, list) else ():
        yield from _texts(action.get("kwargs") if isinstance(action, dict) else None)
    yield from _texts(task.get("outputs"))


def _texts(value: Any) -> Iterator[str]:
    for leaf in leaves(value):
        text = leaf if isinstance(leaf, str) else json.dumps(leaf) if type(leaf) in (int, float) else ""
        if len(text) >= SHORTEST_FACT_CHARACTERS:
            yield text
