import shutil
import warnings

import polars as pl
import pytest

from ctxlab.errors import InputError
from ctxlab.registry import scan_runs
from ctxlab.schemas import SCHEMAS
from tests.registry.building import RUN_ID, another_id


def copies(runs_dir, kept, number, *, strays=True):
    """So many copies of a finished run, by id."""
    for place in range(number):
        shutil.copytree(kept, runs_dir / another_id(place))
    if strays:
        (runs_dir / "notes.txt").write_text("x")
    return runs_dir


def rewrite(path, change):
    table = pl.read_parquet(path)
    change(table).write_parquet(path)


# covers EXP-051
def test_all_finished_runs_are_one_lazy_frame(runs_dir, kept):
    scan = scan_runs(copies(runs_dir, kept, 3))
    assert isinstance(scan, pl.LazyFrame)
    assert list(scan.collect_schema()) == [column.name for column in SCHEMAS["results"].columns]
    table = scan.collect()
    assert table.height == 3 * 4
    assert list(table["strategy"][:4]) == ["full", "summarize[generations=2]"] * 2
    assert table["answer_recall"].to_list() == [1.0] * 12


# covers EXP-051
def test_files_are_found_and_opened_only_when_the_frame_is_collected(runs_dir, kept):
    scan = scan_runs(runs_dir).select(pl.len())
    assert scan.collect().item() == 0
    copies(runs_dir, kept, 2)
    assert scan.collect().item() == 8


# covers EXP-051
@pytest.mark.parametrize(
    ("frame", "rows"), [("metrics", 2), ("facts", 4), ("calls", 8), ("kinds", 2), ("results", 4)]
)
def test_every_frame_that_runs_keep_can_be_scanned(runs_dir, kept, frame, rows):
    scan = scan_runs(copies(runs_dir, kept, 2), frame)
    assert scan.collect().height == 2 * rows


# covers EXP-051
def test_selections_filters_and_limits_give_what_the_whole_table_gives(runs_dir, kept):
    scan = scan_runs(copies(runs_dir, kept, 3))
    chosen = scan.filter(pl.col("strategy") == "full").select("case_id", "passed").collect()
    assert chosen.shape == (6, 2)
    assert chosen["case_id"].to_list() == ["c1", "c2"] * 3
    assert scan.head(5).collect().height == 5
    assert scan.group_by("strategy").agg(pl.col("calls").sum()).sort("strategy").collect().rows() == [
        ("full", 6), ("summarize[generations=2]", 18),
    ]  # fmt: skip
    assert scan.select(pl.len()).collect().item() == 12


def truncate(path):
    path.write_bytes(path.read_bytes()[:500])


def scramble(path):
    path.write_bytes(b"no parquet at all")


def remove(path):
    path.unlink()


def link(path):
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def without_manifest(path):
    (path.parents[1] / "manifest.json").unlink()


def other_type(path):
    rewrite(path, lambda table: table.with_columns(pl.lit("text").alias("cost")))


# covers EXP-051
@pytest.mark.parametrize("damage", [truncate, scramble, remove, link, without_manifest, other_type])
def test_damaged_runs_are_skipped_with_a_warning_that_names_them(runs_dir, kept, damage):
    copies(runs_dir, kept, 4)
    damage(runs_dir / another_id(2) / "frames" / "results.parquet")
    with pytest.warns(
        RuntimeWarning, match=f"run {another_id(2)}: is damaged or incomplete and left out"
    ) as told:
        table = scan_runs(runs_dir).select("run_id", "cost").collect()
    assert len(told) == 1
    assert table.height == 3 * 4


# covers EXP-051
def test_columns_of_later_versions_are_null_and_unknown_ones_are_left_out(runs_dir, kept):
    copies(runs_dir, kept, 2, strays=False)
    older = runs_dir / another_id(0) / "frames" / "results.parquet"
    rewrite(older, lambda table: table.drop("invented_identifiers", "context_invented_identifiers"))
    newer = runs_dir / another_id(1) / "frames" / "results.parquet"
    rewrite(newer, lambda table: table.with_columns(pl.lit(1).alias("from_the_future")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = scan_runs(runs_dir).collect()
    assert table["invented_identifiers"].to_list() == [None] * 4 + [0] * 4
    assert "from_the_future" not in table.columns


# covers EXP-051, EXP-041
def test_runs_at_work_are_not_scanned(runs_dir, kept):
    shutil.copytree(kept, runs_dir / ".staging" / RUN_ID)
    assert scan_runs(runs_dir).collect().height == 0


def test_a_frame_that_does_not_exist_is_refused(runs_dir):
    with pytest.raises(InputError, match="frame: allowed is results, evaluations"):
        scan_runs(runs_dir, "nothing")
