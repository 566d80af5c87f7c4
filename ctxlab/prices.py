"""Prices given by the user, and what a row cost by them, in exact decimals; there are no built-in prices (RUN-090)."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ctxlab.errors import InputError
from ctxlab.files import demand_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxlab.records import Call

MILLION = Decimal(1_000_000)
Amount = Annotated[str, Field(pattern=r"^\d{1,12}(\.\d{1,12})?$")]
STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrices:
    """Prices per million tokens of one model, as decimal text."""

    __pydantic_config__ = STRICT

    input: Amount
    cached_input: Amount
    output: Amount
    cache_write: Amount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices by model name, in one currency."""

    __pydantic_config__ = STRICT

    currency: Annotated[str, Field(min_length=1, max_length=8)]
    models: dict[str, ModelPrices] = field(default_factory=dict)


def load_prices(path: str | Path) -> Prices:
    """Read a price file (RUN-090).

    Raises:
        InputError: naming the field and the rule.
    """
    demand_file(path)
    name = Path(path).name
    try:
        return TypeAdapter(Prices).validate_json(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror})") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "-"
        raise InputError(f"{name}: {place[:80]}: {first['msg']}") from None


def call_cost(call: Call, prices: Prices | None) -> Decimal | None:
    """What one attempt cost; null if a number or a price that is needed is unknown (RUN-091, RUN-092, RUN-095)."""
    model = prices.models.get(call.model_requested) if prices else None
    total = call_cost_uncached(call, prices)
    if model is None or total is None or not call.reached:
        return total
    special, usage = 0, call.usage
    for number, price in (
        (usage.cached_tokens, model.cached_input),
        (usage.cache_write_tokens, model.cache_write),
    ):
        if price is None or Decimal(price) == Decimal(model.input):
            continue
        if number is None:
            return None
        special += number
        total += number * (Decimal(price) - Decimal(model.input)) / MILLION
    return None if special > (usage.prompt_tokens or 0) else total


def call_cost_uncached(call: Call, prices: Prices | None) -> Decimal | None:
    """The same with all input at the normal price: an upper bound that needs no cached number (RUN-093)."""
    model = prices.models.get(call.model_requested) if prices else None
    if model is None:
        return None
    if not call.reached:
        return Decimal(0)
    usage = call.usage
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    total = usage.prompt_tokens * Decimal(model.input) + usage.completion_tokens * Decimal(model.output)
    return total / MILLION


def row_cost(calls: Iterable[Call], prices: Prices | None) -> tuple[float | None, float | None]:
    """Cost and uncached cost of a row over all its attempts; null if any of them is unknown or none was made."""
    attempts = tuple(calls)
    return (
        _total([call_cost(call, prices) for call in attempts]),
        _total([call_cost_uncached(call, prices) for call in attempts]),
    )


def _total(costs: list[Decimal | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return float(sum(known)) if costs and len(known) == len(costs) else None
