"""Notebooks executed headless: parameters checked first, files replaced whole, nothing half done that looks done.

```text
parameters -> kernel of its own -> executed copy -> page
                   |
            a failure leaves NAME.failed.ipynb and no page
```
"""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab import errors
from ctxlab.errors import CtxlabError, InputError, NotebookError
from ctxlab.files import output_stream
from ctxlab.parameters import declared_parameters, effective_values, read_notebook
from ctxlab.progress import PROGRESS_TYPE, relay
from ctxlab.showing import RUN_TYPE, RunSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nbformat import NotebookNode

    from ctxlab.engine import Watched
    from ctxlab.parameters import Value
    from ctxlab.progress import Line

MARKER_TAG = "papermill-error-cell-tag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an execution left.

    Attributes:
        page, notebook: the page and the executed copy.
        run: the last run that the notebook shows, null without one.
        errors: rows in error of the last run that it made or shows, null without one (EXP-054).
    """

    page: Path
    notebook: Path
    run: RunSummary | None
    errors: int | None


def report_notebook(
    notebook: str | Path,
    *,
    out_dir: str | Path = "reports",
    parameters: Mapping[str, Any] | None = None,
    cell_timeout_s: int | None = None,
    show: Callable[[Line], None] = relay,
) -> Report:
    """Execute a notebook and make its page: `NAME.ipynb` and `NAME.html` in `out_dir`, the page last (GEN-055).

    Takes the arguments and raises the errors of `execute_notebook`; then an earlier page stays as it was.
    """
    from ctxlab.page import render_page

    path, out = Path(notebook), Path(out_dir)
    executed = execute_notebook(
        path, out_dir=out, parameters=parameters, cell_timeout_s=cell_timeout_s, show=show
    )
    page = out / f"{path.stem}.html"
    _write(page, render_page(executed, name=path.stem))
    return Report(
        page=page,
        notebook=out / f"{path.stem}.ipynb",
        run=last_run(executed),
        errors=last_errors(executed),
    )


def execute_notebook(
    notebook: str | Path,
    *,
    out_dir: str | Path,
    parameters: Mapping[str, Any] | None = None,
    cell_timeout_s: int | None = None,
    show: Callable[[Line], None] = relay,
) -> NotebookNode:
    """Execute a notebook in the working directory and write the executed copy `NAME.ipynb` to `out_dir`.

    Args:
        notebook: the file; it is not changed.
        out_dir: is made if it does not exist.
        parameters: values by name; the others keep their defaults.
        cell_timeout_s: most seconds of one cell; null means that there is no limit.
        show: told the progress of runs while cells execute.

    Raises:
        ParameterError: a declaration, name or value is not as it has to be; nothing was executed.
        NotebookError: a cell failed or took too long, or the kernel died; `NAME.failed.ipynb` keeps what was done.
        KeyboardInterrupt: the same for an interrupt, after the kernel was interrupted too.
    """
    path, out = Path(notebook), Path(out_dir)
    content = read_notebook(path)
    values = effective_values(declared_parameters(content), parameters or {})
    _make(out)
    from ctxlab.engine import Watched, execute

    watched, failed = Watched(show=show), out / f"{path.stem}.failed.ipynb"
    try:
        execute(path, values=values, watched=watched, cell_timeout_s=cell_timeout_s)
    except KeyboardInterrupt:
        _keep(failed, watched, path=path, status="interrupted", values=values)
        raise
    except Exception as error:  # noqa: BLE001  (papermill passes on whatever ended the kernel)
        _keep(failed, watched, path=path, status="failed", values=values)
        raise NotebookError(f"{path.name}: {_what_failed(watched, error)}{_kept(failed)}") from None
    if watched.cell + 1 < len(watched.notebook.cells) or any(_errors(watched.notebook)):
        _keep(failed, watched, path=path, status="failed", values=values)
        raise NotebookError(f"{path.name}: ended in {_where(watched)} before its last cell{_kept(failed)}")
    _keep(out / f"{path.stem}.ipynb", watched, path=path, status="completed", values=values)
    failed.unlink(missing_ok=True)
    executed: NotebookNode = watched.notebook
    return executed


def last_run(notebook: NotebookNode) -> RunSummary | None:
    """The last run that an executed notebook shows; null if it shows none."""
    for told in _told(notebook, RUN_TYPE):
        if all(type(told.get(name)) is kind for name, kind in _SUMMARY.items()):
            return RunSummary(**{name: told[name] for name in _SUMMARY})
    return None


def last_errors(notebook: NotebookNode) -> int | None:
    """Rows in error of the last run that a notebook made or shows; null without one."""
    numbers = (told.get("errors") for told in _told(notebook, RUN_TYPE, PROGRESS_TYPE))
    return next((number for number in numbers if type(number) is int), None)


def _told(notebook: NotebookNode, *types: str) -> Iterator[dict[str, Any]]:
    """What outputs tell in these mimetypes, the last first."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    for output in reversed(outputs):
        found = (output.get("data", {}).get(mimetype) for mimetype in types)
        yield from (told for told in found if isinstance(told, dict))


_SUMMARY = {f.name: {"int": int, "str": str}[str(f.type)] for f in fields(RunSummary)}


# Files


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out: the folder cannot be made ({error.strerror})") from None
    if not os.access(directory, os.W_OK):  # said before anything runs
        raise InputError(f"--out: cannot be written ({os.strerror(errno.EACCES)})")


def _keep(target: Path, watched: Watched, *, path: Path, status: str, values: Mapping[str, Value]) -> None:
    """Write the notebook at work with a status that is its own: papermill's also calls cells done that never ran."""
    import nbformat

    notebook = watched.notebook
    if notebook is None:
        return
    notebook.cells = [cell for cell in notebook.cells if MARKER_TAG not in cell.metadata.get("tags", ())]
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
    run = last_run(notebook)
    notebook.metadata.papermill.update(
        input_path=path.name, output_path=target.name, exception=status != "completed"
    )
    notebook.metadata["ctxlab"] = {
        "status": status,
        "notebook_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "parameters": dict(values),
        "run": None if run is None else asdict(run),
    }
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    _write(target, text + "\n")


def _write(target: Path, text: str) -> None:
    with output_stream(target, option="--out") as stream:
        stream.write(text.encode())


# What went wrong


def _what_failed(watched: Watched, error: Exception) -> str:
    """Where and why, without a cell's text; messages are shown of ctxlab's own errors only."""
    name = type(error).__name__
    if watched.cell < 0:
        return f"the kernel did not start ({name})"
    ended = {"DeadKernelError": "the kernel died in", "CellTimeoutError": "took too long:"}
    if name in ended:
        return f"{ended[name]} {_where(watched)}"
    for kind, message in _errors(watched.notebook):
        known = getattr(errors, kind, None)
        own = isinstance(known, type) and issubclass(known, CtxlabError)
        return f"{_where(watched)} failed with {kind}" + (
            f": {message.splitlines()[0]}" if own and message else ""
        )
    return f"{_where(watched)} failed with {name}"


def _errors(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                yield output.ename, output.evalue


def _where(watched: Watched) -> str:
    """The cell at work, by the number that Jupyter shows beside it."""
    cells = [cell for cell in watched.notebook.cells if MARKER_TAG not in cell.metadata.get("tags", ())]
    number = sum(cell.cell_type == "code" for cell in cells[: watched.cell + 1])
    return f"code cell [{number}]"


def _kept(failed: Path) -> str:
    return f" ({failed.name} keeps what was executed)" if failed.exists() else ""
