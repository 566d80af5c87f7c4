"""Admitting evidence: the history stays whole, and the snippets share what it leaves of the allowance (STR-022)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from ctxlab.admission.lineage import ORDERS
from ctxlab.strategies.base import NOT_A_PARAMETER, Draft, Treatment
from ctxlab.strategies.shorten import check_choice
from ctxlab.strategies.source import close_books, look_at

if TYPE_CHECKING:
    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import FittedContext
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Admit(Treatment):
    """Send every message unchanged, and of the snippets what fits and is not outdated; it makes no call.

    Attributes:
        order: `lineage`, admission's own; `rank` and `newest` are what it is measured against: the retrieval order and
            the newest first, in which nothing is outdated and nothing blocked.
    """

    kind: ClassVar[str] = "admit"
    reads_thresholds: ClassVar[bool] = False
    order: Literal["lineage", "newest", "rank"] = "lineage"
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def __post_init__(self) -> None:
        check_choice("order", self.order, tuple(ORDERS))

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Return the messages with what is admitted beside them, or refuse with the reason (ADM-009).

        A case without snippets is sent as it is.
        """
        source = look_at(case, budget, counter, evidence="admit", order=self.order)
        draft = Draft(
            messages=source.messages,
            outcome="unchanged",
            receipt={"message_allowance_tokens": budget.message_allowance_tokens()},
        )
        return close_books(
            source, draft, strategy=self.name, parameters=self.parameters, kept=range(len(source.messages))
        )
