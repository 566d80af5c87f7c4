"""What one row measured: recall as counts, tokens, seconds. `metrics` and `comparisons` go on from here."""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxlab.calls import Usage
    from ctxlab.dataset import FactKind
    from ctxlab.records import Call, FactResult, Row

LARGEST = 2**63 - 1


class Hits(NamedTuple):
    """`found` of `facts` facts."""

    found: int
    facts: int

    @property
    def share(self) -> Fraction:
        """Found over facts, exactly."""
        return Fraction(self.found, self.facts)


def pooled(hits: Iterable[Hits]) -> Hits | None:
    """Facts over facts; null without any."""
    found, facts = 0, 0
    for one in hits:
        found, facts = found + one.found, facts + one.facts
    return Hits(found, facts) if facts else None


def add_known(values: Iterable[int | None]) -> int | None:
    """The sum of the known numbers; null if none is known, or, with a warning, beyond 2^63 - 1 (EVA-046)."""
    known = [value for value in values if value is not None]
    if sum(known) > LARGEST:
        warnings.warn("a sum of tokens is beyond 2^63 - 1 and stands as null", RuntimeWarning, stacklevel=2)
        return None
    return sum(known) if known else None


# Recall


def is_fitted(row: Row) -> bool:
    """Whether the row has a context that could be sent; a refusal has none (FRM-031)."""
    return row.fitted is not None and bool(row.fitted.messages)


def context_facts(row: Row) -> tuple[FactResult, ...]:
    """The facts that context recall is measured on, fitted or not: in the source, and expected there."""
    return tuple(fact for fact in row.facts if fact.in_source and fact.where != "answer")


def answer_facts(row: Row) -> tuple[FactResult, ...]:
    """The facts that answer recall is measured on, answered or not."""
    return tuple(fact for fact in row.facts if fact.where != "context")


def context_hits(row: Row, *, kind: FactKind | None = None) -> Hits | None:
    """Facts of the source that are in the fitted context (EVA-021), of one kind or all."""
    return _in_context(_of_kind(context_facts(row), kind))


def evidence_hits(row: Row) -> Hits | None:
    """Context recall over the facts that occur in snippets (EVA-023)."""
    return _in_context([fact for fact in context_facts(row) if fact.source in ("snippet", "both")])


def answer_hits(row: Row, *, kind: FactKind | None = None) -> Hits | None:
    """Facts with a literal in the answer of a completed row (EVA-022), of one kind or all."""
    facts = _of_kind(answer_facts(row), kind)
    if row.status != "completed" or not facts:
        return None
    return Hits(sum(fact.in_answer is True for fact in facts), len(facts))


def _of_kind(facts: Sequence[FactResult], kind: FactKind | None) -> Sequence[FactResult]:
    return [fact for fact in facts if kind in (None, fact.kind)]


def _in_context(facts: Sequence[FactResult]) -> Hits | None:
    if not facts or any(fact.in_context is None for fact in facts):
        return None
    return Hits(sum(fact.in_context is True for fact in facts), len(facts))


# Tokens


def source_tokens(row: Row) -> int | None:
    """The estimate before fitting; null if the row was not fitted at all."""
    return None if row.fitted is None else row.fitted.receipt.source_tokens


def result_tokens(row: Row) -> int | None:
    """The estimate after fitting; null for refused rows, whose estimate is a reason and no size (FRM-032)."""
    if row.fitted is None or row.status == "refused":
        return None
    return row.fitted.receipt.result_tokens


def sent_tokens(row: Row) -> int | None:
    """Estimated prompts of the calls that reached the platform, 0 if none did; null for a stored answer."""
    if row.status == "completed" and not row.calls:
        return None
    reached = {call.call_index for call in row.calls if call.reached}
    return add_known([0, *(c.estimated_tokens for c in row.last_calls if c.call_index in reached)])


def main_usage(row: Row) -> Usage | None:
    """What the platform reported for the main request; null if none was sent."""
    return None if row.main_call is None else row.main_call.usage


def input_tokens(row: Row) -> int | None:
    """Reported prompt tokens of all calls (FRM-033)."""
    return add_known(call.usage.prompt_tokens for call in row.last_calls)


def output_tokens(row: Row) -> int | None:
    """Reported completion tokens of all calls."""
    return add_known(call.usage.completion_tokens for call in row.last_calls)


def cached_tokens(row: Row) -> int | None:
    """Reported cached input tokens of all calls."""
    return add_known(call.usage.cached_tokens for call in row.last_calls)


def cache_write_tokens(row: Row) -> int | None:
    """Reported cache-write tokens of all calls."""
    return add_known(call.usage.cache_write_tokens for call in row.last_calls)


def usage_responses(row: Row) -> int:
    """Calls that reported prompt and completion; fewer than the calls means that sums are partial (FRM-033)."""
    return sum(
        call.usage.prompt_tokens is not None and call.usage.completion_tokens is not None
        for call in row.last_calls
    )


# Seconds


def duration_s(row: Row) -> float | None:
    """The main request."""
    return None if row.main_call is None else row.main_call.duration_s


def helper_duration_s(row: Row) -> float | None:
    """The sum over helper calls; null without any."""
    return _seconds(row.helper_calls)


def total_duration_s(row: Row) -> float | None:
    """Main request and helper calls together; null if no call was made (RUN-051)."""
    return _seconds(row.last_calls)


def ttft_s(row: Row) -> float | None:
    """Seconds to the first token of the main request; null when it was not streamed."""
    return None if row.main_call is None else row.main_call.ttft_s


def _seconds(calls: Sequence[Call]) -> float | None:
    known = [call.duration_s for call in calls if call.duration_s is not None]
    return fsum(known) if known and len(known) == len(calls) else None
