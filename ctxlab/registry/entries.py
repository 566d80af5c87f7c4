"""What stands in a runs directory: finished runs, interrupted ones, and what does not belong there (EXP-041, EXP-043)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import InputError, IntegrityError, NotFoundError
from ctxlab.experiments import JOURNAL, RUN_ID, STAGING
from ctxlab.registry.artifacts import MANIFEST, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

ALIASES = ".aliases"
IGNORED = frozenset({STAGING, ALIASES, ".gitkeep"})
ALIAS = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a runs directory: `stray` is something that is no run, `staged` a run that is not finished."""

    name: str
    path: Path
    staged: bool = False
    stray: bool = False

    @property
    def shown_name(self) -> str:
        """The name as it may stand in one line."""
        return self.name if RUN_ID.fullmatch(self.name) else shown(self.name)


def entries(runs_dir: str | Path, *, staged: bool = False) -> Iterator[Entry]:
    """The entries of a runs directory, in no order; none if there is no such directory. Opens no file.

    `staged` adds runs that are interrupted or at work.

    Raises:
        InputError: the path is no directory that can be read.
    """
    root = Path(runs_dir)
    yield from (one for one in _scanned(root, staged=False) if one.name not in IGNORED)
    if staged:
        yield from _scanned(root / STAGING, staged=True)


def _scanned(directory: Path, *, staged: bool) -> Iterator[Entry]:
    try:
        found = os.scandir(directory)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"--runs-dir: cannot be read ({error.strerror or 'I/O error'})") from None
    with found:
        for entry in found:
            run = RUN_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            yield Entry(name=entry.name, path=directory / entry.name, staged=staged, stray=not run)


def resolve(runs_dir: str | Path, words: str, *, staged: bool = False) -> Path:
    """The directory of the run that a run id or an alias names; ids are tried before aliases (EXP-050).

    Args:
        runs_dir: the registry.
        words: what the user wrote.
        staged: whether a run that is interrupted or at work may be meant.

    Raises:
        InputError: the words are neither a run id nor an alias.
        NotFoundError: there is no such run or alias.
        IntegrityError: the run's directory is a symbolic link or no directory, or the alias is damaged.
    """
    from ctxlab.registry.aliases import read_alias

    if RUN_ID.fullmatch(words):
        return _run_directory(Path(runs_dir), words, staged=staged)
    if not ALIAS.fullmatch(words):
        raise InputError(
            "run: expected a run id, or an alias of lower case letters, digits, '.', '_' and '-'"
        )
    return _run_directory(Path(runs_dir), read_alias(runs_dir, words).run_id, staged=staged)


def _run_directory(runs_dir: Path, run_id: str, *, staged: bool) -> Path:
    path, at_work = runs_dir / run_id, runs_dir / STAGING / run_id
    if not os.path.lexists(path) and os.path.lexists(at_work):
        if not staged:
            raise NotFoundError(f"run {run_id}: is not finished; go on with --resume")
        path = at_work
    if not os.path.lexists(path):
        raise NotFoundError(f"run {run_id}: not found in the runs directory")
    if path.is_symlink() or not path.is_dir():
        raise IntegrityError(f"run {run_id}: is a symbolic link or no directory")
    return path


def is_begun(entry: Entry) -> bool:
    """Whether an unfinished run has a manifest or a journal yet."""
    return (entry.path / MANIFEST).exists() or (entry.path / JOURNAL).exists()
