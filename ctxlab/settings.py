"""Points of a grid: values of thresholds, budget fields and strategy parameters, and what a run becomes with them."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from ctxlab.budget import SIZES, Budget
from ctxlab.errors import CtxlabError, InputError
from ctxlab.strategies.base import parameter_names
from ctxlab.strategies.parse import KINDS
from ctxlab.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ctxlab.strategies.base import Strategy

MOST_SETTINGS = 100_000
THRESHOLDS = frozenset(field.name for field in fields(Thresholds))
Value = int | float | str | bool | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One point: the budget and the strategies that its values make, strategies under the names that they were given.

    Attributes:
        values: in the order of the swept names, as they were given.
    """

    values: tuple[Value, ...]
    budget: Budget
    strategies: tuple[Strategy, ...]


def grid(
    swept: Mapping[str, Sequence[Value]], *, budget: Budget, strategies: Sequence[Strategy]
) -> tuple[Setting, ...]:
    """Every combination of values, the last name varying fastest.

    Names are fields of `Budget` (`window_tokens`), of `Thresholds` (`summary_share`), parameters that any of the
    strategies has (`target_tokens`), or those of one kind or name (`shorten.target_tokens`).

    Raises:
        InputError: an unknown name, no values, a value that is not allowed, or too many combinations.
    """
    for name, values in swept.items():
        _demand_known(name, strategies)
        if not values or len(set(map(str, values))) < len(values):
            raise InputError(f"{name}: expected one or more values, each once")
    combinations = 1
    for values in swept.values():
        combinations *= len(values)
    if combinations > MOST_SETTINGS:
        raise InputError(f"sweep: {combinations:,} settings; at most {MOST_SETTINGS:,} are allowed")
    return tuple(
        _setting(dict(zip(swept, values, strict=True)), budget, strategies)
        for values in product(*swept.values())
    )


def swept_from_words(pairs: Iterable[str]) -> dict[str, list[Value]]:
    """Names and values written as `name=v1,v2`; numbers are read as numbers, shares such as `3/5` stay text."""
    found: dict[str, list[Value]] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name in found or not text:
            raise InputError("sweep: expected NAME=V1,V2, each name once")
        found[name] = [_read(value.strip()) for value in text.split(",")]
    return found


def _read(text: str) -> Value:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float) else text


def _demand_known(name: str, strategies: Sequence[Strategy]) -> None:
    if name in SIZES or name in THRESHOLDS or any(_takes(strategy, name) for strategy in strategies):
        return
    raise InputError(
        "sweep: a name is no field of the budget, no threshold and no parameter of a strategy in the run; "
        "allowed is such as window_tokens, summary_share, target_tokens or shorten.target_tokens"
    )


def _takes(strategy: Strategy, name: str) -> bool:
    """Whether a swept name speaks of a parameter of this strategy."""
    whose, dot, parameter = name.rpartition(".")
    if dot and whose not in (strategy.kind, strategy.name):
        return False
    kind = KINDS.get(strategy.kind)
    return kind is not None and isinstance(strategy, kind) and parameter in parameter_names(kind)


def _setting(values: Mapping[str, Value], budget: Budget, strategies: Sequence[Strategy]) -> Setting:
    sizes = {name: value for name, value in values.items() if name in SIZES}
    levels = {name: value for name, value in values.items() if name in THRESHOLDS}
    try:
        return Setting(
            values=tuple(values.values()),
            budget=replace(budget, thresholds=replace(budget.thresholds, **levels), **sizes),  # type: ignore[arg-type]
            strategies=tuple(_with_parameters(strategy, values) for strategy in strategies),
        )
    except CtxlabError as error:
        raise InputError(f"sweep: {error}") from None


def _with_parameters(strategy: Any, values: Mapping[str, Value]) -> Strategy:
    """The strategy with the values that speak of it, under the name that it has without them."""
    own = {name.rpartition(".")[2]: value for name, value in values.items() if _takes(strategy, name)}
    made: Strategy = replace(strategy, **own, label=strategy.name) if own else strategy
    return made
