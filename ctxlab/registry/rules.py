"""What has to agree within a manifest, checked when it is written and when it is read (EXP-023, EXP-042).

| status | decision | failure | rows | reports and row frame |
|---|---|---|---|---|
| `completed` | `passed`, or `not_evaluated` without gates | none | none in error, none not run | registered |
| `regression_failed` | `failed` | none | none in error, none not run | registered |
| `failed` | `not_evaluated` | says why | any | as far as they exist |
| `incomplete` | `not_evaluated` | none | some not run, or none told | as far as they exist |
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxlab.errors import IntegrityError
from ctxlab.experiments import fingerprint, input_identity, sha256_of
from ctxlab.registry.artifacts import MANIFEST, demand_inside, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.registry.manifest import Manifest

REQUIRED_KINDS = ("report_json", "report_markdown", "frame", "journal")
"""What a run that ended well leaves."""
ALL_ROWS = "*"


def demand_agreement(manifest: Manifest) -> None:
    """Raise `IntegrityError` for the first contradiction, naming the field and the rule."""
    for check in (_outcome, _artifacts, _times, _gates, _old_schema, _identity, _blocks):
        if found := next(check(manifest), None):
            raise IntegrityError(f"{MANIFEST}: {found}")


def _outcome(manifest: Manifest) -> Iterator[str]:
    ended_well = manifest.status in ("completed", "regression_failed")
    gated = manifest.gates is not None and bool(manifest.gates.given)
    wanted = {
        "completed": "passed" if gated else "not_evaluated",
        "regression_failed": "failed",
    }.get(manifest.status, "not_evaluated")
    if manifest.decision != wanted:
        yield f"decision: with status {manifest.status} it has to be {wanted}"
    if manifest.status == "regression_failed" and not gated:
        yield "gates: a regression needs gates"
    if (manifest.failure is not None) != (manifest.status == "failed"):
        yield f"failure: does not go with status {manifest.status}"
    rows = {one.strategy: one for one in manifest.aggregates}.get(ALL_ROWS)
    if ended_well and (rows is None or rows.errors or rows.not_run):
        yield f"aggregates: rows in error or not run do not go with status {manifest.status}"
    missing = [kind for kind in REQUIRED_KINDS if not manifest.of_kind(kind)]
    if ended_well and missing:
        yield f"artifacts: status {manifest.status} needs one of kind {missing[0]}"


def _artifacts(manifest: Manifest) -> Iterator[str]:
    for place, artifact in enumerate(manifest.artifacts):
        try:
            demand_inside(artifact.path)
        except IntegrityError as error:
            yield f"artifacts[{place}].path: {error}"
        if artifact.kind != kind_of(artifact.path):
            yield f"artifacts[{place}].kind: is not the kind of its path"
    if any(number > 1 for number in Counter(artifact.path for artifact in manifest.artifacts).values()):
        yield "artifacts: a path stands twice"


def _times(manifest: Manifest) -> Iterator[str]:
    if manifest.ended_at < manifest.started_at:
        yield "ended_at: is before started_at"


def _gates(manifest: Manifest) -> Iterator[str]:
    gates = manifest.gates
    if gates is not None and (gates.baseline is None) != (gates.baseline_run_id is None):
        yield "gates.baseline: is resolved to a run id, or there is none"
    if gates is not None and set(gates.given) != set(gates.resolved):
        yield "gates.resolved: has other gates than those given"


def _old_schema(manifest: Manifest) -> Iterator[str]:
    from ctxlab.registry.manifest import NEW_IN_1_1

    for name in NEW_IN_1_1:
        value = getattr(manifest, name)
        if manifest.schema_version == "1.0" and value is not None:
            yield f"{name}: is unknown to schema 1.0"
        if manifest.schema_version == "1.1" and value is None and name not in ("provenance", "prices"):
            yield f"{name}: is missing"


def _identity(manifest: Manifest) -> Iterator[str]:
    if manifest.environment.sha256 != manifest.environment.own_sha256():
        yield "environment.sha256: is not the hash of the environment"
    identity = manifest.whole_identity
    if identity is not None:
        if fingerprint(identity) != manifest.fingerprint:
            yield "fingerprint: is not the hash of the identity"
        if input_identity(identity) != manifest.input_identity:
            yield "input_identity: is not the hash of the identity"


def _blocks(manifest: Manifest) -> Iterator[str]:
    if manifest.identity is None:
        return
    try:
        wanted = blocks_of(manifest.identity)
    except (KeyError, TypeError, ValueError):
        yield "identity: lacks a part"
        return
    for name, block in wanted.items():
        if getattr(manifest, name) != block:
            yield f"{name}: differs from the identity"
    provenance = None if manifest.provenance is None else sha256_of(manifest.provenance)
    facts = {
        "dataset.sha256": (manifest.dataset.sha256, manifest.identity["dataset"]),
        "models.requested": (manifest.models.requested, manifest.identity["models"]["main"]),
        "client.kind": (manifest.client.kind, manifest.identity["client"][0]),
        "provenance": (provenance, manifest.identity["provenance"]),
        "deployment": (
            manifest.deployment.canonical() if manifest.deployment else None,
            manifest.identity["deployment"],
        ),
    }
    for name, (stated, known) in facts.items():
        if stated != known:
            yield f"{name}: differs from the identity"


def blocks_of(identity: dict[str, Any]) -> dict[str, Any]:
    """The blocks of a manifest that tell parts of the identity by name."""
    name, vocabulary_sha256 = identity["counter"]
    version, sha256 = identity["prompts"]
    temperature, max_tokens, seed = identity["generation"]
    return {
        "counter": {
            "name": name,
            "vocabulary_sha256": vocabulary_sha256,
            "accounting": identity["accounting"],
        },
        "prompts": {"version": version, "sha256": sha256, "system": identity["system_prompt"]},
        "generation": {
            "temperature": temperature,
            "max_tokens": max_tokens,
            "seed": seed,
            "repeats": identity["repeats"],
        },
        "evaluation": {
            "evaluators": identity["evaluators"],
            "identifier_rules": identity["identifier_rules"],
            "cue_lists": identity["cue_lists"],
            "segment_rules": identity["segment_rules"],
        },
    }
