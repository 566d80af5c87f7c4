"""The runner: fixed workers over one iterator of rows, one row per (case, strategy, repeat), whatever happens.

A row goes fit -> verify -> gate -> client -> evaluators. Each step may end it, and each ending is a row of its own
kind: refused before anything was sent, in error with a kind and a stage, completed with an answer.
"""

from __future__ import annotations

import asyncio
import inspect
import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ctxlab.caller import RequestTooLargeError, RowLog, row_at_work
from ctxlab.calls import ChatRequest, Generation
from ctxlab.citations import dropped_citations
from ctxlab.errors import CallError
from ctxlab.estimates import guidance_message, request_tokens
from ctxlab.evaluators import evaluate, invented_in_context, judge_facts
from ctxlab.prices import row_cost
from ctxlab.records import Row
from ctxlab.strategies.verify import SENT, violations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ctxlab.budget import Budget
    from ctxlab.caller import Caller
    from ctxlab.calls import Reply
    from ctxlab.dataset import Case
    from ctxlab.messages import Message
    from ctxlab.prices import Prices
    from ctxlab.records import RowStage
    from ctxlab.strategies.base import FittedContext, Strategy
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is the same for all rows of a run.

    Attributes:
        caller: what main requests go through; null builds requests and sends none (`fitted` rows).
        tools, guidance: sent with every main request, priced in the budget (STR-013).
        shuffle_seed: permutes the order of work, never the order of rows (RUN-041).
        now: the clock of `started_at`.
        row_done: told of each row as it ends.
    """

    cases: tuple[Case, ...]
    strategies: tuple[Strategy, ...]
    repeats: int
    budget: Budget
    counter: Counter
    caller: Caller | None
    client_kind: str
    generation: Generation = field(default_factory=Generation)
    tools: tuple[Mapping[str, Any], ...] = ()
    guidance: str | None = None
    prices: Prices | None = None
    stream: bool = False
    concurrency: int = 1
    shuffle_seed: int | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    row_done: Callable[[Row], None] = lambda row: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Which row is meant: its place in the run, its case, its strategy and its repeat."""

    index: int
    case_index: int
    case: Case
    strategy: Strategy
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Rows in order, and whether all of them were run."""

    rows: tuple[Row, ...]
    interrupted: bool


def slots_of(plan: Plan) -> tuple[Slot, ...]:
    """The rows of a run in order of case, strategy, repeat."""
    order = (
        (case_index, case, strategy, repeat)
        for case_index, case in enumerate(plan.cases)
        for strategy in plan.strategies
        for repeat in range(plan.repeats)
    )
    return tuple(
        Slot(index=index, case_index=case_index, case=case, strategy=strategy, repeat=repeat)
        for index, (case_index, case, strategy, repeat) in enumerate(order)
    )


async def run_rows(plan: Plan) -> Outcome:
    """Run every row; on cancellation keep what is finished and mark the rest `not_run`."""
    slots = slots_of(plan)
    rows: list[Row | None] = [None] * len(slots)
    work = list(slots)
    if plan.shuffle_seed is not None:
        random.Random(plan.shuffle_seed).shuffle(work)
    todo = iter(work)
    fits: dict[tuple[int, str], FittedContext] = {}
    interrupted = False
    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(min(plan.concurrency, len(slots))):
                workers.create_task(_work(plan, todo, rows, fits))
    except asyncio.CancelledError:
        interrupted = True
    done = (row or _not_run(plan, slot) for row, slot in zip(rows, slots, strict=True))
    return Outcome(rows=tuple(done), interrupted=interrupted)


async def _work(
    plan: Plan,
    todo: Iterator[Slot],
    rows: list[Row | None],
    fits: dict[tuple[int, str], FittedContext],
) -> None:
    for slot in todo:
        row = await run_row(plan, slot, fits)
        rows[slot.index] = row
        plan.row_done(row)


def _not_run(plan: Plan, slot: Slot) -> Row:
    return replace(_blank(plan, slot), facts=judge_facts(slot.case, None, None))


def _blank(plan: Plan, slot: Slot) -> Row:
    return Row(
        case=slot.case,
        case_index=slot.case_index,
        strategy=slot.strategy.name,
        strategy_kind=slot.strategy.kind,
        repeat=slot.repeat,
        client_kind=plan.client_kind,
        status="not_run",
    )


async def run_row(plan: Plan, slot: Slot, fits: dict[tuple[int, str], FittedContext]) -> Row:
    """One row, from fitting to its verdict; any exception but cancellation and interruption becomes a row."""
    budget = plan.budget.with_output_at_least(slot.case.generation.over(plan.generation).max_tokens)
    log = RowLog(
        case_id=slot.case.id,
        strategy=slot.strategy.name,
        repeat=slot.repeat,
        allowance_tokens=budget.allowance_tokens,
    )
    row_at_work.set(log)
    attempt = _Attempt(row=replace(_blank(plan, slot), started_at=plan.now()))
    try:
        await _advance(plan, slot, budget, fits, attempt)
    except RequestTooLargeError:
        attempt.refuse("partition_limit" if attempt.stage == "fit" else "target_not_reached")
    except CallError as error:
        attempt.fail(error.kind, http_status=error.http_status)
    except Exception:  # noqa: BLE001  (RUN-031: one row's error never stops another row)
        attempt.fail("evaluator_failure" if attempt.stage == "evaluate" else "internal_error")
    return _finish(attempt.row, slot, log, plan.prices)


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """A row in the making and the stage it has reached."""

    row: Row
    stage: RowStage = "fit"

    def learn(self, **values: Any) -> None:
        self.row = replace(self.row, **values)

    def refuse(self, reason: str | None) -> None:
        self.learn(status="refused", reason=reason, error_kind="budget_exceeded", stage="fit", passed=False)

    def fail(self, kind: str, *, http_status: int | None = None) -> None:
        self.learn(status="error", error_kind=kind, stage=self.stage, http_status=http_status, passed=False)


async def _advance(
    plan: Plan,
    slot: Slot,
    budget: Budget,
    fits: dict[tuple[int, str], FittedContext],
    attempt: _Attempt,
) -> None:
    fitted = await _fit(plan, slot, budget, fits)
    if violations(slot.case, fitted, budget, plan.counter):
        attempt.fail("internal_error")
        return
    attempt.learn(fitted=fitted, reason=fitted.receipt.reason)
    if fitted.error is not None:
        attempt.stage = "helper"
        raise fitted.error
    if fitted.outcome not in SENT:
        attempt.refuse(fitted.receipt.reason)
        return
    request = _request(plan, slot, fitted)
    attempt.learn(request_tokens=request.estimated_tokens, status="fitted")
    if plan.caller is None:
        return
    attempt.stage = "main"
    reply = await plan.caller.complete(request)
    attempt.stage = "evaluate"
    attempt.learn(answer=reply.text, content_kind=reply.content_kind)
    _judge(slot, fitted, reply, attempt)


async def _fit(
    plan: Plan, slot: Slot, budget: Budget, fits: dict[tuple[int, str], FittedContext]
) -> FittedContext:
    """Fit the case; a plain `fit` once per case, an awaitable one once per repeat (STR-100)."""
    key = (slot.case_index, slot.strategy.name)
    if key in fits:
        return fits[key]
    fitted = slot.strategy.fit(slot.case, budget, plan.counter)
    if inspect.isawaitable(fitted):
        return await fitted
    if plan.repeats > 1:
        fits[key] = fitted
    return fitted


def _request(plan: Plan, slot: Slot, fitted: FittedContext) -> ChatRequest:
    messages: tuple[Message, ...] = fitted.messages
    if plan.guidance is not None:
        messages = (*messages, guidance_message(plan.guidance))
    return ChatRequest(
        messages=messages,
        generation=slot.case.generation.over(plan.generation),
        tools=plan.tools,
        stream=plan.stream,
        estimated_tokens=request_tokens(messages, plan.counter, tools=plan.tools),
    )


def _judge(slot: Slot, fitted: FittedContext, reply: Reply, attempt: _Attempt) -> None:
    verdict = evaluate(reply.text, slot.case, fitted.messages)
    attempt.learn(
        status="completed",
        evaluations=verdict.results,
        facts=verdict.facts,
        passed=verdict.passed,
        invented_identifiers=verdict.invented_identifiers,
        dropped_citations=dropped_citations(reply.text, slot.case, fitted.ledger),
    )


def _finish(row: Row, slot: Slot, log: RowLog, prices: Prices | None) -> Row:
    """The row with its calls, and its facts judged as far as they can be without an answer."""
    messages = row.fitted.messages if row.fitted is not None and row.fitted.messages else None
    facts = row.facts if row.status == "completed" else judge_facts(slot.case, messages, None)
    invented = None if messages is None else invented_in_context(slot.case, messages)
    cost, cost_uncached = row_cost(log.calls, prices)
    return replace(
        row,
        calls=tuple(log.calls),
        facts=facts,
        context_invented_identifiers=invented,
        cost=cost,
        cost_uncached=cost_uncached,
    )
