"""Summaries by a model, and summaries of summaries: one call per generation while the source fits one prompt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ctxlab.budget import summary_target
from ctxlab.errors import CallError, StrategyError
from ctxlab.estimates import message_tokens
from ctxlab.messages import Message, Synthetic
from ctxlab.prompts import FORMS, Form
from ctxlab.strategies.base import NOT_A_PARAMETER, Draft, Observation, Treatment
from ctxlab.strategies.evidence import EVIDENCE, Evidence
from ctxlab.strategies.fidelity import guarded_identifiers, lost_identifiers
from ctxlab.strategies.generation import Generation, joined_blocks
from ctxlab.strategies.shorten import check_choice
from ctxlab.strategies.source import close_books, look_at
from ctxlab.strategies.summary_calls import Helpers, UnusableError
from ctxlab.strategies.summary_source import format_source

if TYPE_CHECKING:
    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import FittedContext, Helper, SummaryOutcome
    from ctxlab.strategies.source import Source
    from ctxlab.strategies.summary_source import FormattedSource
    from ctxlab.tokens import Counter

MOST_GENERATIONS = 10


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """One fit in the making: what it works on, and what has come of it so far."""

    source: Source
    formatted: FormattedSource
    target_tokens: int | None
    helpers: Helpers
    generations: list[Generation] = field(default_factory=list)
    outcome: SummaryOutcome = "failed"
    message: Synthetic | None = None
    error: CallError | None = None

    @property
    def is_hopeless(self) -> bool:
        """Whether what stays beside any summary is too large by itself, so that no call can help."""
        return self.source.pinned_tokens > self.source.message_allowance_tokens

    @property
    def sent_tokens(self) -> int:
        """Estimates of all prompts, added up; may exceed the source (STR-098)."""
        return sum(call.estimated_tokens for call in self.helpers.calls)

    @property
    def result_tokens(self) -> int:
        """Estimate of the summary's message; 0 without one, whatever the calls cost (STR-098)."""
        return 0 if self.message is None else message_tokens(self.message, self.source.counter)


