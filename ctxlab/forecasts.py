"""What a run would send, before anything is sent: each request with its size, and what it would cost at least and at most.

A forecast is a run with a deterministic client in the model's place: the same strategies, the same rendering, the same
gate. Its list is exact where no reply matters, and where every summary fits its target.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ctxlab.budget import Budget
from ctxlab.calls import Generation
from ctxlab.comparison import arun
from ctxlab.display import shown
from ctxlab.errors import InputError
from ctxlab.experiments import sha256_of
from ctxlab.loops import blocking
from ctxlab.prices import MILLION
from ctxlab.schemas import SCHEMAS
from ctxlab.standins import StandIn, stand_in
from ctxlab.tabulate import tabulate
from ctxlab.tokens import token_counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import pandas as pd

    from ctxlab.dataset import Dataset
    from ctxlab.prices import ModelPrices, Prices
    from ctxlab.records import Call, Row, Run
    from ctxlab.strategies.base import Strategy

STAND_IN = "stand-in:head"
"""Its replies fill their target, so that no call is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One request that a run would make, or would refuse to make.

    Attributes:
        call_kind: `whole`, `part` or `merge` for a summary, `main` for the question.
        target_tokens: of a summary.
        output_tokens: the most that the reply may have.
        reason: why a refused one is not sent.
        cost_input, cost_upper: with no output, and with as much as the reply may have; null without prices.
    """

    case_id: str
    strategy: str
    repeat: int
    call_index: int
    call_kind: str
    generation: int | None
    request_sha256: str
    estimated_tokens: int
    target_tokens: int | None
    output_tokens: int
    refused: bool
    reason: str | None
    cost_input: Decimal | None
    cost_upper: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The requests of a run in row order, and the run with the stand-in that they were taken from."""

    run: Run
    requests: tuple[Planned, ...]
    model: str | None
    currency: str | None

    @property
    def calls(self) -> int:
        """How many requests would be sent."""
        return sum(not one.refused for one in self.requests)

    @property
    def tokens(self) -> int:
        """What they would hold together, by the counter's estimate."""
        return sum(one.estimated_tokens for one in self.requests if not one.refused)


async def aforecast(
    dataset: str | Path | Dataset,
    strategies: str | Iterable[Strategy],
    *,
    client: str | StandIn = STAND_IN,
    model: str | None = None,
    helper_model: str | None = None,
    budget: Budget | None = None,
    generation: Generation | None = None,
    repeats: int = 1,
    prices: Prices | None = None,
    **options: Any,
) -> Forecast:
    """List each request that a run would send.

    Args:
        dataset: as `run` takes it.
        strategies: as `run` takes them.
        budget: window, reserves and thresholds of the run.
        generation: settings of the run; `max_tokens` bounds each answer, else the output reserve does.
        repeats: samples of each cell.
        client: a stand-in that replies in the model's place; `stand-in:head` fills every target.
        model: whose counter counts and whose prices count; without one bytes are counted.
        helper_model: whose prices count for summaries, where it is not the model.
        prices: per million tokens; without them cost is null.
        options: what else `run` takes that shapes requests, such as `tools`, `guidance` and `system_prompt`.

    Raises:
        InputError: a client that is no stand-in, or anything that `run` refuses.
    """
    if isinstance(client, str) and not client.startswith("stand-in:"):
        raise InputError("client: a forecast sends nothing; allowed is stand-in:NAME")
    replies = stand_in(client.removeprefix("stand-in:")) if isinstance(client, str) else client
    base = budget or Budget()
    run = await arun(
        dataset,
        strategies,
        client=replies,
        budget=base,
        generation=generation,
        repeats=repeats,
        counter=token_counter(model),
        runs_dir=None,
        progress=False,
        **options,
    )
    rules = _Rules(
        budget=base,
        generation=generation or Generation(),
        main=_prices(prices, model),
        helper=_prices(prices, helper_model or model),
    )
    return Forecast(
        run=run,
        requests=tuple(one for row in run.rows for one in rules.requests(row)),
        model=model,
        currency=prices.currency if prices else None,
    )


forecast = blocking(aforecast)


