"""Two runs side by side in six categories; a comparison without a verdict (EXP-047, EXP-048)."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from fractions import Fraction
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ctxlab.messages import canonical_json
from ctxlab.metrics import Metrics, metrics
from ctxlab.registry.manifest import as_plain, read_manifest
from ctxlab.registry.rebuilding import is_rebuildable, rebuilt_run
from ctxlab.schemas import SCHEMAS
from ctxlab.statistics import exact
from ctxlab.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from ctxlab.records import Run
    from ctxlab.registry.manifest import Manifest

Category = Literal["input", "source", "environment", "quality", "performance", "artifacts"]
CATEGORIES: tuple[Category, ...] = ("input", "source", "environment", "quality", "performance", "artifacts")
NO_STRATEGY = "*"
INPUT = (
    "verb", "input_identity", "fingerprint", "dataset", "strategies", "budget", "thresholds", "counter", "prompts",
    "models", "generation", "client", "evaluation", "gates", "deployment", "provenance", "prices", "identity",
)  # fmt: skip
"""Blocks of the manifest that say what was run."""
TOLD = frozenset({
    "dataset", "models", "generation", "repeats", "counter", "accounting", "prompts", "evaluators",
    "identifier_rules", "cue_lists", "segment_rules", "client", "attempts", "concurrency", "timeout_s",
    "system_prompt", "baseline", "gates", "deployment", "provenance", "commit",
})  # fmt: skip
"""Parts of the identity that a block tells too."""
PERFORMANCE = (
    "sent_tokens", "calls", "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "cached_tokens",
    "cost", "cost_uncached", "duration_mean_s", "duration_p50_s", "duration_p95_s", "ttft_p50_s", "ttft_p95_s",
    "source_tokens_mean", "result_tokens_mean", "result_tokens_p95", "result_tokens_max", "usage_responses",
)  # fmt: skip
LEFT_OUT = (
    "strategy", "group", "context_recall_low", "context_recall_high", "answer_recall_low", "answer_recall_high"
)  # fmt: skip
TRANSITIONS = ("fixed", "broken", "unchanged", "only_current", "only_baseline")
COMPARABLE = "comparable"
OTHER_DATASET = "no: another dataset"
NO_FRAMES = "no: a run has no frames"


def diff_frame(left: str | Path, right: str | Path) -> pd.DataFrame:
    """Two runs in six categories: input, source, environment, quality, performance, artifacts (`diff`).

    Args:
        left: directory of the run that is compared with, such as the older one.
        right: directory of the other.

    Returns:
        One row per field, and per strategy where it has one. Values are text, null where a side does not have the
        field; `difference` is right minus left of numbers. With other datasets, quality is null on both sides and
        the field `comparable` says why.

    Raises:
        IntegrityError: a manifest or a frame is damaged.
    """
    sides = (_Side(Path(left)), _Side(Path(right)))
    manifests = (_flat(sides[0].manifest), _flat(sides[1].manifest))
    records = [
        *_blocks("input", *manifests, names=INPUT),
        *_blocks("source", *manifests, names=("source",)),
        *_blocks("environment", *manifests, names=("environment",)),
        *_quality(*sides),
        *_numbers("performance", *sides, names=PERFORMANCE, known=True),
        *_artifacts(*sides),
    ]
    return tabulate(SCHEMAS["diff"], records, attrs={"run_id": None, "fingerprint": None, "counter": None})


class _Side:
    """One of the two runs: its manifest, and its metrics as far as it has frames."""

    def __init__(self, directory: Path) -> None:
        self.manifest = read_manifest(directory)
        self.run: Run | None = None
        if is_rebuildable(self.manifest):
            self.run = rebuilt_run(directory, self.manifest)
        groups = metrics(self.run, resamples=1) if self.run else ()  # intervals are not compared
        self.metrics = {group.strategy or "": group for group in groups}


def _flat(manifest: Manifest) -> dict[str, Any]:
    """Every field of a manifest by dotted name, lists as a whole."""
    found: dict[str, Any] = {}
    waiting = [("", as_plain(manifest))]
    while waiting:
        before, block = waiting.pop()
        for name, value in block.items():
            if name in TOLD and before == "identity.":
                continue
            if isinstance(value, dict) and value:
                waiting.append((f"{before}{name}.", value))
            else:
                found[f"{before}{name}"] = value
    return found


def _blocks(
    category: Category, left: Mapping[str, Any], right: Mapping[str, Any], *, names: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    both = [*left, *(name for name in right if name not in left)]
    for block in names:
        chosen = sorted(name for name in both if name.partition(".")[0] == block)
        yield from (_record(category, name, left.get(name), right.get(name)) for name in chosen)


def _quality(left: _Side, right: _Side) -> Iterator[dict[str, Any]]:
    known, why = True, "yes"
    if left.manifest.dataset.sha256 != right.manifest.dataset.sha256:
        known, why = False, OTHER_DATASET
    elif left.run is None or right.run is None:
        known, why = False, NO_FRAMES
    yield _record("quality", COMPARABLE, why, why)
    for name in ("status", "decision", "failure"):
        yield _record("quality", name, getattr(left.manifest, name), getattr(right.manifest, name))
    measured = tuple(field.name for field in fields(Metrics) if field.name not in (*PERFORMANCE, *LEFT_OUT))
    yield from _numbers("quality", left, right, names=measured, known=known)
    yield from _transitions(left, right, known=known)


def _numbers(
    category: Category, left: _Side, right: _Side, *, names: tuple[str, ...], known: bool
) -> Iterator[dict[str, Any]]:
    """Metrics per strategy; null on both sides where they cannot be compared."""
    for strategy in dict.fromkeys((*left.metrics, *right.metrics)):
        groups = (left.metrics.get(strategy), right.metrics.get(strategy))
        for name in names:
            values = [getattr(group, name) if group and known else None for group in groups]
            yield _record(category, name, *values, strategy=strategy, known=known)


def _transitions(left: _Side, right: _Side, *, known: bool) -> Iterator[dict[str, Any]]:
    """Cases fixed, broken, unchanged or only in one run, from left to right; counts stand on the right."""
    from ctxlab.gates.transitions import transitions

    found: dict[str, Counter[str]] = {}
    if known and left.run is not None and right.run is not None:
        for one in transitions(right.run, left.run):
            found.setdefault(one.strategy, Counter())[one.transition] += 1
    for strategy in dict.fromkeys((*left.metrics, *right.metrics)):
        for transition in TRANSITIONS:
            number = found.get(strategy, Counter())[transition] if known else None
            same = known and (number == 0 or transition == "unchanged")
            record = _record("quality", f"cases_{transition}", None, number, strategy=strategy)
            yield {**record, "equal": same}


def _artifacts(left: _Side, right: _Side) -> Iterator[dict[str, Any]]:
    """Hash and size of each file that one of the runs has."""
    sides = [{artifact.path: artifact for artifact in side.manifest.artifacts} for side in (left, right)]
    for path in sorted({*sides[0], *sides[1]}):
        one, other = (side.get(path) for side in sides)
        for name in ("sha256", "size_bytes"):
            yield _record(
                "artifacts",
                f"{path}:{name}",
                getattr(one, name, None),
                getattr(other, name, None),
            )


def _record(
    category: Category,
    field: str,
    left: Any,
    right: Any,
    *,
    strategy: str = NO_STRATEGY,
    known: bool = True,
) -> dict[str, Any]:
    return {
        "category": category,
        "field": field,
        "strategy": strategy,
        "left": _text(left),
        "right": _text(right),
        "difference": _difference(left, right),
        "equal": known and left == right,
    }


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Fraction):
        return repr(float(value))
    return str(value) if isinstance(value, Real) else canonical_json(value)


def _difference(left: Any, right: Any) -> Fraction | None:
    numbers = [value for value in (left, right) if isinstance(value, Real) and not isinstance(value, bool)]
    if len(numbers) < 2:
        return None
    return exact(right) - exact(left)
