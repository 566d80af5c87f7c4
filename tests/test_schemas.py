"""The table of frames in the code is the one of the specification, read from its text."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from ctxlab.budget import Limits
from ctxlab.schemas import SCHEMAS, Column

SPECIFICATION = Path(__file__).parent.parent / "docs" / "spec" / "frames.md"
ROW_KEY = "run_id s!, case_id s!, strategy s!, repeat i!"
FATES = "retained i!, missing i!, reversed i!, unsupported_claim i!, not_judged i!"
LIMITS = ", ".join(f"{field.name} {'s' if field.name == 'profile' else 'i'}!" for field in fields(Limits))


def without_remarks(text: str) -> str:
    """The cell without bracketed remarks, but with `(all i!)`."""
    return re.sub(r" ?\((?!all )[^()]*\)", "", text)


def columns_of(cell: str) -> list[Column]:
    """The columns that a cell lists; names before `(all i!)` share that mark."""
    columns, waiting = [], []
    for item in filter(None, map(str.strip, cell.split(","))):
        words = item.replace("(all ", "").rstrip(")").split()
        waiting.append(words[0])
        if len(words) == 1:
            continue
        name, mark = words
        names = waiting if "(all " in item else [name]
        columns += [Column(name=n, dtype=mark[0], required=mark.endswith("!")) for n in names]
        waiting = []
    assert not waiting, waiting
    return columns


def table() -> dict[str, tuple[list[Column], list[Column]]]:
    """Key and further columns per frame, as the table of section 2 gives them."""
    found: dict[str, tuple[list[Column], list[Column]]] = {}
    for line in SPECIFICATION.read_text(encoding="utf-8").splitlines():
        if not (match := re.match(r"\| `(\w+)` \(`\w+\(.*?\)`\) \| (.*) \| (.*) \|$", line)):
            continue
        name, key, rest = match.groups()
        key = re.sub(r"`[^`]*`", "", without_remarks(key)).replace("row key", ROW_KEY)
        key = key.replace(", then by", "")
        rest = without_remarks(rest)
        for words, columns in {
            "receipt of STR-030: ": "",
            "fact counts ": "",
            "and the five fates i!": FATES,
            "one column per swept name, then the columns of metrics": "METRICS",
            "the columns of the table in budget.md section 4": LIMITS,
        }.items():
            rest = rest.replace(words, columns)
        further = []
        for item in re.split(r"(METRICS),", rest):
            further += found["metrics"][1] if item == "METRICS" else columns_of(item)
        found[name] = (columns_of(key), further)
    return found


# covers FRM-004, FRM-005, FRM-006
def test_the_specification_names_these_frames_and_no_others():
    assert list(SCHEMAS) == list(table())
    assert len(SCHEMAS) == 24


# covers FRM-004, FRM-005, FRM-006
@pytest.mark.parametrize("name", SCHEMAS)
def test_columns_order_dtypes_marks_and_keys_are_those_of_the_specification(name):
    key, further = table()[name]
    assert SCHEMAS[name].key == tuple(column.name for column in key)
    assert list(SCHEMAS[name].columns) == key + further


# covers FRM-006
@pytest.mark.parametrize("name", SCHEMAS)
def test_key_columns_are_never_null_and_names_are_unique(name):
    schema = SCHEMAS[name]
    names = [column.name for column in schema.columns]
    assert len(set(names)) == len(names)
    assert all(column.required for column in schema.columns if column.name in schema.key)
    assert schema.version >= 1


def test_a_schema_is_widened_right_after_its_key():
    by_tag = SCHEMAS["metrics"].widened("tag s!", in_key=True)
    assert by_tag.key == ("run_id", "strategy", "tag")
    assert [column.name for column in by_tag.columns[:4]] == ["run_id", "strategy", "tag", "rows"]
    swept = SCHEMAS["sweep"].widened([Column(name="target_tokens", dtype="i", required=False)], in_key=False)
    assert swept.key == ("setting", "strategy")
    assert [column.name for column in swept.columns[:4]] == ["setting", "strategy", "target_tokens", "rows"]
