"""`ctxlab forecast`: what a run would send, and what it would cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ctxlab.choices import DEFAULT_STRATEGIES
from ctxlab.cli.options import PRICES_HELP, BudgetWords, FormatOption, OutputOption, written_out
from ctxlab.cli.printing import demand_writable, emit_frame, warn
from ctxlab.cli.running import budget_of


@written_out
def forecast(
    dataset: Annotated[Path, typer.Option(help="Cases, JSON Lines.")],
    sizes: BudgetWords,
    dataset_format: Annotated[
        str, typer.Option(help="ctxlab, or the name of an importer such as tau_bench.")
    ] = "ctxlab",
    strategies: Annotated[
        str, typer.Option(help="full,shorten:target_tokens=512,sum4=summarize:generations=4")
    ] = DEFAULT_STRATEGIES,
    client: Annotated[
        str, typer.Option(help="The stand-in that replies in the model's place; head fills every target.")
    ] = "stand-in:head",
    model: Annotated[
        str | None,
        typer.Option(envvar="CTXLAB_MODEL", help="Whose counter and prices count; without one, bytes."),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Samples of each cell, 1 to 100.")] = 1,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of an answer.")] = None,
    prices: Annotated[Path | None, typer.Option(help=PRICES_HELP)] = None,
    format_: FormatOption = "table",
    output: OutputOption = None,
) -> int:
    """List each request that a run would send, with tokens and cost; nothing is sent."""
    from ctxlab.calls import Generation
    from ctxlab.choices import dataset_from_words
    from ctxlab.forecasts import forecast as made_by, forecast_frame, forecast_table
    from ctxlab.prices import load_prices

    demand_writable(output)
    cases = dataset_from_words(dataset, dataset_format)
    for warning in cases.warnings:
        warn(warning)
    made = made_by(
        cases,
        strategies,
        client=client,
        model=model,
        helper_model=sizes.helper_model,
        budget=budget_of(sizes),
        generation=Generation(max_tokens=max_tokens),
        repeats=repeats,
        prices=load_prices(prices) if prices else None,
    )
    table = forecast_table(made) if format_ == "table" else forecast_frame(made)
    emit_frame(table, format_, output)
    if format_ == "table":
        currency = f"; {made.currency}" if made.currency else ""
        note = f"replies of {made.run.client_kind} in the model's place; counter {made.run.counter}{currency}"
        typer.echo(note, err=output is not None)
    return 0
