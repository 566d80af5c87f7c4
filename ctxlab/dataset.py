"""Cases and what is expected of them: the dataset format, schema 1.0 and 1.1, as records.

`ctxlab.loading` reads them strictly from JSON Lines; importers make them from other formats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ctxlab.calls import Generation
from ctxlab.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

FactKind = Literal[
    "identifier", "path", "constraint", "decision", "reason", "rejected", "pending", "status", "failure", "remaining"
]
FACT_KINDS: tuple[FactKind, ...] = (
    "identifier", "path", "constraint", "decision", "reason", "rejected", "pending", "status", "failure", "remaining"
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Expectations of one answer; null means not configured."""

    exact_match: str | None = None
    contains_all: tuple[str, ...] | None = None
    contains_any: tuple[str, ...] | None = None
    not_contains: tuple[str, ...] | None = None
    minimum_characters: int | None = None
    maximum_characters: int | None = None
    case_sensitive: bool = False
    normalize_whitespace: bool = True
    unicode_form: Literal["none", "NFC", "NFKC"] | None = None
    whole_words: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A phrase or a regular expression, exactly one of them; `near` limits it to sentences with a literal."""

    phrase: str | None = None
    regex: str | None = None
    near: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A required piece of knowledge: it is there if one of its literals is (DAT-050 to DAT-054)."""

    id: str
    kind: FactKind
    literals: tuple[str, ...]
    must_hold: tuple[Pattern, ...] = ()
    must_not_claim: tuple[Pattern, ...] = ()
    where: Literal["both", "context", "answer"] = "both"
    match: Literal["word", "substring"] = "word"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a snippet holds: topics and lineage never cross scopes."""

    workspace: str
    project: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """One piece of retrieved evidence; times are the texts of the file, `evidence_time` null if unknown."""

    id: str
    title: str
    text: str
    scope: Scope
    evidence_time: str | None
    session_start: str | None = None
    ingested_at: str | None = None
    superseded_by: tuple[str, ...] = ()
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Free description of a case; `tags` group rows in reports."""

    description: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question with its history, evidence, expectations and facts."""

    schema_version: Literal["1.0", "1.1"]
    id: str
    category: str
    messages: tuple[Message, ...]
    expected: Expected | None = None
    generation: Generation = field(default_factory=Generation)
    metadata: Metadata = field(default_factory=Metadata)
    facts: tuple[Fact, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Cases in file order.

    Attributes:
        path: the path as the user gave it.
        sha256: hash of the exact bytes of the file, hex (DAT-009).
        cases: the cases.
        warnings: one line each, for the reader; they change no exit code (DAT-055).
    """

    path: str
    sha256: str
    cases: tuple[Case, ...]
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)
