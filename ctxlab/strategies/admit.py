"""Admitting evidence: the history stays whole, and the snippets share what it leaves of the allowance (STR-022)."""

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
class Admit(Treatment):
    """Send every message unchanged, and of the snippets what fits and is not outdated; it makes no call."""

    kind: ClassVar[str] = "admit"
    reads_thresholds: ClassVar[bool] = False
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Return the messages with what is admitted beside them, or refuse with the reason (ADM-009).

        A case without snippets is sent as it is.
        """
        source = look_at(case, budget, counter, evidence="admit")
        draft = Draft(
            messages=source.messages,
            outcome="unchanged",
            receipt={"message_allowance_tokens": budget.message_allowance_tokens()},
        )
        return close_books(
            source, draft, strategy=self.name, parameters=self.parameters, kept=range(len(source.messages))
        )
