"""The two baselines: everything, and nothing but what is pinned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ctxlab.strategies.base import NOT_A_PARAMETER, Draft, Treatment
from ctxlab.strategies.source import close_books, look_at

if TYPE_CHECKING:
    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import FittedContext
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Full(Treatment):
    """Send everything unchanged; over the allowance there is nothing to compare with (STR-040)."""

    kind: ClassVar[str] = "full"
    reads_thresholds: ClassVar[bool] = False
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Return the case's messages and evidence as they are, or `not_applicable`."""
        source = look_at(case, budget, counter)
        if sum(source.tokens) <= source.message_allowance_tokens:
            draft = Draft(messages=source.messages, outcome="unchanged")
        else:
            draft = Draft(messages=(), outcome="not_applicable", reason="full_too_large")
        return close_books(
            source, draft, strategy=self.name, parameters=self.parameters, kept=range(len(source.messages))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty(Treatment):
    """The floor: preamble, other system messages, question and running turn only (STR-041)."""

    kind: ClassVar[str] = "empty"
    reads_thresholds: ClassVar[bool] = False
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Leave out the history and the evidence; refuse when the rest does not fit."""
        source = look_at(case, budget, counter, evidence="none")
        kept = sorted(source.layout.pinned.union(source.layout.running))
        fits = sum(source.tokens[i] for i in kept) <= source.message_allowance_tokens
        draft = (
            Draft(messages=tuple(source.messages[i] for i in kept), outcome="shortened")
            if fits
            else Draft(messages=(), outcome="refused", reason="pinned_too_large")
        )
        return close_books(source, draft, strategy=self.name, parameters=self.parameters, kept=kept)
