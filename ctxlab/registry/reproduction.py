"""How to run a run again, in words: a command line with placeholders where an address or a file is needed (EXP-025)."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ctxlab.budget import UNLIMITED, Budget
from ctxlab.registry.manifest import Reproduction
from ctxlab.strategies.base import parameter_names
from ctxlab.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.design import Design
    from ctxlab.experiments import Source

ADDRESS, FILE = "<BASE_URL>", "<FILE>"
DIRTY = "the working tree had changes: not reproducible from the commit alone"
NO_COMMIT = "the package ran from no checkout: not reproducible from a commit"


def reproduction_of(design: Design) -> Reproduction:
    """The command that runs a design again; holds no address and no key."""
    alone, note = _from_commit(design.source)
    python_only = [name for name, used in _python_only(design) if used]
    if python_only:
        extra = f"to be set in Python: {', '.join(python_only)}"
        note = extra if note is None else f"{note}; {extra}"
    words = ["ctxlab", design.verb, *(word for option in _options(design) for word in option)]
    return Reproduction(command=shlex.join(words), from_commit_alone=alone, note=note)


def _from_commit(source: Source) -> tuple[bool, str | None]:
    if source.commit is None:
        return False, NO_COMMIT
    return (True, None) if source.dirty is False else (False, DIRTY)


def _options(design: Design) -> Iterator[tuple[str, ...]]:
    """Every option that differs from its default, and those that have none."""
    path = PurePath(design.dataset.path)
    if design.dataset.converted:
        yield "--dataset", "inputs/cases.jsonl"
    else:
        yield "--dataset", path.name if path.is_absolute() else str(path)
    yield from _client(design)
    if design.verb != "eval":
        yield "--strategies", ",".join(map(words_of, design.strategies))
        yield from _budget(design)
    generation = design.generation
    for name, value, default in (
        ("repeats", design.repeats, 1),
        ("concurrency", design.concurrency, 1),
        ("max-attempts", design.max_attempts, 1),
        ("temperature", generation.temperature, None),
        ("seed", generation.seed, None),
        ("max-tokens", generation.max_tokens, None),
    ):
        if value != default:
            yield f"--{name}", str(value)
    if design.stream:
        yield ("--stream",)
    if design.prices is not None:
        yield "--prices", FILE
    yield from _declared(design)


def _client(design: Design) -> Iterator[tuple[str, ...]]:
    if design.client is None:
        return
    yield "--client", design.client.kind
    if design.client.kind == "endpoint":
        yield "--base-url", ADDRESS
        yield "--model", design.client.model
        yield "--timeout-s", f"{getattr(design.client, 'timeout_s', 120.0):g}"
    if design.helper is not None and design.helper is not design.client:
        yield "--helper-model", design.helper.model


def _budget(design: Design) -> Iterator[tuple[str, ...]]:
    for name in ("window_tokens", "output_reserve_tokens"):
        if getattr(design.budget, name) != getattr(Budget(), name):
            yield f"--{name.replace('_', '-')}", str(getattr(design.budget, name))
    usual = Thresholds().canonical()
    for name, value in design.budget.thresholds.canonical().items():
        if value != usual[name]:
            yield "--set", f"{name}={value}"


def _declared(design: Design) -> Iterator[tuple[str, ...]]:
    if design.system_prompt is not None:
        yield "--system-prompt", FILE
        yield "--system-prompt-name", design.system_prompt.name
        yield "--system-prompt-version", design.system_prompt.version
    if design.provenance is not None:
        yield "--provenance", FILE
    if design.deployment is not None:
        for name, value in design.deployment.canonical().items():
            if value is not None:
                yield f"--deployment-{name}", value
    if design.attached is not None:
        for name, text in design.attached.given.items():
            yield f"--{name.replace('_', '-')}", text
        if design.attached.baseline_run_id is not None:  # an alias may stand for another run by then
            yield "--baseline", design.attached.baseline_run_id


def words_of(strategy: Any) -> str:
    """A strategy as the command line takes it, without the parameters that only Python takes (GEN-030)."""
    values = {
        name: getattr(strategy, name)
        for name in _in_words(type(strategy))
        if getattr(strategy, name) != _defaults(type(strategy)).get(name)
    }
    words = ":".join([strategy.kind, *(f"{name}={value}" for name, value in values.items())])
    label = getattr(strategy, "label", None)
    return words if label is None else f"{label}={words}"


def _in_words(kind: type) -> tuple[str, ...]:
    return parameter_names(kind, in_words=True) if hasattr(kind, "__dataclass_fields__") else ()


def _defaults(kind: Any) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind)}


def _python_only(design: Design) -> Iterator[tuple[str, bool]]:
    """What a design holds that no option of the command line says."""
    yield "client=None", design.client is None
    yield "tools", bool(design.tools)
    yield "guidance", design.guidance is not None
    yield "shuffle_seed", design.shuffle_seed is not None
    yield "warmup", design.warmup > 0
    usual = UNLIMITED if design.verb == "eval" else Budget()
    yield (
        "budget",
        any(
            getattr(design.budget, name) != getattr(usual, name)
            for name in ("protocol_reserve_tokens", "safety_reserve_tokens")
        ),
    )
    for strategy in design.strategies:
        kind = type(strategy)
        hidden = set(parameter_names(kind)) - set(_in_words(kind)) if _in_words(kind) else set()
        changed = any(getattr(strategy, name) != _defaults(kind)[name] for name in hidden)
        yield f"strategy {strategy.name}", changed or not hasattr(kind, "__dataclass_fields__")
