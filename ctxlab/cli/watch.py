"""A progress display that remembers the run, so that an interrupted one can be named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxlab.progress import Progress
    from ctxlab.records import Row


@dataclass(slots=True)
class Watch:
    """Shows progress on `inner`, if there is one, and knows how to go on with the run that was begun last."""

    inner: Progress | None = None
    run_id: str | None = None
    resume: str = "--resume "

    def begin(self, *, run_id: str, rows: int) -> None:
        """Remember the run and show its beginning."""
        self.run_id = run_id
        if self.inner is not None:
            self.inner.begin(run_id=run_id, rows=rows)

    def row_done(self, row: Row) -> None:
        """Show that a row has ended."""
        if self.inner is not None:
            self.inner.row_done(row)

    def end(self) -> None:
        """Show the end."""
        if self.inner is not None:
            self.inner.end()

    @property
    def hint(self) -> str:
        """How to go on after an interrupt; empty if no run was begun."""
        return f"; go on with {self.resume}{self.run_id}" if self.run_id else ""
