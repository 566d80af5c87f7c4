"""`ctxlab eval`: one model on a dataset, every case sent whole."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxlab.cli.gating import LimitWords, attached_of, print_gated_run
from ctxlab.cli.options import BaselineOption, RunWords, written_out
from ctxlab.cli.running import client_of, dataset_of, options_of
from ctxlab.errors import InputError


@written_out
def evaluate(
    context: typer.Context,
    words: RunWords,
    limits: LimitWords,
    baseline: BaselineOption = None,
    window_tokens: Annotated[int, typer.Option(help="Context of the embedded model.")] = 8192,
    output_reserve_tokens: Annotated[int, typer.Option(help="Longest answer of the embedded model.")] = 1000,
) -> int:
    """Evaluate one model on a dataset; cases are sent whole, whatever their size."""
    from ctxlab.budget import UNLIMITED, Budget
    from ctxlab.comparison import run

    if words.client.startswith("stand-in"):
        raise InputError("--client: eval takes local or endpoint; compare takes stand-ins")
    attached = attached_of(limits, baseline)
    options = options_of(words, context.obj)
    sizes = Budget(window_tokens=window_tokens, output_reserve_tokens=output_reserve_tokens)
    done = run(
        dataset_of(words),
        "full",
        client=client_of(words, sizes),
        budget=UNLIMITED,
        gates=attached,
        verb="eval",
        **options,
    )
    return print_gated_run(done, words.format_, words.output)
