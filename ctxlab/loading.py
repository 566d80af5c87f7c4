"""Reading a dataset: strict JSON Lines in, records out, or every faulty line named by its place and rule.

```text
bytes -> lines -> JSON (strict_json) -> record (the constraints beside its fields) -> rules (dataset_rules)
```
"""

from __future__ import annotations

import functools
import gc
import hashlib
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.constraints import OTHER_ARM, TEXT_ARM
from ctxlab.dataset import Case, Dataset
from ctxlab.dataset_rules import case_breaks, case_warnings, fill_defaults, raw_breaks
from ctxlab.errors import DatasetError, InputError, LineError
from ctxlab.files import demand_file
from ctxlab.messages import Message, to_wire
from ctxlab.strict_json import RuleError, check_depth, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from pydantic import ValidationError
    from pydantic_core import SchemaValidator

MAXIMUM_BYTES = 256 * 1024 * 1024
MAXIMUM_BYTES_OF_1_0 = 16 * 1024 * 1024
MAXIMUM_CASES = 10_000
SHOWN_LINES = 20

_MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16 LE", b"\xfe\xff": "UTF-16 BE"}


def load_dataset(path: str | Path) -> Dataset:
    """Read a dataset; raises `DatasetError` with one record per faulty line, at most 20 (DAT-122)."""
    demand_file(path)
    try:
        with Path(path).open("rb") as file, _collector_paused():
            return _Reading(str(path)).read(file)
    except OSError as error:
        raise InputError(f"{Path(path).name}: cannot be read: {error.strerror or 'I/O error'}") from None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Records hold no cycles; going through the growing pile of them again and again costs a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Reading:
    """One pass over a file: what was found so far."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = Path(path).name
        self.cases: list[Case] = []
        self.warnings: list[str] = []
        self.errors: list[LineError] = []
        self.line_of: dict[str, int] = {}
        self.faulty = 0
        self.old_line: int | None = None

    def read(self, file: BinaryIO) -> Dataset:
        """Every line of the file, then what can only be said of the whole."""
        size, digest = 0, hashlib.sha256()
        if file.seek(0, 2) > MAXIMUM_BYTES:
            raise self.refused("too_large", f"at most {MAXIMUM_BYTES} bytes")
        file.seek(0)
        for number, line in enumerate(file, 1):
            size += len(line)
            if size > MAXIMUM_BYTES:
                raise self.refused("too_large", f"at most {MAXIMUM_BYTES} bytes")
            if number == 1:
                self.check_mark(line)
            digest.update(line)
            self.read_line(number, line)
        if self.errors:
            raise DatasetError(self.errors, further=self.faulty - len(self.errors))
        if not self.cases:
            raise self.refused("empty_dataset", "at least 1 case")
        if self.old_line is not None and size > MAXIMUM_BYTES_OF_1_0:
            allowed = f"at most {MAXIMUM_BYTES_OF_1_0} bytes; line {self.old_line} is of schema 1.0"
            raise self.refused("too_large_for_1_0", allowed)
        return Dataset(
            path=self.path, sha256=digest.hexdigest(), cases=tuple(self.cases), warnings=tuple(self.warnings)
        )

    def read_line(self, number: int, line: bytes) -> None:
        """One line: a case, a blank, or an error."""
        try:
            text = _decoded(line)
            if not text.strip():
                return
            if len(self.cases) + self.faulty == MAXIMUM_CASES:
                raise self.refused("too_many_cases", f"at most {MAXIMUM_CASES}")
            case = case_from_json(text)
            if case.id in self.line_of:
                detail = f"{case.id} is the id of line {self.line_of[case.id]} too"
                raise RuleError("duplicate_id", ("id",), detail)
        except RuleError as found:
            self.faulty += 1
            if len(self.errors) < SHOWN_LINES:
                self.errors.append(self.error(number, found))
            return
        self.line_of[case.id] = number
        self.cases.append(case)
        self.warnings += [str(self.error(number, found)) for found in case_warnings(case)]
        if case.schema_version == "1.0" and self.old_line is None:
            self.old_line = number

    def check_mark(self, line: bytes) -> None:
        """Refuse a byte order mark."""
        for mark, encoding in _MARKS.items():
            if line.startswith(mark):
                raise self.refused("bom", encoding)

    def error(self, number: int, found: RuleError) -> LineError:
        """A break of a rule, with its place in the file."""
        return LineError(file=self.name, line=number, field=found.field, rule=found.rule, detail=found.detail)

    def refused(self, rule: str, detail: str) -> DatasetError:
        """An error about the whole file."""
        return DatasetError([self.error(1, RuleError(rule, detail=detail))])


def _decoded(line: bytes) -> str:
    """The text of a line without its end, which is LF or CRLF."""
    content = line.removesuffix(b"\n")
    if len(content) < len(line):
        content = content.removesuffix(b"\r")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RuleError("utf8", detail=f"byte {error.start} of the line") from None


def case_from_json(text: str) -> Case:
    """The case in one line; raises `RuleError` at the first rule that it breaks."""
    raw = parse_json(text)
    if not isinstance(raw, dict):
        check_depth(raw)
        raise RuleError("not_an_object")
    if broken := next(raw_breaks(raw), None):
        raise broken
    fill_defaults(raw)
    case = _validated(raw)
    if broken := next(case_breaks(case), None):
        raise broken
    return case


def _validated(raw: dict[str, Any]) -> Case:
    from pydantic import ValidationError

    try:
        case: Case = _case_validator().validate_python(raw)
    except ValidationError as error:
        check_depth(raw)
        raise _rule_error(error) from None
    return case


@functools.cache
def _case_validator() -> SchemaValidator:
    """Reads a case from parsed JSON: scalars strictly, records and tuples from the objects and arrays that JSON has."""
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    schema = TypeAdapter(Case).core_schema
    _loosen_containers(schema)
    return SchemaValidator(schema)


def _loosen_containers(schema: object) -> None:
    if isinstance(schema, dict):
        if schema.get("type") in ("dataclass", "tuple"):
            schema["strict"] = False
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        _loosen_containers(part)


_RULE_OF: dict[str, tuple[str, str]] = {
    "missing": ("missing", ""),
    "unexpected_keyword_argument": ("unknown_field", ""),
    "literal_error": ("value", "allowed is {expected}"),
    "string_too_short": ("length", "at least {min_length} characters, found {measured}"),
    "string_too_long": ("length", "at most {max_length} characters, found {measured}"),
    "too_short": ("length", "at least {min_length} items, found {measured}"),
    "too_long": ("length", "at most {max_length} items, found {measured}"),
    "string_pattern_mismatch": ("pattern", "expected {pattern}"),
    "greater_than_equal": ("range", "at least {ge}"),
    "less_than_equal": ("range", "at most {le}"),
    "string_type": ("type", "expected a string"),
    "int_type": ("type", "expected an integer"),
    "float_type": ("type", "expected a number"),
    "bool_type": ("type", "expected true or false"),
    "tuple_type": ("type", "expected a list"),
    "dataclass_type": ("type", "expected an object"),
}
"""Rule and detail of each kind of validation error."""


def _rule_error(error: ValidationError) -> RuleError:
    """The first error of a validation in our words."""
    first = error.errors(include_url=False)[0]
    rule, detail = _RULE_OF.get(first["type"], ("type", ""))
    value = first["input"]
    if first["type"] == "literal_error" and not isinstance(value, str):
        rule, detail = "type", "expected a string"
    measured = len(value) if isinstance(value, (str, list)) else 0
    path = [step for step in first["loc"] if step not in (TEXT_ARM, OTHER_ARM)]
    return RuleError(rule, path, detail.format(**first.get("ctx", {}), measured=measured))


def dataset_bytes(cases: Iterable[Case]) -> bytes:
    """The cases as JSON Lines, the same bytes for equal cases: what `load_dataset` reads back as equal records."""
    from ctxlab.estimates import compact_json

    return b"".join(compact_json(_plain(case)).encode() + b"\n" for case in cases)


def _plain(record: Any) -> Any:
    """A record as JSON values, in field order, without what a reader fills in."""
    if isinstance(record, Message):
        return to_wire(record)
    if isinstance(record, tuple):
        return [_plain(item) for item in record]
    if not is_dataclass(record):
        return record
    return dict(_written(record))


def _written(record: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(record):
        value = getattr(record, field.name)
        if value != (field.default_factory() if callable(field.default_factory) else field.default):
            yield field.name, _plain(value)
