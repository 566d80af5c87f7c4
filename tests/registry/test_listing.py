import os
import sys
from datetime import UTC, datetime

import pytest

from ctxlab.errors import InputError
from ctxlab.journal import Header, Journal
from ctxlab.registry import Filters, runs_frame, set_alias
from ctxlab.registry.manifest import SourceBlock, read_manifest
from ctxlab.schemas import SCHEMAS
from tests.registry.building import RUN_ID, another_id, sparse


# covers EXP-044, EXP-043
def test_runs_are_listed_newest_first_with_what_their_manifests_say(runs_dir, kept):
    for number in (2, 1, 3):
        run_id = another_id(number)
        at = datetime(2026, 1, 2, 3, 4, number, 123456, tzinfo=UTC)
        sparse(
            runs_dir, kept, run_id, started_at=at, source=SourceBlock(commit="c" * 40, dirty=True, branch="b")
        )
    set_alias(runs_dir, "b", another_id(2))
    set_alias(runs_dir, "a", another_id(2))
    frame = runs_frame(runs_dir)
    assert list(frame.columns) == [column.name for column in SCHEMAS["runs"].columns]
    assert list(frame["run_id"]) == [another_id(3), another_id(2), another_id(1)]
    told = frame.iloc[1]
    assert told["started_at"] == datetime(2026, 1, 2, 3, 4, 2, 123456, tzinfo=UTC)
    assert [told[name] for name in ("status", "decision", "verb", "model", "cases", "strategies")] == [
        "completed", "not_evaluated", "compare", "extractive", 2, "full;summarize[generations=2]",
    ]  # fmt: skip
    assert [told[name] for name in ("git_commit", "dirty", "damaged", "aliases")] == [
        "c" * 40, True, False, "a;b",
    ]  # fmt: skip
    assert told["dataset_hash"] == "0" * 64
    assert frame.attrs["frame"] == "runs"


# covers EXP-044
def test_runs_of_one_time_are_listed_by_id(runs_dir, kept):
    at = datetime(2026, 1, 2, tzinfo=UTC)
    for number in (5, 4, 6):
        sparse(runs_dir, kept, another_id(number), started_at=at)
    assert list(runs_frame(runs_dir)["run_id"]) == [another_id(4), another_id(5), another_id(6)]


# covers EXP-043, FRM-003
def test_a_registry_that_is_not_there_is_empty(tmp_path):
    frame = runs_frame(tmp_path / "none")
    assert len(frame) == 0
    assert [str(dtype) for dtype in frame[["run_id", "cases", "damaged"]].dtypes] == [
        "string",
        "Int64",
        "boolean",
    ]
    assert str(frame["started_at"].dtype) == "datetime64[us, UTC]"
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="--runs-dir: cannot be read"):
        runs_frame(tmp_path / "file")


def stray_file(runs_dir, kept):
    (runs_dir / "notes.txt").write_text("x")
    return "notes.txt"


def stray_folder(runs_dir, kept):
    (runs_dir / "old").mkdir()
    return "old"


def odd_name(runs_dir, kept):
    (runs_dir / "a\nb\x1b").write_text("x")
    return "a\\x0ab\\x1b"


def name_that_is_no_text(runs_dir, kept):
    (runs_dir / os.fsdecode(b"a\xff")).write_text("x")
    return "a\\udcff"


def no_manifest(runs_dir, kept):
    (runs_dir / RUN_ID).mkdir()
    return RUN_ID


def half_a_manifest(runs_dir, kept):
    path = sparse(runs_dir, kept, RUN_ID) / "manifest.json"
    path.write_bytes(path.read_bytes()[:1000])
    return RUN_ID


def manifest_of_another_run(runs_dir, kept):
    sparse(runs_dir, kept, RUN_ID).rename(runs_dir / another_id(9))
    return another_id(9)


def leaving_path(runs_dir, kept):
    path = sparse(runs_dir, kept, RUN_ID) / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"evaluation.md"', b'"../../etc/md"'))
    return RUN_ID


def linked_run(runs_dir, kept):
    (runs_dir / RUN_ID).symlink_to(kept)
    return RUN_ID


def linked_manifest(runs_dir, kept):
    (runs_dir / RUN_ID).mkdir()
    (runs_dir / RUN_ID / "manifest.json").symlink_to(kept / "manifest.json")
    return RUN_ID


def pipe_for_a_manifest(runs_dir, kept):
    (runs_dir / RUN_ID).mkdir()
    os.mkfifo(runs_dir / RUN_ID / "manifest.json")
    return RUN_ID


def impossible_time(runs_dir, kept):
    name = "20269999T999999999999Z-0123456789ab-01234567"
    (runs_dir / name).mkdir()
    return name


