"""ctxlab measures what a context policy loses.

```text
dataset -> strategy(budget, counter) -> gate -> client -> evaluators -> metrics -> frames -> plots, notebooks
   |               |                              |                        |
importers    receipt + ledger                  journal              gates, reports, registry
```

`compare` runs every strategy on every case of a dataset and returns one row per (case, strategy, repeat); `run`
returns the record from which all frames are made. Every synchronous name has an awaitable twin (`acompare`, `arun`).
Names are loaded when they are first used: importing ctxlab opens nothing and loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxlab.allowances import budgets
    from ctxlab.answers import evaluate_answers, judge_answers
    from ctxlab.budget import Budget, Calibration, summary_target
    from ctxlab.budget_tables import budget_table, calibration_table, estimates_table, fitting_table
    from ctxlab.calibration import Sample, calibrated, frame_samples, learned_counter, run_samples
    from ctxlab.calls import ChatClient, Generation
    from ctxlab.choices import (
        client_from_words,
        dataset_from_words,
        datasets_from_words,
        thresholds_from_words,
    )
    from ctxlab.client import EndpointClient
    from ctxlab.comparison import acompare, arun, compare, run
    from ctxlab.dataset import Case, Dataset, Expected, Fact, Pattern, Snippet
    from ctxlab.declarations import AttachedGates, Deployment, SystemPrompt, load_system_prompt
    from ctxlab.display import metrics_table
    from ctxlab.equal_tokens import compare_at, kept_differences_table, kept_table
    from ctxlab.errors import (
        BudgetError,
        CtxlabError,
        DatasetError,
        InputError,
        IntegrityError,
        LocalModelError,
        NestedLoopError,
        NotebookError,
        NotFoundError,
        ParameterError,
        StrategyError,
    )
    from ctxlab.estimates import request_tokens
    from ctxlab.evaluators import evaluate
    from ctxlab.frames import (
        calibration_frame,
        calls_frame,
        cases_frame,
        comparisons_frame,
        evaluations_frame,
        facts_frame,
        fits_frame,
        kinds_frame,
        ledger_frame,
        metrics_frame,
        read_parquet,
        results_frame,
        write_parquet,
    )
    from ctxlab.gates import (
        GateLimits,
        Verdict,
        gates_frame,
        gates_table,
        judge_gates,
        transitions_frame,
        transitions_table,
    )
    from ctxlab.generations import by_generation, calls_table
    from ctxlab.importers import import_dataset
    from ctxlab.loading import load_dataset
    from ctxlab.local import LocalClient, local_client
    from ctxlab.loopback_latency import client_latency
    from ctxlab.messages import Message
    from ctxlab.notebooks import Report, execute_notebook, report_notebook
    from ctxlab.plots import (
        describe_generations,
        describe_kept,
        describe_kinds,
        describe_recall_cost,
        describe_recall_latency,
        plot_generations,
        plot_kept,
        plot_kinds,
        plot_recall_cost,
        plot_recall_latency,
    )
    from ctxlab.prices import Prices, load_prices
    from ctxlab.records import Row, Run
    from ctxlab.registry import diff_frame, runs_frame, scan_runs, set_alias, verify_run
    from ctxlab.replays import Replay, areplay, replay, replay_frame
    from ctxlab.reports import (
        EvaluationReport,
        read_report,
        report_markdown,
        restored_run,
        run_report,
        write_report,
    )
    from ctxlab.sentences import failures, findings, frontier, inventions, limitations
    from ctxlab.showing import show_figure, show_run, show_table, show_text
    from ctxlab.standins import stand_in
    from ctxlab.strategies.extract import Extract, Weights
    from ctxlab.strategies.full import Empty, Full
    from ctxlab.strategies.newest import Newest
    from ctxlab.strategies.parse import parse_strategies
    from ctxlab.strategies.plan import Plan
    from ctxlab.strategies.shorten import Shorten
    from ctxlab.strategies.summarize import Summarize
    from ctxlab.tables import (
        answers_table,
        cases_table,
        differences_table,
        failures_table,
        fates_table,
        kinds_table,
        losses_table,
        provenance_table,
        times_table,
    )
    from ctxlab.thresholds import Thresholds
    from ctxlab.tokens import token_counter

_HOMES = {
    "AttachedGates": "ctxlab.declarations",
    "Budget": "ctxlab.budget",
    "BudgetError": "ctxlab.errors",
    "Calibration": "ctxlab.budget",
    "Case": "ctxlab.dataset",
    "ChatClient": "ctxlab.calls",
    "CtxlabError": "ctxlab.errors",
    "Dataset": "ctxlab.dataset",
    "DatasetError": "ctxlab.errors",
    "Deployment": "ctxlab.declarations",
    "Empty": "ctxlab.strategies.full",
    "EndpointClient": "ctxlab.client",
    "EvaluationReport": "ctxlab.reports",
    "Expected": "ctxlab.dataset",
    "Extract": "ctxlab.strategies.extract",
    "Fact": "ctxlab.dataset",
    "Full": "ctxlab.strategies.full",
    "GateLimits": "ctxlab.gates",
    "Generation": "ctxlab.calls",
    "InputError": "ctxlab.errors",
    "IntegrityError": "ctxlab.errors",
    "LocalClient": "ctxlab.local",
    "LocalModelError": "ctxlab.errors",
    "Message": "ctxlab.messages",
    "NestedLoopError": "ctxlab.errors",
    "Newest": "ctxlab.strategies.newest",
    "NotFoundError": "ctxlab.errors",
    "NotebookError": "ctxlab.errors",
    "ParameterError": "ctxlab.errors",
    "Pattern": "ctxlab.dataset",
    "Plan": "ctxlab.strategies.plan",
    "Prices": "ctxlab.prices",
    "Replay": "ctxlab.replays",
    "Report": "ctxlab.notebooks",
    "Row": "ctxlab.records",
    "Run": "ctxlab.records",
    "Sample": "ctxlab.calibration",
    "Shorten": "ctxlab.strategies.shorten",
    "Snippet": "ctxlab.dataset",
    "StrategyError": "ctxlab.errors",
    "Summarize": "ctxlab.strategies.summarize",
    "SystemPrompt": "ctxlab.declarations",
    "Thresholds": "ctxlab.thresholds",
    "Verdict": "ctxlab.gates",
    "Weights": "ctxlab.strategies.extract",
    "acompare": "ctxlab.comparison",
    "answers_table": "ctxlab.tables",
    "areplay": "ctxlab.replays",
    "arun": "ctxlab.comparison",
    "budget_table": "ctxlab.budget_tables",
    "budgets": "ctxlab.allowances",
    "by_generation": "ctxlab.generations",
    "calibrated": "ctxlab.calibration",
    "calibration_frame": "ctxlab.frames",
    "calibration_table": "ctxlab.budget_tables",
    "calls_frame": "ctxlab.frames",
    "calls_table": "ctxlab.generations",
    "cases_frame": "ctxlab.frames",
    "cases_table": "ctxlab.tables",
    "client_from_words": "ctxlab.choices",
    "client_latency": "ctxlab.loopback_latency",
    "compare": "ctxlab.comparison",
    "compare_at": "ctxlab.equal_tokens",
    "comparisons_frame": "ctxlab.frames",
    "dataset_from_words": "ctxlab.choices",
    "datasets_from_words": "ctxlab.choices",
    "describe_generations": "ctxlab.plots",
    "describe_kept": "ctxlab.plots",
    "describe_kinds": "ctxlab.plots",
    "describe_recall_cost": "ctxlab.plots",
    "describe_recall_latency": "ctxlab.plots",
    "diff_frame": "ctxlab.registry",
    "differences_table": "ctxlab.tables",
    "estimates_table": "ctxlab.budget_tables",
    "evaluate": "ctxlab.evaluators",
    "evaluate_answers": "ctxlab.answers",
    "evaluations_frame": "ctxlab.frames",
    "execute_notebook": "ctxlab.notebooks",
    "facts_frame": "ctxlab.frames",
    "failures": "ctxlab.sentences",
    "failures_table": "ctxlab.tables",
    "fates_table": "ctxlab.tables",
    "findings": "ctxlab.sentences",
    "fits_frame": "ctxlab.frames",
    "fitting_table": "ctxlab.budget_tables",
    "frame_samples": "ctxlab.calibration",
    "frontier": "ctxlab.sentences",
    "gates_frame": "ctxlab.gates",
    "gates_table": "ctxlab.gates",
    "import_dataset": "ctxlab.importers",
    "inventions": "ctxlab.sentences",
    "judge_answers": "ctxlab.answers",
    "judge_gates": "ctxlab.gates",
    "kept_differences_table": "ctxlab.equal_tokens",
    "kept_table": "ctxlab.equal_tokens",
    "kinds_frame": "ctxlab.frames",
    "kinds_table": "ctxlab.tables",
    "learned_counter": "ctxlab.calibration",
    "ledger_frame": "ctxlab.frames",
    "limitations": "ctxlab.sentences",
    "load_dataset": "ctxlab.loading",
    "load_prices": "ctxlab.prices",
    "load_system_prompt": "ctxlab.declarations",
    "local_client": "ctxlab.local",
    "losses_table": "ctxlab.tables",
    "metrics_frame": "ctxlab.frames",
    "metrics_table": "ctxlab.display",
    "parse_strategies": "ctxlab.strategies.parse",
    "plot_generations": "ctxlab.plots",
    "plot_kept": "ctxlab.plots",
    "plot_kinds": "ctxlab.plots",
    "plot_recall_cost": "ctxlab.plots",
    "plot_recall_latency": "ctxlab.plots",
    "provenance_table": "ctxlab.tables",
    "read_parquet": "ctxlab.frames",
    "read_report": "ctxlab.reports",
    "replay": "ctxlab.replays",
    "replay_frame": "ctxlab.replays",
    "report_markdown": "ctxlab.reports",
    "report_notebook": "ctxlab.notebooks",
    "request_tokens": "ctxlab.estimates",
    "restored_run": "ctxlab.reports",
    "results_frame": "ctxlab.frames",
    "run": "ctxlab.comparison",
    "run_report": "ctxlab.reports",
    "run_samples": "ctxlab.calibration",
    "runs_frame": "ctxlab.registry",
    "scan_runs": "ctxlab.registry",
    "set_alias": "ctxlab.registry",
    "show_figure": "ctxlab.showing",
    "show_run": "ctxlab.showing",
    "show_table": "ctxlab.showing",
    "show_text": "ctxlab.showing",
    "stand_in": "ctxlab.standins",
    "summary_target": "ctxlab.budget",
    "thresholds_from_words": "ctxlab.choices",
    "times_table": "ctxlab.tables",
    "token_counter": "ctxlab.tokens",
    "transitions_frame": "ctxlab.gates",
    "transitions_table": "ctxlab.gates",
    "verify_run": "ctxlab.registry",
    "write_parquet": "ctxlab.frames",
    "write_report": "ctxlab.reports",
}
"""Where each public name lives."""

__all__ = [
    "AttachedGates",
    "Budget",
    "BudgetError",
    "Calibration",
    "Case",
    "ChatClient",
    "CtxlabError",
    "Dataset",
    "DatasetError",
    "Deployment",
    "Empty",
    "EndpointClient",
    "EvaluationReport",
    "Expected",
    "Extract",
    "Fact",
    "Full",
    "GateLimits",
    "Generation",
    "InputError",
    "IntegrityError",
    "LocalClient",
    "LocalModelError",
    "Message",
    "NestedLoopError",
    "Newest",
    "NotFoundError",
    "NotebookError",
    "ParameterError",
    "Pattern",
    "Plan",
    "Prices",
    "Replay",
    "Report",
    "Row",
    "Run",
    "Sample",
    "Shorten",
    "Snippet",
    "StrategyError",
    "Summarize",
    "SystemPrompt",
    "Thresholds",
    "Verdict",
    "Weights",
    "acompare",
    "answers_table",
    "areplay",
    "arun",
    "budget_table",
    "budgets",
    "by_generation",
    "calibrated",
    "calibration_frame",
    "calibration_table",
    "calls_frame",
    "calls_table",
    "cases_frame",
    "cases_table",
    "client_from_words",
    "client_latency",
    "compare",
    "compare_at",
    "comparisons_frame",
    "dataset_from_words",
    "datasets_from_words",
    "describe_generations",
    "describe_kept",
    "describe_kinds",
    "describe_recall_cost",
    "describe_recall_latency",
    "diff_frame",
    "differences_table",
    "estimates_table",
    "evaluate",
    "evaluate_answers",
    "evaluations_frame",
    "execute_notebook",
    "facts_frame",
    "failures",
    "failures_table",
    "fates_table",
    "findings",
    "fits_frame",
    "fitting_table",
    "frame_samples",
    "frontier",
    "gates_frame",
    "gates_table",
    "import_dataset",
    "inventions",
    "judge_answers",
    "judge_gates",
    "kept_differences_table",
    "kept_table",
    "kinds_frame",
    "kinds_table",
    "learned_counter",
    "ledger_frame",
    "limitations",
    "load_dataset",
    "load_prices",
    "load_system_prompt",
    "local_client",
    "losses_table",
    "metrics_frame",
    "metrics_table",
    "parse_strategies",
    "plot_generations",
    "plot_kept",
    "plot_kinds",
    "plot_recall_cost",
    "plot_recall_latency",
    "provenance_table",
    "read_parquet",
    "read_report",
    "replay",
    "replay_frame",
    "report_markdown",
    "report_notebook",
    "request_tokens",
    "restored_run",
    "results_frame",
    "run",
    "run_report",
    "run_samples",
    "runs_frame",
    "scan_runs",
    "set_alias",
    "show_figure",
    "show_run",
    "show_table",
    "show_text",
    "stand_in",
    "summary_target",
    "thresholds_from_words",
    "times_table",
    "token_counter",
    "transitions_frame",
    "transitions_table",
    "verify_run",
    "write_parquet",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ctxlab' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for completion."""
    return list(__all__)
