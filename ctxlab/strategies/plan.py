"""The fallback order: it fits; what was sent before is used again; shorten; ask for a summary; refuse (STR-110 to 116).

`Plan.step` takes what the session remembers and returns what it remembers next; `Plan.fit` remembers nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ctxlab.budget import limits
from ctxlab.strategies.base import NOT_A_PARAMETER, Draft, Treatment
from ctxlab.strategies.condense import condense
from ctxlab.strategies.evidence import EVIDENCE, Evidence
from ctxlab.strategies.project import claims_of, project, tool_names
from ctxlab.strategies.shorten import check_choice, first_that_fits
from ctxlab.strategies.source import close_books, look_at
from ctxlab.strategies.summarize import Summarize, no_one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxlab.budget import Budget, Limits
    from ctxlab.dataset import Case
    from ctxlab.messages import Message
    from ctxlab.strategies.base import FittedContext, Helper, Observation, Outcome, Span
    from ctxlab.strategies.condense import Condensed
    from ctxlab.strategies.source import Source
    from ctxlab.tokens import Counter

PlanReason = Literal["none", "reused_projection", "input_pressure", "llm_fallback"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What stands for a case's messages, evidence apart, and the account of it."""

    messages: tuple[Message, ...]
    cost_tokens: int
    outcome: Outcome
    kept: frozenset[int]
    claims: tuple[Span, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    reason: str = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The last request of a session that was made smaller: its messages, and what stood for them; empty at first."""

    messages: tuple[Message, ...] = ()
    result: Compacted | None = None

    def extended(self, source: Source) -> Compacted | None:
        """The remembered result and the messages that came after its own; null if these do not begin the source."""
        length = len(self.messages)
        if self.result is None or source.messages[:length] != self.messages:
            return None
        own = {id(old): new for old, new in zip(self.messages, source.messages, strict=False)}
        messages = tuple(own.get(id(message), message) for message in self.result.messages)
        return replace(
            self.result,
            messages=(*messages, *source.messages[length:]),
            cost_tokens=self.result.cost_tokens + sum(source.tokens[length:]),
            kept=self.result.kept.union(range(length, len(source.messages))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Treatment):
    """Do as little as fits: nothing, then rules, then one summary by a model where there is one.

    Attributes:
        evidence: what becomes of the case's snippets: `all`, `admit` or `none`.
        client: what is asked for summaries; without one there is none.
        helper_counter, helper_budget: of the helper's model where they are not the run's.
        observe: is told what each summary took.
    """

    kind: ClassVar[str] = "plan"
    evidence: Evidence = "all"
    client: Helper | None = field(default=None, metadata=NOT_A_PARAMETER)
    helper_counter: Counter | None = field(default=None, metadata=NOT_A_PARAMETER)
    helper_budget: Budget | None = field(default=None, metadata=NOT_A_PARAMETER)
    observe: Callable[[Observation], None] = field(default=no_one, metadata=NOT_A_PARAMETER)
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def __post_init__(self) -> None:
        check_choice("evidence", self.evidence, EVIDENCE)

    @property
    def summarize(self) -> Summarize:
        """How summaries are made here."""
        return Summarize(
            client=self.client,
            helper_counter=self.helper_counter,
            helper_budget=self.helper_budget,
            observe=self.observe,
        )

    async def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Fit one case on its own, with nothing remembered before or after."""
        fitted, _ = await self.step(case, budget, counter, memory=None)
        return fitted

    async def step(
        self, case: Case, budget: Budget, counter: Counter, *, memory: Memory | None
    ) -> tuple[FittedContext, Memory | None]:
        """Fit one request of a session, and what to remember for its next; without a memory none is kept.

        With a memory, shortening leaves room to grow, so that its result can be used again.
        """
        source = look_at(case, budget, counter, evidence=self.evidence)
        limit = source.message_allowance_tokens
        if sum(source.tokens) <= limit:
            return self._sent(source, _whole(source), "none"), _fresh(memory)
        reused = memory.extended(source) if memory is not None else None
        if reused is not None and reused.cost_tokens <= limit:
            return self._sent(source, reused, "reused_projection"), memory
        if _is_filled(source):
            return self._refused(source, _whole(source), "input_pressure"), _fresh(memory)
        target = limit if memory is None else _limits(source).deterministic_target_tokens
        shortened = _shortened(source, target)
        if shortened.cost_tokens <= limit:
            fitted = self._sent(source, shortened, "input_pressure", target_tokens=target)
            return fitted, _remembered(memory, source, shortened)
        return await self._fall_back(source, shortened, memory)

    async def _fall_back(
        self, source: Source, shortened: Compacted, memory: Memory | None
    ) -> tuple[FittedContext, Memory | None]:
        """One summary of all that is not pinned, if that may help (STR-114)."""
        target = _limits(source).turn_summary_tokens
        pinned = _pinned(source, room_tokens=source.message_allowance_tokens - target)
        if self.client is None or pinned.cost_tokens > source.message_allowance_tokens:
            return self._refused(source, shortened, "input_pressure"), _fresh(memory)
        standing = pinned.kept.union(span.item_index for span in pinned.claims)
        condensed = await condense(
            source,
            [i for i in range(source.layout.end) if i not in standing],
            requested_tokens=target,
            summarize=self.summarize,
        )
        if condensed.fitted.error is not None:
            return self._close(source, None, "failed", "llm_fallback", condensed=condensed), _fresh(memory)
        summarized = _with_summary(source, pinned, condensed)
        if summarized is None or summarized.cost_tokens >= shortened.cost_tokens:
            return self._refused(source, shortened, "llm_fallback", condensed=condensed), _fresh(memory)
        fitted = self._sent(source, summarized, "llm_fallback", target_tokens=target, condensed=condensed)
        return fitted, _remembered(memory, source, summarized)

    def _sent(
        self,
        source: Source,
        result: Compacted,
        plan_reason: PlanReason,
        *,
        target_tokens: int | None = None,
        condensed: Condensed | None = None,
    ) -> FittedContext:
        receipt = {} if target_tokens is None else {"target_tokens": target_tokens}
        return self._close(source, result, result.outcome, plan_reason, receipt=receipt, condensed=condensed)

    def _refused(
        self,
        source: Source,
        shortened: Compacted,
        plan_reason: PlanReason,
        *,
        condensed: Condensed | None = None,
    ) -> FittedContext:
        """A refusal, whose receipt says how far compaction came, or that none can help (STR-115)."""
        seen = shortened.kept.union(s.item_index for s in shortened.claims if s.fate != "omitted")
        pinned = _pinned(source, room_tokens=0).cost_tokens
        flag = "no_compaction_can_help" if _is_filled(source) else "compaction_ran"
        helper_flags = condensed.fitted.receipt.flags if condensed is not None else ()
        receipt = {
            "result_tokens": shortened.cost_tokens + source.evidence_tokens,
            "omitted_messages": source.layout.end - len(seen),
            "flags": (flag, *helper_flags),
        }
        reason = "pinned_too_large" if pinned > source.message_allowance_tokens else "target_not_reached"
        return self._close(
            source, None, "refused", plan_reason, reason=reason, receipt=receipt, condensed=condensed
        )

    def _close(
        self,
        source: Source,
        result: Compacted | None,
        outcome: Outcome,
        plan_reason: PlanReason,
        *,
        reason: str | None = None,
        receipt: Mapping[str, Any] | None = None,
        condensed: Condensed | None = None,
    ) -> FittedContext:
        claims = result.claims if result is not None else condensed.claims if condensed is not None else ()
        draft = Draft(
            messages=result.messages if result is not None else (),
            outcome=outcome,
            reason=reason,
            claims=claims,
            receipt={
                "target_tokens": source.message_allowance_tokens,
                "plan_reason": plan_reason,
                **_helper_work(condensed),
                **(receipt or {}),
            },
        )
        return close_books(
            source,
            draft,
            strategy=self.name,
            parameters=self.parameters,
            kept=result.kept if result is not None else (),
            reasons=result.reasons if result is not None else None,
            reason=result.reason if result is not None else "strategy",
            helper_calls=condensed.fitted.helper_calls if condensed is not None else (),
            error=condensed.fitted.error if condensed is not None and outcome == "failed" else None,
        )


def _limits(source: Source) -> Limits:
    return limits(source.budget, message_allowance_tokens=source.message_allowance_tokens)


def _fresh(memory: Memory | None) -> Memory | None:
    return None if memory is None else Memory()


def _remembered(memory: Memory | None, source: Source, result: Compacted) -> Memory | None:
    return None if memory is None else Memory(messages=source.messages, result=result)


def _whole(source: Source) -> Compacted:
    return Compacted(
        messages=source.messages,
        cost_tokens=sum(source.tokens),
        outcome="unchanged",
        kept=frozenset(range(source.layout.end)),
    )


def _shortened(source: Source, target: int) -> Compacted:
    """What shortening comes to: within the target, else the last that it tried, else the first within M."""
    found, fits = first_that_fits(source, target)
    if not fits and found.cost_tokens > source.message_allowance_tokens > target:
        found, _ = first_that_fits(source, source.message_allowance_tokens)
    return Compacted(
        messages=found.messages,
        cost_tokens=found.cost_tokens,
        outcome="shortened",
        kept=found.kept,
        claims=found.claims,
        reasons=found.reasons,
    )


def _pinned(source: Source, *, room_tokens: int) -> Compacted:
    """The pinned messages and what follows the newest call group, its results projected if they need more room."""
    layout = source.layout
    tail = range(layout.newest_group[0], layout.end) if layout.newest_group else range(0)
    standing = sorted(layout.pinned.union(tail))
    messages = {i: source.messages[i] for i in standing}
    claims: list[Span] = []
    if sum(source.tokens[i] for i in standing) > room_tokens:
        thresholds = source.budget.thresholds
        level = thresholds.projection_levels[-1]
        for index, name in tool_names(source.messages).items():
            short = index in messages and project(
                messages[index], name=name, level=level, thresholds=thresholds
            )
            if short:
                messages[index] = short[0]
                claims += claims_of(index, short[1], fate="projected")
    return Compacted(
        messages=tuple(messages.values()),
        cost_tokens=source.cost(messages.values()),
        outcome="summarized",
        kept=frozenset(standing).difference(span.item_index for span in claims),
        claims=tuple(claims),
        reason="formatting",
    )


def _with_summary(source: Source, pinned: Compacted, condensed: Condensed) -> Compacted | None:
    """Pinned messages with the summary after the preamble, if there is one and they fit M together."""
    if condensed.message is None:
        return None
    place = source.layout.preamble
    cost_tokens = pinned.cost_tokens + source.cost([condensed.message])
    if cost_tokens > source.message_allowance_tokens:
        return None
    return replace(
        pinned,
        messages=(*pinned.messages[:place], condensed.message, *pinned.messages[place:]),
        cost_tokens=cost_tokens,
        claims=(*pinned.claims, *condensed.claims),
    )


def _is_filled(source: Source) -> bool:
    """Whether preamble, tools and reserves leave nothing of the window, so that no compaction can help."""
    return source.instruction_tokens >= source.budget.message_allowance_tokens()


def _helper_work(condensed: Condensed | None) -> dict[str, Any]:
    """What a receipt says of helper work: nothing if none was tried."""
    if condensed is None:
        return {}
    names = ("summary_outcome", "parts", "rounds", "helper_sent_tokens", "helper_result_tokens", "flags")
    return {name: getattr(condensed.fitted.receipt, name) for name in names}
