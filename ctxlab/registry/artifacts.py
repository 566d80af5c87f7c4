"""The files of a run directory: their kinds, their hashes, and the index that covers every one of them.

The index, `checksums.sha256`, holds one line `<sha256>  <path>` per file, sorted by path, the manifest included and
itself left out; `sha256sum --check` reads it. Equal files give equal bytes, so a changed byte shows wherever it is.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

from pydantic import ConfigDict, Field

from ctxlab.errors import IntegrityError
from ctxlab.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MANIFEST = "manifest.json"
INDEX = "checksums.sha256"
LOCK = "lock"
REPORT_JSON, REPORT_MARKDOWN, RESULTS = "evaluation.json", "evaluation.md", "frames/results.parquet"
MOST_ARTIFACT_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 1 << 20
ArtifactKind = Literal[
    "report_json", "report_markdown", "report_html", "frame", "journal", "input", "measurement", "summary"
]
KINDS: tuple[tuple[str, ArtifactKind], ...] = (
    (REPORT_JSON, "report_json"),
    (REPORT_MARKDOWN, "report_markdown"),
    ("*.html", "report_html"),
    ("frames/*.parquet", "frame"),
    ("journal.jsonl", "journal"),
    ("inputs/*", "input"),
    ("summary.*", "summary"),
    ("*", "measurement"),
)
"""Path pattern and kind; the first that fits."""
_LINE = re.compile(rb"([0-9a-f]{64})  (.+)", re.DOTALL)
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One registered file of at most 64 MiB; `path` is relative to the run directory, with slashes (EXP-026)."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    kind: ArtifactKind
    path: str
    sha256: Sha256
    size_bytes: Annotated[int, Field(ge=0, le=MOST_ARTIFACT_BYTES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One file as it was found on disk."""

    path: str
    sha256: str
    size_bytes: int


def demand_inside(path: str) -> None:
    """Refuse a path that is absolute or leaves its directory (EXP-042).

    Raises:
        IntegrityError: without repeating the path.
    """
    steps = path.split("/")
    if not path.isprintable() or "\\" in path or any(step in ("", ".", "..") for step in steps):
        raise IntegrityError("a path is absolute, leaves the run directory or is not in its plain form")


def stored_files(directory: Path) -> tuple[Stored, ...]:
    """Every file below a run directory but index and lock, with size and hash, sorted by path.

    Raises:
        IntegrityError: a symbolic link, or something that is neither file nor folder.
    """
    found = [_stored(directory, path) for path in _paths(directory, "") if path not in (INDEX, LOCK)]
    return tuple(sorted(found, key=lambda one: one.path))


def _paths(directory: Path, before: str) -> Iterator[str]:
    with os.scandir(directory / before) as entries:
        for entry in entries:
            path = f"{before}{entry.name}"
            if entry.is_symlink():
                raise IntegrityError(f"{shown(path)}: is a symbolic link")
            if entry.is_dir(follow_symlinks=False):
                yield from _paths(directory, f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                yield path
            else:
                raise IntegrityError(f"{shown(path)}: is neither a file nor a folder")


def _stored(directory: Path, path: str) -> Stored:
    demand_inside(path)
    digest, size_bytes = hashlib.sha256(), 0
    with open_plain(directory / path) as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            size_bytes += len(chunk)
    return Stored(path=path, sha256=digest.hexdigest(), size_bytes=size_bytes)


@contextmanager
def open_plain(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading; a symbolic link is not followed, and nothing is waited for.

    Raises:
        IntegrityError: it is missing, a link, or no file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        why = "is a symbolic link" if error.errno == errno.ELOOP else error.strerror or "I/O error"
        raise IntegrityError(f"{shown(path.name)}: cannot be read ({why})") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise IntegrityError(f"{shown(path.name)}: is not a file")
        yield file


def artifacts_of(files: Iterable[Stored]) -> tuple[Artifact, ...]:
    """The files as artifacts; the manifest is none, and neither is a file over 64 MiB, which only the index covers."""
    return tuple(
        Artifact(kind=kind_of(file.path), path=file.path, sha256=file.sha256, size_bytes=file.size_bytes)
        for file in files
        if file.path != MANIFEST and file.size_bytes <= MOST_ARTIFACT_BYTES
    )


@functools.lru_cache(maxsize=1024)
def kind_of(path: str) -> ArtifactKind:
    """The kind of the artifact at a path."""
    return next(kind for pattern, kind in KINDS if fnmatchcase(path, pattern))


def index_bytes(hashes: Mapping[str, str]) -> bytes:
    """The checksum index of files, given as hash by path."""
    return "".join(f"{hashes[path]}  {path}\n" for path in sorted(hashes)).encode()


def write_index(directory: Path) -> None:
    """Write the index of everything that stands in a run directory."""
    content = index_bytes({file.path: file.sha256 for file in stored_files(directory)})
    with replacing(directory / INDEX) as stream:
        stream.write(content)


def read_index(directory: Path) -> dict[str, str]:
    """Hash by path, as the index of a run directory has them.

    Raises:
        IntegrityError: a line of another form, a path that leaves the directory, or one that stands twice.
    """
    with open_plain(directory / INDEX) as file:
        lines = file.read().split(b"\n")
    found: dict[str, str] = {}
    for number, line in enumerate(lines[:-1], 1):
        match = _LINE.fullmatch(line)
        path = match[2].decode("utf-8", "replace") if match else ""
        try:
            demand_inside(path)
        except IntegrityError as error:
            raise IntegrityError(f"{INDEX}:{number}: {error}") from None
        if match is None or path in found:
            raise IntegrityError(f"{INDEX}:{number}: expected a hash and a path that stands once")
        found[path] = match[1].decode()
    if lines[-1]:
        raise IntegrityError(f"{INDEX}:{len(lines)}: the line is cut off")
    return found


def shown(text: str, *, most_characters: int = 120) -> str:
    """A file name as it may stand in one line: odd characters escaped, long ones cut."""
    safe = text.encode("ascii", "backslashreplace").decode()
    safe = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in safe)
    return safe if len(safe) <= most_characters else f"{safe[: most_characters - 3]}..."
