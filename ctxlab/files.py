"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ctxlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


def demand_file(path: str | Path) -> None:
    """Refuse a path that is there and is no regular file: a pipe would block, a folder holds no lines."""
    if Path(path).exists() and not Path(path).is_file():
        raise InputError(f"{Path(path).name or path}: cannot be read: it is not a file")


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A stream to a file that takes its place when the block ends well: temporary file, fsync, rename (RUN-078).

    If the block raises, whatever stood at the path still stands there and nothing else is left behind.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def output_stream(path: str | Path, *, option: str) -> Iterator[BinaryIO]:
    """A stream to the place that a user named for a result.

    A file is replaced as by `replacing`; of a symbolic link, the file that it leads to. What is no file, such as a
    device or a pipe, is written to and stays what it is.

    Raises:
        InputError: it cannot be written; names the option.
    """
    target = Path(path)
    with naming(option):
        if is_written_through(target):
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                yield stream
        else:
            with replacing(os.path.realpath(target)) as stream:
                yield stream


@contextmanager
def naming(option: str) -> Iterator[None]:
    """Say of an error of the file system which option it is about."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{option}: cannot be written ({error.strerror or 'I/O error'})") from None


def is_written_through(path: Path) -> bool:
    """Whether there is something at a path that a file must not replace, or that is this process's own output."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(found.st_mode) or any(_is_open(descriptor, found) for descriptor in (1, 2))


def _is_open(descriptor: int, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), found)
    except OSError:  # it is closed
        return False
