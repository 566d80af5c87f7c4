"""The runs of a registry as a frame, newest first; one small file is read per run (EXP-043, EXP-044, EXP-053)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from ctxlab.errors import InputError, IntegrityError
from ctxlab.frames import joined
from ctxlab.journal import read_header
from ctxlab.registry.aliases import aliases_of
from ctxlab.registry.entries import entries, is_begun
from ctxlab.registry.manifest import Status, read_manifest
from ctxlab.registry.registration import started_at
from ctxlab.schemas import SCHEMAS
from ctxlab.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from ctxlab.registry.entries import Entry
    from ctxlab.registry.manifest import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which runs are wanted; null wants all. Hashes and commits may be given by their first digits, 4 or more."""

    status: str | None = None
    fingerprint: str | None = None
    input_identity: str | None = None
    model: str | None = None
    strategy: str | None = None
    git_commit: str | None = None

    def __post_init__(self) -> None:
        if self.status is not None and self.status not in get_args(Status):
            raise InputError(f"--status: allowed is {', '.join(get_args(Status))}")
        for name in ("fingerprint", "input_identity", "git_commit"):
            value = getattr(self, name)
            if value is not None and not (4 <= len(value) <= 64 and set(value) <= set("0123456789abcdef")):
                raise InputError(f"--{name.replace('_', '-')}: expected 4 to 64 hex digits")

    def want(self, record: Mapping[str, Any]) -> bool:
        """Whether a record of the `runs` frame is wanted; damaged entries always are."""
        if record["damaged"]:
            return True
        exact = all(
            wanted is None or record[name] == wanted
            for name, wanted in (("status", self.status), ("model", self.model))
        )
        begins = all(
            wanted is None or str(record[name] or "").startswith(wanted)
            for name, wanted in (
                ("fingerprint", self.fingerprint),
                ("input_identity", self.input_identity),
                ("git_commit", self.git_commit),
            )
        )
        strategies = str(record["strategies"] or "").split(";")
        return exact and begins and (self.strategy is None or self.strategy in strategies)


def runs_frame(
    runs_dir: str | Path = "runs", *, filters: Filters | None = None, incomplete: bool = False
) -> pd.DataFrame:
    """The runs of a registry, newest first by time, then id (`runs`); an empty frame if there is no such directory.

    Args:
        runs_dir: the registry.
        filters: which runs are wanted.
        incomplete: whether runs that are interrupted or at work are listed too.

    Returns:
        One row per entry. What is no run, and a run whose manifest cannot be read, has `damaged` set, its name as
        `run_id` and null in the columns that are not known; damage of other files is found by `verify_run`.

    Raises:
        InputError: the path is no directory that can be read.
    """
    names = aliases_of(runs_dir)
    found = {entry.shown_name: _record(entry, names) for entry in entries(runs_dir, staged=incomplete)}
    wanted = [record for record in found.values() if (filters or Filters()).want(record)]
    attrs = {"run_id": None, "fingerprint": None, "counter": None}
    return tabulate(SCHEMAS["runs"], sorted(wanted, key=_newest_first), attrs=attrs)


def _newest_first(record: Mapping[str, Any]) -> tuple[float, str]:
    time = record["started_at"]
    return (-time.timestamp() if time else float("inf"), str(record["run_id"]))


def _record(entry: Entry, names: Mapping[str, list[str]]) -> dict[str, Any]:
    empty: dict[str, Any] = {column.name: None for column in SCHEMAS["runs"].columns}
    empty |= {
        "run_id": entry.shown_name,
        "damaged": entry.stray,
        "aliases": joined(names.get(entry.name, ())),
    }
    if entry.stray:
        return empty
    empty["started_at"] = _time(entry.name)
    try:
        return empty | (_staged(entry) if entry.staged else _told(read_manifest(entry.path)))
    except (IntegrityError, OSError):
        return empty | {"damaged": True}


def _time(run_id: str) -> Any:
    try:
        return started_at(run_id)
    except ValueError:  # digits that are no time
        return None


def _told(manifest: Manifest) -> dict[str, Any]:
    strategies = (one["name"] for one in manifest.strategies or ())
    return {
        "fingerprint": manifest.fingerprint,
        "input_identity": manifest.input_identity,
        "status": manifest.status,
        "decision": manifest.decision,
        "started_at": manifest.started_at,
        "ended_at": manifest.ended_at,
        "verb": manifest.verb,
        "model": manifest.models.requested,
        "dataset_hash": manifest.dataset.sha256,
        "cases": manifest.dataset.cases,
        "strategies": joined(strategies),
        "git_commit": manifest.source.commit,
        "dirty": manifest.source.dirty,
    }


def _staged(entry: Entry) -> dict[str, Any]:
    """A run that is interrupted or at work, by its manifest, or by its journal as long as it has none."""
    incomplete = {"status": "incomplete", "decision": "not_evaluated"}
    if not is_begun(entry):
        return incomplete
    if (entry.path / "manifest.json").exists():
        return _told(read_manifest(entry.path))
    header = read_header(entry.path / "journal.jsonl")
    return {
        **incomplete,
        "fingerprint": header.fingerprint,
        "input_identity": header.input_identity,
        "dataset_hash": header.dataset_sha256,
    }
