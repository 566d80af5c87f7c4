"""The main job: every strategy on every case of a dataset, with one client, as one experiment on disk.

`arun` and `run` return the record of the run; `acompare` and `compare` its `results` frame.
"""

from __future__ import annotations

import asyncio
import inspect
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from ctxlab import experiments
from ctxlab.attached import judge_of
from ctxlab.budget import Budget
from ctxlab.caller import Caller, warm_up
from ctxlab.calls import ChatClient, Generation
from ctxlab.choices import DEFAULT_STRATEGIES, client_from_words
from ctxlab.dataset import Dataset
from ctxlab.design import Design
from ctxlab.errors import InputError, StrategyError
from ctxlab.estimates import guidance_tokens, tools_tokens
from ctxlab.loading import load_dataset
from ctxlab.loops import blocking
from ctxlab.places import Place, keep, keep_failed, open_place
from ctxlab.progress import Progress, Silent, progress_here
from ctxlab.records import Run
from ctxlab.retries import RetryPolicy
from ctxlab.runner import Plan, run_rows
from ctxlab.strategies.parse import asks_a_model, parse_strategies, with_full, with_helper
from ctxlab.tokens import counted_once, token_counter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from ctxlab.attached import Judge
    from ctxlab.declarations import AttachedGates, Deployment, SystemPrompt
    from ctxlab.design import Verb
    from ctxlab.prices import Prices
    from ctxlab.runner import Outcome
    from ctxlab.strategies.base import Strategy
    from ctxlab.tokens import Counter

P = ParamSpec("P")
MOST_WORKERS = 256
MOST_REPEATS = 100
MOST_TEMPERATURE = 2


async def arun(
    dataset: str | Path | Dataset,
    strategies: str | Iterable[Strategy] = DEFAULT_STRATEGIES,
    *,
    client: str | ChatClient | None = "local",
    helper_client: ChatClient | None = None,
    helper_budget: Budget | None = None,
    budget: Budget | None = None,
    counter: Counter | None = None,
    generation: Generation | None = None,
    repeats: int = 1,
    concurrency: int = 1,
    max_attempts: int = 1,
    stream: bool = False,
    shuffle_seed: int | None = None,
    warmup: int = 0,
    tools: Sequence[Mapping[str, Any]] = (),
    guidance: str | None = None,
    prices: Prices | None = None,
    system_prompt: SystemPrompt | None = None,
    deployment: Deployment | None = None,
    provenance: Mapping[str, Any] | None = None,
    gates: AttachedGates | None = None,
    previews: bool = True,
    ledger: bool = False,
    verb: Verb = "compare",
    runs_dir: str | Path | None = "runs",
    resume: str | None = None,
    progress: bool | Progress = True,
) -> Run:
    """Run every strategy on every case and return the record of the run.

    Args:
        dataset: a file of schema 1.0 or 1.1, or a loaded dataset.
        strategies: in words (GEN-030) or as records; `full` is put first if it is missing.
        client: `local`, `stand-in:NAME`, a client, or null to fit without sending.
        helper_budget: window and reserves of the model that is asked for summaries, where they are not the run's.
        helper_client: what strategies ask for summaries where it is not the client.
        budget: window and reserves; default 8,192 tokens with 1,000 for the output.
        counter: default the one of the client's model.
        generation: settings that fill what a case leaves open.
        repeats: 1 to 100 samples of each cell.
        concurrency: 1 to 256 workers.
        max_attempts: 1 to 10; from 2 on busy platforms and lost connections are asked again.
        stream: ask for server-sent events and measure the time to the first token.
        shuffle_seed: permutes the order of work, never of rows.
        warmup: requests sent before the rows; they are in the journal and in no frame.
        tools: tool definitions, sent with every main request.
        guidance: trailing guidance, sent with every main request.
        prices: what tokens cost, for the cost columns; without them cost is null.
        system_prompt: put before every case's messages; only its name, version and hash are kept.
        deployment: where the platform runs, for the manifest.
        provenance: a JSON object of your own, for the manifest.
        gates: limits that are judged at the end of the run; its record and reports hold the results.
        previews: false leaves beginnings of answers and evaluator summaries out of frames and reports.
        ledger: whether the fate of every source character is kept among the frames; it is the largest of them.
        verb: which job the run is, for the manifest.
        runs_dir: where the experiment is kept; null keeps nothing on disk.
        resume: id of an interrupted run to go on with.
        progress: false for silence, or a display of your own.

    Raises:
        InputError: anything wrong with the arguments, found before the first request.
        asyncio.CancelledError: the run was interrupted; what was finished is kept for a resume.
    """
    chosen = parse_strategies(strategies) if isinstance(strategies, str) else tuple(strategies)
    demand_range("repeats", repeats, MOST_REPEATS)
    demand_range("concurrency", concurrency, MOST_WORKERS)
    demand_generation(generation or Generation())
    base = budget or Budget()
    main = resolve_client(client, base)
    counter = counted_once(counter or token_counter(main.model if main else None))
    design = Design(
        dataset=loaded(dataset),
        strategies=with_full(chosen),
        client=main,
        helper=helper_client or main,
        helper_budget=helper_budget,
        budget=replace(
            base,
            tool_tokens=tools_tokens(tools, counter),
            n_tools=len(tools),
            guidance_tokens=guidance_tokens(guidance, counter),
        ),
        counter=counter,
        generation=generation or Generation(),
        repeats=repeats,
        concurrency=concurrency,
        max_attempts=max_attempts,
        stream=stream,
        shuffle_seed=shuffle_seed,
        warmup=warmup,
        tools=tuple(tools),
        guidance=guidance,
        prices=prices,
        system_prompt=system_prompt,
        deployment=deployment,
        provenance=provenance,
        previews=previews,
        ledger=ledger,
        verb=verb,
    )
    judge = None
    if gates is not None:
        judge = judge_of(gates, design.dataset, (s.name for s in design.strategies), runs_dir)
        design = replace(design, attached=judge.attached)
    waiting = next((s for s in design.strategies if asks_a_model(s)), None)
    if waiting is not None and design.helper is None:
        raise StrategyError(f"strategies: {waiting.name} asks a model for summaries; choose a client")
    show = progress_here() if progress is True else progress or Silent()
    return await _experiment(design, judge, runs_dir=runs_dir, resume=resume, show=show)


