"""Where an experiment is kept: the directory and journal that it works in, and what it leaves there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from ctxlab import experiments
from ctxlab.caller import row_at_work
from ctxlab.errors import CtxlabError, InputError
from ctxlab.files import replacing
from ctxlab.journal import Header, Journal, read_journal
from ctxlab.loading import dataset_bytes
from ctxlab.messages import canonical_json
from ctxlab.records import Observed

if TYPE_CHECKING:
    from pathlib import Path

    from ctxlab.dataset import Dataset
    from ctxlab.design import Design
    from ctxlab.experiments import RunDirectory
    from ctxlab.journal import Recorded
    from ctxlab.records import Run
    from ctxlab.strategies.base import Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an experiment is kept: its directory and journal, or nothing on disk.

    `recorded` is what an earlier part of the run has left in the journal, null if it begins; `observations` are those
    of this part.
    """

    run_id: str
    directory: RunDirectory | None = None
    journal: Journal | None = None
    recorded: Recorded | None = None
    observations: list[Observed] = field(default_factory=list)

    def observe(self, observation: Observation) -> None:
        """Keep what a summary of the row at work took, however it ended (STR-097)."""
        row = row_at_work.get()
        self.observations.append(
            Observed(case_id=row.case_id, strategy=row.strategy, repeat=row.repeat, observation=observation)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of the run has to know about its journal."""
        cut = self.recorded is not None and self.recorded.truncated
        return ("the journal's last line was cut off and is left out",) if cut else ()

    async def leave(self, *, discard: bool) -> None:
        """Let go of a run that ended by an error; `discard` removes what it wrote."""
        if self.journal is not None and self.directory is not None:
            await self.journal.close()
            self.directory.discard() if discard else self.directory.leave()


def open_place(design: Design, runs_dir: str | Path | None, resume: str | None) -> Place:
    """Claim a directory and begin a journal, or take those of an interrupted run that was begun with the same inputs.

    Raises:
        InputError: the directory is in use or cannot be written, or the inputs are others.
        NotFoundError: there is no such run to resume.
        IntegrityError: its journal is damaged.
    """
    identity = design.identity()
    header = Header(
        run_id=resume or experiments.new_run_id(experiments.fingerprint(identity)),
        fingerprint=experiments.fingerprint(identity),
        input_identity=experiments.input_identity(identity),
        endpoint=design.client.endpoint if design.client else "offline",
        dataset_sha256=design.dataset.sha256,
        versions=experiments.versions(),
    )
    if runs_dir is None:
        return Place(run_id=header.run_id)
    if resume is None:
        directory = experiments.RunDirectory.claim(runs_dir, header.run_id)
        journal = Journal.create(directory.journal, header)
        if design.dataset.converted:
            _keep_input(design.dataset, directory)
        return Place(run_id=header.run_id, directory=directory, journal=journal)
    directory = experiments.RunDirectory.resume(runs_dir, resume)
    try:
        recorded = read_journal(directory.journal)
        _demand_same(header, recorded.header)
    except CtxlabError:
        directory.leave()
        raise
    journal = Journal.reopen(directory.journal, length=recorded.length)
    return Place(run_id=resume, directory=directory, journal=journal, recorded=recorded)


def _keep_input(dataset: Dataset, directory: RunDirectory) -> None:
    """Write the cases that were made from another format beside the journal; their hash is the dataset's (DAT-141)."""
    (directory.path / "inputs").mkdir()
    with replacing(directory.path / "inputs" / "cases.jsonl") as stream:
        stream.write(dataset_bytes(dataset.cases))


def _demand_same(now: Header, then: Header) -> None:
    """Refuse to resume with other inputs (RUN-076)."""
    for field_name, meaning in (
        ("dataset_sha256", "dataset"),
        ("endpoint", "endpoint or model"),
        ("input_identity", "strategies, budget, thresholds or generation settings"),
    ):
        if getattr(now, field_name) != getattr(then, field_name):
            raise InputError(f"--resume: the run was begun with another {meaning}")


async def keep(run: Run, place: Place, design: Design) -> Run:
    """Write frames, reports and manifest of a run into its directory, if it has one; move a finished run into place.

    If that fails, the run is registered as failed with what exists (EXP-022), or left for a resume if it was
    interrupted, and the error goes on.
    """
    directory = place.directory
    if directory is None or place.journal is None:
        return run
    await place.journal.close()
    try:
        _write(run, directory.path, design)
    except Exception as error:
        if run.incomplete:
            directory.leave()
        else:
            _register_failed(directory, design, error, run=run)
        raise
    if run.incomplete:
        directory.leave()
        return replace(run, directory=str(directory.path))
    return replace(run, directory=str(directory.finish()))


async def keep_failed(place: Place, design: Design, error: Exception) -> None:
    """Register a run that something inside ctxlab ended, with what it has left until then (EXP-022)."""
    if place.directory is not None and place.journal is not None:
        await place.journal.close()
        _register_failed(place.directory, design, error, run=None)


def _write(run: Run, path: Path, design: Design) -> None:
    from ctxlab.frames import run_frames, write_parquet
    from ctxlab.registry import register
    from ctxlab.reports import write_report

    for left_over in path.rglob(".*.part"):  # of a process that was killed while it wrote
        left_over.unlink()
    (path / "frames").mkdir(exist_ok=True)
    for name, frame in run_frames(run, ledger=design.ledger).items():
        write_parquet(frame, path / "frames" / f"{name}.parquet")
    if run.observations:
        with replacing(path / "observations.jsonl") as stream:
            stream.writelines(f"{canonical_json(asdict(one))}\n".encode() for one in run.observations)
    write_report(run, path, source=design.source)
    register(design, path, run=run)


def _register_failed(directory: RunDirectory, design: Design, error: Exception, *, run: Run | None) -> None:
    """Write the manifest of a failed run and put it in its place; if that fails too, leave it for a resume."""
    from ctxlab.registry import register

    try:
        register(design, directory.path, run=run, failure=f"internal failure ({_name(error)})")
    except Exception:  # noqa: BLE001  (the first error is the one to tell)
        directory.leave()
    else:
        directory.finish()


def _name(error: BaseException) -> str:
    """The kind of an error; of a group that workers ended with, that of its first."""
    return _name(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else type(error).__name__
