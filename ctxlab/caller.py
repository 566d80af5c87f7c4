"""The one way to a client: every call of a row is gated, journaled, retried and remembered here.

A strategy holds a `Caller` as its helper, the runner one for main requests. Which row is at work is known from the
task's context, so that neither has to know about the other.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxlab.calls import ChatRequest, Generation, request_sha256
from ctxlab.errors import CallError, CtxlabError
from ctxlab.estimates import request_tokens
from ctxlab.journal import Entry, Slot
from ctxlab.messages import Message
from ctxlab.records import Call
from ctxlab.retries import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ctxlab.calls import ChatClient, ChatSession, Reply
    from ctxlab.journal import Journal
    from ctxlab.tokens import Counter


class RequestTooLargeError(CtxlabError):
    """A request over the allowance reached the gate; it was not sent (GEN-009)."""


@dataclass(slots=True, kw_only=True)
class RowLog:
    """The calls of the row at work, in the order in which they are made."""

    case_id: str
    strategy: str
    repeat: int
    allowance_tokens: int | None
    calls: list[Call] = field(default_factory=list)
    started_calls: int = 0

    def next_call_index(self) -> int:
        """Claim the index of the next call."""
        self.started_calls += 1
        return self.started_calls - 1


row_at_work: ContextVar[RowLog] = ContextVar("row_at_work")


async def warm_up(caller: Caller, *, requests: int) -> None:
    """Send a few short requests that belong to no row; they are journaled and otherwise forgotten (RUN-057)."""
    request = ChatRequest(
        messages=(Message(role="user", content="Say hello."),),
        generation=Generation(max_tokens=1),
        stage="warmup",
    )
    for number in range(requests):
        row_at_work.set(RowLog(case_id="-", strategy="-", repeat=number, allowance_tokens=None))
        with suppress(CallError):
            await caller.complete(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A client at work in a run.

    Attributes:
        endpoint: the client's endpoint, which a client may have to work out; stands in every call.
        recorded: attempts of an earlier part of the run; one is reused if slot and request agree (RUN-073).
        allowance_tokens: what a request may use, where it is not the row's: that of a helper's own window.
        retry: when an attempt is repeated, and after how long.
        sleep, chance: injectable, so that tests neither wait nor guess.
    """

    client: ChatClient
    session: ChatSession
    counter: Counter
    endpoint: str | None = None
    journal: Journal | None = None
    recorded: Mapping[Slot, Entry] = field(default_factory=dict)
    allowance_tokens: int | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: random.Random = field(default_factory=random.Random)

    @property
    def enforces_schema(self) -> bool:
        """Whether the client is known to enforce a JSON schema (STR-093a)."""
        return bool(getattr(self.client, "enforces_schema", False))

    async def complete(self, request: ChatRequest) -> Reply:
        """Make the call, again if the policy says so, and return the reply of the attempt that succeeded.

        Raises:
            CallError: of the last attempt.
            RequestTooLargeError: the estimate is above the allowance; nothing was sent.
        """
        log = row_at_work.get()
        self._gate(request, log)
        payload = self.client.payload(request)
        sha256 = request_sha256(payload)
        call_index, attempt = log.next_call_index(), 0
        while True:
            slot = Slot(
                case_id=log.case_id,
                strategy=log.strategy,
                repeat=log.repeat,
                call_index=call_index,
                attempt=attempt,
            )
            entry = self.recorded.get(slot)
            reused = entry is not None and entry.request_sha256 == sha256
            if entry is None or not reused:
                entry = await self._attempt(slot, request, payload, sha256)
            log.calls.append(self._call(request, entry, reused=reused))
            try:
                return entry.result()
            except CallError as error:
                delay_s = self.retry.delay_s(attempt, error, self.chance)
                if delay_s is None:
                    raise
            if not reused:
                await self.sleep(delay_s)
            attempt += 1

    def _gate(self, request: ChatRequest, log: RowLog) -> None:
        allowed = log.allowance_tokens if self.allowance_tokens is None else self.allowance_tokens
        if allowed is None:
            return
        tokens = request_tokens(request.messages, self.counter, tools=request.tools)
        if tokens > allowed:
            raise RequestTooLargeError(f"a request of {tokens} tokens; allowed is {allowed}")

    async def _attempt(
        self, slot: Slot, request: ChatRequest, payload: Mapping[str, object], sha256: str
    ) -> Entry:
        try:
            reply = await self.session.complete(payload)
            entry = Entry.of_reply(slot, request.stage, sha256, reply)
        except CallError as error:
            entry = Entry.of_error(slot, request.stage, sha256, error)
        if self.journal is not None:
            await self.journal.append(entry)
        return entry

    def _call(self, request: ChatRequest, entry: Entry, *, reused: bool) -> Call:
        return Call(
            call_index=entry.slot.call_index,
            attempt=entry.slot.attempt,
            stage=request.stage,
            kind=request.kind,
            generation_index=request.generation_index,
            request_sha256=entry.request_sha256,
            estimated_tokens=request.estimated_tokens,
            target_tokens=request.target_tokens,
            outcome=entry.outcome,
            error_kind=entry.error_kind,
            http_status=entry.http_status,
            usage=entry.usage,
            duration_s=entry.duration_s,
            ttft_s=entry.ttft_s,
            model_requested=self.client.model,
            model_observed=entry.model_observed,
            finish_reason=entry.finish_reason,
            reused=reused,
            reached=entry.reached,
            endpoint=self.endpoint,
        )
