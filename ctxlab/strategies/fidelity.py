"""The fidelity guard: what a summary must not lose, found by rules (STR-096)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ctxlab.messages import question_place
from ctxlab.strategies.survey import survey
from ctxlab.text import find_literal, searchable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ctxlab.dataset import Case
    from ctxlab.strategies.base import Span
    from ctxlab.strategies.survey import Unit

GUARDED_CUES = frozenset({"constraint", "rejection", "pending"})


def guarded_identifiers(case: Case, unseen: Iterable[Span] = ()) -> frozenset[str]:
    """The identifiers in sentences and lines of the source that say what binds, what was rejected, what is pending.

    A unit that a projection hid in part is left out: the helper cannot keep what it did not see.
    """
    hidden: dict[int, list[Span]] = defaultdict(list)
    for span in unseen:
        hidden[span.item_index].append(span)
    return frozenset(
        name
        for unit in survey(case.messages[: question_place(case.messages)], case.language).units
        if GUARDED_CUES & unit.cues and not _is_hidden(unit, hidden)
        for name in unit.identifiers
    )


def lost_identifiers(names: Iterable[str], summary: str) -> frozenset[str]:
    """Those of the names that do not stand in the summary, compared as literals of facts are."""
    text = searchable(summary)
    return frozenset(name for name in names if find_literal(text, searchable(name)) is None)


def _is_hidden(unit: Unit, hidden: Mapping[int, Sequence[Span]]) -> bool:
    return any(span.start < unit.end and unit.start < span.end for span in hidden.get(unit.message, ()))
