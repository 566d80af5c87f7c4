"""From words to a run: what all verbs that run the cases of a dataset have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxlab.cli.printing import demand_writable, emit, emit_frame, terminal_characters, warn
from ctxlab.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ctxlab.budget import Budget
    from ctxlab.calls import ChatClient
    from ctxlab.cli.options import BudgetWords, Format, RunWords
    from ctxlab.cli.watch import Watch
    from ctxlab.dataset import Dataset
    from ctxlab.records import Run


def budget_of(words: BudgetWords) -> Budget:
    """The budget in words; a window that the reserves fill is told, and every request then refused."""
    from ctxlab.budget import Budget
    from ctxlab.choices import thresholds_from_words

    budget = Budget(
        window_tokens=words.window_tokens,
        output_reserve_tokens=words.output_reserve_tokens,
        thresholds=thresholds_from_words(words.set_ or []),
    )
    if budget.allowance_tokens == 0:
        warn("the reserves fill the window, so every request is refused")
    return budget


def dataset_of(words: RunWords) -> Dataset:
    """The dataset in words, its warnings printed."""
    from ctxlab.choices import dataset_from_words

    dataset = dataset_from_words(words.dataset, words.dataset_format)
    for warning in dataset.warnings:
        warn(warning)
    return dataset


def client_of(words: RunWords, budget: Budget) -> ChatClient:
    """The client in words; nothing is started or sent."""
    from ctxlab.choices import client_from_words

    return client_from_words(
        words.client,
        base_url=words.base_url,
        model=words.model,
        budget=budget,
        timeout_s=words.timeout_s,
        model_path=words.model_path,
        warm_cache=words.warm_cache,
    )


def helper_of(client: ChatClient, model: str | None) -> ChatClient | None:
    """The same endpoint with another model; null if none is wanted."""
    if model is None:
        return None
    from ctxlab.client import EndpointClient

    if not isinstance(client, EndpointClient):
        raise InputError("--helper-model: only with --client endpoint")
    return replace(client, model=model)


def options_of(words: RunWords, watch: Watch) -> dict[str, Any]:
    """The options of `ctxlab.run` that need no more than the words."""
    from ctxlab.calls import Generation
    from ctxlab.declarations import deployment_from_words, load_provenance, load_system_prompt
    from ctxlab.prices import load_prices
    from ctxlab.progress import progress_here

    demand_writable(words.output)
    watch.inner = None if words.quiet else progress_here()
    return {
        "generation": Generation(temperature=words.temperature, max_tokens=words.max_tokens, seed=words.seed),
        "repeats": words.repeats,
        "concurrency": words.concurrency,
        "max_attempts": words.max_attempts,
        "stream": words.stream,
        "prices": load_prices(words.prices) if words.prices else None,
        "system_prompt": load_system_prompt(
            words.system_prompt, name=words.system_prompt_name, version=words.system_prompt_version
        ),
        "provenance": load_provenance(words.provenance) if words.provenance else None,
        "deployment": deployment_from_words(
            runtime=words.deployment_runtime, image=words.deployment_image, name=words.deployment_name
        ),
        "previews": not words.no_previews,
        "ledger": words.ledger,
        "runs_dir": words.runs_dir,
        "resume": words.resume,
        "progress": watch,
    }


def print_run(run: Run, format_: Format, output: Path | None) -> int:
    """Print the rows of a run, or metrics per strategy as a table; return the exit code."""
    from ctxlab import display
    from ctxlab.frames import results_frame

    if format_ == "table":
        table = display.as_text(display.metrics_table(run), most_characters=terminal_characters(output))
        emit("\n".join([table, *display.troubles(run), display.caption(run)]) + "\n", output)
    else:
        emit_frame(results_frame(run), format_, output)
    return 3 if any(row.status == "error" for row in run.rows) else 0