def _in_a_frame(function: Callable[P, Awaitable[Run]]) -> Callable[P, Coroutine[Any, Any, pd.DataFrame]]:
    """The function with the `results` frame of its run as result, and the same arguments."""

    @wraps(function)
    async def acompare(*args: P.args, **kwargs: P.kwargs) -> pd.DataFrame:
        from ctxlab.frames import results_frame

        return results_frame(await function(*args, **kwargs))

    signature = inspect.signature(function).replace(return_annotation="pd.DataFrame")
    acompare.__signature__ = signature  # type: ignore[attr-defined]
    acompare.__name__ = acompare.__qualname__ = "acompare"
    acompare.__doc__ = (function.__doc__ or "").replace("the record of the run", "its `results` frame", 1)
    return acompare


run = blocking(arun)
acompare = _in_a_frame(arun)
compare = blocking(acompare)


def loaded(dataset: str | Path | Dataset) -> Dataset:
    """The dataset, read if it is a path."""
    return dataset if isinstance(dataset, Dataset) else load_dataset(dataset)


def resolve_client(client: str | ChatClient | None, budget: Budget) -> ChatClient | None:
    """The client that was chosen in words: `local`, `stand-in:NAME`, or a client as it is (GEN-008)."""
    return client_from_words(client, budget=budget) if isinstance(client, str) else client


def demand_range(name: str, value: int, most: int) -> None:
    """Refuse a count that is not a whole number from 1 to `most`."""
    if type(value) is not int or not 1 <= value <= most:
        raise InputError(f"{name}: allowed is a whole number from 1 to {most}")


def demand_generation(generation: Generation) -> None:
    """Refuse sampling settings outside what a dataset may set."""
    temperature, most = generation.temperature, generation.max_tokens
    if temperature is not None and not 0 <= temperature <= MOST_TEMPERATURE:
        raise InputError(f"temperature: allowed is 0 to {MOST_TEMPERATURE}")
    if most is not None and most < 1:
        raise InputError("max_tokens: allowed is a whole number of 1 or more")


