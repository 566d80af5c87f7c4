import json
import shutil
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ctxlab.client import EndpointClient
from ctxlab.comparison import run
from ctxlab.errors import IntegrityError
from ctxlab.prices import ModelPrices, Prices
from ctxlab.registry import read_manifest, register, verify_run
from ctxlab.registry.artifacts import read_index, write_index
from ctxlab.registry.manifest import write_manifest
from tests.factories import make_case, make_dataset, make_fact, user
from tests.loopback import Answer, completion, loopback
from tests.registry.building import RUN_ID, SUMMARIES, dataset, design, reseal


# covers EXP-046
def test_a_run_that_is_as_it_was_left_has_nothing_wrong(directory):
    assert verify_run(directory) == ()


def files_of(directory):
    return sorted(path for path in directory.rglob("*") if path.is_file())


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


# covers EXP-046
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 1])
def test_a_flipped_byte_in_any_file_is_found(directory, share):
    files = files_of(directory)
    assert {"manifest.json", "checksums.sha256", "journal.jsonl"} <= {path.name for path in files}
    for path in files:
        place = int(share * (path.stat().st_size - 1))
        flip(path, place)
        assert verify_run(directory) != (), path.name
        flip(path, place)
    assert verify_run(directory) == ()


# covers EXP-046
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_one_flipped_byte_is_found(directory, data):
    path = data.draw(st.sampled_from(files_of(directory)), label="file")
    content = path.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1), label="place")
    changed = bytearray(content)
    changed[place] ^= 1 << data.draw(st.integers(0, 7), label="bit")
    path.write_bytes(changed)
    try:
        assert verify_run(directory) != ()
    finally:
        path.write_bytes(content)


# covers EXP-046, EXP-042
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: (d / "evaluation.md").unlink(), "evaluation.md: is missing"),
        (lambda d: (d / "extra.txt").write_text("x"), "extra.txt: is in no checksum index"),
        (lambda d: (d / "checksums.sha256").unlink(), "checksums.sha256: cannot be read"),
        (lambda d: (d / "manifest.json").unlink(), "manifest.json: cannot be read"),
        (lambda d: (d / "link").symlink_to("manifest.json"), "link: is a symbolic link"),
        (lambda d: (d / "frames" / "up").symlink_to(".."), "frames/up: is a symbolic link"),
        (lambda d: linked(d / "journal.jsonl"), "journal.jsonl: is a symbolic link"),
        (lambda d: linked(d / "frames"), "frames: is a symbolic link"),
        (lambda d: indexed(d, "../x"), "checksums.sha256:1: a path is absolute, leaves"),
        (lambda d: indexed(d, "/etc/passwd"), "checksums.sha256:1: a path is absolute, leaves"),
        (lambda d: indexed(d, "manifest.json"), "expected a hash and a path that stands once"),
        (lambda d: indexed(d, "gone"), "gone: is missing"),
    ],
    ids=range(12),
)
def test_damage_is_named(directory, damage, message):
    damage(directory)
    found = verify_run(directory)
    assert any(message in line for line in found), found
    assert all(len(line.splitlines()) == 1 for line in found)


# covers EXP-046
def test_only_what_is_wrong_is_said(directory):
    flip(directory / "evaluation.json", 100)
    assert verify_run(directory) == (
        "evaluation.json: was changed",
        "evaluation.json: has another hash than the manifest says",
    )


# covers EXP-046
def test_a_changed_index_is_not_laid_to_the_file_that_it_names(directory):
    lines = (directory / "checksums.sha256").read_text().splitlines(keepends=True)
    changed = [f"{'a' * 64}  {line[66:]}" if line[66:] == "evaluation.md\n" else line for line in lines]
    (directory / "checksums.sha256").write_text("".join(changed))
    assert verify_run(directory) == ("checksums.sha256: its hash is not that of evaluation.md",)


# covers EXP-046
def test_an_index_in_another_order_is_found(directory):
    lines = (directory / "checksums.sha256").read_text().splitlines(keepends=True)
    (directory / "checksums.sha256").write_text("".join(reversed(lines)))
    assert verify_run(directory) == ("checksums.sha256: is not in the form in which it was written",)


def linked(path):
    path.rename(path.parent.parent / path.name)
    path.symlink_to(path.parent.parent / path.name)


def indexed(directory, path):
    """Put a line for a path before the others of the index."""
    index = directory / "checksums.sha256"
    index.write_text(f"{'a' * 64}  {path}\n" + index.read_text())


# covers EXP-042
def test_a_cut_off_index_is_refused(directory):
    index = directory / "checksums.sha256"
    index.write_bytes(index.read_bytes()[:-1])
    with pytest.raises(IntegrityError, match=r"checksums\.sha256:\d+: the line is cut off"):
        read_index(directory)


# covers EXP-046
def test_the_index_is_read_by_other_programs(directory):
    import subprocess

    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "checksums.sha256"],
        cwd=directory, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")


def column(frame, name, value):
    """An edit of a frame: another value in the first row of a column."""

    def edit(directory):
        path = directory / "frames" / f"{frame}.parquet"
        metadata = {k: v for k, v in pl.read_parquet_metadata(path).items() if k.startswith("ctxlab.")}
        table = pl.read_parquet(path)
        values = [value, *table[name][1:].to_list()]
        table = table.with_columns(pl.Series(name, values, dtype=table.schema[name]))
        table.write_parquet(path, metadata=metadata)

    return edit


