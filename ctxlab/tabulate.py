"""Records to DataFrames of a known schema, and from there to Parquet and back."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from ctxlab.errors import IntegrityError
from ctxlab.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from ctxlab.schemas import Column, Dtype, Schema

_PANDAS: dict[Dtype, str] = {
    "i": "Int64",
    "f": "Float64",
    "b": "boolean",
    "s": "string",
    "t": "datetime64[us, UTC]",
}
_LETTERS: dict[str, Dtype] = {
    "Int64": "i",
    "Float64": "f",
    "Boolean": "b",
    "String": "s",
    "Datetime(time_unit='us', time_zone='UTC')": "t",
}
_PREFIX = "ctxlab."


def tabulate(
    schema: Schema, records: Iterable[Mapping[str, Any]], *, attrs: Mapping[str, str | None]
) -> pd.DataFrame:
    """A frame of the schema: nullable dtypes, columns in order, null as `pd.NA` (FRM-001 to FRM-006).

    Each record holds every column by name, None where unknown. Fractions become floats here. Raises
    `IntegrityError` if a record breaks the schema: null where none may be, a repeated key, NaN or infinity.
    """
    import pandas as pd

    rows = list(records)
    columns = {column.name: [_value(column, row[column.name]) for row in rows] for column in schema.columns}
    _check(schema, columns)
    frame = pd.DataFrame(
        {c.name: pd.Series(columns[c.name], dtype=_PANDAS[c.dtype]) for c in schema.columns},
        index=pd.RangeIndex(len(rows)),
    )
    frame.attrs.update(attrs, frame=schema.name, version=schema.version)
    return frame


def _value(column: Column, value: Any) -> Any:
    return float(value) if column.dtype == "f" and value is not None else value


def _check(schema: Schema, columns: Mapping[str, Sequence[Any]]) -> None:
    for column in schema.columns:
        values = columns[column.name]
        if column.required and any(value is None for value in values):
            raise IntegrityError(f"{schema.name}.{column.name}: null where none is allowed")
        if column.dtype == "f" and not all(value is None or isfinite(value) for value in values):
            raise IntegrityError(f"{schema.name}.{column.name}: a number that is not finite")
    keys = list(zip(*(columns[name] for name in schema.key), strict=True))
    if len(set(keys)) < len(keys):
        raise IntegrityError(f"{schema.name}: {len(keys) - len(set(keys))} rows repeat the key of another")


# Parquet


def write_parquet(frame: pd.DataFrame, path: str | Path) -> None:
    """Write the frame by atomic replacement; equal frames give equal bytes (FRM-009).

    The file's metadata holds the frame's name, version and further attributes.
    """
    metadata = {f"{_PREFIX}{name}": str(value) for name, value in frame.attrs.items() if value is not None}
    with replacing(path) as stream:
        to_polars(frame).write_parquet(stream, metadata=dict(sorted(metadata.items())))


def read_parquet(path: str | Path) -> pd.DataFrame:
    """The frame that `write_parquet` wrote, equal to it, attributes included."""
    import pandas as pd
    import polars as pl

    table = pl.read_parquet(path)
    columns = {}
    for column in table.columns:
        letter = _LETTERS[str(table.schema[column])]
        columns[column] = pd.Series(table[column].to_list(), dtype=_PANDAS[letter])
    frame = pd.DataFrame(columns, index=pd.RangeIndex(table.height))
    attrs = {
        name.removeprefix(_PREFIX): value
        for name, value in pl.read_parquet_metadata(path).items()
        if name.startswith(_PREFIX)
    }
    frame.attrs.update(attrs, version=int(attrs["version"]))
    return frame


def to_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """The same table in polars, nulls as nulls."""
    import polars as pl

    dtypes = {
        "Int64": pl.Int64(),
        "Float64": pl.Float64(),
        "boolean": pl.Boolean(),
        "string": pl.String(),
        "datetime64[us, UTC]": pl.Datetime("us", "UTC"),
    }
    return pl.DataFrame(
        [
            pl.Series(
                str(name),
                series.astype(object).where(series.notna(), None).tolist(),
                dtypes[str(series.dtype)],
            )
            for name, series in frame.items()
        ]
    )
