"""A summary of chosen messages of a case, by the same path and limits as a summary of its history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxlab.messages import Synthetic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.strategies.base import FittedContext, Span
    from ctxlab.strategies.source import Source
    from ctxlab.strategies.summarize import Summarize


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """How a summary of some messages ended.

    Attributes:
        message: the summary, null if there is no usable one that is smaller than the messages.
        claims: the spans of the case that were in a prompt, and what the prompts left out.
        fitted: calls, outcome, error and receipt of the summary.
    """

    message: Synthetic | None
    claims: tuple[Span, ...]
    fitted: FittedContext

    @property
    def calls(self) -> int:
        """How many calls it took."""
        return len(self.fitted.helper_calls)

    @property
    def sent_tokens(self) -> int:
        """The estimates of all prompts, added up."""
        return sum(call.estimated_tokens for call in self.fitted.helper_calls)


async def condense(
    source: Source,
    indices: Sequence[int],
    *,
    requested_tokens: int,
    summarize: Summarize,
) -> Condensed:
    """Summarise the messages at these indices, in order, as the history of the case's question."""
    picked = tuple(source.messages[i] for i in indices)
    question = source.messages[source.layout.question]
    case = replace(source.case, messages=(*picked, question), snippets=())
    strategy = replace(summarize, requested_tokens=requested_tokens)
    fitted = await strategy.fit(case, source.budget, source.counter)
    made = (m for m in fitted.messages if isinstance(m, Synthetic) and m.made_by == "summary")
    return Condensed(
        message=next((m for m in made if not any(m is one for one in picked)), None),
        claims=tuple(
            replace(span, item_index=indices[span.item_index])
            for span in fitted.ledger
            if span.item_index < len(indices)
        ),
        fitted=fitted,
    )
