"""Whether a run is as it was left: files, hashes, and the agreement of manifest, frames and report (EXP-046)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import CtxlabError, IntegrityError
from ctxlab.frames import comparisons_frame, kinds_frame, metrics_frame, results_frame
from ctxlab.journal import read_journal
from ctxlab.registry.artifacts import (
    INDEX,
    MOST_ARTIFACT_BYTES,
    artifacts_of,
    index_bytes,
    open_plain,
    read_index,
    shown,
    stored_files,
)
from ctxlab.registry.manifest import read_manifest
from ctxlab.registry.rebuilding import (
    is_rebuildable,
    judged_cases,
    read_frame,
    rebuilt_run,
    records_by_row,
    records_of,
)
from ctxlab.registry.registration import aggregates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd

    from ctxlab.records import Run
    from ctxlab.registry.artifacts import Artifact, Stored
    from ctxlab.registry.manifest import Manifest

NOT_NUMBERS = ("preview", "facts")
"""Columns of `results` that the other frames do not hold."""


def verify_run(directory: str | Path) -> tuple[str, ...]:
    """What is wrong with a finished run, one line each; nothing if it is as it was left.

    Checks manifest, checksum index, existence, size and hash of every file, and that frames, manifest and report hold
    the metrics that are recomputed from the rows. Where files are damaged, what they hold is not looked at. A change
    that was made together with its hashes is found only where numbers contradict each other.
    """
    path = Path(directory)
    return damage_of(path) or tuple(_contradictions(path, read_manifest(path)))


def damage_of(directory: Path) -> tuple[str, ...]:
    """What is wrong with the files of a finished run, one line each: manifest, index, existence, sizes and hashes."""
    try:
        return tuple(_damage(directory, read_manifest(directory).artifacts))
    except IntegrityError as error:
        return (str(error),)


def _damage(directory: Path, artifacts: Sequence[Artifact]) -> Iterator[str]:
    """Files against the index and the manifest's list."""
    files = stored_files(directory)
    index = read_index(directory)
    listed = {artifact.path: artifact for artifact in artifacts}
    yield from _missing(files, index)
    for file in files:
        if file.path not in index:
            yield f"{shown(file.path)}: is in no checksum index"
        elif index[file.path] != file.sha256:
            kept = file.path in listed and listed[file.path].sha256 == file.sha256
            yield (
                f"{INDEX}: its hash is not that of {shown(file.path)}"
                if kept
                else f"{shown(file.path)}: was changed"
            )
    found = {artifact.path: artifact for artifact in artifacts_of(files)}
    for name in sorted(set(listed) | set(found)):
        if name not in found:
            yield f"{shown(name)}: is missing or has over {MOST_ARTIFACT_BYTES:,} bytes"
        elif name not in listed:
            yield f"{shown(name)}: is no artifact of the manifest"
        elif listed[name].size_bytes != found[name].size_bytes:
            yield f"{shown(name)}: has another size than the manifest says"
        elif listed[name] != found[name]:
            yield f"{shown(name)}: has another hash than the manifest says"
    with open_plain(directory / INDEX) as stored:
        if stored.read() != index_bytes(index):
            yield f"{INDEX}: is not in the form in which it was written"


def _missing(files: Iterable[Stored], index: Iterable[str]) -> Iterator[str]:
    there = {file.path for file in files}
    yield from (f"{shown(path)}: is missing" for path in index if path not in there)


def _contradictions(directory: Path, manifest: Manifest) -> Iterator[str]:
    """What does not agree though every hash is right."""
    for check in (_journal, _inputs, _frames, _report):
        try:
            yield from check(directory, manifest)
        except CtxlabError as error:
            yield str(error)


def _journal(directory: Path, manifest: Manifest) -> Iterator[str]:
    for artifact in manifest.of_kind("journal"):
        header = read_journal(directory / artifact.path).header
        if (header.run_id, header.dataset_sha256) != (manifest.run_id, manifest.dataset.sha256):
            yield f"{artifact.path}: is that of another run or dataset"


def _inputs(directory: Path, manifest: Manifest) -> Iterator[str]:
    for artifact in manifest.of_kind("input"):
        if artifact.path == "inputs/cases.jsonl" and artifact.sha256 != manifest.dataset.sha256:
            yield f"{artifact.path}: is not the dataset of the run"


def _frames(directory: Path, manifest: Manifest) -> Iterator[str]:
    kept = {Path(artifact.path).stem for artifact in manifest.of_kind("frame")}
    if not is_rebuildable(manifest):
        return
    run = rebuilt_run(directory, manifest)
    if [asdict(one) for one in aggregates_of(run)] != [asdict(one) for one in manifest.aggregates]:
        yield "manifest.json: aggregates: differ from those recomputed from the frames"
    for name, frame_of in _RECOMPUTED.items():
        if name in kept:
            differing = _differing(read_frame(directory, name), frame_of(run), _known_rows(directory, name))
            if differing:
                yield f"frames/{name}.parquet: {differing}: differs from what the other frames give"


_RECOMPUTED: dict[str, Callable[[Run], pd.DataFrame]] = {
    "results": results_frame,
    "metrics": metrics_frame,
    "kinds": kinds_frame,
    "comparisons": comparisons_frame,
}
"""Frames that follow from others."""


def _known_rows(directory: Path, name: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Leaves out what frames do not tell: how a refused row would have been judged, where no row of its case was."""
    if name != "comparisons":
        return lambda frame: frame
    facts = records_by_row(read_frame(directory, "facts"))
    judged = judged_cases(records_of(read_frame(directory, "results")), facts)
    told = all(known is not None for known in judged.values())
    return lambda frame: frame if told else frame[frame["metric"] != "passed"].reset_index(drop=True)


def _differing(
    stored: pd.DataFrame, computed: pd.DataFrame, known: Callable[[pd.DataFrame], pd.DataFrame]
) -> str | None:
    """The first column that differs; null if none does."""
    left, right = known(stored), known(computed)
    if len(left) != len(right):
        return "number of rows"
    columns = [name for name in left.columns if name not in NOT_NUMBERS]
    return next(
        (str(name) for name in columns if name not in right or not left[name].equals(right[name])), None
    )


def _report(directory: Path, manifest: Manifest) -> Iterator[str]:
    from ctxlab.reports import demand_recomputed, read_report
    from ctxlab.reports.aggregates import aggregate_of, aggregates_by_strategy

    for artifact in manifest.of_kind("report_json"):
        report = read_report(directory / artifact.path)
        demand_recomputed(report, artifact.path)
        if (report.run_id, report.dataset_content_hash) != (manifest.run_id, manifest.dataset.sha256):
            yield f"{artifact.path}: is that of another run or dataset"
        if not is_rebuildable(manifest):
            continue
        run = rebuilt_run(directory, manifest)
        each = None if len(run.strategies) < 2 else aggregates_by_strategy(run)  # as `run_report` tells them
        if report.aggregate != aggregate_of(run) or report.by_strategy != each:
            yield f"{artifact.path}: aggregate: differs from that recomputed from the frames"