async def _experiment(
    design: Design, judge: Judge | None, *, runs_dir: str | Path | None, resume: str | None, show: Progress
) -> Run:
    place = open_place(design, runs_dir, resume)
    began = False
    try:
        async with AsyncExitStack() as stack:
            plan = await _plan(design, place, stack, show)
            began = True  # from here on somebody may know the run's id, and ask for it in a resume
            show.begin(run_id=place.run_id, rows=len(design.dataset) * len(plan.strategies) * plan.repeats)
            if plan.caller is not None:
                await warm_up(plan.caller, requests=design.warmup)
            outcome = await run_rows(plan)
    except BaseException as error:
        if began and isinstance(error, Exception):
            await keep_failed(place, design, error)
        else:
            await place.leave(discard=not began and resume is None)
        raise
    finally:
        show.end() if began else None
    return await _close(design, judge, place, outcome)


async def _plan(design: Design, place: Place, stack: AsyncExitStack, show: Progress) -> Plan:
    """Open what the run asks, and tie strategies and rows to it."""
    caller = helper = None
    if design.client is not None:
        caller = await _caller(design.client, design.counter, design, place, stack)
        helper = caller
    other, own = design.helper, design.helper_budget
    if other is not None and other is not design.client:
        helper = await _caller(other, token_counter(other.model), design, place, stack)
    if helper is not None and own is not None:
        helper = replace(helper, allowance_tokens=own.allowance_tokens)
    strategies = design.strategies
    if helper is not None:
        strategies = with_helper(
            strategies, helper, helper_counter=helper.counter, helper_budget=own, observe=place.observe
        )
    return Plan(
        cases=design.cases,
        strategies=strategies,
        repeats=design.repeats,
        budget=design.budget,
        counter=design.counter,
        caller=caller,
        client_kind=design.client_kind,
        generation=design.generation,
        tools=design.tools,
        guidance=design.guidance,
        prices=design.prices,
        stream=design.stream,
        concurrency=design.concurrency,
        shuffle_seed=design.shuffle_seed,
        row_done=show.row_done,
    )


async def _caller(
    client: ChatClient, counter: Counter, design: Design, place: Place, stack: AsyncExitStack
) -> Caller:
    return Caller(
        client=client,
        session=await stack.enter_async_context(client.open()),
        counter=counter,
        endpoint=client.endpoint,
        journal=place.journal,
        recorded=place.recorded.entries if place.recorded else {},
        retry=RetryPolicy(max_attempts=design.max_attempts),
    )


async def _close(design: Design, judge: Judge | None, place: Place, outcome: Outcome) -> Run:
    """Make the record, judge it, keep what a run leaves, and put a finished run in its place."""
    identity = design.identity()
    run = Run(
        run_id=place.run_id,
        fingerprint=experiments.fingerprint(identity),
        input_identity=experiments.input_identity(identity),
        identity=identity,
        dataset=design.dataset,
        strategies=tuple(s.name for s in design.strategies),
        repeats=design.repeats,
        rows=outcome.rows,
        counter=design.counter.name,
        client_kind=design.client_kind,
        model_requested=design.client.model if design.client else None,
        client_facts=_facts(design.client),
        observations=tuple(place.observations),
        previews=design.previews,
        base_url=design.client.endpoint if design.client else None,
        prices=design.prices,
        incomplete=outcome.interrupted,
        warnings=(*design.dataset.warnings, *place.notes),
    )
    if judge is not None:
        from ctxlab.loopback_latency import aclient_latency

        run = await judge.judged(run, aclient_latency)
    run = await keep(run, place, design)
    if outcome.interrupted:
        raise asyncio.CancelledError
    return run


def _facts(client: ChatClient | None) -> dict[str, str | int | None]:
    """What a client tells about itself, such as the embedded model's file hash; nothing for the others."""
    facts = getattr(client, "facts", None)
    return asdict(facts()) if facts is not None else {}
