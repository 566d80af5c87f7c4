"""From source records to cases: the way that every format takes, whatever its records look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxlab.dataset import Case, Expected, Fact, Metadata
from ctxlab.importers.conversation import OnLong, paired, within_count, within_length
from ctxlab.importers.reading import read_records
from ctxlab.importers.results import Draft, ImportResult, ImportRow, SkippedError
from ctxlab.loading import case_from_json, dataset_bytes
from ctxlab.messages import Message
from ctxlab.strict_json import RuleError
from ctxlab.text import find_literal, searchable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from ctxlab.dataset import FactKind

DEFAULT_QUESTION = "State every identifier, decision, constraint, failure and unfinished item that matters for continuing this work."
MAXIMUM_FACTS = 512
MAXIMUM_LITERAL_CHARACTERS = 1024


def import_records(
    path: str | Path,
    convert: Callable[[Any], Sequence[Draft | SkippedError]],
    *,
    name: str,
    on_long: OnLong,
    keep_unscored: bool,
    is_record: Callable[[Any], bool] = lambda value: isinstance(value, dict),
) -> ImportResult:
    """Read a file and make cases of its records.

    Args:
        path: the source file.
        convert: the drafts of one record, and why parts of it give none; raises `SkippedError` if nothing does.
        name: name of the format, the beginning of every case id and the category.
        on_long: what becomes of a record with more messages than a case may hold.
        keep_unscored: keep records without expectations and facts, tagged `unscored`.
        is_record: whether a JSON value is a record and not a list of records.
    """
    cases, rows = [], []
    records, warnings = read_records(path, is_record=is_record)
    for number, record in enumerate(records, 1):
        try:
            drafts = convert(record)
        except SkippedError as skipped:
            rows.append(ImportRow(record=number, part=1, case_id=None, reason=skipped.reason))
            continue
        several = sum(isinstance(draft, Draft) for draft in drafts) > 1
        for part, draft in enumerate(drafts, 1):
            case_id = f"{name}-{number:06}" + (f"-{part}" if several else "")
            try:
                if isinstance(draft, SkippedError):
                    raise draft
                case = _case(draft, case_id, name, on_long=on_long, keep_unscored=keep_unscored)
            except SkippedError as skipped:
                rows.append(ImportRow(record=number, part=part, case_id=None, reason=skipped.reason))
                continue
            cases.append(case)
            rows.append(_row(case, draft, record=number, part=part))
    return ImportResult(cases=tuple(cases), rows=tuple(rows), warnings=tuple(warnings))


def _case(draft: Draft, case_id: str, category: str, *, on_long: OnLong, keep_unscored: bool) -> Case:
    """The finished case, read through the rules of the format so that what is written loads."""
    expected, tags = draft.expected, draft.tags
    if expected is None and not draft.facts:
        if not keep_unscored:
            raise SkippedError("nothing_to_score")
        expected, tags = Expected(minimum_characters=1), (*tags, "unscored")
    messages = within_length(paired(draft.messages, draft.flags), draft.flags)
    case = Case(
        schema_version="1.1",
        id=case_id,
        category=category,
        messages=tuple(within_count(messages, draft.flags, on_long=on_long)),
        expected=expected,
        metadata=Metadata(tags=tags),
        facts=draft.facts,
    )
    try:
        return case_from_json(dataset_bytes([case]).decode())
    except RuleError as found:
        raise SkippedError(f"{found.rule} {found.field}") from None


def _row(case: Case, draft: Draft, *, record: int, part: int) -> ImportRow:
    return ImportRow(
        record=record,
        part=part,
        case_id=case.id,
        reason=None,
        flags=draft.flags.texts(),
        messages=len(case.messages),
        facts=len(case.facts),
    )


def with_question(messages: Sequence[Message], question: str) -> list[Message]:
    """The messages with a continuation question as new last user message (DAT-149)."""
    return [*messages, Message(role="user", content=question)]


def facts_in_history(
    candidates: Iterable[tuple[FactKind, str]], messages: Sequence[Message], *, most: int = MAXIMUM_FACTS
) -> tuple[Fact, ...]:
    """A fact for each candidate that occurs in the history, leading system messages apart; each text once."""
    start = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    texts = [text for message in messages[start:] for text in _texts(message)]
    history = "\n".join(map(searchable, texts))
    found: dict[str, tuple[FactKind, str]] = {}
    for kind, literal in candidates:
        key = searchable(literal)
        if key and len(literal) <= MAXIMUM_LITERAL_CHARACTERS and find_literal(history, key) is not None:
            found.setdefault(key, (kind, literal))
    facts = list(found.values())[:most]
    return tuple(
        Fact(id=f"f{n}", kind=kind, literals=(literal,)) for n, (kind, literal) in enumerate(facts, 1)
    )


def _texts(message: Message) -> list[str]:
    return [message.text, *(call.function.arguments for call in message.tool_calls)]
