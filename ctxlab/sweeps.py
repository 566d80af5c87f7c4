"""The same comparison over a grid of settings: what is tuned, how much it matters, and where it does not.

Text is counted once and not once per setting; what several settings have in common is fitted once. Settings are
independent, so that any `concurrent.futures.Executor` may work on them; the result is the same whoever does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ctxlab.budget import SIZES, Budget
from ctxlab.comparison import loaded, resolve_client, run
from ctxlab.errors import InputError
from ctxlab.experiments import sha256_of
from ctxlab.forecasts import forecast
from ctxlab.loops import run_blocking
from ctxlab.metrics import Metrics, metrics
from ctxlab.paired import compare_strategies
from ctxlab.records import Run
from ctxlab.runner import Plan, run_rows
from ctxlab.schemas import HEADLINE_COLUMNS, SCHEMAS, headline_columns
from ctxlab.settings import Setting, grid
from ctxlab.strategies.full import Empty
from ctxlab.strategies.parse import asks_a_model, parse_strategies, with_full
from ctxlab.tokens import counted_once, token_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from ctxlab.calls import ChatClient
    from ctxlab.dataset import Dataset
    from ctxlab.records import Row
    from ctxlab.settings import Value
    from ctxlab.strategies.base import Strategy
    from ctxlab.tokens import Counter

CHUNKS = 16
"""Into how many tasks a sweep is cut for an executor; more would count texts more often, fewer leave workers idle."""
Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Metrics per setting and strategy, in the order of the grid.

    Attributes:
        names: what was swept.
        settings: the grid.
        records: columns of the `sweep` frame by name, but for `within_best`.
    """

    names: tuple[str, ...]
    settings: tuple[Setting, ...]
    records: tuple[Record, ...]
    fingerprint: str
    counter: str
    client_kind: str

    @property
    def recall(self) -> str:
        """Which recall the settings are judged by: answer recall, or context recall where no model answered."""
        columns = {name: [record[name] for record in self.records] for name in HEADLINE_COLUMNS}
        return headline_columns(columns)[0]


def sweep(
    dataset: str | Path | Dataset,
    strategies: str | Iterable[Strategy],
    swept: Mapping[str, Sequence[Value]],
    *,
    budget: Budget | None = None,
    counter: Counter | None = None,
    executor: Executor | None = None,
    client: str | ChatClient | None = None,
    max_calls: int | None = None,
    told: Callable[[Forecasted], None] = lambda forecasted: None,
    **options: Any,
) -> Sweep:
    """Compare strategies at every combination of the swept values; without a client nothing is sent.

    Args:
        dataset: a file of schema 1.0 or 1.1, or a loaded dataset.
        strategies: in words or as records; `full` and `empty` are put in if they are missing.
        swept: values by name, as `ctxlab.settings.grid` takes them.
        budget: what is not swept of it; default `Budget()`.
        counter: default that of the client's model, or without one of the GPT-4o vocabulary.
        executor: works on parts of the grid; default this process. Offline only.
        client: who is asked: every distinct setting is a run of its own, one after the other.
        max_calls: the most requests that may be sent; needed with a client. A grid over it sends none.
        told: is told what will be sent, before anything is.
        options: what else `ctxlab.run` takes; with a client only.

    Raises:
        InputError: an unknown name or value, a strategy that asks a model without one, or a grid over `max_calls`.
    """
    chosen = _completed(parse_strategies(strategies) if isinstance(strategies, str) else tuple(strategies))
    settings = grid(swept, budget=budget or Budget(), strategies=chosen)
    points = list(dict.fromkeys((setting.budget, setting.strategies) for setting in settings))
    cases, asked = loaded(dataset), resolve_client(client, budget or Budget())
    counter = counted_once(counter or token_counter(asked.model if asked else "gpt-4o"))
    if asked is None:
        _demand_offline(chosen, options)
        done = _offline(_Work(dataset=cases, counter=counter), points, executor)
    else:
        told(_demand_within(_forecast(cases, points, asked.model), max_calls))
        done = [
            records_of(run(cases, s, client=asked, budget=b, counter=counter, **options)) for b, s in points
        ]
    found = dict(zip(points, done, strict=True))
    return Sweep(
        names=tuple(swept),
        settings=settings,
        records=tuple(
            {"setting": number, **dict(zip(swept, setting.values, strict=True)), **record}
            for number, setting in enumerate(settings)
            for record in found[setting.budget, setting.strategies]
        ),
        fingerprint=_fingerprint(cases, settings, swept, counter),
        counter=counter.name,
        client_kind="offline" if asked is None else asked.kind,
    )


def _fingerprint(
    dataset: Dataset, settings: Sequence[Setting], swept: Mapping[str, Sequence[Value]], counter: Counter
) -> str:
    """The hash of what shapes the records: cases, counter, names with their values, and the first setting whole."""
    first = settings[0]
    return sha256_of(
        {
            "dataset": dataset.sha256,
            "counter": [counter.name, counter.vocabulary_sha256],
            "swept": [[name, list(map(str, values))] for name, values in swept.items()],
            "budget": [int(getattr(first.budget, name)) for name in SIZES],
            "thresholds": first.budget.thresholds.canonical(),
            "strategies": [[s.name, s.kind, getattr(s, "parameters", {})] for s in first.strategies],
        }
    )


def _completed(strategies: Iterable[Strategy]) -> tuple[Strategy, ...]:
    """The strategies with both baselines (EXP-061)."""
    chosen = with_full(strategies)
    return chosen if any(one.kind == "empty" for one in chosen) else (*chosen, Empty())


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecasted:
    """What a live sweep will send, as far as it can be known: requests, and the tokens in them."""

    calls: int
    tokens: int


