"""Experiments: the identity of a run, its id, and the directory that it works in and leaves (EXP-001 to 007, 040, 041).

```text
<runs dir>/.staging/<run id>/   a live or interrupted run: lock, journal.jsonl, inputs/, frames
<runs dir>/<run id>/            a finished run, renamed into place, never overwritten
```
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import secrets
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ctxlab.errors import InputError, NotFoundError
from ctxlab.messages import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping

FINGERPRINT_VERSION = 1
STAGING = ".staging"
JOURNAL = "journal.jsonl"
RUN_ID = re.compile(r"[0-9]{8}T[0-9]{12}Z-[0-9a-f]{12}-[0-9a-f]{8}")
COMMIT = re.compile(r"[0-9a-f]{7,64}")
NOT_INPUT = frozenset({"concurrency", "timeout_s", "attempts", "baseline", "gates", "commit", "deployment"})
"""Fields of the identity that do not make samples incomparable (EXP-005)."""


def sha256_of(value: object) -> str:
    """SHA-256 of the canonical JSON of a value, hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def fingerprint(identity: Mapping[str, object]) -> str:
    """The hash of everything that shapes a run's results (EXP-003)."""
    return sha256_of({"fingerprint_version": FINGERPRINT_VERSION, **identity})


def input_identity(identity: Mapping[str, object]) -> str:
    """The same hash without what does not make samples incomparable (EXP-005)."""
    return fingerprint({name: value for name, value in identity.items() if name not in NOT_INPUT})


def new_run_id(fingerprint: str, *, now: datetime | None = None, token: str | None = None) -> str:
    """UTC time with microseconds, 12 digits of the fingerprint, 8 random hex digits (EXP-007)."""
    time = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%S%fZ")
    return f"{time}-{fingerprint[:12]}-{token or secrets.token_hex(4)}"


def versions() -> dict[str, str]:
    """Versions that a journal states: ctxlab's and Python's."""
    return {"ctxlab": version("ctxlab"), "python": platform.python_version()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The state of a checkout; each is null when it is not known."""

    commit: str | None = None
    dirty: bool | None = None
    branch: str | None = None


def package_source(package: Path | None = None) -> Source:
    """The checkout that the package stands in, null in every field when it stands in none (EVA-123).

    Two calls of git of at most 2 s each; a failure leaves its part unknown.
    """
    here = (package or Path(__file__).parent).resolve()
    asked = _git(here, "rev-parse", "--show-toplevel", "HEAD", "--abbrev-ref", "HEAD")
    top, commit, branch = (*(asked or "").split("\n"), "", "")[:3]
    if Path(top) != here.parent or not COMMIT.fullmatch(commit):
        return Source()
    changes = _git(here, "status", "--porcelain", "--untracked-files=no")
    return Source(
        commit=commit,
        dirty=None if changes is None else bool(changes),
        branch=None if branch in ("HEAD", "") else branch,
    )


def _git(directory: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments],
            capture_output=True,
            text=True,
            timeout=2,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@dataclass(slots=True, kw_only=True)
class RunDirectory:
    """The directory of a live run, locked for this process."""

    runs_dir: Path
    run_id: str
    lock: int

    @property
    def path(self) -> Path:
        """Where the run works until it is finished."""
        return self.runs_dir / STAGING / self.run_id

    @property
    def journal(self) -> Path:
        """The journal's path."""
        return self.path / JOURNAL

    @classmethod
    def claim(cls, runs_dir: str | Path, run_id: str) -> Self:
        """Make the directory of a new run; of two that claim one id one wins (EXP-040).

        Raises:
            InputError: the id is taken, or the place cannot be written.
        """
        root = Path(runs_dir)
        if (root / run_id).exists():
            raise InputError(f"run {run_id}: exists already")
        try:
            (root / STAGING).mkdir(parents=True, exist_ok=True)
            (root / STAGING / run_id).mkdir()
        except FileExistsError:
            raise InputError(f"run {run_id}: exists already") from None
        except OSError as error:
            raise InputError(f"--runs-dir: cannot be written ({error.strerror})") from None
        return cls(runs_dir=root, run_id=run_id, lock=_lock(root / STAGING / run_id))

    @classmethod
    def resume(cls, runs_dir: str | Path, run_id: str) -> Self:
        """Take over the directory of an interrupted run (EXP-041).

        Raises:
            InputError: the id is malformed, the run is finished, or another process works in it.
            NotFoundError: there is no such run.
        """
        root = Path(runs_dir)
        if not RUN_ID.fullmatch(run_id):
            raise InputError(
                "--resume: expected a run id such as 20260102T030405123456Z-0123456789ab-01234567"
            )
        if (root / run_id).exists():
            raise InputError(f"run {run_id}: is finished; there is nothing to resume")
        if not (root / STAGING / run_id / JOURNAL).exists():
            raise NotFoundError(f"run {run_id}: not found in the runs directory")
        return cls(runs_dir=root, run_id=run_id, lock=_lock(root / STAGING / run_id))

    def finish(self) -> Path:
        """Move the finished run into place and let go of it; return where it is."""
        final = self.runs_dir / self.run_id
        (self.path / "lock").unlink()
        for folder in (*(path for path in self.path.iterdir() if path.is_dir()), self.path):
            _sync(folder)
        os.rename(self.path, final)
        _sync(self.runs_dir)
        os.close(self.lock)
        return final

    def discard(self) -> None:
        """Remove the directory of a run that did not begin."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):  # other runs are in it
            self.path.parent.rmdir()
        os.close(self.lock)

    def leave(self) -> None:
        """Let go of an unfinished run; what it wrote stays for a resume."""
        os.close(self.lock)


def _lock(directory: Path) -> int:
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise InputError(f"run {directory.name}: another process is working in it") from None
    return descriptor


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
