"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ctxlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


def demand_file(path: str | Path) -> None:
    """Refuse a path that is there and is no regular file: a pipe would block, a folder holds no lines."""
    if Path(path).exists() and not Path(path).is_file():
        raise InputError(f"{Path(path).name}: cannot be read: it is not a file")


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
