"""`ctxlab compare`: the main job."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxlab.choices import DEFAULT_STRATEGIES
from ctxlab.cli.gating import LimitWords, attached_of, print_gated_run
from ctxlab.cli.options import BaselineOption, BudgetWords, RunWords, written_out
from ctxlab.cli.running import budget_of, client_of, dataset_of, helper_of, options_of


@written_out
def compare(
    context: typer.Context,
    words: RunWords,
    sizes: BudgetWords,
    limits: LimitWords,
    strategies: Annotated[
        str, typer.Option(help="full,shorten:target_tokens=512,sum4=summarize:generations=4")
    ] = DEFAULT_STRATEGIES,
    baseline: BaselineOption = None,
) -> int:
    """Run every strategy on every case of a dataset."""
    from ctxlab.comparison import run

    attached = attached_of(limits, baseline)
    options = options_of(words, context.obj)
    budget = budget_of(sizes)
    client = client_of(words, budget)
    done = run(
        dataset_of(words),
        strategies,
        client=client,
        helper_client=helper_of(client, sizes.helper_model),
        budget=budget,
        gates=attached,
        **options,
    )
    return print_gated_run(done, words.format_, words.output)
