"""QMSum meetings: a long transcript, one question about it per case, and the turns that hold the answer (DAT-163, 164)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxlab.dataset import Fact
from ctxlab.importers.conversation import OnLong
from ctxlab.importers.drafts import MAXIMUM_FACTS, MAXIMUM_LITERAL_CHARACTERS, import_records, with_question
from ctxlab.importers.results import Draft, Flags, ImportResult, SkippedError
from ctxlab.messages import Message
from ctxlab.text import safe_cut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHORTEST_TURN_CHARACTERS = 20


def import_qmsum(path: str | Path, *, on_long: OnLong = "cut", keep_unscored: bool = False) -> ImportResult:
    """Import meetings: one case per specific query, which is its question; general queries name no evidence."""

    def convert(record: Any) -> list[Draft | SkippedError]:
        if not isinstance(record, dict) or not isinstance(record.get("meeting_transcripts"), list):
            raise SkippedError("not_a_meeting")
        turns = [_turn(turn) for turn in record["meeting_transcripts"]]
        history = [Message(role="user", content=f"{speaker}: {content}") for speaker, content in turns]
        drafts: list[Draft | SkippedError] = []
        for query in _queries(record, "specific_query_list"):
            places = _evidence(query.get("relevant_text_span"), len(turns))
            told = [history[i].text for i in places if len(turns[i][1]) >= SHORTEST_TURN_CHARACTERS]
            messages = with_question(history, _text(query.get("query")))
            drafts.append(Draft(messages=messages, facts=_facts(told), flags=Flags()))
        return drafts + [SkippedError("no_evidence") for _ in _queries(record, "general_query_list")]

    return import_records(path, convert, name="qmsum", on_long=on_long, keep_unscored=keep_unscored)


def _turn(turn: object) -> tuple[str, str]:
    if not isinstance(turn, dict):
        raise SkippedError("unknown_turn")
    return _text(turn.get("speaker")), _text(turn.get("content"))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise SkippedError("unknown_turn")
    return value


def _queries(record: dict[str, Any], name: str) -> list[dict[str, Any]]:
    queries = record.get(name)
    return [query for query in queries if isinstance(query, dict)] if isinstance(queries, list) else []


def _evidence(spans: object, n_turns: int) -> list[int]:
    """The turns of inclusive spans, each once, in order; a span's bounds may be written as text."""
    places = {i for span in (spans if isinstance(spans, list) else ()) for i in _range(span, n_turns)}
    return sorted(places)


def _range(span: object, n_turns: int) -> range:
    try:
        first, last = (int(bound) for bound in span)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise SkippedError("unknown_span") from None
    return range(max(0, first), min(last, n_turns - 1) + 1)


def _facts(turns: Sequence[str]) -> tuple[Fact, ...]:
    literals = list(
        dict.fromkeys(turn[: safe_cut(turn, characters=MAXIMUM_LITERAL_CHARACTERS)] for turn in turns)
    )
    return tuple(
        Fact(id=f"f{n}", kind="reason", literals=(literal,), where="context", match="substring")
        for n, literal in enumerate(literals[:MAXIMUM_FACTS], 1)
    )