def _forecast(dataset: Dataset, points: Sequence[_Point], model: str) -> Forecasted:
    found = [forecast(dataset, strategies, model=model, budget=budget) for budget, strategies in points]
    return Forecasted(calls=sum(one.calls for one in found), tokens=sum(one.tokens for one in found))


def _demand_within(forecasted: Forecasted, max_calls: int | None) -> Forecasted:
    """The forecast, if it is within what the user allows (EXP-064)."""
    grid_sends = f"this grid would send {forecasted.calls:,} requests"
    if max_calls is None:
        raise InputError(f"--max-calls: is needed with a client; {grid_sends}")
    if forecasted.calls > max_calls:
        raise InputError(f"--max-calls: {grid_sends}; allowed are {max_calls:,}")
    return forecasted


def _demand_offline(strategies: Sequence[Strategy], options: Mapping[str, Any]) -> None:
    asking = next((strategy for strategy in strategies if asks_a_model(strategy)), None)
    if asking is not None:
        raise InputError(f"sweep: {asking.name} asks a model, so that a client is needed")
    if options:
        raise InputError(f"sweep: {', '.join(sorted(options))}: only with a client")


# Work


def _offline(work: _Work, points: Sequence[_Point], executor: Executor | None) -> list[list[Record]]:
    """Records per point, by this process or in tasks."""
    if executor is None:
        return work(points)
    size = -(-len(points) // CHUNKS)
    chunks = [points[i : i + size] for i in range(0, len(points), size)]
    futures = [executor.submit(work, chunk) for chunk in chunks]
    return [
        records
        for chunk, future in zip(chunks, futures, strict=True)
        for records in _result(work, chunk, future)
    ]


def _result(work: _Work, chunk: Sequence[_Point], future: Future[list[list[Record]]]) -> list[list[Record]]:
    """What a task gave; a task that failed gives rows in error, one per strategy."""
    try:
        return future.result()
    except Exception:  # noqa: BLE001  (whatever ended a worker, its settings are rows)
        return [work.failed(strategies) for _, strategies in chunk]


_Point = tuple[Budget, tuple["Strategy", ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What a worker is given: cases and counter; called with points of the grid it returns their records."""

    dataset: Dataset
    counter: Counter

    def __call__(self, points: Sequence[_Point]) -> list[list[Record]]:
        rows = run_blocking(self._rows, points, awaitable_name="sweep")
        return [
            records_of(self._record(strategies, [rows[_key(budget, one)] for one in strategies]))
            for budget, strategies in points
        ]

    async def _rows(self, points: Sequence[_Point]) -> dict[Any, tuple[Row, ...]]:
        """The rows of each strategy and budget, what several points have in common once."""
        rows: dict[Any, tuple[Row, ...]] = {}
        for budget, strategies in points:
            for strategy in strategies:
                if (key := _key(budget, strategy)) not in rows:
                    rows[key] = (await run_rows(self._plan(budget, strategy))).rows
        return rows

    def _plan(self, budget: Budget, strategy: Strategy) -> Plan:
        return Plan(
            cases=self.dataset.cases,
            strategies=(strategy,),
            repeats=1,
            budget=budget,
            counter=self.counter,
            caller=None,
            client_kind="offline",
        )

    def _record(self, strategies: Sequence[Strategy], rows: Sequence[Sequence[Row]]) -> Run:
        """The rows of one setting as a run, so that metrics and pairs are those of any run."""
        return Run(
            run_id="-",
            fingerprint="",
            input_identity="",
            identity={},
            dataset=self.dataset,
            strategies=tuple(strategy.name for strategy in strategies),
            repeats=1,
            rows=tuple(row for of_strategy in rows for row in of_strategy),
            counter=self.counter.name,
            client_kind="offline",
            model_requested=None,
        )

    def failed(self, strategies: Sequence[Strategy]) -> list[Record]:
        """Rows in error for every strategy."""
        unknown = {field.name: None for field in fields(Metrics)}
        counts = dict.fromkeys(
            (c.name for c in SCHEMAS["metrics"].columns if c.dtype == "i" and c.required), 0
        )
        number = len(self.dataset)
        return [
            {
                **unknown,
                **counts,
                "strategy": strategy.name,
                "rows": number,
                "errors": number,
                **_NO_DIFFERENCE,
            }
            for strategy in strategies
        ]


_NO_DIFFERENCE = {"difference_low": None, "difference_high": None}


def _key(budget: Budget, strategy: Strategy) -> Any:
    """What the rows of a strategy depend on: thresholds only where it reads them."""
    thresholds = budget.thresholds if getattr(strategy, "reads_thresholds", True) else None
    sizes = (
        budget.allowance_tokens,
        budget.output_reserve_tokens,
        budget.tool_tokens,
        budget.guidance_tokens,
    )
    return strategy, sizes, thresholds


def records_of(run: Run) -> list[Record]:
    """Metrics and the paired interval against `full`, one record per strategy of a run."""
    groups = metrics(run)
    recall = headline_columns({name: [getattr(g, name) for g in groups] for name in HEADLINE_COLUMNS})[0]
    compared = {
        one.strategy: one
        for one in compare_strategies(run, metrics=[recall], sets=["completed"])  # type: ignore[list-item]
    }
    return [{**_fields(group), **_difference(compared.get(group.strategy or ""))} for group in groups]


def _fields(group: Metrics) -> Record:
    return {field.name: getattr(group, field.name) for field in fields(group)}


def _difference(one: Any) -> Record:
    return _NO_DIFFERENCE if one is None else {"difference_low": one.low, "difference_high": one.high}
