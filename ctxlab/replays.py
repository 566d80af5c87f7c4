"""Replay: one planner over every request of a session, with what it remembers and its checkpoints, step by step."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ctxlab.budget import compaction_due, next_attempt
from ctxlab.caller import Caller, RowLog, row_at_work
from ctxlab.checkpoints import MOST_CHECKPOINTS, checkpoint_source, try_checkpoint, view
from ctxlab.errors import IntegrityError
from ctxlab.estimates import message_tokens, messages_tokens
from ctxlab.loops import blocking
from ctxlab.schemas import SCHEMAS
from ctxlab.strategies.plan import Memory
from ctxlab.strategies.source import look_at
from ctxlab.strategies.verify import violations
from ctxlab.tabulate import tabulate
from ctxlab.tokens import counted_once, token_counter

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pandas as pd

    from ctxlab.budget import Budget
    from ctxlab.calls import ChatClient
    from ctxlab.checkpoints import Attempt, Checkpoint
    from ctxlab.dataset import Case
    from ctxlab.messages import Message
    from ctxlab.strategies.base import FittedContext
    from ctxlab.strategies.plan import Plan
    from ctxlab.strategies.source import Source
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request of a session.

    Attributes:
        index: counts the session's requests from 0.
        messages: how many messages the session has at this point, and `source_tokens` their estimate.
        fitted: what the planner made of them and of the checkpoint that applies.
        attempt: the checkpoint that was tried before, null if none was.
        shared_prefix_tokens: estimate of the messages at the beginning that are those of the request before; null
            for the first request, and where none is sent. It says nothing about a cache.
        prefix_changed: whether the request is something else than the one before with messages added; null likewise.
    """

    index: int
    messages: int
    source_tokens: int
    fitted: FittedContext
    attempt: Attempt | None
    shared_prefix_tokens: int | None
    prefix_changed: bool | None

    @property
    def calls(self) -> int:
        """Helper calls of checkpoint and plan."""
        return len(self.fitted.helper_calls) + (self.attempt.condensed.calls if self.attempt else 0)

    @property
    def sent_tokens(self) -> int:
        """Estimates of all helper prompts of the step, added up."""
        own = sum(call.estimated_tokens for call in self.fitted.helper_calls)
        return own + (self.attempt.condensed.sent_tokens if self.attempt else 0)

    @property
    def freed_tokens(self) -> int | None:
        """Source minus result, at least 0; null where nothing is sent; never added up over steps (STR-031)."""
        result = self.fitted.receipt.result_tokens if self.fitted.messages else None
        return None if result is None else max(0, self.source_tokens - result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Every request of one session under one planner, and the checkpoints at its end."""

    case_id: str
    strategy: str
    counter: str
    client_kind: str | None
    steps: tuple[Step, ...]
    checkpoints: tuple[Checkpoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What lasts from one request to the next.

    Attributes:
        memory: of the planner.
        checkpoints: accepted ones, oldest first.
        rejected: the messages whose summary was rejected last (STR-124).
        next_attempt_tokens: size from which the next checkpoint ahead of need may be tried (BUD-044).
        previous: the messages that were sent last.
    """

    memory: Memory | None = field(default_factory=Memory)
    checkpoints: tuple[Checkpoint, ...] = ()
    rejected: tuple[Message, ...] = ()
    next_attempt_tokens: int = 0
    previous: tuple[Message, ...] = ()


async def areplay(
    case: Case,
    planner: Plan,
    budget: Budget,
    counter: Counter,
    *,
    helper_client: ChatClient | None = None,
    budgets: Mapping[int, Budget] | None = None,
    checkpoints: Collection[int] = (),
) -> Replay:
    """Drive a planner over every request of a session: each prefix that ends before an assistant message, and the whole.

    Args:
        case: the session.
        planner: what makes each request fit; with a client, checkpoints are tried ahead of need too.
        budget: window, reserves and thresholds of the first step.
        counter: counts messages.
        helper_client: asked for summaries by a planner that has no helper; without one no call is made.
        budgets: by step, the budget from there on, such as another window or more tools.
        checkpoints: steps at which a checkpoint is requested whatever the size.

    Raises:
        IntegrityError: the planner broke the contract of strategies.
    """
    asked = helper_client if planner.client is None else None
    async with AsyncExitStack() as stack:
        if asked is not None:
            caller = Caller(
                client=asked,
                session=await stack.enter_async_context(asked.open()),
                counter=token_counter(asked.model),
                endpoint=asked.endpoint,
            )
            planner = replace(planner, client=caller, helper_counter=caller.counter)
        counted, session, steps = counted_once(counter), Session(), []
        for index, end in enumerate(request_ends(case.messages)):
            budget = (budgets or {}).get(index, budget)
            part = replace(case, messages=case.messages[:end])
            log = RowLog(
                case_id=case.id,
                strategy=planner.name,
                repeat=0,
                allowance_tokens=budget.allowance_tokens,
            )
            at_work = row_at_work.set(log)
            try:
                step, session = await _step(
                    part, planner, budget, counted, session, index=index, requested=index in checkpoints
                )
            finally:
                row_at_work.reset(at_work)
            steps.append(step)
    return Replay(
        case_id=case.id,
        strategy=planner.name,
        counter=counter.name,
        client_kind=None if asked is None else asked.kind,
        steps=tuple(steps),
        checkpoints=session.checkpoints,
    )


replay = blocking(areplay)
"""`areplay`, without `await`: the same in a script, a notebook cell, papermill and a running loop."""


def replay_frame(replay: Replay) -> pd.DataFrame:
    """One row per request of a session (`replay`)."""
    attrs = {
        "run_id": None, "fingerprint": None, "counter": replay.counter, "client_kind": replay.client_kind
    }  # fmt: skip
    return tabulate(SCHEMAS["replay"], (_row(replay, step) for step in replay.steps), attrs=attrs)


def request_ends(messages: Sequence[Message]) -> tuple[int, ...]:
    """Where the requests of a session end: before each assistant message that has something before it, and at its end."""
    ends = [i for i, message in enumerate(messages) if message.role == "assistant" and i > 0]
    return (*ends, len(messages))


async def _step(
    part: Case,
    planner: Plan,
    budget: Budget,
    counter: Counter,
    session: Session,
    *,
    index: int,
    requested: bool,
) -> tuple[Step, Session]:
    """One request: a checkpoint if one is due, then the plan."""
    attempt, session = await _checkpoint(part, planner, budget, counter, session, requested=requested)
    shown = replace(part, messages=view(part.messages, session.checkpoints))
    fitted, memory = await planner.step(shown, budget, counter, memory=session.memory)
    if faults := violations(shown, fitted, budget, counter):
        raise IntegrityError(f"{planner.name}, step {index}: {faults[0]}")
    shared, changed = _shared_prefix(session.previous, fitted.messages, counter)
    step = Step(
        index=index,
        messages=len(part.messages),
        source_tokens=messages_tokens(part.messages, counter),
        fitted=fitted,
        attempt=attempt,
        shared_prefix_tokens=shared,
        prefix_changed=changed,
    )
    return step, replace(session, memory=memory, previous=fitted.messages or session.previous)


async def _checkpoint(
    part: Case, planner: Plan, budget: Budget, counter: Counter, session: Session, *, requested: bool
) -> tuple[Attempt | None, Session]:
    """Try a checkpoint if it is requested or due ahead of need, and there is something new to summarise."""
    shown = replace(part, messages=view(part.messages, session.checkpoints))
    source = look_at(shown, budget, counter, evidence=planner.evidence)
    if planner.client is None or not (requested or _is_due(source, session)):
        return None, session
    indices = checkpoint_source(source)
    summarised = tuple(source.messages[i] for i in indices)
    if not indices or summarised == session.rejected or len(session.checkpoints) >= MOST_CHECKPOINTS:
        return None, session
    attempt = await try_checkpoint(source, indices, part.messages, summarize=planner.summarize)
    made = () if attempt.checkpoint is None else (attempt.checkpoint,)
    checkpoints = (*session.checkpoints, *made)
    return attempt, replace(
        session,
        checkpoints=checkpoints,
        rejected=() if made else summarised,
        next_attempt_tokens=next_attempt(
            tokens_left=messages_tokens(view(part.messages, checkpoints), counter),
            message_allowance_tokens=source.message_allowance_tokens,
            thresholds=budget.thresholds,
        ),
    )


def _is_due(source: Source, session: Session) -> bool:
    return compaction_due(
        tokens=sum(source.tokens),
        message_allowance_tokens=source.message_allowance_tokens,
        next_attempt_tokens=session.next_attempt_tokens,
        thresholds=source.budget.thresholds,
    )


def _shared_prefix(
    previous: tuple[Message, ...], messages: tuple[Message, ...], counter: Counter
) -> tuple[int | None, bool | None]:
    """Tokens of the messages that two requests begin with, and whether the second is not the first with more."""
    if not previous or not messages:
        return None, None
    shared = 0
    while shared < min(len(previous), len(messages)) and previous[shared] == messages[shared]:
        shared += 1
    return sum(message_tokens(m, counter) for m in messages[:shared]), shared < len(previous)


def _row(replay: Replay, step: Step) -> dict[str, Any]:
    receipt = step.fitted.receipt
    return {
        "case_id": replay.case_id,
        "strategy": replay.strategy,
        "step": step.index,
        "messages": step.messages,
        "source_tokens": step.source_tokens,
        "result_tokens": receipt.result_tokens if step.fitted.messages else None,
        "plan_reason": receipt.plan_reason,
        "outcome": step.fitted.outcome,
        "calls": step.calls,
        "sent_tokens": step.sent_tokens,
        "freed_tokens": step.freed_tokens,
        "shared_prefix_tokens": step.shared_prefix_tokens,
        "prefix_changed": step.prefix_changed,
    }
