"""The runner's check of every fitted context: what no strategy may do, whoever wrote it (STR-012)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.estimates import message_tokens
from ctxlab.messages import Layout, Message, Projected, Synthetic, lay_out
from ctxlab.strategies.ledger import coverage_faults, source_parts
from ctxlab.strategies.mined import decoded
from ctxlab.text import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import FittedContext, SpanFate
    from ctxlab.tokens import Counter

SENT = frozenset({"unchanged", "shortened", "extracted", "summarized", "admitted"})
"""Outcomes whose messages are sent; every other outcome has none."""


def violations(case: Case, fitted: FittedContext, budget: Budget, counter: Counter) -> list[str]:
    """What is wrong with a fitted context, one short line each; empty if it keeps the contract."""
    if fitted.outcome not in SENT:
        faults = ["messages of a context that is not sent"] if fitted.messages else []
        return faults + coverage_faults(fitted.ledger, case)
    if not fitted.messages:
        return ["no message in a context that is sent"]
    return [
        *_size(fitted, budget, counter),
        *_pinned(case, fitted),
        *_order(case, fitted),
        *_evidence(case, fitted),
        *coverage_faults(fitted.ledger, case),
        *_text(case, fitted),
    ]


def _size(fitted: FittedContext, budget: Budget, counter: Counter) -> Iterator[str]:
    """STR-002: measured again, the request is at most U."""
    tokens = sum(message_tokens(message, counter) for message in fitted.messages)
    if tokens > budget.message_allowance_tokens():
        yield f"STR-002: {tokens} tokens of messages, allowed {budget.message_allowance_tokens()}"


def _pinned(case: Case, fitted: FittedContext) -> Iterator[str]:
    """STR-003 to STR-005: system messages, question and the newest call group stand, and nothing new follows."""
    layout = lay_out(case.messages)
    systems = [m for m in case.messages if m.role == "system"]
    if [m for m in fitted.messages if m.role == "system"] != systems:
        yield "STR-003: system messages are not word for word and in order"
    question = case.messages[layout.question]
    places = [i for i, m in enumerate(fitted.messages) if m == question and not isinstance(m, Synthetic)]
    if not places:
        yield "STR-004: the question is missing"
        return
    running = [case.messages[i] for i in layout.running if case.messages[i].role != "system"]
    after = [m for m in fitted.messages[places[-1] + 1 :] if m.role != "system" and not _is_progress(m)]
    if not _is_tail(after, running):
        yield "STR-004: something else than the running turn follows the question"
    if len(after) < _pinned_tail(case, layout):
        yield "STR-005: the newest call group is not whole"


def _pinned_tail(case: Case, layout: Layout) -> int:
    """How many messages at the end have to stand, system messages apart: from the newest call group on."""
    group = layout.newest_group
    return sum(m.role != "system" for m in case.messages[group[0] :]) if group else 0


def _is_progress(message: Message) -> bool:
    return isinstance(message, Synthetic) and message.made_by in ("progress", "summary", "checkpoint")


def _is_tail(kept: list[Message], source: list[Message]) -> bool:
    """Whether the messages are the last ones of the source, projections of their results allowed."""
    tail = source[len(source) - len(kept) :] if len(kept) <= len(source) else []
    return len(tail) == len(kept) and all(_same(a, b) for a, b in zip(kept, tail, strict=True))


def _same(kept: Message, source: Message) -> bool:
    if isinstance(kept, Projected):
        return source.role == "tool" and kept.tool_call_id == source.tool_call_id
    return kept == source


def _order(case: Case, fitted: FittedContext) -> Iterator[str]:
    """STR-006: what stands by the ledger stands in source order, and each call group is whole or gone."""
    own, standing = _standing(case, fitted)
    if len(own) != len(standing) or not all(
        _same(m, case.messages[i]) for m, i in zip(own, standing, strict=True)
    ):
        yield "STR-006: the messages that stand are not those of the ledger, in source order"
    for group in lay_out(case.messages).groups:
        if 0 < len(set(standing).intersection(group)) < len(group):
            yield "STR-006: a call group is kept in part"


def _evidence(case: Case, fitted: FittedContext) -> Iterator[str]:
    """STR-020: one user-role message right before the question shows the snippets that stand; else there is none."""
    places = [
        i for i, m in enumerate(fitted.messages) if isinstance(m, Synthetic) and m.made_by == "evidence"
    ]
    stands = any(span.item == "snippet" and span.fate != "omitted" for span in fitted.ledger)
    if len(places) != stands:
        yield f"STR-020: {len(places)} evidence messages, allowed {int(stands)}"
        return
    question = case.messages[lay_out(case.messages).question]
    if any(
        fitted.messages[i].role != "user" or question not in fitted.messages[i + 1 : i + 2] for i in places
    ):
        yield "STR-020: the evidence does not stand right before the question"


def _standing(case: Case, fitted: FittedContext) -> tuple[list[Message], list[int]]:
    """The messages that no strategy made up, and the indices of those that stand by the ledger: one for one."""
    source = {id(m) for m in case.messages}
    own = [m for m in fitted.messages if id(m) in source or not isinstance(m, Synthetic)]
    indices = {s.item_index for s in fitted.ledger if s.item == "message" and s.fate in ("kept", "projected")}
    return own, sorted(indices)


def _text(case: Case, fitted: FittedContext) -> Iterator[str]:
    """STR-037: what the ledger says stands in a synthetic message, or in the projection of its own, does stand there.

    Messages that stand unchanged were compared by `_order`.
    """
    texts = dict(source_parts(case))
    own, standing = _standing(case, fitted)
    projections = {i: m.text for m, i in zip(own, standing, strict=False) if isinstance(m, Projected)}
    synthetic = "\n".join(m.text for m in fitted.messages if isinstance(m, Synthetic))
    for span in fitted.ledger:
        if span.fate in ("omitted", "summarised") or (span.item == "message" and span.fate == "kept"):
            continue
        text = texts[(span.item, span.item_index, span.part)][span.start : span.end]
        shown = projections.get(span.item_index, "") if span.fate == "projected" else synthetic
        if not _is_shown(text, shown, fate=span.fate):
            yield f"STR-037: a {span.fate} span is not in the result"


def _is_shown(text: str, shown: str, *, fate: SpanFate) -> bool:
    """Whether a text stands there as its fate says: digested on one line, projected as it is or as a JSON string."""
    if fate == "digested":
        return flatten(text) in shown
    if text in shown or fate != "projected":
        return text in shown
    meant = decoded(text)
    return meant is not None and meant != "" and meant in shown
