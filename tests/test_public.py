import importlib
import inspect
import subprocess
import sys

import pytest

import ctxlab


# covers GEN-015
def test_public_names_are_listed_sorted_and_documented():
    assert ctxlab.__all__ == sorted(ctxlab.__all__)
    for name in ctxlab.__all__:
        thing = getattr(ctxlab, name)
        assert inspect.getdoc(thing), name


# covers GEN-015
def test_the_list_of_public_names_is_pinned():
    assert ctxlab.__all__ == [
        "Admit",
        "AttachedGates",
        "Budget",
        "BudgetError",
        "CachePolicy",
        "CacheUse",
        "Calibration",
        "Case",
        "ChatClient",
        "Compaction",
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
        "Forecast",
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
        "Sweep",
        "SystemPrompt",
        "Thresholds",
        "Verdict",
        "Weights",
        "acompare",
        "admission_frame",
        "admit_snippets",
        "aforecast",
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
        "entered_table",
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
        "flat_region",
        "forecast",
        "forecast_frame",
        "forecast_table",
        "frame_samples",
        "frontier",
        "gates_frame",
        "gates_table",
        "import_dataset",
        "imports_frame",
        "inventions",
        "judge_answers",
        "judge_gates",
        "kept_differences_table",
        "kept_frame",
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
        "measurement_frame",
        "metrics_frame",
        "metrics_table",
        "parse_strategies",
        "pays_after",
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
        "retention_frame",
        "run",
        "run_at_allowances",
        "run_report",
        "run_samples",
        "runs_frame",
        "scan_runs",
        "sensitivity_table",
        "set_alias",
        "settings_table",
        "show_figure",
        "show_run",
        "show_table",
        "show_text",
        "simulate_cache",
        "stand_in",
        "summary_target",
        "sweep",
        "sweep_frame",
        "thresholds_from_words",
        "times_table",
        "token_counter",
        "transitions_frame",
        "transitions_table",
        "turns_to_pay",
        "verify_run",
        "write_parquet",
        "write_report",
    ]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'nothing'"):
        ctxlab.nothing


HEAVY = [
    "pandas",
    "polars",
    "matplotlib",
    "tiktoken",
    "aiohttp",
    "scipy",
    "nbconvert",
    "IPython",
    "papermill",
    "nbclient",
    "ipykernel",
]


# covers GEN-014
def test_importing_ctxlab_loads_nothing_heavy_and_opens_no_connection():
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise SystemExit('a socket was opened')\n"
        "socket.socket.connect = refuse\n"
        "import ctxlab\n"
        "ctxlab.Budget(), ctxlab.Thresholds()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# covers GEN-014
def test_no_module_loads_a_heavy_package_at_import():
    from pathlib import Path

    root = Path(ctxlab.__file__).parent
    names = [
        ".".join(path.relative_to(root.parent).with_suffix("").parts)
        for path in root.rglob("*.py")
        if path.stem not in ("__init__", "local_server")
    ]
    code = (
        f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_home_of_a_public_name_holds_it():
    for name, home in ctxlab._HOMES.items():
        assert hasattr(importlib.import_module(home), name)
