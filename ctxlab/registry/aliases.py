"""Names for runs, set by hand: one small file each, replaced atomically, with a log of former targets (EXP-049)."""

from __future__ import annotations

import fcntl
import functools
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ctxlab.errors import InputError, IntegrityError, NotFoundError
from ctxlab.experiments import RUN_ID
from ctxlab.files import replacing
from ctxlab.registry.artifacts import open_plain
from ctxlab.registry.entries import ALIAS, ALIASES, resolve
from ctxlab.strict_json import RuleError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX, LOCK = ".json", "lock"
MOST_ALIAS_BYTES = 1 << 20
STRICT = ConfigDict(extra="forbid", strict=True)
RunId = Annotated[str, Field(pattern=rf"^(?:{RUN_ID.pattern})$")]
Time = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{6})?\+00:00$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A run that an alias stood for, and when it was set to it (UTC, ISO 8601)."""

    __pydantic_config__ = STRICT

    run_id: RunId
    set_at: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A name, the run that it stands for, and those it stood for before, oldest first."""

    __pydantic_config__ = STRICT

    name: str
    run_id: RunId
    set_at: Time
    former: tuple[Target, ...] = ()


def set_alias(runs_dir: str | Path, name: str, run_id: str, *, now: datetime | None = None) -> Alias:
    """Let a name stand for a finished run from now on; what it stood for before is logged.

    Raises:
        InputError: the name or the run id is malformed.
        NotFoundError: there is no such run.
        IntegrityError: the alias's file is damaged.
    """
    if not ALIAS.fullmatch(name):
        raise InputError("alias: expected 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a-z or 0-9")
    if not RUN_ID.fullmatch(run_id):
        raise InputError("alias: stands for a run id such as 20260102T030405123456Z-0123456789ab-01234567")
    resolve(runs_dir, run_id)
    set_at = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="microseconds")
    folder = Path(runs_dir) / ALIASES
    folder.mkdir(exist_ok=True)
    with _locked(folder):
        try:
            before = read_alias(runs_dir, name)
            former = (*before.former, Target(run_id=before.run_id, set_at=before.set_at))
        except NotFoundError:
            former = ()
        alias = Alias(name=name, run_id=run_id, set_at=set_at, former=former)
        with replacing(folder / f"{name}{SUFFIX}") as stream:
            stream.write((json.dumps(asdict(alias), indent=2, sort_keys=True) + "\n").encode())
    return alias


def read_alias(runs_dir: str | Path, name: str) -> Alias:
    """What a name stands for.

    Raises:
        InputError: the name is malformed.
        NotFoundError: there is no such alias.
        IntegrityError: its file is damaged or a symbolic link.
    """
    if not ALIAS.fullmatch(name):
        raise InputError("alias: expected 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a-z or 0-9")
    path = Path(runs_dir) / ALIASES / f"{name}{SUFFIX}"
    if path.parent.is_symlink():
        raise IntegrityError("the aliases' folder is a symbolic link")
    if not os.path.lexists(path):
        raise NotFoundError(f"alias {name}: not found in the runs directory")
    with open_plain(path) as file:
        content = file.read(MOST_ALIAS_BYTES)
    try:
        parse_json(content.decode("utf-8"))
        alias: Alias = _adapter().validate_json(content)
    except (UnicodeDecodeError, RuleError, ValidationError):
        raise IntegrityError(f"alias {name}: its file is damaged; set it again after removing it") from None
    if alias.name != name:
        raise IntegrityError(f"alias {name}: its file is that of another alias")
    return alias


def aliases_of(runs_dir: str | Path) -> dict[str, list[str]]:
    """The names that stand for each run id; damaged ones are left out, `damaged_aliases` names them."""
    found: dict[str, list[str]] = {}
    for name in _names(runs_dir):
        try:
            found.setdefault(read_alias(runs_dir, name).run_id, []).append(name)
        except IntegrityError:
            continue
    return found


def damaged_aliases(runs_dir: str | Path) -> list[str]:
    """Names of aliases whose file is damaged, or whose run is not there."""
    damaged = []
    for name in _names(runs_dir):
        try:
            resolve(runs_dir, name)
        except (IntegrityError, NotFoundError):
            damaged.append(name)
    return damaged


def _names(runs_dir: str | Path) -> list[str]:
    folder = Path(runs_dir) / ALIASES
    found = folder.iterdir() if folder.is_dir() and not folder.is_symlink() else ()
    names = [path.name.removesuffix(SUFFIX) for path in found if path.name.endswith(SUFFIX)]
    return sorted(name for name in names if ALIAS.fullmatch(name))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time, so that no log entry is lost."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@functools.cache
def _adapter() -> TypeAdapter[Alias]:
    return TypeAdapter(Alias)