def no_one(observation: Observation) -> None:
    """Nobody keeps observations unless somebody is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarize(Treatment):
    """Replace the history by a model's summary, then by a summary of that, and so on (STR-080 to STR-099).

    Attributes:
        requested_tokens: how long the summary message may be, before the clamps of the budget.
        generations: 1 to 10; each after the first summarises the summary before it.
        interlude: text put after the summary as an assistant message before the next generation.
        form: `prose`, or `slots`: the sections as fields of a JSON object.
        fidelity_guard: reject a summary that lost a name which binds, was rejected or is pending.
        evidence: what becomes of the case's snippets: `all`, `admit` or `none`.
        client: what is asked for the summaries.
        helper_counter, helper_budget: of the helper's model where they are not the run's (BUD-064).
        observe: is told what each fit took, a cancelled one too.
        clock: seconds, for observations.
    """

    kind: ClassVar[str] = "summarize"
    requested_tokens: int = 512
    generations: int = 1
    interlude: str | None = None
    form: Form = "prose"
    fidelity_guard: bool = False
    evidence: Evidence = "all"
    client: Helper | None = field(default=None, metadata=NOT_A_PARAMETER)
    helper_counter: Counter | None = field(default=None, metadata=NOT_A_PARAMETER)
    helper_budget: Budget | None = field(default=None, metadata=NOT_A_PARAMETER)
    observe: Callable[[Observation], None] = field(default=no_one, metadata=NOT_A_PARAMETER)
    clock: Callable[[], float] = field(default=time.monotonic, metadata=NOT_A_PARAMETER)
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def __post_init__(self) -> None:
        if type(self.requested_tokens) is not int:
            raise StrategyError("requested_tokens: expected a whole number")
        if type(self.generations) is not int or not 1 <= self.generations <= MOST_GENERATIONS:
            raise StrategyError(f"generations: allowed is 1 to {MOST_GENERATIONS}")
        if type(self.fidelity_guard) is not bool:
            raise StrategyError("fidelity_guard: allowed is true or false")
        check_choice("form", self.form, FORMS)
        check_choice("evidence", self.evidence, EVIDENCE)

    async def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Ask for the summaries one after the other; refuse or fail with the reason if one is not usable."""
        started = self.clock()
        attempt = self._begin(look_at(case, budget, counter, evidence=self.evidence))
        try:
            attempt.message = await self._summarize(attempt)
            attempt.outcome = "completed"
        except UnusableError as end:
            attempt.outcome = end.outcome
        except CallError as error:
            attempt.error = error
        except asyncio.CancelledError:
            attempt.outcome = "cancelled"
            raise
        finally:
            self.observe(_observation(attempt, elapsed_s=self.clock() - started))
        return self._close(attempt)

    def _begin(self, source: Source) -> _Attempt:
        assert self.client is not None  # the command that builds the strategy gives it one
        return _Attempt(
            source=source,
            formatted=format_source(source),
            target_tokens=summary_target(requested_tokens=self.requested_tokens, budget=source.budget),
            helpers=Helpers(
                client=self.client,
                prompt_counter=self.helper_counter or source.counter,
                reply_counter=source.counter,
                allowance_tokens=(self.helper_budget or source.budget).allowance_tokens,
                form=self.form,
            ),
        )

    async def _summarize(self, attempt: _Attempt) -> Synthetic:
        """The message of the last generation; raises `UnusableError` or `CallError`."""
        text, blocks = attempt.formatted.text, attempt.formatted.blocks
        if attempt.target_tokens is None or attempt.is_hopeless:
            raise UnusableError("insufficient_budget")
        if not text.strip():
            raise UnusableError("empty_source")
        guarded = self._guarded(attempt)
        for index in range(1, self.generations + 1):
            generation = Generation(
                helpers=attempt.helpers,
                index=index,
                target_tokens=attempt.target_tokens,
                thresholds=attempt.source.budget.thresholds,
                language=attempt.source.case.language,
                first_call=len(attempt.helpers.calls),
            )
            attempt.generations.append(generation)
            summary = await generation.condense(text, blocks)
            if lost_identifiers(guarded, summary):
                raise UnusableError("fidelity_rejected")
            text, blocks = joined_blocks(self._blocks(summary))
        return Synthetic(role="user", content=summary, made_by="summary")

    def _guarded(self, attempt: _Attempt) -> frozenset[str]:
        if not self.fidelity_guard:
            return frozenset()
        return guarded_identifiers(attempt.source.case, attempt.formatted.unseen)

    def _blocks(self, summary: str) -> list[str]:
        """What the next generation summarises, in the form of `format_source` (STR-091)."""
        blocks = [f"[user] {summary}"]
        return blocks if self.interlude is None else [*blocks, f"[assistant] {self.interlude}"]

    def _close(self, attempt: _Attempt) -> FittedContext:
        source, calls = attempt.source, tuple(attempt.helpers.calls)
        messages, reason = _result(source, attempt)
        first = attempt.generations[0] if attempt.generations else None
        draft = Draft(
            messages=messages,
            outcome="failed" if attempt.error else "summarized" if messages else "refused",
            reason=reason,
            claims=attempt.formatted.claims(first.pieces, calls=len(calls)) if first else (),
            receipt={
                "target_tokens": attempt.target_tokens,
                "summary_outcome": attempt.outcome,
                "parts": len(first.pieces) if first else 0,
                "rounds": first.rounds if first else 0,
                "helper_sent_tokens": attempt.sent_tokens,
                "helper_result_tokens": attempt.result_tokens,
                "flags": tuple(sorted(attempt.helpers.flags)),
            },
        )
        return close_books(
            source,
            draft,
            strategy=self.name,
            parameters=self.parameters,
            kept=source.layout.pinned.union(source.layout.running),
            reason="formatting",
            helper_calls=calls,
            error=attempt.error,
        )


def _observation(attempt: _Attempt, *, elapsed_s: float) -> Observation:
    return Observation(
        outcome=attempt.outcome,
        calls=len(attempt.helpers.calls),
        source_tokens=attempt.source.source_tokens,
        sent_tokens=attempt.sent_tokens,
        result_tokens=attempt.result_tokens,
        allowance_tokens=attempt.source.budget.allowance_tokens,
        elapsed_s=elapsed_s,
    )


def _result(source: Source, attempt: _Attempt) -> tuple[tuple[Message, ...], str | None]:
    """The fitted messages, or none and the reason (STR-092)."""
    if attempt.message is None:
        return (), "pinned_too_large" if attempt.is_hopeless else attempt.outcome
    layout = source.layout
    kept = sorted(layout.pinned.union(layout.running))
    messages = (
        *source.messages[: layout.preamble],
        attempt.message,
        *(source.messages[i] for i in kept if i >= layout.preamble),
    )
    cost = source.cost(messages)
    if cost + source.evidence_beside(messages).tokens >= source.source_tokens:
        return (), "no_gain"
    if cost > source.message_allowance_tokens:
        pinned = source.pinned_tokens > source.message_allowance_tokens
        return (), "pinned_too_large" if pinned else "target_not_reached"
    return messages, None
