"""Strategies given in words: `full,shorten:target_tokens=512,sum4=summarize:generations=4` (GEN-030)."""

from __future__ import annotations

import re
import typing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxlab.errors import StrategyError
from ctxlab.strategies.admit import Admit
from ctxlab.strategies.base import parameter_names
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.full import Empty, Full
from ctxlab.strategies.plan import Plan
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize, no_one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxlab.budget import Budget
    from ctxlab.strategies.base import Helper, Observation, Strategy, Treatment
    from ctxlab.tokens import Counter

KINDS: dict[str, type[Treatment]] = {
    "full": Full,
    "empty": Empty,
    "shorten": Shorten,
    "extract": Extract,
    "summarize": Summarize,
    "admit": Admit,
    "plan": Plan,
}
"""The strategies by kind."""

LABEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,63})=")


def parse_strategies(text: str) -> tuple[Strategy, ...]:
    """Read strategies separated by commas, parameters by colons; a label may stand before each.

    Raises:
        StrategyError: an unknown kind or parameter, a bad value, or two strategies of one name.
    """
    return tuple(parse_strategy(spec.strip()) for spec in text.split(","))


def parse_strategy(spec: str) -> Strategy:
    """Read one strategy, `label=kind:name=value:name=value`."""
    match = LABEL.match(spec)
    label = match[1] if match else None
    kind, *pairs = (spec[match.end() :] if match else spec).split(":")
    if kind not in KINDS:
        raise StrategyError(f"strategies: {_unknown(kind)}; allowed is {', '.join(KINDS)}")
    given = [_parameter(kind, pair) for pair in pairs]
    values = dict(given)
    if len(values) < len(given):
        raise StrategyError(f"strategies: {kind}: a parameter is given twice")
    try:
        return typing.cast("Strategy", KINDS[kind](label=label, **values))  # type: ignore[call-arg]
    except StrategyError as error:
        raise StrategyError(f"strategies: {kind}: {error}") from None


def _unknown(kind: str) -> str:
    """What is wrong with a kind that does not exist, without repeating odd characters."""
    if not kind:
        return "an empty strategy"
    if "=" in kind:
        return "a label is 1 to 64 letters, digits, dots, hyphens and underscores, and a kind follows it"
    return f"'{kind}' is no strategy" if re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", kind) else "no strategy"


def _parameter(kind: str, pair: str) -> tuple[str, Any]:
    """One `name=value` with the value read by the type of the field."""
    from pydantic import TypeAdapter, ValidationError

    name, found, text = pair.partition("=")
    allowed = parameter_names(KINDS[kind], in_words=True)
    if not found or name not in allowed:
        shown = f"'{name}'" if re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", name) else "one given"
        names = ", ".join(allowed) or "none"
        raise StrategyError(f"strategies: {kind}: parameter {shown} is unknown; allowed is {names}")
    try:
        return name, TypeAdapter(_field_types(KINDS[kind])[name]).validate_strings(text)
    except ValidationError as error:
        reason = error.errors(include_input=False, include_url=False)[0]["msg"]
        raise StrategyError(f"strategies: {kind}: {name}: {reason}") from None


def _field_types(strategy: type[Treatment]) -> dict[str, Any]:
    """Types of a strategy's fields; those of what cannot be given in words are known to type checkers only."""
    unknown = dict.fromkeys(("Helper", "Counter", "Budget", "Observation"), object)
    return typing.get_type_hints(strategy, localns=unknown)


def with_full(strategies: Iterable[Strategy]) -> tuple[Strategy, ...]:
    """The strategies of a comparison: `full` first if it was left out (GEN-004), names unique.

    Raises:
        StrategyError: two strategies of one name.
    """
    chosen = tuple(strategies)
    if not any(strategy.kind == "full" for strategy in chosen):
        chosen = (Full(), *chosen)
    check_names([strategy.name for strategy in chosen])
    return chosen


def check_names(names: Sequence[str]) -> None:
    """Refuse two strategies of one name."""
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise StrategyError(f"strategies: the name '{twice}' stands twice; give one of them a label")


def asks_a_model(strategy: Strategy) -> bool:
    """Whether a strategy cannot do without a helper and has none."""
    return isinstance(strategy, Summarize) and strategy.client is None


def with_helper(
    strategies: Iterable[Strategy],
    helper: Helper,
    *,
    helper_counter: Counter | None = None,
    helper_budget: Budget | None = None,
    observe: Callable[[Observation], None] = no_one,
) -> tuple[Strategy, ...]:
    """The strategies, those that ask a helper and have none with this one, and `observe` told what each summary took."""
    return tuple(
        replace(s, client=helper, helper_counter=helper_counter, helper_budget=helper_budget, observe=observe)
        if isinstance(s, Summarize | Plan) and s.client is None
        else s
        for s in strategies
    )