def report(name, value):
    def edit(directory):
        path = directory / "evaluation.json"
        content = json.loads(path.read_text())
        content["aggregate"][name] = value
        path.write_text(json.dumps(content))

    return edit


# covers EXP-046
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (column("metrics", "pass_rate", 0.5), "frames/metrics.parquet: pass_rate: differs"),
        (column("metrics", "answer_recall_low", 0.5), "frames/metrics.parquet: answer_recall_low: differs"),
        (column("kinds", "retained", 0), "frames/kinds.parquet: retained: differs"),
        (column("comparisons", "pairs", 1), "frames/comparisons.parquet: pairs: differs"),
        (column("results", "answer_recall", 0.5), "frames/results.parquet: answer_recall: differs"),
        (column("results", "passed", False), "aggregates: differ from those recomputed"),
        (column("results", "sent_tokens", 3), "a row does not go with its calls"),
        (column("facts", "in_answer", False), "frames/results.parquet: answer_recall: differs"),
        (column("calls", "duration_s", 9.0), "frames/results.parquet: duration_s: differs"),
        (column("fits", "source_tokens", 1), "frames/results.parquet: source_tokens: differs"),
        (report("passed_cases", 3), "evaluation.json: "),
        (report("p95_request_duration_seconds", 9.0), "evaluation.json: "),
    ],
    ids=range(12),
)
def test_numbers_that_contradict_each_other_are_found_though_every_hash_is_right(directory, edit, message):
    edit(directory)
    reseal(directory)
    found = verify_run(directory)
    assert any(message in line for line in found), found


# covers EXP-046
def test_aggregates_of_the_manifest_are_recomputed(directory):
    manifest = read_manifest(directory)
    first, *others = manifest.aggregates
    write_manifest(replace(manifest, aggregates=(replace(first, passed=3), *others)), directory)
    write_index(directory)
    assert verify_run(directory) == (
        "manifest.json: aggregates: differ from those recomputed from the frames",
    )


# covers EXP-046
def test_a_journal_or_a_report_of_another_run_is_found(directory, tmp_path):
    other = run(dataset(), SUMMARIES, client="stand-in:extractive", runs_dir=tmp_path / "o", progress=False)
    for name in ("journal.jsonl", "evaluation.json"):
        shutil.copy(f"{other.directory}/{name}", directory / name)
    reseal(directory)
    found = verify_run(directory)
    assert "journal.jsonl: is that of another run or dataset" in found
    assert "evaluation.json: is that of another run or dataset" in found


def kept_run(tmp_path, **options):
    cases = make_dataset(
        make_case("a", messages=(user("Use X-10. Which?"),), facts=(make_fact("f", "X-10"),), language="en"),
        make_case("b", messages=(user("Any?"),), facts=(make_fact("g", "X-20", where="context"),), expected=None),
        make_case("c", messages=(user("Long " * 5000),), facts=(make_fact("h", "X-30"),)),
    )  # fmt: skip
    made = run(cases, SUMMARIES, runs_dir=tmp_path / "runs", progress=False, **options)
    return tmp_path / "runs" / made.run_id, {row.status for row in made.rows}


# covers EXP-046
def test_runs_with_refused_unjudged_and_unsent_rows_are_sound(tmp_path):
    directory, states = kept_run(tmp_path, client="stand-in:extractive", repeats=2)
    assert states == {"completed", "refused"}
    assert verify_run(directory) == ()


# covers EXP-046
def test_a_run_that_sent_nothing_is_sound(tmp_path):
    made = run(dataset(), "full,empty", client=None, runs_dir=tmp_path, progress=False)
    assert {row.status for row in made.rows} == {"fitted"}
    assert verify_run(made.directory) == ()


# covers EXP-022, EXP-046
def test_a_run_that_failed_while_its_frames_were_written_is_sound_in_what_it_has(tmp_path):
    (tmp_path / RUN_ID / "frames").mkdir(parents=True)
    (tmp_path / RUN_ID / "frames" / "results.parquet").write_text("x")
    register(design(), tmp_path / RUN_ID, failure="internal failure (OSError)")
    assert verify_run(tmp_path / RUN_ID) == ()


PRICES = Prices(currency="USD", models={"m": ModelPrices(input="1", cached_input="0.5", output="2")})


# covers EXP-046, EXP-022
def test_runs_with_errors_of_the_platform_are_sound_and_failed(tmp_path):
    answers = iter([Answer(status=500), Answer(body=b"{}"), *[Answer(body=completion("X-10"))] * 20])
    with loopback(lambda request: next(answers)) as server:
        client = EndpointClient(base_url=server.base_url, model="m")
        directory, states = kept_run(tmp_path, client=client, prices=PRICES)
    assert "error" in states
    manifest = read_manifest(directory)
    assert (manifest.status, manifest.failure) == (
        "failed", "2 rows in error: 1 malformed_platform_response, 1 platform_http_error",
    )  # fmt: skip
    assert verify_run(directory) == ()


# covers EXP-046
def test_a_run_that_reached_no_platform_is_sound(tmp_path):
    client = EndpointClient(base_url="http://127.0.0.1:9", model="m")
    directory, states = kept_run(tmp_path, client=client, max_attempts=2, prices=PRICES)
    assert "error" in states
    assert verify_run(directory) == ()
