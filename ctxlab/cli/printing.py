"""What a verb prints: results, warnings, and one line for each thing that is wrong (GEN-034, GEN-035)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ctxlab.errors import CtxlabError, DatasetError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ctxlab.cli.options import Format

MOST_CHARACTERS = 240


def warn(text: str) -> None:
    """Print a warning as one line on standard error."""
    print(f"warning: {text}"[:MOST_CHARACTERS], file=sys.stderr)


def demand_writable(output: Path | None) -> None:
    """Refuse an output file that could not be written, before anything is run."""
    if output is None:
        return
    if not output.parent.is_dir():
        raise InputError("--output: the folder does not exist")
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        raise InputError("--output: is a folder, or stands in one that cannot be written")


def emit(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file that then is there whole."""
    if output is None:
        sys.stdout.write(text)
        return
    from ctxlab.files import replacing

    with replacing(output) as stream:
        stream.write(text.encode())


def emit_frame(frame: pd.DataFrame, format_: Format, output: Path | None) -> None:
    """Print a frame as JSON or CSV, or as a table of what a reader wants of it."""
    from ctxlab import display

    show = {"json": display.as_json, "csv": display.as_csv, "table": display.as_text}[format_]
    text = show(frame)
    emit(text if text.endswith("\n") else f"{text}\n", output)


def report_error(error: Exception) -> int:
    """Print an error as one line each and return the exit code; only ctxlab's own texts are shown."""
    if isinstance(error, DatasetError):
        lines, code = str(error).splitlines(), error.exit_code
    elif isinstance(error, CtxlabError):
        lines, code = [" ".join(str(error).split())], error.exit_code
    elif hasattr(error, "format_message"):  # what typer raises about arguments
        lines, code = [_usage(error)], 2
    elif isinstance(error, OSError):
        lines, code = [error.strerror or "a file could not be used"], 4
    else:
        lines, code = [f"internal failure ({type(error).__name__})"], 4
    for line in lines:
        report_line(line)
    return code


def report_line(line: str) -> None:
    """Print what is wrong as one line on standard error."""
    text = f"error: {line}"
    print(text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…", file=sys.stderr)


def _usage(error: Any) -> str:
    """A usage error without the value that was given."""
    parameter, message = getattr(error, "param", None), str(getattr(error, "message", ""))
    if parameter is None or not message:
        return " ".join(error.format_message().split())
    choices = message.partition("is not one of ")[2]
    wanted = message.partition("Input should be ")[2].partition(",")[0]
    if choices:
        return f"{parameter.opts[0]}: allowed is {choices.rstrip('.').replace(chr(39), '')}"
    return f"{parameter.opts[0]}: expected {wanted or 'another value'}"
