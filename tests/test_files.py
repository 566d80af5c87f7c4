"""Files that are there whole or not at all, and results at the place that a user named."""

import os
import threading
from pathlib import Path

import pytest

from ctxlab.cli.printing import demand_writable, emit
from ctxlab.errors import InputError
from ctxlab.files import demand_file, output_stream, replacing


def test_a_link_leads_to_the_file_that_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "OUT.json", tmp_path / "OUT.json"
    target.write_text("before")
    inode = target.stat().st_ino
    link.symlink_to("far/OUT.json")
    demand_writable(link)
    emit("after", link)
    assert link.is_symlink()
    assert (target.read_text(), target.is_symlink()) == ("after", False)
    assert target.stat().st_ino != inode  # replaced, not written over
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["OUT.json"]


def test_a_link_to_a_file_that_is_not_there_yet_makes_it(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    demand_writable(tmp_path / "link")
    emit("ä", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"\xc3\xa4"


@pytest.mark.parametrize("through_a_link", [False, True])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path, through_a_link):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    given = tmp_path / "link" if through_a_link else pipe
    demand_writable(given)
    emit("told", given)
    reader.join(timeout=30)
    assert read == [b"told"]
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system has no names for open files")
def test_what_this_process_prints_to_is_added_to_and_not_replaced(capfd):
    os.write(1, b"before\n")
    emit("after\n", Path("/proc/self/fd/1"))
    assert capfd.readouterr().out == "before\nafter\n"


def test_a_file_keeps_what_it_held_if_the_new_text_is_not_finished(tmp_path):
    path = tmp_path / "file"
    path.write_text("before")

    def half():
        with output_stream(path, option="--output") as stream:
            stream.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_files_of_a_run_replace_a_link_and_are_never_written_through_it(tmp_path):
    (tmp_path / "outside").write_text("before")
    (tmp_path / "file").symlink_to("outside")
    with replacing(tmp_path / "file") as stream:
        stream.write(b"after")
    assert (tmp_path / "outside").read_text() == "before"
    assert (tmp_path / "file").read_text() == "after"
    assert not (tmp_path / "file").is_symlink()


# covers GEN-035
@pytest.mark.parametrize(
    ("place", "says"),
    [
        (".", "--output: is a folder"),
        ("folder-link", "--output: is a folder"),
        ("none/OUT.json", "--output: the folder does not exist"),
        ("file/OUT.json", "--output: cannot be written (Not a directory)"),
        ("astray", "--output: the folder does not exist"),
        ("round", "--output: cannot be written (Too many levels of symbolic links)"),
        ("n" * 300, "--output: cannot be written (File name too long)"),
    ],
)
def test_a_place_that_cannot_be_written_is_said_before_anything_runs(tmp_path, place, says):
    (tmp_path / "file").touch()
    (tmp_path / "folder-link").symlink_to(tmp_path)
    (tmp_path / "astray").symlink_to("none/file")
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(InputError) as caught:
        demand_writable(tmp_path / place)
    assert str(caught.value) == says


# covers GEN-035
def test_an_error_of_the_file_system_names_the_option(tmp_path):
    with pytest.raises(InputError) as caught, output_stream(tmp_path / "OUT.json", option="--output"):
        raise PermissionError(13, "Permission denied", "/secret/place")
    assert str(caught.value) == "--output: cannot be written (Permission denied)"
    assert list(tmp_path.iterdir()) == []


# covers GEN-035
@pytest.mark.parametrize(
    ("strerror", "says"), [("No space left on device", "No space left on device"), (None, "I/O error")]
)
def test_a_full_disk_is_one_line_that_names_the_option(tmp_path, strerror, says):
    with pytest.raises(InputError) as caught, output_stream(tmp_path / "x.html", option="--out"):
        raise OSError(28, strerror)
    assert str(caught.value) == f"--out: cannot be written ({says})"


@pytest.mark.skipif(os.geteuid() == 0, reason="for this user every folder can be written")
def test_a_folder_without_permission_is_refused_before_anything_runs(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=r"--output: cannot be written \(Permission denied\)"):
        demand_writable(tmp_path / "OUT.json")


# covers GEN-035
@pytest.mark.parametrize(("given", "shown"), [(".", "."), ("..", ".."), ("/", "/"), (Path("data/"), "data")])
def test_a_folder_is_named_as_it_was_given(tmp_path, monkeypatch, given, shown):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    with pytest.raises(InputError) as caught:
        demand_file(given)
    assert str(caught.value) == f"{shown}: cannot be read: it is not a file"
