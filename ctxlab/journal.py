"""The append-only record of calls: every finished attempt is on disk before its result is used (RUN-070 to RUN-076).

The first line is the header, every other line one attempt. The journal holds answers, never a prompt.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from ctxlab.calls import ContentKind, Reply, Stage, Usage
from ctxlab.errors import CallError, CallErrorKind, IntegrityError

if TYPE_CHECKING:
    from pathlib import Path

Parsed = TypeVar("Parsed", "Header", "Entry")
MODE = 0o600
MOST_HEADER_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Where an attempt belongs; `strategy` and `case_id` are those of the row."""

    case_id: str
    strategy: str
    repeat: int
    call_index: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a journal is about: a resume with another identity, dataset or endpoint is refused (RUN-076)."""

    run_id: str
    fingerprint: str
    input_identity: str
    endpoint: str
    dataset_sha256: str
    versions: dict[str, str]
    journal_version: Literal["1.0"] = "1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One finished attempt: its slot, what was asked (as a hash) and what came back."""

    slot: Slot
    stage: Stage
    request_sha256: str
    outcome: Literal["completed", "error"]
    text: str | None = None
    content_kind: ContentKind | None = None
    finish_reason: str | None = None
    model_observed: str | None = None
    usage: Usage = field(default_factory=Usage)
    duration_s: float = 0.0
    ttft_s: float | None = None
    error_kind: CallErrorKind | None = None
    http_status: int | None = None
    reached: bool = True
    retry_after_s: float | None = None

    @classmethod
    def of_reply(cls, slot: Slot, stage: Stage, request_sha256: str, reply: Reply) -> Self:
        """The entry of an attempt that ended with a reply."""
        return cls(
            slot=slot,
            stage=stage,
            request_sha256=request_sha256,
            outcome="completed",
            text=reply.text,
            content_kind=reply.content_kind,
            finish_reason=reply.finish_reason,
            model_observed=reply.model_observed,
            usage=reply.usage,
            duration_s=reply.duration_s,
            ttft_s=reply.ttft_s,
        )

    @classmethod
    def of_error(cls, slot: Slot, stage: Stage, request_sha256: str, error: CallError) -> Self:
        """The entry of an attempt that failed."""
        return cls(
            slot=slot,
            stage=stage,
            request_sha256=request_sha256,
            outcome="error",
            duration_s=error.duration_s,
            error_kind=error.kind,
            http_status=error.http_status,
            reached=error.reached,
            retry_after_s=error.retry_after_s,
        )

    def result(self) -> Reply:
        """The reply of a completed attempt; the `CallError` of a failed one is raised."""
        if self.outcome == "error" or self.text is None:
            raise CallError(
                self.error_kind or "malformed_platform_response",
                http_status=self.http_status,
                reached=self.reached,
                duration_s=self.duration_s,
                retry_after_s=self.retry_after_s,
            )
        return Reply(
            text=self.text,
            content_kind=self.content_kind or "text",
            finish_reason=self.finish_reason,
            model_observed=self.model_observed,
            usage=self.usage,
            duration_s=self.duration_s,
            ttft_s=self.ttft_s,
        )


class Journal:
    """A journal open for appending; entries that are ready together share one fsync."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending: list[tuple[bytes, asyncio.Future[None]]] = []
        self._draining: asyncio.Task[None] | None = None

    @classmethod
    def create(cls, path: Path, header: Header) -> Self:
        """Make a new journal, readable by its owner only; an existing one is never touched."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, MODE)
        _write(descriptor, _line(header))
        return cls(descriptor)

    @classmethod
    def reopen(cls, path: Path, *, length: int) -> Self:
        """Open an existing journal for more entries, cut to the length of its whole lines."""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.ftruncate(descriptor, length)
        return cls(descriptor)

    async def append(self, entry: Entry) -> None:
        """Write one entry and return when it is on disk; cancelling the wait does not undo the writing."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((_line(entry), written))
        if self._draining is None or self._draining.done():
            self._draining = asyncio.create_task(self._drain())
        await written

    async def _drain(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            failure: OSError | None = None
            try:
                await asyncio.to_thread(_write, self._descriptor, b"".join(line for line, _ in batch))
            except OSError as error:
                failure = error
            for _, written in batch:
                if not written.done():
                    written.set_result(None) if failure is None else written.set_exception(failure)

    async def close(self) -> None:
        """Finish what is being written and close the file."""
        if self._draining is not None:
            await asyncio.shield(self._draining)
        os.close(self._descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a journal holds: `length` counts the bytes of its whole lines, `truncated` says that more followed."""

    header: Header
    entries: dict[Slot, Entry]
    length: int
    truncated: bool


def read_journal(path: Path) -> Recorded:
    """Read a journal back; a last line without its end is left out, any other damage is an error.

    Raises:
        IntegrityError: naming the line.
    """
    whole, newline, rest = path.read_bytes().rpartition(b"\n")
    lines = whole.split(b"\n") if newline else []
    if not lines:
        raise IntegrityError(f"{path.name}: the journal has no header")
    header = _parse(lines[0], Header, path.name, 1)
    entries: dict[Slot, Entry] = {}
    for number, line in enumerate(lines[1:], 2):
        entry = _parse(line, Entry, path.name, number)
        entries[entry.slot] = entry
    return Recorded(header=header, entries=entries, length=len(whole) + len(newline), truncated=bool(rest))


def read_header(path: Path) -> Header:
    """The first line of a journal, which may still be growing.

    Raises:
        IntegrityError: there is no whole first line, or it is damaged.
    """
    with path.open("rb") as file:
        line = file.readline(MOST_HEADER_BYTES)
    if not line.endswith(b"\n"):
        raise IntegrityError(f"{path.name}: the journal has no header")
    return _parse(line, Header, path.name, 1)


def _parse(line: bytes, record: type[Parsed], name: str, number: int) -> Parsed:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(record).validate_json(line)
    except ValidationError:
        raise IntegrityError(
            f"{name}:{number}: damaged line; restore the journal or start a new run"
        ) from None


def _line(record: Header | Entry) -> bytes:
    return json.dumps(asdict(record), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)
