"""`ctxlab sweep`: `compare` over a grid of settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ctxlab.cli.options import RunWords, written_out
from ctxlab.cli.printing import emit, emit_frame, terminal_characters
from ctxlab.cli.running import client_of, dataset_of, options_of

if TYPE_CHECKING:
    from ctxlab.sweeps import Forecasted, Sweep

OFFLINE = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepWords(RunWords):
    """What a sweep is told; nothing is sent unless a client is named (GEN-008)."""

    client: Annotated[
        str, typer.Option(help="offline, or who is asked: local, endpoint, or stand-in:NAME.")
    ] = OFFLINE


@written_out
def sweep(
    context: typer.Context,
    words: SweepWords,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=V1,V2",
            help="Values of a threshold, a budget field or a strategy's parameter; all combinations are tried.",
        ),
    ] = None,
    strategies: Annotated[str, typer.Option(help="full and empty are put in.")] = "shorten,extract",
    window_tokens: Annotated[int, typer.Option(help="What the model accepts.")] = 8192,
    output_reserve_tokens: Annotated[int, typer.Option(help="Held back for the answer.")] = 1000,
    max_calls: Annotated[
        int | None, typer.Option(help="Most requests that may be sent; needed with a client.")
    ] = None,
) -> int:
    """Compare strategies at every combination of settings, and tell which cannot be told apart."""
    from ctxlab.budget import Budget
    from ctxlab.settings import swept_from_words
    from ctxlab.sweep_tables import sweep_frame
    from ctxlab.sweeps import sweep as made_by

    swept = swept_from_words(set_ or [])
    budget = Budget(window_tokens=window_tokens, output_reserve_tokens=output_reserve_tokens)
    options = options_of(words, context.obj)
    live = words.client != OFFLINE
    made = made_by(
        dataset_of(words),
        strategies,
        swept,
        budget=budget,
        client=client_of(words, budget) if live else None,
        max_calls=max_calls,
        told=_announce,
        **(options if live else {}),
    )
    if words.format_ == "table":
        emit(_told(made, terminal_characters(words.output)), words.output)
    else:
        emit_frame(sweep_frame(made), words.format_, words.output)
    return 3 if any(record["errors"] for record in made.records) else 0


def _announce(forecasted: Forecasted) -> None:
    """Say what will be sent, before it is (EXP-064)."""
    typer.echo(f"sending {forecasted.calls:,} requests with {forecasted.tokens:,} tokens", err=True)


def _told(made: Sweep, most_characters: int | None) -> str:
    from ctxlab.display import as_text, signature
    from ctxlab.sweep_tables import flat_region, sensitivity_table, settings_table

    tables = [
        as_text(table, most_characters=most_characters)
        for table in (settings_table(made), sensitivity_table(made))
    ]
    return (
        "\n".join(
            [tables[0], "", *flat_region(made), "", tables[1], signature(sensitivity_table(made).attrs)]
        )
        + "\n"
    )
