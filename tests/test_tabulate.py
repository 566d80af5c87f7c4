"""Records to frames and Parquet: dtypes, nulls, keys, and files that are there whole or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.errors import IntegrityError
from ctxlab.files import replacing
from ctxlab.schemas import SCHEMAS, Column, Schema
from ctxlab.tabulate import read_parquet, tabulate, write_parquet

SCHEMA = Schema(
    name="made",
    version=3,
    key=("id",),
    columns=tuple(
        Column(name=name, dtype=dtype, required=name in ("id", "n"))
        for name, dtype in {"id": "s", "n": "i", "m": "i", "f": "f", "b": "b", "s": "s", "t": "t"}.items()
    ),
)
DTYPES = {
    "id": "string", "n": "Int64", "m": "Int64", "f": "Float64", "b": "boolean", "s": "string",
    "t": "datetime64[us, UTC]",
}  # fmt: skip
TIME = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def record(key: str | None = "a", **values):
    return {"id": key, "n": 1, "m": None, "f": None, "b": None, "s": None, "t": None, **values}


def made(*records, **attrs):
    return tabulate(SCHEMA, records, attrs=attrs)


# covers FRM-001, FRM-002, FRM-004
def test_columns_have_nullable_dtypes_and_unknown_values_are_na():
    frame = made(record(), record("b", m=2**63 - 1, f=Fraction(1, 3), b=False, s="", t=TIME))
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == DTYPES
    assert list(frame.columns) == list(DTYPES)
    assert isinstance(frame.index, pd.RangeIndex)
    for name in ("m", "f", "b", "s"):
        assert frame[name][0] is pd.NA
    assert frame["t"][0] is pd.NaT
    assert frame["m"][1] == 2**63 - 1
    assert frame["f"][1] == 1 / 3
    assert frame["s"][1] == ""
    assert frame["t"][1] == TIME


# covers FRM-003
@pytest.mark.parametrize("name", SCHEMAS)
def test_an_empty_frame_has_all_columns_with_their_dtypes(name):
    letters = {"i": "Int64", "f": "Float64", "b": "boolean", "s": "string", "t": "datetime64[us, UTC]"}
    frame = tabulate(SCHEMAS[name], [], attrs={})
    assert len(frame) == 0
    assert [(column, str(frame[column].dtype)) for column in frame.columns] == [
        (column.name, letters[column.dtype]) for column in SCHEMAS[name].columns
    ]


# covers FRM-004
def test_attributes_name_frame_version_and_what_else_is_given():
    assert made(record(), run_id="r").attrs == {"frame": "made", "version": 3, "run_id": "r"}


# covers FRM-002, FRM-005, FRM-006
@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([record(n=None)], "made.n: null"),
        ([record(None)], "made.id: null"),
        ([record("a"), record("a")], "made: 1 rows repeat the key"),
        ([record(f=float("nan"))], "made.f: a number that is not finite"),
        ([record(f=float("inf"))], "made.f: a number that is not finite"),
    ],
)
def test_records_that_break_the_schema_make_no_frame(records, message):
    with pytest.raises(IntegrityError, match=message):
        made(*records)


# covers FRM-009
def test_parquet_keeps_names_dtypes_nulls_and_attributes(tmp_path):
    frame = made(
        record(),
        record("b", m=2**62 + 1, f=0.1, b=True, s="значение", t=TIME),
        run_id="r1",
        fingerprint=None,
    )
    path = tmp_path / "made.parquet"
    write_parquet(frame, path)
    again = read_parquet(path)
    pd.testing.assert_frame_equal(again, frame, check_exact=True)
    assert again.attrs == {"frame": "made", "version": 3, "run_id": "r1"}
    table = pl.read_parquet(path)
    assert [str(dtype) for dtype in table.dtypes] == [
        "String", "Int64", "Int64", "Float64", "Boolean", "String", "Datetime(time_unit='us', time_zone='UTC')",
    ]  # fmt: skip
    assert table["m"].null_count() == 1
    assert pl.read_parquet_metadata(path)["ctxlab.frame"] == "made"


# covers FRM-009
def test_equal_frames_give_equal_bytes(tmp_path):
    for name in ("one", "two"):
        write_parquet(made(record(f=0.5, t=TIME), record("b"), run_id="r", counter="c"), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    write_parquet(made(record(f=0.25, t=TIME), record("b"), run_id="r", counter="c"), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() != (tmp_path / "two").read_bytes()


# covers FRM-003, FRM-009
def test_an_empty_frame_survives_parquet(tmp_path):
    write_parquet(made(), tmp_path / "empty.parquet")
    pd.testing.assert_frame_equal(read_parquet(tmp_path / "empty.parquet"), made())


# covers RUN-078
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail_halfway():
        with replacing(path) as stream:
            stream.write(b"half of the new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


# covers RUN-078
def test_a_good_write_takes_the_place_of_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


values = st.fixed_dictionaries(
    {
        "m": st.none() | st.integers(-(2**63), 2**63 - 1),
        "f": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "b": st.none() | st.booleans(),
        "s": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
        "t": st.none() | st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
    }
)


# covers FRM-009
@given(st.lists(values, max_size=5))
@settings(max_examples=40, deadline=None)
def test_any_frame_is_equal_after_parquet(tmp_path_factory, rows):
    frame = made(*(record(str(i), **row) for i, row in enumerate(rows)))
    path = tmp_path_factory.mktemp("frames") / "any.parquet"
    write_parquet(frame, path)
    pd.testing.assert_frame_equal(read_parquet(path), frame, check_exact=True)
