"""What a verb prints: results, warnings, and one line for each thing that is wrong (GEN-034, GEN-035)."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.errors import CtxlabError, DatasetError, InputError

if TYPE_CHECKING:
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
    from ctxlab.files import is_written_through, naming

    with naming("--output"):
        if output.is_dir():
            raise InputError("--output: is a folder")
        place = output if is_written_through(output) else Path(os.path.realpath(output)).parent
        if not place.exists():
            raise InputError("--output: the folder does not exist")
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def terminal_characters(output: Path | None) -> int | None:
    """How wide a printed line may be: as wide as the terminal; null where no terminal shows it."""
    if output is not None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def emit(text: str, output: Path | None) -> None:
    """Print a text, or write it, as UTF-8, to a file that then is there whole."""
    if output is None:
        sys.stdout.write(text)
        return
    from ctxlab.files import output_stream

    with output_stream(output, option="--output") as stream:
        stream.write(text.encode())


def emit_frame(frame: pd.DataFrame, format_: Format, output: Path | None) -> None:
    """Print a frame as JSON or CSV, or as a table of what a reader wants of it."""
    from ctxlab import display

    if format_ == "table":
        text = display.as_text(frame, most_characters=terminal_characters(output))
    else:
        text = display.as_json(frame) if format_ == "json" else display.as_csv(frame)
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