# covers EXP-042, EXP-043
@pytest.mark.parametrize(
    "damage",
    [
        stray_file, stray_folder, odd_name, name_that_is_no_text, no_manifest, half_a_manifest,
        manifest_of_another_run, leaving_path, linked_run, linked_manifest, pipe_for_a_manifest, impossible_time,
    ],
)  # fmt: skip
def test_what_is_damaged_is_listed_as_such_and_healthy_runs_still_are(runs_dir, kept, damage):
    sparse(runs_dir, kept, another_id(1))
    shown = damage(runs_dir, kept)
    frame = runs_frame(runs_dir, filters=Filters(status="completed")).set_index("run_id")
    assert dict(frame["damaged"]) == {another_id(1): False, shown: True}
    assert frame.loc[shown].drop(["damaged", "started_at"]).isna().all()
    assert frame.loc[another_id(1), "status"] == "completed"


# covers EXP-043
def test_gitkeep_and_staging_names_are_ignored(runs_dir, kept):
    sparse(runs_dir, kept, another_id(1))
    set_alias(runs_dir, "main", another_id(1))
    (runs_dir / ".gitkeep").touch()
    (runs_dir / ".staging").mkdir()
    assert list(runs_frame(runs_dir)["damaged"]) == [False]


# covers EXP-041
def test_runs_at_work_are_listed_with_all_only_by_what_they_have_so_far(runs_dir):
    staging = runs_dir / ".staging"
    (staging / another_id(1)).mkdir(parents=True)
    (staging / another_id(2)).mkdir()
    header = Header(
        run_id=another_id(2), fingerprint="a" * 64, input_identity="b" * 64, endpoint="local",
        dataset_sha256="d" * 64, versions={},
    )  # fmt: skip
    journal = Journal.create(staging / another_id(2) / "journal.jsonl", header)
    (staging / another_id(3)).mkdir()
    (staging / another_id(3) / "journal.jsonl").write_text("no journal")
    assert runs_frame(runs_dir).empty
    frame = runs_frame(runs_dir, incomplete=True)
    os.close(journal._descriptor)
    assert list(frame["run_id"]) == [another_id(3), another_id(2), another_id(1)]
    assert list(frame["damaged"]) == [True, False, False]
    assert list(frame["status"].fillna("-")) == ["-", "incomplete", "incomplete"]
    assert list(frame["dataset_hash"].fillna("-")) == ["-", "d" * 64, "-"]


# covers EXP-044
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [1, 2]),
        ({"status": "completed"}, [1, 2]),
        ({"status": "failed"}, []),
        ({"git_commit": "cccc"}, [1]),
        ({"git_commit": "c" * 40}, [1]),
        ({"git_commit": "c" * 41}, []),
        ({"model": "extractive"}, [1, 2]),
        ({"model": "extract"}, []),
        ({"strategy": "full"}, [1, 2]),
        ({"strategy": "summarize[generations=2]"}, [1, 2]),
        ({"strategy": "summarize"}, []),
        ({"fingerprint": "OWN"}, [1, 2]),
        ({"fingerprint": "abcdef"}, []),
        ({"input_identity": "OWN"}, [1, 2]),
        ({"input_identity": "abcdef"}, []),
    ],
    ids=range(15),
)
def test_filters_choose_runs(runs_dir, kept, filters, found):
    own = read_manifest(kept)
    sparse(runs_dir, kept, another_id(1), source=SourceBlock(commit="c" * 40, dirty=None, branch=None))
    sparse(runs_dir, kept, another_id(2), source=SourceBlock(commit="d" * 40, dirty=None, branch=None))
    for name in ("fingerprint", "input_identity"):
        if filters.get(name) == "OWN":
            filters = {name: getattr(own, name)[:12]}
    frame = runs_frame(runs_dir, filters=Filters(**filters))
    assert sorted(frame["run_id"]) == [another_id(number) for number in found]


# covers EXP-044
@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"status": "done"}, "--status: allowed is completed, regression_failed, failed, incomplete"),
        ({"fingerprint": "abc"}, "--fingerprint: expected 4 to 64 hex digits"),
        ({"input_identity": "wxyz"}, "--input-identity: expected 4 to 64 hex digits"),
        ({"git_commit": "ABCD"}, "--git-commit: expected 4 to 64 hex digits"),
    ],
)
def test_a_filter_that_can_choose_nothing_is_refused(filters, message):
    with pytest.raises(InputError, match=message):
        Filters(**filters)


OPENED: list[str] | None = None


def _hear(event, arguments):
    if OPENED is not None and event in ("open", "os.listdir", "os.scandir"):
        OPENED.append(f"{event} {arguments[0]}")


sys.addaudithook(_hear)


def opened_by(work, below):
    """The files opened and folders read below a directory while some work was done."""
    global OPENED
    OPENED = heard = []
    try:
        work()
    finally:
        OPENED = None
    return [event for event in heard if str(below) in event]


# covers EXP-053
def test_a_list_opens_one_file_per_run_and_reads_one_folder(runs_dir, kept):
    for number in range(20):
        sparse(runs_dir, kept, another_id(number))
        (runs_dir / another_id(number) / "journal.jsonl").touch()
    opened = opened_by(lambda: runs_frame(runs_dir), runs_dir)
    assert sorted(event for event in opened if event.startswith("open ")) == [
        f"open {runs_dir / another_id(number) / 'manifest.json'}" for number in range(20)
    ]
    assert [event for event in opened if not event.startswith("open ")] == [f"os.scandir {runs_dir}"]
