"""Cases and what is expected of them: the dataset format, schema 1.0 and 1.1, as records.

`ctxlab.loading` reads them strictly from JSON Lines; importers make them from other formats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

from ctxlab.calls import Generation
from ctxlab.constraints import Absent, Form, Range, Size, TextOr
from ctxlab.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

FactKind = Literal[
    "identifier", "path", "constraint", "decision", "reason", "rejected", "pending", "status", "failure", "remaining"
]  # fmt: skip
FACT_KINDS: tuple[FactKind, ...] = get_args(FactKind)

CASE_ID = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
_LANGUAGE = "[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*|[A-Za-z]{5,8}(?:-[A-Za-z0-9]{1,8})*|code"
_TIME = r"\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2}))?".replace(
    r"\d", "[0-9]"
)
_Value = Annotated[str, Size(1, 256)]
_Values = Annotated[tuple[_Value, ...], Size(1, 32)]
_Time = Annotated[str, Form(_TIME)]
_Language = Annotated[str, Form(_LANGUAGE)]
_SnippetId = Annotated[str, Size(1, 128), Form(r"\P{Cc}*")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Expectations of one answer; null means not configured.

    `unicode_form` is null in a case of schema 1.0, which has none; reading 1.1 fills in its default, NFC.
    """

    exact_match: Absent[Annotated[str, Size(0, 4096)]] = None
    contains_all: Absent[_Values] = None
    contains_any: Absent[_Values] = None
    not_contains: Absent[_Values] = None
    minimum_characters: Absent[Annotated[int, Range(0)]] = None
    maximum_characters: Absent[Annotated[int, Range(0)]] = None
    case_sensitive: bool = False
    normalize_whitespace: bool = True
    unicode_form: Absent[Literal["none", "NFC", "NFKC"]] = None
    whole_words: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A phrase or a regular expression, exactly one of them; `near` limits it to sentences with a literal."""

    phrase: Absent[Annotated[str, Size(1, 512)]] = None
    regex: Absent[Annotated[str, Size(1, 512)]] = None
    near: bool = False


def _phrase(text: str) -> Pattern:
    return Pattern(phrase=text)


def _one(text: str) -> tuple[str]:
    return (text,)


_Patterns = Annotated[tuple[Annotated[Pattern, TextOr(_phrase, Size(1, 512))], ...], Size(1, 16)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A required piece of knowledge: it is there if one of its literals is (DAT-050 to DAT-054)."""

    id: Annotated[str, Form("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")]
    kind: FactKind
    literals: Annotated[tuple[Annotated[str, Size(1, 1024)], ...], Size(1, 16)]
    must_hold: _Patterns = ()
    must_not_claim: _Patterns = ()
    where: Literal["both", "context", "answer"] = "both"
    match: Literal["word", "substring"] = "word"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a snippet holds: topics and lineage never cross scopes."""

    workspace: Annotated[str, Size(1, 128)]
    project: Annotated[str, Size(1, 128)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """One piece of retrieved evidence; times are the texts of the file, `evidence_time` null if unknown."""

    id: _SnippetId
    title: Annotated[str, Size(0, 256)]
    text: str
    scope: Scope
    evidence_time: _Time | None
    session_start: Absent[_Time] = None
    ingested_at: Absent[_Time] = None
    superseded_by: Annotated[tuple[_SnippetId, ...], Size(1, 16), TextOr(_one, Size(1, 128))] = ()
    language: Absent[_Language] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Free description of a case; `tags` group rows in reports."""

    description: Absent[Annotated[str, Size(0, 500)]] = None
    tags: Annotated[tuple[Annotated[str, Size(1, 64)], ...], Size(0, 16)] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question with its history, evidence, expectations and facts."""

    __pydantic_config__: ClassVar[dict[str, bool | str]] = {
        "strict": True,
        "extra": "forbid",
    }  # for this record and all that it holds

    schema_version: Literal["1.0", "1.1"]
    id: Annotated[str, Form(CASE_ID)]
    category: Annotated[str, Form("[a-z0-9][a-z0-9_-]{0,63}")]
    messages: Annotated[tuple[Message, ...], Size(1, 10_000)]
    expected: Absent[Expected] = None
    generation: Generation = field(default_factory=Generation)
    metadata: Metadata = field(default_factory=Metadata)
    facts: Annotated[tuple[Fact, ...], Size(1, 512)] = ()
    snippets: Annotated[tuple[Snippet, ...], Size(1, 256)] = ()
    language: Absent[_Language] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Cases in file order.

    Attributes:
        path: the path as the user gave it.
        sha256: hash of the exact bytes of the file, hex (DAT-009).
        cases: the cases.
        warnings: one line each, for the reader; they change no exit code (DAT-055).
        converted: the cases come from another format; a run keeps them among its inputs (DAT-141).
    """

    path: str
    sha256: str
    cases: tuple[Case, ...]
    warnings: tuple[str, ...] = ()
    converted: bool = False

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)


def parse_time(text: str) -> datetime:
    """A time of a snippet, with its offset; a date alone is midnight UTC. Raises `ValueError` if there is no such time."""
    moment = datetime.fromisoformat(text.upper())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
