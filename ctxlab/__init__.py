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
    from ctxlab.admission.passes import admit_snippets as admit_snippets
    from ctxlab.allowances import budgets as budgets
    from ctxlab.answers import evaluate_answers as evaluate_answers, judge_answers as judge_answers
    from ctxlab.budget import Budget as Budget, Calibration as Calibration, summary_target as summary_target
    from ctxlab.budget_tables import (
        budget_table as budget_table,
        calibration_table as calibration_table,
        estimates_table as estimates_table,
        fitting_table as fitting_table,
    )
    from ctxlab.caches import (
        CachePolicy as CachePolicy,
        CacheUse as CacheUse,
        Compaction as Compaction,
        pays_after as pays_after,
        simulate_cache as simulate_cache,
        turns_to_pay as turns_to_pay,
    )
    from ctxlab.calibration import (
        Sample as Sample,
        calibrated as calibrated,
        frame_samples as frame_samples,
        learned_counter as learned_counter,
        run_samples as run_samples,
    )
    from ctxlab.calls import ChatClient as ChatClient, Generation as Generation
    from ctxlab.choices import (
        client_from_words as client_from_words,
        dataset_from_words as dataset_from_words,
        datasets_from_words as datasets_from_words,
        thresholds_from_words as thresholds_from_words,
    )
    from ctxlab.client import EndpointClient as EndpointClient
    from ctxlab.comparison import acompare as acompare, arun as arun, compare as compare, run as run
    from ctxlab.dataset import (
        Case as Case,
        Dataset as Dataset,
        Expected as Expected,
        Fact as Fact,
        Pattern as Pattern,
        Snippet as Snippet,
    )
    from ctxlab.declarations import (
        AttachedGates as AttachedGates,
        Deployment as Deployment,
        SystemPrompt as SystemPrompt,
        load_system_prompt as load_system_prompt,
    )
    from ctxlab.display import metrics_table as metrics_table
    from ctxlab.equal_tokens import (
        compare_at as compare_at,
        entered_table as entered_table,
        kept_differences_table as kept_differences_table,
        kept_frame as kept_frame,
        kept_table as kept_table,
        run_at_allowances as run_at_allowances,
    )
    from ctxlab.errors import (
        BudgetError as BudgetError,
        CtxlabError as CtxlabError,
        DatasetError as DatasetError,
        InputError as InputError,
        IntegrityError as IntegrityError,
        LocalModelError as LocalModelError,
        NestedLoopError as NestedLoopError,
        NotebookError as NotebookError,
        NotFoundError as NotFoundError,
        ParameterError as ParameterError,
        StrategyError as StrategyError,
    )
    from ctxlab.estimates import request_tokens as request_tokens
    from ctxlab.evaluators import evaluate as evaluate
    from ctxlab.forecasts import (
        Forecast as Forecast,
        aforecast as aforecast,
        forecast as forecast,
        forecast_frame as forecast_frame,
        forecast_table as forecast_table,
    )
    from ctxlab.frames import (
        admission_frame as admission_frame,
        calibration_frame as calibration_frame,
        calls_frame as calls_frame,
        cases_frame as cases_frame,
        comparisons_frame as comparisons_frame,
        evaluations_frame as evaluations_frame,
        facts_frame as facts_frame,
        fits_frame as fits_frame,
        imports_frame as imports_frame,
        kinds_frame as kinds_frame,
        ledger_frame as ledger_frame,
        metrics_frame as metrics_frame,
        read_parquet as read_parquet,
        results_frame as results_frame,
        write_parquet as write_parquet,
    )
    from ctxlab.gates import (
        GateLimits as GateLimits,
        Verdict as Verdict,
        gates_frame as gates_frame,
        gates_table as gates_table,
        judge_gates as judge_gates,
        transitions_frame as transitions_frame,
        transitions_table as transitions_table,
    )
    from ctxlab.generations import by_generation as by_generation, calls_table as calls_table
    from ctxlab.importers import import_dataset as import_dataset
    from ctxlab.loading import load_dataset as load_dataset
    from ctxlab.local import LocalClient as LocalClient, local_client as local_client
    from ctxlab.loopback_latency import client_latency as client_latency
    from ctxlab.measurement import measurement_frame as measurement_frame
    from ctxlab.messages import Message as Message
    from ctxlab.notebooks import (
        Report as Report,
        execute_notebook as execute_notebook,
        report_notebook as report_notebook,
    )
    from ctxlab.plots import (
        describe_generations as describe_generations,
        describe_kept as describe_kept,
        describe_kinds as describe_kinds,
        describe_recall_cost as describe_recall_cost,
        describe_recall_latency as describe_recall_latency,
        plot_generations as plot_generations,
        plot_kept as plot_kept,
        plot_kinds as plot_kinds,
        plot_recall_cost as plot_recall_cost,
        plot_recall_latency as plot_recall_latency,
    )
    from ctxlab.prices import Prices as Prices, load_prices as load_prices
    from ctxlab.records import Row as Row, Run as Run
    from ctxlab.registry import (
        diff_frame as diff_frame,
        runs_frame as runs_frame,
        scan_runs as scan_runs,
        set_alias as set_alias,
        verify_run as verify_run,
    )
    from ctxlab.replays import (
        Replay as Replay,
        areplay as areplay,
        replay as replay,
        replay_frame as replay_frame,
    )
    from ctxlab.reports import (
        EvaluationReport as EvaluationReport,
        read_report as read_report,
        report_markdown as report_markdown,
        restored_run as restored_run,
        run_report as run_report,
        write_report as write_report,
    )
    from ctxlab.retention import retention_frame as retention_frame
    from ctxlab.sentences import (
        failures as failures,
        findings as findings,
        frontier as frontier,
        inventions as inventions,
        limitations as limitations,
    )
    from ctxlab.showing import (
        show_figure as show_figure,
        show_run as show_run,
        show_table as show_table,
        show_text as show_text,
    )
    from ctxlab.standins import stand_in as stand_in
    from ctxlab.strategies.admit import Admit as Admit
    from ctxlab.strategies.extract import Extract as Extract, Weights as Weights
    from ctxlab.strategies.full import Empty as Empty, Full as Full
    from ctxlab.strategies.newest import Newest as Newest
    from ctxlab.strategies.parse import parse_strategies as parse_strategies
    from ctxlab.strategies.plan import Plan as Plan
    from ctxlab.strategies.shorten import Shorten as Shorten
    from ctxlab.strategies.summarize import Summarize as Summarize
    from ctxlab.sweep_tables import (
        flat_region as flat_region,
        sensitivity_table as sensitivity_table,
        settings_table as settings_table,
        sweep_frame as sweep_frame,
    )
    from ctxlab.sweeps import Sweep as Sweep, sweep as sweep
    from ctxlab.tables import (
        answers_table as answers_table,
        cases_table as cases_table,
        differences_table as differences_table,
        failures_table as failures_table,
        fates_table as fates_table,
        kinds_table as kinds_table,
        losses_table as losses_table,
        provenance_table as provenance_table,
        times_table as times_table,
    )
    from ctxlab.thresholds import Thresholds as Thresholds
    from ctxlab.tokens import token_counter as token_counter

