"""How far a run is: one updating line on a terminal, one updating display in a notebook, silence elsewhere (RUN-047)."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxlab.records import Row

LEAST_SECONDS_BETWEEN = 0.2
PROGRESS_TYPE = "application/vnd.ctxlab.progress+json"
"""Marks a notebook's display of progress, so that whoever executes the notebook can show it elsewhere."""


class Line(NamedTuple):
    """One state of a kernel's display as it is told outside; `last` says that none follows in this run."""

    text: str
    last: bool
    run_id: str


class Progress(Protocol):
    """Told how a run goes; it changes nothing."""

    def begin(self, *, run_id: str, rows: int) -> None:
        """A run begins."""
        ...

    def row_done(self, row: Row) -> None:
        """A row has ended."""
        ...

    def end(self) -> None:
        """The run is over or interrupted."""
        ...


@dataclass(slots=True, kw_only=True)
class LineProgress:
    """Progress as a line of text that `show` replaces, at most five times a second; it is told which line is the last."""

    show: Callable[[str, bool], None]
    clock: Callable[[], float] = time.monotonic
    rows: int = 0
    done: int = 0
    troubled: int = 0
    errors: int = 0
    started_s: float = 0.0
    shown_s: float = float("-inf")
    latest: str = ""
    run_id: str = field(default="", repr=False)

    def begin(self, *, run_id: str, rows: int) -> None:
        """Show an empty line of progress."""
        self.run_id, self.rows, self.done, self.troubled, self.errors = run_id, rows, 0, 0, 0
        self.started_s = self.clock()
        self._show(last=False)

    def row_done(self, row: Row) -> None:
        """Count the row; show it unless the line was shown a moment ago."""
        self.done += 1
        self.troubled += row.status in ("error", "refused")
        self.errors += row.status == "error"
        self.latest = f"{row.case.id} {row.strategy}"
        if self.clock() - self.shown_s >= LEAST_SECONDS_BETWEEN:
            self._show(last=False)

    def end(self) -> None:
        """Show the final line."""
        self._show(last=True)

    def _show(self, *, last: bool) -> None:
        self.shown_s = self.clock()
        seconds = self.shown_s - self.started_s
        troubled = f", {self.troubled} refused or in error" if self.troubled else ""
        latest = f" (last: {self.latest})" if self.latest and not last else ""
        self.show(f"rows: {self.done} of {self.rows} in {seconds:.0f} s{troubled}{latest}", last)


class Silent:
    """No display, for a run that nobody watches."""

    def begin(self, *, run_id: str, rows: int) -> None:
        """Nothing."""

    def row_done(self, row: Row) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


def progress_here() -> Progress:
    """The display that fits where the code runs: a kernel, a terminal, or neither."""
    if _in_kernel():
        return _in_notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return LineProgress(show=terminal_line)
    return Silent()


def _in_kernel() -> bool:
    """Whether this is a Jupyter kernel; asks without importing IPython."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def terminal_line(text: str, last: bool) -> None:
    """Replace the current line of a terminal."""
    sys.stderr.write(f"\r\x1b[K{text}" + ("\n" if last else ""))
    sys.stderr.flush()


def relay(line: Line) -> None:
    """Show the progress of a kernel: on a terminal in one line, else, as in a log, in one line per state."""
    if sys.stderr.isatty():
        terminal_line(line.text, line.last)
    else:
        print(line.text, file=sys.stderr, flush=True)


def _in_notebook() -> LineProgress:
    """Progress as one display of a notebook, updated in place and saved as its last line of plain text."""
    from IPython import display

    handle: Any = None

    def show(text: str, last: bool) -> None:
        nonlocal handle
        told = {"run_id": progress.run_id, "errors": progress.errors, "last": last}
        bundle = {"text/plain": text, PROGRESS_TYPE: told}
        if handle is None:
            handle = display.display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            handle.update(bundle, raw=True)

    progress = LineProgress(show=show)
    return progress


def byte_progress(*, step_bytes: int = 50 << 20) -> Callable[[int, int], None]:
    """Progress of a download in MB: a line that is replaced on a terminal, else one line every `step_bytes`."""
    shown = -step_bytes
    on_terminal = sys.stderr.isatty()

    def show(done: int, total: int) -> None:
        nonlocal shown
        if done < total and done - shown < (1 << 20 if on_terminal else step_bytes):
            return
        shown = done
        text = f"fetching the model: {done >> 20} of {total >> 20} MB"
        if on_terminal:
            terminal_line(text, done >= total)
        else:
            print(text, file=sys.stderr, flush=True)

    return show
