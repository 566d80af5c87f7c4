"""Source records out of a file: JSON or JSON Lines, plain or gzip (DAT-143)."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.errors import DatasetError, InputError, LineError
from ctxlab.files import demand_file
from ctxlab.loading import MAXIMUM_BYTES, SHOWN_LINES
from ctxlab.strict_json import RuleError, check_depth, parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def read_records(
    path: str | Path, *, is_record: Callable[[Any], bool] = lambda value: isinstance(value, dict)
) -> tuple[list[Any], list[str]]:
    """The records of a file in order, and warnings.

    A file that is one JSON value holds one record if `is_record` says so, else a list of records. Raises
    `DatasetError` as `load_dataset` does, except that of equal keys the last one wins with a warning.
    """
    demand_file(path)
    file = _Source(Path(path).name)
    text = file.text(_expanded(Path(path)))
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise DatasetError([file.error(1, RuleError("empty_dataset", detail="at least 1 record"))])
    if len(lines) > 1 and _is_json(lines[0][1]):
        return file.values(lines), file.warnings
    [value] = file.values([(1, text)])
    return [value] if is_record(value) or not isinstance(value, list) else value, file.warnings


class _Source:
    """One source file: its name in errors, and what was found so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.warnings: list[str] = []

    def text(self, content: bytes) -> str:
        """The text of the file; raises for a byte order mark and for invalid UTF-8."""
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            offset = error.start - (content.rfind(b"\n", 0, error.start) + 1)
            raise DatasetError(
                [self.error(line, RuleError("utf8", detail=f"byte {offset} of the line"))]
            ) from None
        if text.startswith("\ufeff"):
            raise DatasetError([self.error(1, RuleError("bom", detail="UTF-8"))])
        return text

    def values(self, lines: list[tuple[int, str]]) -> list[Any]:
        """The value of each line; raises with one error per faulty line."""
        values, errors = [], []
        for number, line in lines:
            try:
                values.append(self.value(number, line))
            except RuleError as found:
                errors.append(self.error(number, found))
        if errors:
            raise DatasetError(errors[:SHOWN_LINES], further=len(errors[SHOWN_LINES:]))
        return values

    def value(self, number: int, text: str) -> Any:
        """One JSON value; equal keys are a warning."""
        try:
            value = parse_json(text)
        except RuleError as found:
            if found.rule != "duplicate_key":
                raise
            self.warnings.append(str(self.error(number, found)))
            value = parse_json(text, duplicate_keys=True)
        check_depth(value)
        return value

    def error(self, number: int, found: RuleError) -> LineError:
        """A break of a rule, with its place in the file."""
        return LineError(file=self.name, line=number, field=found.field, rule=found.rule, detail=found.detail)


def _expanded(path: Path) -> bytes:
    """The bytes of a file, expanded if it is gzip; never more than one byte over the limit is read."""
    try:
        with path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            content = (gzip.GzipFile(fileobj=file) if zipped else file).read(MAXIMUM_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path.name}: cannot be read: damaged gzip") from None
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read: {error.strerror or 'I/O error'}") from None
    if len(content) > MAXIMUM_BYTES:
        found = RuleError("too_large", detail=f"at most {MAXIMUM_BYTES} bytes")
        raise DatasetError([_Source(path.name).error(1, found)])
    return content


def _is_json(line: str) -> bool:
    try:
        parse_json(line, duplicate_keys=True)
    except RuleError as found:
        return found.rule not in ("json", "lone_cr")
    return True


def leaves(value: Any) -> Iterator[Any]:
    """Every string, number, boolean and null in a JSON value, in order."""
    if isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value