_NAMES = {
    "admission.passes": "admit_snippets",
    "allowances": "budgets",
    "answers": "evaluate_answers judge_answers",
    "budget": "Budget Calibration summary_target",
    "budget_tables": "budget_table calibration_table estimates_table fitting_table",
    "caches": "CachePolicy CacheUse Compaction pays_after simulate_cache turns_to_pay",
    "calibration": "Sample calibrated frame_samples learned_counter run_samples",
    "calls": "ChatClient Generation",
    "choices": "client_from_words dataset_from_words datasets_from_words thresholds_from_words",
    "client": "EndpointClient",
    "comparison": "acompare arun compare run",
    "dataset": "Case Dataset Expected Fact Pattern Snippet",
    "declarations": "AttachedGates Deployment SystemPrompt load_system_prompt",
    "display": "metrics_table",
    "equal_tokens": "compare_at entered_table kept_differences_table kept_frame kept_table run_at_allowances",
    "errors": "BudgetError CtxlabError DatasetError InputError IntegrityError LocalModelError NestedLoopError NotFoundError NotebookError ParameterError StrategyError",
    "estimates": "request_tokens",
    "evaluators": "evaluate",
    "forecasts": "Forecast aforecast forecast forecast_frame forecast_table",
    "frames": "admission_frame calibration_frame calls_frame cases_frame comparisons_frame evaluations_frame facts_frame fits_frame imports_frame kinds_frame ledger_frame metrics_frame read_parquet results_frame write_parquet",
    "gates": "GateLimits Verdict gates_frame gates_table judge_gates transitions_frame transitions_table",
    "generations": "by_generation calls_table",
    "importers": "import_dataset",
    "loading": "load_dataset",
    "local": "LocalClient local_client",
    "loopback_latency": "client_latency",
    "measurement": "measurement_frame",
    "messages": "Message",
    "notebooks": "Report execute_notebook report_notebook",
    "plots": "describe_generations describe_kept describe_kinds describe_recall_cost describe_recall_latency plot_generations plot_kept plot_kinds plot_recall_cost plot_recall_latency",
    "prices": "Prices load_prices",
    "records": "Row Run",
    "registry": "diff_frame runs_frame scan_runs set_alias verify_run",
    "replays": "Replay areplay replay replay_frame",
    "reports": "EvaluationReport read_report report_markdown restored_run run_report write_report",
    "retention": "retention_frame",
    "sentences": "failures findings frontier inventions limitations",
    "showing": "show_figure show_run show_table show_text",
    "standins": "stand_in",
    "strategies.admit": "Admit",
    "strategies.extract": "Extract Weights",
    "strategies.full": "Empty Full",
    "strategies.newest": "Newest",
    "strategies.parse": "parse_strategies",
    "strategies.plan": "Plan",
    "strategies.shorten": "Shorten",
    "strategies.summarize": "Summarize",
    "sweep_tables": "flat_region sensitivity_table settings_table sweep_frame",
    "sweeps": "Sweep sweep",
    "tables": "answers_table cases_table differences_table failures_table fates_table kinds_table losses_table provenance_table times_table",
    "thresholds": "Thresholds",
    "tokens": "token_counter",
}
"""Public names by the module that holds them."""

_HOMES = {name: f"ctxlab.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


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
