"""The embedded model's server seen from its parent: start, wait until ready, stop."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import LocalModelError
from ctxlab.text import preview

if TYPE_CHECKING:
    from collections.abc import Sequence

READY_WITHIN_S = 120.0
_POLL_S = 0.05
_TAIL_LINES = 3
_TAIL_CHARACTERS = 140
_UNLOADED = re.compile(r"(failed to load|error loading) model")
_RUNTIME_ERROR = re.compile(
    r"^[\d.]+ E +(?:\w+ +)*\w+: (?:error loading model: )?(.+)$|error loading model: (.+)$", re.MULTILINE
)
"""A line of llama.cpp's log that tells of an error: with time and level, or without them."""
_SCRIPT = Path(__file__).with_name("local_server.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProcess:
    """A server process with its private directory, which holds its log and, once it is ready, its address.

    Attributes:
        key: the random key that it demands; in no representation and no argument list.
    """

    process: subprocess.Popen[bytes]
    directory: Path
    key: str = field(repr=False)

    def address(self) -> str | None:
        """The base URL of the server, or null while it is loading; raises if the process has ended."""
        if self.process.poll() is not None:
            raise unloaded_model(self._log()) or self.failure("has ended")
        try:
            return (self.directory / "address").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def failure(self, what: str) -> LocalModelError:
        """The error that says what happened, with the last lines of the log."""
        lines = [line.strip() for line in _without_dump(self._log()).splitlines() if line.strip()]
        tail = " | ".join(lines[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]
        return LocalModelError(f"the embedded model's server {what}; its log ends: {tail or '(empty)'}")

    def _log(self) -> str:
        return (self.directory / "log").read_text(encoding="utf-8", errors="replace")

    async def ready(self, *, within_s: float = READY_WITHIN_S) -> str:
        """Wait for the address without blocking the loop."""
        end = time.monotonic() + within_s
        while (address := self.address()) is None:
            self._demand_time(end, within_s)
            await asyncio.sleep(_POLL_S)
        return address

    def wait(self, *, within_s: float = READY_WITHIN_S) -> str:
        """Wait for the address where there is no loop."""
        end = time.monotonic() + within_s
        while (address := self.address()) is None:
            self._demand_time(end, within_s)
            time.sleep(_POLL_S)
        return address

    def stop(self) -> None:
        """End the process and remove its directory; it has no state that is worth a farewell."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _demand_time(self, end: float, within_s: float) -> None:
        if time.monotonic() > end:
            raise self.failure(f"was not ready within {within_s:g} s")


def unloaded_model(log: str) -> LocalModelError | None:
    """The error of a server that ended because it could not load its model, with llama.cpp's reason if it gives one.

    Null if the log tells of something else. Lines with a path are passed over: a later or earlier one says more.
    """
    if not _UNLOADED.search(log):
        return None
    reasons = (found[1] or found[2] for found in _RUNTIME_ERROR.finditer(log))
    why = next((text for text in reasons if "/" not in text and not _UNLOADED.search(text)), "")
    beginning = "the model file could not be loaded"
    if not re.search("alloc|memory", why):
        beginning += " and may be damaged"
    return LocalModelError(f"{beginning}: {preview(why, characters=_TAIL_CHARACTERS)}" if why else beginning)


def _without_dump(log: str) -> str:
    """The log up to the line in which the interpreter says that it crashed, without its state and threads."""
    crash = re.search(r"^Fatal Python error.*$", log, re.MULTILINE)
    return log[: crash.end()] if crash else log


def start_server(
    *,
    model_path: Path,
    model: str,
    context_tokens: int,
    threads: int,
    command: Sequence[str] | None = None,
) -> ServerProcess:
    """Start the server process; it ends with this one, even if this one is killed."""
    directory = Path(tempfile.mkdtemp(prefix="ctxlab-"))
    key = secrets.token_urlsafe(32)
    settings = {
        "model_path": str(model_path),
        "model": model,
        "context_tokens": context_tokens,
        "threads": threads,
        "key": key,
        "address_file": str(directory / "address"),
        "parent_pid": os.getpid(),
    }
    inherited = {name: value for name, value in os.environ.items() if name != "CTXLAB_API_KEY"}
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            # -P: the script's own directory must not hide modules of the standard library
            command or [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**inherited, "OMP_WAIT_POLICY": "passive"},
            start_new_session=True,  # an interrupt is for the parent, which ends the server itself
        )
    server = ServerProcess(process=process, directory=directory, key=key)
    try:
        assert process.stdin is not None
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        pass  # it has ended already, and its log says why
    return server
