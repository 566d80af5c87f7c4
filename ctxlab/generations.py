"""What each generation of a summary has kept, and what each of its calls was given and made of it.

A summary of the fifth generation has four others behind it. `by_generation` shows a run as if each of them had been
fitted by a strategy of its own, so that every metric, table and figure of a run applies to generations too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ctxlab.display import NOTHING, shown
from ctxlab.errors import InputError
from ctxlab.estimates import message_tokens
from ctxlab.evaluators import invented_in_context
from ctxlab.facts import judge_facts
from ctxlab.messages import Message, Synthetic
from ctxlab.strategies.summary_calls import HEADING
from ctxlab.tables import bounded, table_of
from ctxlab.tokens import counter_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from ctxlab.dataset import Case
    from ctxlab.records import Row, Run
    from ctxlab.strategies.base import HelperCall

GENERATION = ": generation "
"""Stands between a strategy and the number of its generation, in the name of each."""

MOST_IDS = 8
"""Facts that a table names in one cell; further ones are counted."""


def by_generation(run: Run) -> Run:
    """The run with the generations of each summary as strategies of their own, offline; other strategies as they are.

    A generation's context is the one that was fitted, with that generation's summary in it. Nothing was asked about
    it, so that only context recall, sizes, helper calls and their seconds are known. A row whose summary was refused
    or failed stands as that under each of its generations.

    Returns:
        A run whose strategies are named `NAME: generation K`, beside those that write no summaries.
    """
    names = tuple(dict.fromkeys(name for row in run.rows for name, _ in _names(row)))
    if not any(row.strategy_kind == "summarize" for row in run.rows):
        raise InputError("run: holds no row of summarize, so there are no generations to show")
    rows = tuple(_as_of(row, name, k, run.counter) for row in run.rows for name, k in _names(row))
    return replace(run, strategies=names, rows=rows)


def _names(row: Row) -> Iterator[tuple[str, int | None]]:
    """The strategies that a row stands for: one per generation, or its own."""
    if row.strategy_kind != "summarize":
        yield row.strategy, None
        return
    wanted = row.fitted.receipt.parameters["generations"] if row.fitted else 1
    assert isinstance(wanted, int)
    yield from ((f"{row.strategy}{GENERATION}{k}", k) for k in range(1, wanted + 1))


def _as_of(row: Row, name: str, generation: int | None, counter_name: str) -> Row:
    """The row as a strategy would have left it that stops after this generation and asks nothing."""
    unasked = replace(
        row,
        strategy=name,
        answer=None,
        content_kind=None,
        evaluations=(),
        invented_identifiers=None,
        calls=tuple(
            call
            for call in row.helper_calls
            if generation is None or (call.generation_index or 1) <= generation
        ),
    )
    if row.fitted is None or not row.fitted.messages:
        return unasked
    fitted = row.fitted
    if generation is not None:
        counter = counter_named(counter_name)
        summary = _summaries(fitted.helper_calls)[generation]
        messages = tuple(
            replace(m, content=summary) if isinstance(m, Synthetic) and m.made_by == "summary" else m
            for m in fitted.messages
        )
        tokens = sum(message_tokens(message, counter) for message in messages)
        receipt = replace(fitted.receipt, result_tokens=tokens)
        fitted = replace(fitted, messages=messages, receipt=receipt)
    return replace(
        unasked,
        status="fitted",
        reason=None,
        error_kind=None,
        stage=None,
        http_status=None,
        passed=None,
        fitted=fitted,
        facts=judge_facts(row.case, fitted.messages, None),
        context_invented_identifiers=invented_in_context(row.case, fitted.messages),
    )


def _summaries(calls: Sequence[HelperCall]) -> dict[int, str]:
    """The finished summary of each generation: what its last call made, under the heading of a summary."""
    return {call.generation_index: call.made for call in calls if call.made and call.made.startswith(HEADING)}


def calls_table(run: Run) -> pd.DataFrame:
    """What each call for a summary was given, kept and lost: one row per call; ids of facts only.

    A fact counts as given when one of its literals stands in what the call was to summarise, and as kept when one
    stands in what was used of the reply.
    """
    rows = [
        _call(row, call)
        for row in run.rows
        if row.fitted is not None and row.strategy_kind == "summarize"
        for call in row.fitted.helper_calls
    ]
    return table_of(run, bounded(rows))


def _call(row: Row, call: HelperCall) -> dict[str, str]:
    given = _facts_in(row.case, call.given)
    kept = _facts_in(row.case, call.made or "")
    lost = [name for name in given if name not in kept]
    return {
        "case": row.case.id,
        "strategy": row.strategy,
        "generation": shown(call.generation_index, "count"),
        "call": f"{call.call_index + 1}, {call.kind}",
        "prompt tokens": shown(call.estimated_tokens, "count"),
        "target tokens": shown(call.target_tokens, "count"),
        "facts given": shown(len(given), "count"),
        "kept": shown(len(given) - len(lost), "count"),
        "lost": _named(lost) if call.made is not None else "no usable reply",
    }


def _facts_in(case: Case, text: str) -> tuple[str, ...]:
    """Ids of the facts that have a literal in a text."""
    found = judge_facts(case, (Message(role="user", content=text),), None)
    return tuple(fact.fact_id for fact in found if fact.in_context)


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_IDS} more" if len(ids) > MOST_IDS else ""
    return (", ".join(ids[:MOST_IDS]) + more) or NOTHING
