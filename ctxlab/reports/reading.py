"""A report file read strictly, or refused with one line that names path and rule and no value (EVA-090, EVA-097)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.files import demand_file
from ctxlab.reports.records import EvaluationReport
from ctxlab.reports.rules import contradictions, unknown_to_1_0
from ctxlab.strict_json import FLOAT_DIGITS, RuleError, check_depth, parse_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MOST_BYTES = 256 * 1024 * 1024
_RULES = {
    "missing": "missing",
    "unexpected_keyword_argument": "unknown_field",
    "extra_forbidden": "unknown_field",
    "literal_error": "value",
    "string_pattern_mismatch": "pattern",
    "string_too_short": "length",
    "string_too_long": "length",
    "greater_than": "range",
    "greater_than_equal": "range",
    "less_than": "range",
    "less_than_equal": "range",
}
"""Our word for each kind of validation error; the others are errors of type."""


def read_report(path: str | Path) -> EvaluationReport:
    """Read a report of schema 1.0 or 1.1; what 1.0 lacks is null.

    Raises:
        InputError: it cannot be read, is no strict JSON, breaks a rule or contradicts itself.
    """
    demand_file(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{Path(path).name}: cannot be read: {error.strerror or 'I/O error'}") from None
    try:
        return report_from_bytes(content)
    except RuleError as broken:
        detail = f" ({broken.detail})" if broken.detail else ""
        raise InputError(f"{Path(path).name}: {broken.field}: {broken.rule}{detail}") from None


def report_from_bytes(content: bytes) -> EvaluationReport:
    """The report in these bytes; raises `RuleError` at the first rule that they break."""
    if len(content) > MOST_BYTES:
        raise RuleError("too_large", detail=f"at most {MOST_BYTES} bytes")
    if content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise RuleError("bom")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RuleError("utf8", detail=f"byte {error.start}") from None
    raw = parse_json(text, most_digits=FLOAT_DIGITS)
    check_depth(raw)
    if not isinstance(raw, dict):
        raise RuleError("not_an_object")
    if raw.get("report_schema_version") == "1.0" and (broken := next(unknown_to_1_0(raw), None)):
        raise broken
    report = _validated(content)
    if found := next(contradictions(report), None):
        raise found
    return report


def _validated(content: bytes) -> EvaluationReport:
    from pydantic import ValidationError

    try:
        return _adapter().validate_json(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        raise RuleError(_RULES.get(first["type"], "type"), first["loc"]) from None


@functools.cache
def _adapter() -> TypeAdapter[EvaluationReport]:
    from pydantic import TypeAdapter

    return TypeAdapter(EvaluationReport)
