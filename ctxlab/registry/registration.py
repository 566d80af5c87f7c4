"""A run becomes an entry of the registry: manifest and checksum index are written beside what it left (EXP-020 to 028)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ctxlab.experiments import fingerprint, input_identity
from ctxlab.metrics import metrics, overall
from ctxlab.registry.artifacts import artifacts_of, stored_files, write_index
from ctxlab.registry.environment import environment_here
from ctxlab.registry.manifest import (
    BESIDE_IDENTITY,
    Aggregate,
    ClientBlock,
    DatasetBlock,
    GatesBlock,
    Manifest,
    ModelsBlock,
    SourceBlock,
    write_manifest,
)
from ctxlab.registry.reproduction import reproduction_of
from ctxlab.registry.rules import ALL_ROWS, REQUIRED_KINDS, blocks_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from ctxlab.design import Design
    from ctxlab.metrics import Metrics
    from ctxlab.records import Row, Run
    from ctxlab.registry.artifacts import Artifact
    from ctxlab.registry.manifest import Decision, Status

MULTIPLE = "multiple"
_COUNTS = ("rows", "completed", "passed", "failed", "errors", "refused", "unjudged", "not_run")
_NUMBERS = ("input_tokens", "output_tokens")
_SHARES = (
    "pass_rate", "error_rate", "context_recall_pooled", "answer_recall_pooled", "cost", "duration_p50_s",
    "duration_p95_s",
)  # fmt: skip


def register(
    design: Design, directory: Path, *, run: Run | None = None, failure: str | None = None
) -> Manifest:
    """Write manifest and index of a run into its directory and return the manifest.

    Args:
        design: what was run.
        directory: where the run works; its name is the run id, and all its other files are written.
        run: the record of the run; null if an internal failure left none.
        failure: what failed inside ctxlab; null if nothing did.

    Raises:
        IntegrityError: the directory holds what no run writes.
    """
    artifacts = artifacts_of(stored_files(directory))
    begun = started_at(directory.name)
    manifest = Manifest(
        run_id=directory.name,
        started_at=begun,
        ended_at=max(datetime.now(UTC), begun),
        environment=environment_here(),
        artifacts=artifacts,
        aggregates=aggregates_of(run) if run else (),
        models=_models(design, run.rows if run else ()),
        client=_client(design, run),
        **_outcome(run, artifacts, failure),
        **_identity(design),
        **_declared(design),
    )
    write_manifest(manifest, directory)
    write_index(directory)
    return manifest


def _identity(design: Design) -> dict[str, Any]:
    """What the fingerprint speaks of, as the manifest tells it."""
    identity: dict[str, Any] = dict(design.identity())
    identity["strategies"] = tuple(identity["strategies"])
    return {
        "fingerprint": fingerprint(identity),
        "input_identity": input_identity(identity),
        "identity": {name: value for name, value in identity.items() if name not in BESIDE_IDENTITY},
        **{name: identity[name] for name in BESIDE_IDENTITY},
        **blocks_of(identity),
    }


def _declared(design: Design) -> dict[str, Any]:
    """What job it was, on what, from which checkout, and what the user says about it."""
    dataset, source = design.dataset, design.source
    return {
        "verb": design.verb,
        "dataset": DatasetBlock(name=PurePath(dataset.path).name, sha256=dataset.sha256, cases=len(dataset)),
        "source": SourceBlock(commit=source.commit, dirty=source.dirty, branch=source.branch),
        "gates": _gates(design),
        "deployment": design.deployment,
        "provenance": None if design.provenance is None else dict(design.provenance),
        "prices": design.prices,
        "reproduction": reproduction_of(design),
    }


def started_at(run_id: str) -> datetime:
    """The time that a run id begins with."""
    return datetime.strptime(run_id.partition("-")[0], "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)


def _outcome(run: Run | None, artifacts: Iterable[Artifact], failure: str | None) -> dict[str, Any]:
    """Status, decision and failure text that go together (EXP-021 to EXP-023)."""
    status, decision, why = _ending(run, {artifact.kind for artifact in artifacts}, failure)
    return {"status": status, "decision": decision, "failure": why}


def _ending(
    run: Run | None, kinds: Collection[str], failure: str | None
) -> tuple[Status, Decision, str | None]:
    errors = errors_in_words(run.rows) if run is not None else None
    missing = next((kind for kind in REQUIRED_KINDS if kind not in kinds), None)
    if run is not None and run.incomplete and failure is None:
        return "incomplete", "not_evaluated", None
    if failure is None and errors is None and missing is not None:
        failure = f"no {missing} could be registered"
    why = "; ".join(part for part in (failure, errors) if part)
    if why or run is None:
        return "failed", "not_evaluated", why or "internal failure"
    if not run.gates:
        return "completed", "not_evaluated", None
    if all(gate.passed for gate in run.gates):
        return "completed", "passed", None
    return "regression_failed", "failed", None


def errors_in_words(rows: Iterable[Row]) -> str | None:
    """The kinds of error of rows and their numbers, most frequent first; null without any."""
    kinds = Counter(row.error_kind or "unknown" for row in rows if row.status == "error")
    if not kinds:
        return None
    told = ", ".join(
        f"{number} {kind}" for kind, number in sorted(kinds.items(), key=lambda k: (-k[1], k[0]))
    )
    return f"{kinds.total()} rows in error: {told}"


def _models(design: Design, rows: Iterable[Row]) -> ModelsBlock:
    observed = {call.model_observed for row in rows for call in row.calls} - {None}
    helper = design.helper if design.helper is not design.client else None
    return ModelsBlock(
        requested=design.client.model if design.client else None,
        helper=helper.model if helper else None,
        observed=MULTIPLE if len(observed) > 1 else next(iter(observed), None),
    )


def _client(design: Design, run: Run | None) -> ClientBlock:
    timeout_s = getattr(design.client, "timeout_s", None)
    return ClientBlock(
        kind=design.client_kind,
        mode="streaming" if design.stream else "buffered",
        attempts=design.max_attempts,
        concurrency=design.concurrency,
        timeout_s=None if timeout_s is None else float(timeout_s),
        facts=dict(run.client_facts) if run else {},
    )


def _gates(design: Design) -> GatesBlock | None:
    if design.attached is None:
        return None
    return GatesBlock(
        given=dict(design.attached.given),
        resolved=design.attached.resolved,
        baseline=design.attached.baseline,
        baseline_run_id=design.attached.baseline_run_id,
    )


def aggregates_of(run: Run) -> tuple[Aggregate, ...]:
    """What the rows of a run come to, all together first, then per strategy."""
    # one resample, because intervals stand in frames and report and not here
    return (
        _aggregate(ALL_ROWS, overall(run)),
        *(_aggregate(group.strategy or "", group) for group in metrics(run, resamples=1)),
    )


def _aggregate(strategy: str, group: Metrics) -> Aggregate:
    values: dict[str, Any] = {name: getattr(group, name) for name in (*_COUNTS, *_NUMBERS)}
    for name in _SHARES:
        value = getattr(group, name)
        values[name] = None if value is None else float(value)
    return Aggregate(strategy=strategy, **values)
