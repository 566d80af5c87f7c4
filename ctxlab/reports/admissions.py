"""What a report says of an admission: ids, reasons and sizes (ADM-060)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from ctxlab.admission.lineage import Flag, Label
from ctxlab.admission.receipt import Reason, Refusal

if TYPE_CHECKING:
    from ctxlab.records import Row

Id = Annotated[str, Field(min_length=1, max_length=128)]
Size = Annotated[int, Field(ge=0, le=2**63 - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OmittedRecord:
    """A snippet that was left out, and why."""

    id: Id
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedRecord:
    """A snippet of which the last sentence stands in the evidence."""

    id: Id
    original_bytes: Size
    kept_bytes: Size


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRecord:
    """What an outdated snippet is called in the evidence."""

    id: Id
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagRecord:
    """What is odd about the lineage of a snippet."""

    id: Id
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRecord:
    """The account of one admission; `dropped_citations` belong to the answer and are null without one."""

    enabled: bool
    request_built: bool
    refusal: Refusal | None
    target: Size
    reserved_output: Size
    envelope: Size
    schema: Size | None
    content: Size
    estimated_input: Size | None
    limit: Size
    counter: Id
    accounting: Literal["chat", "content_bytes"]
    admitted: tuple[Id, ...]
    omitted: tuple[OmittedRecord, ...]
    clipped: tuple[ClippedRecord, ...]
    labels: tuple[LabelRecord, ...]
    flags: tuple[FlagRecord, ...]
    dropped_citations: Size | None


def admission_record(row: Row) -> AdmissionRecord | None:
    """The record of a row's admission; null if nothing was decided on."""
    receipt = row.fitted.receipt.admission if row.fitted is not None else None
    if receipt is None:
        return None
    return AdmissionRecord(
        enabled=receipt.enabled,
        request_built=receipt.request_built,
        refusal=receipt.refusal,
        target=receipt.target_tokens,
        reserved_output=receipt.reserved_output_tokens,
        envelope=receipt.envelope_tokens,
        schema=receipt.schema_tokens,
        content=receipt.content_tokens,
        estimated_input=receipt.estimated_input_tokens,
        limit=receipt.limit_tokens,
        counter=receipt.counter,
        accounting=receipt.accounting,
        admitted=receipt.admitted,
        omitted=tuple(OmittedRecord(id=name, reason=why) for name, why in receipt.omitted.items()),
        clipped=tuple(
            ClippedRecord(id=name, original_bytes=original, kept_bytes=kept)
            for name, (original, kept) in receipt.clipped.items()
        ),
        labels=tuple(LabelRecord(id=name, label=label) for name, label in receipt.labels.items()),
        flags=tuple(FlagRecord(id=name, flags=flags) for name, flags in receipt.flags.items()),
        dropped_citations=row.dropped_citations,
    )
