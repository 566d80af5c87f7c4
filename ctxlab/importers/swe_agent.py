"""SWE-agent trajectories: a programmer's session in a shell, scored by its paths and its last result (DAT-162)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxlab.identifiers import identifiers
from ctxlab.importers.conversation import OnLong, messages_from_wire
from ctxlab.importers.derived import PATH_KINDS, derived_facts
from ctxlab.importers.drafts import DEFAULT_QUESTION, facts_in_history, import_records, with_question
from ctxlab.importers.results import Draft, Flags, ImportResult, SkippedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ctxlab.dataset import FactKind

CHANGED_FILE = re.compile(r"^\+\+\+ b/(\S[^\t\r\n]*?)[ \t\r]*$", re.MULTILINE)
FILE_COMMANDS = frozenset(
    [
        "open",
        "create",
        "edit",
        "view",
        "insert",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "find_file",
        "search_file",
        "cat",
        "head",
        "tail",
        "less",
        "touch",
        "rm",
        "mv",
        "cp",
        "sed",
        "python",
        "python3",
        "pytest",
        "bash",
        "sh",
        "node",
        "decompile",
    ]
)
"""Commands whose arguments name files."""


def import_swe_agent(
    path: str | Path,
    *,
    question: str = DEFAULT_QUESTION,
    on_long: OnLong = "cut",
    keep_unscored: bool = False,
) -> ImportResult:
    """Import trajectories: one case per session, which asks what matters for going on."""

    def convert(record: Any) -> list[Draft]:
        if not isinstance(record, dict) or not isinstance(record.get("history"), list):
            raise SkippedError("not_a_trajectory")
        flags = Flags()
        wires = [_with_call_id(entry) for entry in record["history"] if not _is_demonstration(entry)]
        flags["demos_dropped"] += len(record["history"]) - len(wires)
        history = messages_from_wire(wires, flags)
        info = record.get("info")
        status = info.get("exit_status") if isinstance(info, dict) else None
        return [
            Draft(
                messages=with_question(history, question),
                facts=facts_in_history(_candidates(record), history),
                tags=(f"exit:{status}"[:64],) if isinstance(status, str) else (),
                flags=flags,
            )
        ]

    return import_records(path, convert, name="swe_agent", on_long=on_long, keep_unscored=keep_unscored)


def _is_demonstration(entry: object) -> bool:
    """Whether an entry is an example and no part of the session: `is_demo` is true, as a boolean or as text."""
    return isinstance(entry, dict) and str(entry.get("is_demo")).lower() == "true"


def _with_call_id(entry: object) -> object:
    """The entry with the one call that it answers, which trajectories hold as a list."""
    ids = entry.get("tool_call_ids") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(ids, list) or len(ids) != 1:
        return entry
    return {"tool_call_id": ids[0], **entry}


def _candidates(record: Mapping[str, Any]) -> Iterator[tuple[FactKind, str]]:
    """Changed files, files named in commands, and what the last result holds."""
    info, steps = record.get("info"), record.get("trajectory")
    steps = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    submission = info.get("submission") if isinstance(info, dict) else None
    if isinstance(submission, str):
        yield from (("path", name) for name in CHANGED_FILE.findall(submission))
    for step in steps:
        yield from (("path", name) for name in _files(step.get("action")))
    results = (step.get("observation") for step in reversed(steps))
    last = next((text for text in results if isinstance(text, str) and text.strip()), "")
    yield from derived_facts(last, kind="status")


def _files(action: object) -> Iterator[str]:
    """The paths among the arguments of a file command; an edit's text is no argument."""
    command, _, arguments = (
        (action if isinstance(action, str) else "").lstrip().partition("\n")[0].partition(" ")
    )
    if command in FILE_COMMANDS:
        yield from (one.text for one in identifiers(arguments) if one.kind in PATH_KINDS)
