"""What is mostly shipped: the newest messages that fit, and nothing of the others; a baseline to compare with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ctxlab.strategies.base import NOT_A_PARAMETER, Draft, Treatment
from ctxlab.strategies.shorten import check_target
from ctxlab.strategies.source import close_books, look_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.messages import Layout
    from ctxlab.strategies.base import FittedContext
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest(Treatment):
    """Keep the pinned messages and, from the newest back, every other one until the first that does not fit.

    It is no strategy of the command line: what it keeps tells what choosing by age alone is worth. A call and its
    results stay together.

    Attributes:
        target_tokens: bound of the whole message list, evidence excluded; without one it is M.
    """

    kind: ClassVar[str] = "newest"
    reads_thresholds: ClassVar[bool] = False
    target_tokens: int | None = None
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def __post_init__(self) -> None:
        check_target(self.target_tokens)

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Return the newest messages that fit, in order, or refuse when not even the pinned ones do."""
        source = look_at(case, budget, counter)
        limit = min(source.message_allowance_tokens, self.target_tokens or source.message_allowance_tokens)
        kept = set(source.layout.pinned)
        room_tokens = limit - source.pinned_tokens
        for unit in _units(source.layout):
            room_tokens -= sum(source.tokens[i] for i in unit)
            if room_tokens < 0:
                break
            kept.update(unit)
        draft = Draft(
            messages=tuple(source.messages[i] for i in sorted(kept)) if source.pinned_tokens <= limit else (),
            outcome="refused" if source.pinned_tokens > limit else "shortened",
            reason="pinned_too_large" if source.pinned_tokens > limit else None,
            receipt={"target_tokens": limit},
        )
        if len(kept) == len(source.messages):
            draft = Draft(messages=source.messages, outcome="unchanged", receipt={"target_tokens": limit})
        return close_books(
            source, draft, strategy=self.name, parameters=self.parameters, kept=kept, reason="not_selected"
        )


def _units(layout: Layout) -> Iterator[tuple[int, ...]]:
    """What is kept or dropped together, newest first: calls with their results, or one message."""
    group_of = {index: group for group in layout.groups for index in group}
    for index in reversed(range(layout.end)):
        unit = group_of.get(index, (index,))
        if index == unit[-1] and layout.pinned.isdisjoint(unit):
            yield unit
