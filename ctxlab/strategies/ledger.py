"""The ledger: the fate of every source character, made from claims, restored from spans, checked against both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ctxlab.strategies.base import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ctxlab.dataset import Case
    from ctxlab.messages import Message

Part = tuple[Literal["message", "snippet"], int, str]
"""Item, item index and part name: the key of one piece of source text."""


def message_parts(message: Message) -> Iterator[tuple[str, str]]:
    """Name and text of each part of a message: its content, then the arguments of its calls."""
    yield "content", message.text
    for index, call in enumerate(message.tool_calls):
        yield f"arguments:{index}", call.function.arguments


def source_parts(case: Case) -> Iterator[tuple[Part, str]]:
    """Key and text of each part of each message, then of each snippet, in source order."""
    for index, message in enumerate(case.messages):
        for name, text in message_parts(message):
            yield ("message", index, name), text
    for index, snippet in enumerate(case.snippets):
        yield ("snippet", index, "text"), snippet.text


def build_ledger(
    case: Case,
    *,
    kept: Collection[int] = (),
    snippets_kept: bool = False,
    claims: Iterable[Span] = (),
    reasons: Mapping[int, str] | None = None,
    reason: str = "strategy",
) -> tuple[Span, ...]:
    """Account for every source character.

    Args:
        case: the source.
        kept: indices of messages that stand in the result unchanged.
        snippets_kept: every snippet stands whole in the result.
        claims: spans with a fate of their own, in any order; those of one part have to be disjoint.
        reasons: why the rest of a message was left out, by message index, where it is not `reason`.
        reason: why anything else was left out.

    Returns:
        Spans in source order; those of each part are disjoint, ordered and cover it exactly.
    """
    by_part: dict[Part, list[Span]] = {}
    for claim in claims:
        by_part.setdefault((claim.item, claim.item_index, claim.part), []).append(claim)
    kept = frozenset(kept)
    spans: list[Span] = []
    for part, text in source_parts(case):
        item, index, _ = part
        stands = snippets_kept if item == "snippet" else index in kept
        why = (reasons or {}).get(index, reason) if item == "message" else reason
        spans += _cover(part, len(text), by_part.get(part, []), stands=stands, reason=why)
    return tuple(spans)


def _cover(part: Part, length: int, claims: list[Span], *, stands: bool, reason: str) -> Iterator[Span]:
    """Spans that cover a part of the given length: its claims, and kept or omitted spans between them."""
    if length == 0:
        yield _span(part, 0, 0, stands=stands, reason="empty")
        return
    position = 0
    for claim in sorted(claims, key=lambda span: span.start):
        if claim.start > position:
            yield _span(part, position, claim.start, stands=stands, reason=reason)
        if claim.end > claim.start:
            yield claim
            position = claim.end
    if position < length:
        yield _span(part, position, length, stands=stands, reason=reason)


def _span(part: Part, start: int, end: int, *, stands: bool, reason: str) -> Span:
    item, index, name = part
    return Span(
        item=item,
        item_index=index,
        part=name,
        start=start,
        end=end,
        fate="kept" if stands else "omitted",
        reason=None if stands else reason,
    )


def restore(ledger: Iterable[Span], case: Case) -> dict[Part, str]:
    """Rebuild every source part from its spans (STR-038)."""
    texts = dict(source_parts(case))
    rebuilt: dict[Part, str] = {}
    for span in ledger:
        part: Part = (span.item, span.item_index, span.part)
        rebuilt[part] = rebuilt.get(part, "") + texts[part][span.start : span.end]
    return rebuilt


def coverage_faults(ledger: Iterable[Span], case: Case) -> list[str]:
    """What is wrong with a ledger's coverage: empty for a ledger that covers every part exactly (STR-034)."""
    reached: dict[Part, int] = {}
    faults: list[str] = []
    for span in ledger:
        part: Part = (span.item, span.item_index, span.part)
        if span.start != reached.get(part, 0) or span.end < span.start:
            faults.append(f"{span.item}[{span.item_index}].{span.part}: span out of order")
        if (span.fate == "omitted") != (span.reason is not None):
            faults.append(f"{span.item}[{span.item_index}].{span.part}: reason does not match fate")
        reached[part] = span.end
    lengths = {part: len(text) for part, text in source_parts(case)}
    if reached != lengths:
        faults.append("the spans do not cover the source exactly")
    return faults
