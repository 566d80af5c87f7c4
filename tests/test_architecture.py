"""The house, drawn as one table: which modules a module may import."""

import ast
from pathlib import Path

import ctxlab

ROOT = Path(ctxlab.__file__).parent

LAYERS = [
    ["errors", "text", "statistics", "threads", "files", "constraints", "strict_json"],
    [
        "messages",
        "vocabulary",
        "identifiers",
        "cue_lists",
        "cues",
        "segment_rules",
        "boundary_lists",
        "segments",
        "statements",
        "retries",
    ],
    ["tokens", "estimates", "thresholds", "calls", "loops"],
    ["budget", "dataset", "journal", "experiments", "server_process", "schemas", "responses", "streams"],
    ["prompts", "sending", "tabulate", "admission", "strategies.base"],
    ["client", "fetch", "records", "prices"],
    ["strategies", "local", "standins"],
    ["facts", "caches", "citations", "measures", "caller", "calibration", "checkpoints", "replays"],
    ["dataset_rules", "loading", "importers", "declarations"],
    ["evaluators", "metrics"],
    ["paired", "runner", "design"],
    ["frames", "progress", "allowances"],
    [
        "answers",
        "retention",
        "measurement",
        "measurement_receipt",
        "display",
        "choices",
        "showing",
        "tables",
        "budget_tables",
        "sentences",
        "generations",
        "plots",
    ],
    ["gates"],
    ["reports"],
    ["registry", "places"],
    ["attached"],
    [
        "comparison",
        "equal_tokens",
        "forecasts",
        "settings",
        "sweeps",
        "sweep_tables",
        "instant_server",
        "loopback_latency",
    ],
    ["parameters", "safe_html", "page", "engine", "notebooks"],
    ["cli"],
]
"""Each layer may import the layers above it and modules of its own; package names stand for all their modules."""


def layer_of(module):
    for number, names in enumerate(LAYERS):
        if module in names:
            return number
    return next((n for n, names in enumerate(LAYERS) if module.split(".")[0] in names), None)


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name not in ("__init__", "local_server"):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "ctxlab":
            tail = node.module.removeprefix("ctxlab").removeprefix(".")
            if tail:
                yield tail
            else:
                yield from (alias.name for alias in node.names)


def test_modules_import_only_what_stands_above_them():
    wrong = []
    for name, tree in modules():
        own = layer_of(name)
        assert own is not None, f"{name} has no place in the house"
        wrong += [f"{name} imports {other}" for other in set(imported(tree)) if (layer_of(other) or 0) > own]
    assert wrong == []


def test_no_module_has_a_name_that_says_nothing():
    assert {name.split(".")[-1] for name, _ in modules()}.isdisjoint(
        {"utils", "common", "helpers", "core", "misc"}
    )


def test_there_is_no_cycle_between_modules():
    graph = {name: set() for name, _ in modules()}
    for name, tree in modules():
        for node in tree.body:  # type-checking imports and imports inside functions make no cycle at run time
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ctxlab"):
                graph[name] |= {
                    other for other in imported(ast.Module(body=[node], type_ignores=[])) if other in graph
                }
    finished = set()

    def visit(name, path):
        assert name not in path, f"a cycle: {' -> '.join([*path, name])}"
        if name not in finished:
            for other in graph[name]:
                visit(other, [*path, name])
            finished.add(name)

    for name in graph:
        visit(name, [])
    assert finished == set(graph)
