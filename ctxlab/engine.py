"""Papermill's engine for notebooks: a kernel of this interpreter with endpoints of its own for each execution."""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.progress import PROGRESS_TYPE, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jupyter_client.manager import AsyncKernelManager
    from traitlets.config import Config

    from ctxlab.parameters import Value

NAME = "ctxlab"
KERNEL = "python3"
START_TIMEOUT_S = 60
LONGEST_SOCKET_PATH = 90
"""Characters that leave room for the socket's number below the system's limit of about 107."""


@dataclass(slots=True, kw_only=True)
class Watched:
    """One execution as seen from outside: what is known of it also when it ends badly.

    Attributes:
        show: told each state of a run's progress.
        notebook: the notebook at work, null before it began.
        cell: index of the latest cell that was begun, -1 before the first.
    """

    show: Callable[[Line], None]
    notebook: Any = None
    cell: int = -1

    def begin_cell(self, *, cell_index: int, **_: Any) -> None:
        """Remember which cell is at work."""
        self.cell = cell_index

    def hear(self, message: Mapping[str, Any]) -> None:
        """Pass on a kernel's message if it is the progress of a run."""
        content = message["content"]
        told = content.get("data", {}).get(PROGRESS_TYPE) if isinstance(content, dict) else None
        if isinstance(told, dict):
            text = "".join(sign for sign in content["data"].get("text/plain", "") if sign.isprintable())
            self.show(Line(text=text, last=bool(told.get("last")), run_id=str(told.get("run_id", ""))))


def _kernel_manager() -> type[AsyncKernelManager]:
    """Starts a kernel of this very interpreter, whatever kernels are installed on the machine."""
    from ipykernel.kernelspec import make_ipkernel_cmd
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class OwnKernel(AsyncKernelManager):
        @property
        def kernel_spec(self) -> KernelSpec:
            return KernelSpec(argv=make_ipkernel_cmd(), language="python", display_name="Python 3")

    return OwnKernel


def _client(nb_man: Any, *, watched: Watched, **settings: Any) -> Any:
    """Papermill's client, which also tells what it hears."""
    from papermill.clientwrap import PapermillNotebookClient  # type: ignore[import-untyped]

    class TellingClient(PapermillNotebookClient):  # type: ignore[misc]
        def process_message(self, msg: Mapping[str, Any], *arguments: Any) -> Any:
            watched.hear(msg)
            return super().process_message(msg, *arguments)

    return TellingClient(
        nb_man,
        kernel_manager_class=_kernel_manager(),
        startup_timeout=START_TIMEOUT_S,
        on_cell_start=watched.begin_cell,
        log=logging.getLogger("papermill"),
        **settings,
    )


def _engine() -> type:
    """Executes a notebook in a kernel whose endpoints nobody else can meet (EXP-067), up to a cell that fails."""
    from papermill.engines import Engine  # type: ignore[import-untyped]

    class PrivateKernels(Engine):  # type: ignore[misc]
        @classmethod
        def execute_managed_notebook(
            cls, nb_man: Any, kernel_name: str, *, watched: Watched, cell_timeout_s: int | None, **_: Any
        ) -> None:
            watched.notebook = nb_man.nb
            with tempfile.TemporaryDirectory(prefix="ctxlab-", ignore_cleanup_errors=True) as place:
                settings = {
                    "kernel_name": kernel_name,
                    "config": endpoints(Path(place)),
                    "timeout": cell_timeout_s,
                }
                client = _client(nb_man, watched=watched, **settings)
                # A kernel's own words would stand among the lines that the command line prints.
                client.execute(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    return PrivateKernels


def endpoints(place: Path) -> Config:
    """Where a kernel listens: at sockets in a directory of its own, or at ports where such a path is too long.

    Ports are chosen before the kernel binds them, so that two kernels can meet there; sockets cannot.
    """
    from traitlets.config import Config

    settings: dict[str, str] = {"connection_file": str(place / "kernel.json")}
    socket = str(place / "s")
    if sys.platform != "win32" and len(socket) <= LONGEST_SOCKET_PATH:
        settings |= {"transport": "ipc", "ip": socket}
    return Config({"KernelManager": settings})


def execute(path: Path, *, values: Mapping[str, Value], watched: Watched, cell_timeout_s: int | None) -> None:
    """Execute a notebook in the working directory, its parameters set to these values; `watched` keeps what it is.

    Raises whatever ended the execution before the last cell.
    """
    import papermill  # type: ignore[import-untyped]
    from papermill.engines import papermill_engines

    papermill_engines.register(NAME, _engine())
    with _silenced(logging.getLogger("papermill")):
        papermill.execute_notebook(
            str(path),
            None,
            parameters=dict(values),
            engine_name=NAME,
            kernel_name=KERNEL,
            language="python",
            progress_bar=False,
            watched=watched,
            cell_timeout_s=cell_timeout_s,
        )


@contextmanager
def _silenced(log: logging.Logger) -> Iterator[None]:
    """Keep a log quiet: papermill does not understand every annotation, and what goes wrong is told by the error."""
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)
