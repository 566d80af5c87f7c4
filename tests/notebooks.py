"""Notebooks made by hand, the installed command, and a folder in which it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = str(Path(sys.executable).parent / "ctxlab")


def code_cell(source, *, tags=()):
    return {
        "cell_type": "code", "execution_count": None, "metadata": {"tags": list(tags)}, "outputs": [], "source": source
    }  # fmt: skip


def text_cell(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def write_notebook(path, *sources, parameters="number: int = 1"):
    """A notebook with a title, a parameters cell and these code cells."""
    cells = [text_cell("# A title"), code_cell(parameters, tags=["parameters"]), *map(code_cell, sources)]
    nb = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(nb))
    return path


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("CTXLAB_")}


def report(*arguments, cwd):
    """`ctxlab report` with these arguments, run to its end in this folder."""
    return subprocess.run(
        [COMMAND, "report", *map(str, arguments)],
        cwd=cwd, env=environment(), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def begin(*arguments, cwd):
    """The same as a process at work."""
    return subprocess.Popen(
        [COMMAND, "report", *map(str, arguments)],
        cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
