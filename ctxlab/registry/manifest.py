"""The manifest of a run, schema 1.1: what was run, on what, with which outcome, and which files it left (EXP-020).

The fingerprint is the hash of `whole_identity`, so that what was run is checked whenever a manifest is read. Schema 1.0
knew neither strategies nor budgets; what it lacks is null.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from ctxlab.declarations import Deployment
from ctxlab.errors import IntegrityError
from ctxlab.files import replacing
from ctxlab.prices import Prices
from ctxlab.registry.artifacts import MANIFEST, Artifact, Sha256, open_plain
from ctxlab.registry.environment import Environment
from ctxlab.strict_json import FLOAT_DIGITS, RuleError, parse_json

if TYPE_CHECKING:
    from pathlib import Path

Status = Literal["completed", "regression_failed", "failed", "incomplete"]
Decision = Literal["passed", "failed", "not_evaluated"]
Verb = Literal["compare", "eval", "sweep", "admit", "route"]
MOST_MANIFEST_BYTES = 16 * 1024 * 1024
STRICT = ConfigDict(extra="forbid", strict=True)
RunId = Annotated[str, Field(pattern=r"^[0-9]{8}T[0-9]{12}Z-[0-9a-f]{12}-[0-9a-f]{8}$")]
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBlock:
    """The checkout that the package ran from; each is null when it is not known."""

    __pydantic_config__ = STRICT

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None
    dirty: bool | None
    branch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetBlock:
    """The dataset: base name of its file, hash, number of cases."""

    __pydantic_config__ = STRICT

    name: str
    sha256: Sha256
    cases: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsBlock:
    """Models by name; `observed` is what the platform called itself, `multiple` if it used several names."""

    __pydantic_config__ = STRICT

    requested: str | None
    helper: str | None = None
    observed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientBlock:
    """Who was asked and how; `facts` is what a client tells of itself, such as the hash of a model file."""

    __pydantic_config__ = STRICT

    kind: str
    mode: Literal["buffered", "streaming"]
    attempts: Count
    concurrency: Count
    timeout_s: float | None
    facts: dict[str, str | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatesBlock:
    """Gates and baseline as given and as resolved: thresholds as text, then as exact fractions."""

    __pydantic_config__ = STRICT

    given: dict[str, str]
    resolved: dict[str, str]
    baseline: str | None = None
    baseline_run_id: RunId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """What a strategy came to, all rows of the run under the name `*`; shares and seconds as the `metrics` frame has them."""

    __pydantic_config__ = STRICT

    strategy: str
    rows: Count
    completed: Count
    passed: Count
    failed: Count
    errors: Count
    refused: Count
    unjudged: Count
    not_run: Count
    pass_rate: float | None
    error_rate: float | None
    context_recall_pooled: float | None
    answer_recall_pooled: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    duration_p50_s: float | None
    duration_p95_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """How to run it again: a command with placeholders for the address, and what it takes beside the commit."""

    __pydantic_config__ = STRICT

    command: str
    from_commit_alone: bool
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One run as its manifest tells it.

    Attributes:
        identity: what the fingerprint speaks of, but `strategies`, `budget` and `thresholds`, which stand beside it.
    """

    __pydantic_config__ = STRICT

    schema_version: Literal["1.0", "1.1"] = "1.1"
    run_id: RunId
    fingerprint: Sha256
    started_at: AwareDatetime
    ended_at: AwareDatetime
    status: Status
    decision: Decision
    failure: Annotated[str, Field(min_length=1, max_length=240)] | None
    source: SourceBlock
    dataset: DatasetBlock
    models: ModelsBlock
    client: ClientBlock
    environment: Environment
    artifacts: tuple[Artifact, ...]
    aggregates: tuple[Aggregate, ...]
    gates: GatesBlock | None = None
    deployment: Deployment | None = None
    reproduction: Reproduction | None = None
    verb: Verb | None = None
    input_identity: Sha256 | None = None
    identity: dict[str, Any] | None = None
    strategies: tuple[dict[str, Any], ...] | None = None
    budget: dict[str, int] | None = None
    thresholds: dict[str, Any] | None = None
    counter: dict[str, str | None] | None = None
    prompts: dict[str, Any] | None = None
    generation: dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None
    provenance: dict[str, Any] | None = None
    prices: Prices | None = None

    @property
    def whole_identity(self) -> dict[str, Any] | None:
        """The object whose hash the fingerprint is; null in schema 1.0."""
        if self.identity is None:
            return None
        return {**self.identity, **{name: getattr(self, name) for name in BESIDE_IDENTITY}}

    def of_kind(self, kind: str) -> tuple[Artifact, ...]:
        """The artifacts of a kind."""
        return tuple(artifact for artifact in self.artifacts if artifact.kind == kind)


BESIDE_IDENTITY = ("strategies", "budget", "thresholds")
"""Parts of the identity that are blocks of their own."""
NEW_IN_1_1 = (
    "verb", "input_identity", "identity", "strategies", "budget", "thresholds", "counter", "prompts", "generation",
    "evaluation", "provenance", "prices",
)  # fmt: skip
"""Fields that schema 1.0 does not have."""


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest as it is stored: UTF-8, two-space indent, sorted keys, one final newline.

    Raises:
        IntegrityError: its parts contradict each other (EXP-023).
    """
    from ctxlab.registry.rules import demand_agreement

    demand_agreement(manifest)
    content = _adapter().dump_python(manifest, mode="json")
    return (
        json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"
    ).encode()


def write_manifest(manifest: Manifest, directory: Path) -> None:
    """Write the manifest of a run directory by atomic replacement."""
    content = manifest_bytes(manifest)
    with replacing(directory / MANIFEST) as stream:
        stream.write(content)


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a run directory, read strictly; schema 1.0 or 1.1.

    Raises:
        IntegrityError: it is missing, no strict JSON, breaks a rule, or belongs to another directory.
    """
    with open_plain(directory / MANIFEST) as file:
        content = file.read(MOST_MANIFEST_BYTES + 1)
    manifest = manifest_from_bytes(content)
    if manifest.run_id != directory.name:
        raise IntegrityError(f"{MANIFEST}: run_id: is not the name of its directory")
    return manifest


def manifest_from_bytes(content: bytes) -> Manifest:
    """The manifest in these bytes; raises `IntegrityError` with path and rule, never with values."""
    from ctxlab.registry.rules import demand_agreement

    if len(content) > MOST_MANIFEST_BYTES:
        raise IntegrityError(f"{MANIFEST}: is too large; allowed are {MOST_MANIFEST_BYTES:,} bytes")
    try:
        parse_json(content.decode("utf-8"), most_digits=FLOAT_DIGITS)
        manifest: Manifest = _adapter().validate_json(content)
    except UnicodeDecodeError as error:
        raise IntegrityError(f"{MANIFEST}: is not UTF-8 at byte {error.start}") from None
    except RuleError as broken:
        raise IntegrityError(f"{MANIFEST}: {broken.field}: {broken.rule}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = RuleError("", first["loc"]).field
        raise IntegrityError(f"{MANIFEST}: {place}: {first['type']}") from None
    demand_agreement(manifest)
    return manifest


@functools.cache
def _adapter() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)


def as_plain(manifest: Manifest) -> dict[str, Any]:
    """The manifest as nested dicts, for showing and comparing."""
    return asdict(manifest)