def _prices(prices: Prices | None, model: str | None) -> ModelPrices | None:
    return prices.models.get(model or "") if prices else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """What turns the calls of a row into requests with bounds."""

    budget: Budget
    generation: Generation
    main: ModelPrices | None
    helper: ModelPrices | None

    def requests(self, row: Row) -> Iterator[Planned]:
        """The requests of a row, and the one that it refuses to send."""
        for call in row.last_calls:
            yield self._planned(row, call)
        if row.status == "refused":
            yield self._refused(row)

    def _planned(self, row: Row, call: Call) -> Planned:
        is_main = call.stage == "main"
        output_tokens = self._answer_tokens(row) if is_main else call.target_tokens or 0
        prices = self.main if is_main else self.helper
        return Planned(
            case_id=row.case.id,
            strategy=row.strategy,
            repeat=row.repeat,
            call_index=call.call_index,
            call_kind=call.kind,
            generation=call.generation_index,
            request_sha256=call.request_sha256,
            estimated_tokens=call.estimated_tokens,
            target_tokens=call.target_tokens,
            output_tokens=output_tokens,
            refused=False,
            reason=None,
            cost_input=_cost(call.estimated_tokens, 0, prices),
            cost_upper=_cost(call.estimated_tokens, output_tokens, prices),
        )

    def _refused(self, row: Row) -> Planned:
        """The question's request with the source as it is: what would have had to be sent."""
        receipt = row.fitted.receipt if row.fitted else None
        fixed = receipt.tool_tokens + receipt.guidance_tokens if receipt else 0
        texts = [[message.role, message.text] for message in row.case.messages]
        return Planned(
            case_id=row.case.id,
            strategy=row.strategy,
            repeat=row.repeat,
            call_index=len(row.last_calls),
            call_kind="main",
            generation=None,
            request_sha256=sha256_of(texts),
            estimated_tokens=(receipt.source_tokens if receipt else 0) + fixed,
            target_tokens=None,
            output_tokens=self._answer_tokens(row),
            refused=True,
            reason=row.reason,
            cost_input=None,
            cost_upper=None,
        )

    def _answer_tokens(self, row: Row) -> int:
        most = row.case.generation.over(self.generation).max_tokens
        return self.budget.output_reserve_tokens if most is None else most


def _cost(input_tokens: int, output_tokens: int, prices: ModelPrices | None) -> Decimal | None:
    """All input at the normal price; no cache is assumed (RUN-083)."""
    if prices is None:
        return None
    return (input_tokens * Decimal(prices.input) + output_tokens * Decimal(prices.output)) / MILLION


def forecast_frame(forecast: Forecast) -> pd.DataFrame:
    """One row per request (`forecast`)."""
    run = forecast.run
    schema = SCHEMAS["forecast"]
    known = {"run_id": run.run_id, "client_kind": run.client_kind}
    records = (
        {c.name: known[c.name] if c.name in known else getattr(one, c.name) for c in schema.columns}
        for one in forecast.requests
    )
    attrs = {
        "run_id": run.run_id,
        "fingerprint": run.fingerprint,
        "counter": run.counter,
        "client_kind": run.client_kind,
    }
    return tabulate(schema, records, attrs=attrs)


def forecast_table(forecast: Forecast) -> pd.DataFrame:
    """Requests, tokens and cost per strategy, and of all together, for readers."""
    import pandas as pd

    groups = {
        name: [one for one in forecast.requests if one.strategy == name] for name in forecast.run.strategies
    }
    rows = [_line(name, requests) for name, requests in {**groups, "all": list(forecast.requests)}.items()]
    table = pd.DataFrame(rows, dtype="string")
    if forecast.currency is None:
        table = table.drop(columns=["cost at least", "cost at most"])
    table.attrs.update(
        fingerprint=forecast.run.fingerprint,
        counter=forecast.run.counter,
        client_kind=forecast.run.client_kind,
    )
    return table


def _line(name: str, requests: list[Planned]) -> Mapping[str, str]:
    sent = [one for one in requests if not one.refused]
    return {
        "strategy": name,
        "requests": shown(len(sent), "count"),
        "of them for summaries": shown(sum(one.call_kind != "main" for one in sent), "count"),
        "refused": shown(len(requests) - len(sent), "count"),
        "input tokens": shown(sum(one.estimated_tokens for one in sent), "count"),
        "largest request": shown(max((one.estimated_tokens for one in sent), default=None), "count?"),
        "output tokens at most": shown(sum(one.output_tokens for one in sent), "count"),
        "cost at least": shown(_sum([one.cost_input for one in sent]), "number"),
        "cost at most": shown(_sum([one.cost_upper for one in sent]), "number"),
    }


def _sum(costs: list[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None
