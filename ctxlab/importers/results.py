"""What an import gives: the cases, and for every source record what became of it (DAT-140)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxlab.dataset import Case, Expected, Fact
    from ctxlab.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """One case of a source record, or the record that gave none.

    Attributes:
        record: number of the source record, from 1.
        part: number of the case within its record, from 1.
        case_id: null if the record was skipped; then `reason` says why.
        flags: what was changed, with a count where things were counted: `cut`, `orphans_dropped:2`.
        messages, facts: of the case; null without one.
    """

    record: int
    part: int
    case_id: str | None
    reason: str | None
    flags: tuple[str, ...] = ()
    messages: int | None = None
    facts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """Cases of schema 1.1 in source order, one row per record or case, and warnings, one line each."""

    cases: tuple[Case, ...]
    rows: tuple[ImportRow, ...]
    warnings: tuple[str, ...] = ()


class SkippedError(Exception):
    """A source record gives no case; `reason` is one word for the import frame."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Flags(Counter[str]):
    """What was changed in a record: names in `ONCE` are marks, all others are counted."""

    ONCE = ("cut", "history_cut", "role_changed")

    def texts(self) -> tuple[str, ...]:
        """The flags as rows show them, in alphabetical order."""
        return tuple(
            name if name in self.ONCE else f"{name}:{self[name]}" for name in sorted(self) if self[name]
        )


@dataclass(slots=True, kw_only=True)
class Draft:
    """A case in the making, as a format's converter leaves it."""

    messages: list[Message]
    facts: tuple[Fact, ...] = ()
    expected: Expected | None = None
    tags: tuple[str, ...] = ()
    flags: Flags = field(default_factory=Flags)
