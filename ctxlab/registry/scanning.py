"""One frame of all finished runs, scanned with polars: nothing is opened before something is asked (EXP-051)."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.registry.artifacts import MANIFEST
from ctxlab.registry.entries import entries
from ctxlab.schemas import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from ctxlab.schemas import Dtype

FILES_AT_ONCE = 512
"""Files that polars reads together: enough to keep its threads busy, few enough to bound memory."""


def scan_runs(runs_dir: str | Path = "runs", frame: str = "results") -> pl.LazyFrame:
    """The Parquet files of one frame of all finished runs, in order of run id, as one lazy frame.

    Args:
        runs_dir: the registry.
        frame: name of a frame that runs keep, such as `results`, `metrics`, `facts` or `calls`.

    Returns:
        The columns of the frame's present version; those that a run of an earlier version did not have are null.
        Files are found and opened when the frame is collected, only the columns that are asked for. A run without
        manifest or frame, or whose file cannot be read, is left out with a `RuntimeWarning` that names it.

    Raises:
        InputError: there is no such frame.
    """
    from polars.io.plugins import register_io_source

    if frame not in SCHEMAS:
        raise InputError(f"frame: allowed is {', '.join(SCHEMAS)}")
    schema = _polars_schema(frame)

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, most_rows: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if columns is None else columns
        left = most_rows
        paths = _paths(Path(runs_dir), frame)
        for start in range(0, len(paths), FILES_AT_ONCE):
            if left is not None and left <= 0:
                return
            table = _read(paths[start : start + FILES_AT_ONCE], schema, wanted, predicate)
            table = table if left is None else table.head(left)
            left = None if left is None else left - table.height
            yield table

    return register_io_source(source, schema=schema, validate_schema=True)


def _paths(runs_dir: Path, frame: str) -> list[Path]:
    """The frame's file in every finished run; runs without manifest or frame are warned of."""
    found = []
    for entry in sorted(entries(runs_dir), key=lambda one: one.name):
        path = entry.path / "frames" / f"{frame}.parquet"
        if entry.stray:
            continue
        if not os.path.lexists(entry.path / MANIFEST) or not _plain(path):
            _warn(entry.name)
        else:
            found.append(path)
    return found


def _plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()


def _read(
    paths: Sequence[Path], schema: dict[str, pl.DataType], columns: list[str], predicate: pl.Expr | None
) -> pl.DataFrame:
    """These files as one table; where one of them is damaged, each by itself, and the damaged left out."""
    import polars as pl

    try:
        scanned = pl.scan_parquet(
            list(paths), schema=schema, missing_columns="insert", extra_columns="ignore", glob=False
        )
        wanted = scanned if predicate is None else scanned.filter(predicate)
        return wanted.select(columns).collect()
    except (pl.exceptions.PolarsError, OSError):
        if len(paths) == 1:
            _warn(paths[0].parent.parent.name)
            return pl.DataFrame(schema=schema).select(columns)
    middle = len(paths) // 2
    halves = (_read(part, schema, columns, predicate) for part in (paths[:middle], paths[middle:]))
    return pl.concat(halves)


def _warn(run_id: str) -> None:
    warnings.warn(f"run {run_id}: is damaged or incomplete and left out", RuntimeWarning, stacklevel=2)


def _polars_schema(frame: str) -> dict[str, pl.DataType]:
    import polars as pl

    dtypes: dict[Dtype, pl.DataType] = {
        "i": pl.Int64(),
        "f": pl.Float64(),
        "b": pl.Boolean(),
        "s": pl.String(),
        "t": pl.Datetime("us", "UTC"),
    }
    return {column.name: dtypes[column.dtype] for column in SCHEMAS[frame].columns}
