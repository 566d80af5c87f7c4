"""Notebooks that ship, and notebooks executed: what is written, what is refused, and that no failure looks done."""

from __future__ import annotations

import ast
import json
import signal
from pathlib import Path
from time import monotonic

import pytest

from ctxlab.engine import LONGEST_SOCKET_PATH, Watched, endpoints
from ctxlab.errors import InputError, NotebookError, ParameterError
from ctxlab.notebooks import execute_notebook, report_notebook
from ctxlab.parameters import declared_parameters, read_notebook
from ctxlab.progress import PROGRESS_TYPE, Line
from tests.notebooks import ROOT, begin, report, write_notebook

SHIPPED = sorted((ROOT / "notebooks").glob("*.ipynb"))
HEADLINE = ROOT / "notebooks" / "04_compare.ipynb"
OFFLINE = ("-p", "client=stand-in:extractive", "-p", f"dataset={ROOT / 'data' / 'continuation.jsonl'}")


def code_of(path):
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in cells]


# Notebooks that ship


def test_the_headline_notebook_ships():
    assert HEADLINE in SHIPPED


# covers GEN-051
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_notebook_declares_its_parameters(path):
    assert declared_parameters(read_notebook(path))


# covers GEN-052
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_notebook_only_calls_the_package(path):
    sources = code_of(path)
    lines = [line for source in sources for line in source.splitlines() if line.strip()]
    assert len(lines) <= 120
    assert not any(line.lstrip().startswith(("!", "%")) for line in lines)
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    forbidden = (
        ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.For, ast.AsyncFor, ast.While,
        ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    )  # fmt: skip
    assert not [type(node).__name__ for node in nodes if isinstance(node, forbidden)]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported <= {"ctxlab"}


# covers GEN-052
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_notebook_holds_no_output_and_nothing_of_a_machine(path):
    notebook = json.loads(path.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert all(set(cell["metadata"]) <= {"tags"} for cell in notebook["cells"])
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert 15 <= len(ids) <= 25


# covers GEN-059
def test_the_headline_notebook_shows_failures_before_conclusions():
    ids = [cell["id"] for cell in json.loads(HEADLINE.read_text())["cells"]]
    assert ids.index("compare") < ids.index("failed-rows") < ids.index("metrics") < ids.index("recall-cost")


# Before anything runs

MARKER = "open('touched', 'w').close()"


# covers GEN-053, GEN-054
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("bogus=1", "error: parameter bogus: is unknown; allowed are number"),
        ("number=three", "error: parameter number: expected int"),
        ("number", "error: parameter: expected NAME=VALUE"),
        ("api_key=hunter2", "error: parameter api_key: is named like a secret; no notebook takes one"),
    ],
)
def test_a_wrong_parameter_is_one_line_and_nothing_runs(tmp_path, given, says):
    write_notebook(tmp_path / "x.ipynb", MARKER)
    done = report("x.ipynb", "--out", "out", "-p", given, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", says + "\n")
    assert [path.name for path in tmp_path.iterdir()] == ["x.ipynb"]


# covers GEN-054, GEN-033
@pytest.mark.parametrize("url", ["http://me:hunter2@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?api_key=hunter2"])
def test_credentials_in_a_url_reach_no_file(tmp_path, url):
    write_notebook(tmp_path / "x.ipynb", MARKER, parameters="base_url: str | None = None")
    done = report("x.ipynb", "--out", "out", "-p", f"base_url={url}", cwd=tmp_path)
    says = "error: parameter base_url: a URL with user info, query or fragment; no notebook takes one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", says)
    assert [path.name for path in tmp_path.iterdir()] == ["x.ipynb"]


# covers GEN-051, GEN-054
@pytest.mark.parametrize("parameters", ["number = 1", "hub_token: str = ''", "number: int = 'x'"])
def test_a_wrong_declaration_is_invalid_input_and_nothing_runs(tmp_path, parameters):
    path = write_notebook(tmp_path / "x.ipynb", MARKER, parameters=parameters)
    with pytest.raises(ParameterError):
        execute_notebook(path, out_dir=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["x.ipynb"]


def test_a_file_where_the_folder_should_be_is_invalid_input(tmp_path):
    path = write_notebook(tmp_path / "x.ipynb")
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="--out: the folder cannot be made"):
        report_notebook(path, out_dir=tmp_path / "out")


# The headline notebook


@pytest.fixture(scope="module")
def headline(tmp_path_factory):
    """The headline notebook, executed and rendered by the installed command with a stand-in."""
    place = tmp_path_factory.mktemp("headline")
    started = monotonic()
    done = report(HEADLINE, "--out", "out", *OFFLINE, cwd=place)
    return place, done, monotonic() - started


# covers GEN-050, GEN-055, GEN-040
def test_the_headline_notebook_runs_offline_and_leaves_copy_and_page(headline):
    place, done, seconds = headline
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (place / "out").iterdir()) == ["04_compare.html", "04_compare.ipynb"]
    assert seconds < 60
    assert len((place / "out" / "04_compare.html").read_bytes()) < 200_000


def test_the_command_prints_the_page_and_the_metrics_of_the_last_run(headline):
    _, done, _ = headline
    lines = done.stdout.splitlines()
    assert lines[:2] == ["out/04_compare.html", ""]
    assert lines[-7].split()[:3] == ["strategy", "rows", "refused"]
    assert [line.split()[0] for line in lines[-6:-1]] == [
        "full", "empty", "shorten[target_tokens=512]", "summarize", "summarize[generations=4]",
    ]  # fmt: skip
    assert "client stand-in:extractive; a property of the inputs, not of a model" in lines[-1]


# covers RUN-047
def test_progress_in_the_kernel_is_shown_by_the_command_and_saved_as_one_line(headline):
    place, done, _ = headline
    assert done.stderr.splitlines()[0] == "rows: 0 of 15 in 0 s"
    assert done.stderr.splitlines()[-1].startswith("rows: 15 of 15 in ")
    executed = json.loads((place / "out" / "04_compare.ipynb").read_text())
    outputs = [output for cell in executed["cells"] for output in cell.get("outputs", ())]
    displays = [output["data"] for output in outputs if PROGRESS_TYPE in output.get("data", {})]
    assert ["".join(data["text/plain"])[:14] for data in displays] == ["rows: 15 of 15"]
    assert displays[0][PROGRESS_TYPE]["last"] is True


# covers EXP-067
def test_the_executed_copy_says_itself_that_it_is_complete(headline):
    place, _, _ = headline
    metadata = json.loads((place / "out" / "04_compare.ipynb").read_text())["metadata"]
    assert metadata["ctxlab"]["status"] == "completed"
    assert metadata["ctxlab"]["parameters"]["client"] == "stand-in:extractive"
    assert metadata["ctxlab"]["parameters"]["window_tokens"] == 8192
    assert metadata["ctxlab"]["run"]["rows"] == 15


# covers GEN-055
def test_the_experiment_is_kept_where_the_user_stands(headline):
    place, done, _ = headline
    runs = [path.name for path in (place / "runs").iterdir() if path.name != ".staging"]
    assert len(runs) == 1
    assert f"run {runs[0]}; kept in runs/{runs[0]}" in done.stdout


# covers EXP-054
def test_rows_in_error_give_exit_3_and_a_page_that_shows_them(tmp_path):
    done = report(
        HEADLINE, "--out", "out", *OFFLINE[2:], "-p", "client=stand-in:error", "-p", "strategies=full,empty", "--quiet",
        cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "")
    page = (tmp_path / "out" / "04_compare.html").read_text().replace("<wbr>", "").replace("<wbr/>", "")
    assert "6 in error" in page
    assert "platform_http_error" in page


# Small notebooks


# covers GEN-055, EXP-067
def test_two_executions_at_once_do_not_meet(tmp_path):
    (tmp_path / "here.txt").write_text("beside the caller")
    (tmp_path / "notebooks").mkdir()
    write_notebook(tmp_path / "notebooks" / "x.ipynb", "print(open('here.txt').read(), number * 11)")
    both = [begin("notebooks/x.ipynb", "--out", f"out{i}", "-p", f"number={i}", cwd=tmp_path) for i in (1, 2)]
    ends = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert [out for out, _ in ends] == ["out1/x.html\n", "out2/x.html\n"]
    for i in (1, 2):
        assert f"beside the caller {i * 11}" in (tmp_path / f"out{i}" / "x.html").read_text()


def good_page(folder):
    """A page and a copy that an earlier execution left."""
    (folder / "out").mkdir()
    (folder / "out" / "x.html").write_text("good")
    (folder / "out" / "x.ipynb").write_text("good")


def left(folder):
    """What stands in the output folder; the copy of the failed execution as JSON."""
    assert (folder / "out" / "x.html").read_text() == "good"
    assert (folder / "out" / "x.ipynb").read_text() == "good"
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["x.failed.ipynb", "x.html", "x.ipynb"]
    return json.loads((folder / "out" / "x.failed.ipynb").read_text())


# covers GEN-056, GEN-040, GEN-035
def test_a_failing_cell_gives_exit_4_and_keeps_what_was_executed(tmp_path):
    write_notebook(tmp_path / "x.ipynb", "print('before')", "raise ValueError('hunter2')", MARKER)
    good_page(tmp_path)
    done = report("x.ipynb", "--out", "out", cwd=tmp_path)
    line = "error: x.ipynb: code cell [4] failed with ValueError (x.failed.ipynb keeps what was executed)\n"
    # [1] and [2] are the parameters cell and the one that papermill injects.
    assert (done.returncode, done.stdout, done.stderr) == (4, "", line)
    failed = left(tmp_path)
    assert failed["metadata"]["ctxlab"]["status"] == "failed"
    assert failed["metadata"]["papermill"]["exception"] is True
    outputs = [[output["output_type"] for output in cell.get("outputs", ())] for cell in failed["cells"]]
    assert outputs == [[], [], [], ["stream"], ["error"], []]
    assert not (tmp_path / "touched").exists()


# covers GEN-056
def test_an_error_of_ctxlab_in_a_cell_is_told_in_its_own_words(tmp_path):
    write_notebook(tmp_path / "x.ipynb", "import ctxlab", "ctxlab.Budget(window_tokens=-1)")
    with pytest.raises(
        NotebookError, match=r"cell \[4\] failed with BudgetError: window_tokens: out of range"
    ):
        execute_notebook(tmp_path / "x.ipynb", out_dir=tmp_path)


# covers GEN-056, EXP-067
def test_a_dead_kernel_gives_exit_4_and_no_page(tmp_path):
    write_notebook(tmp_path / "x.ipynb", "print('before')", "import os; os._exit(0)", MARKER)
    good_page(tmp_path)
    done = report("x.ipynb", "--out", "out", cwd=tmp_path)
    line = "error: x.ipynb: the kernel died in code cell [4] (x.failed.ipynb keeps what was executed)\n"
    assert (done.returncode, done.stdout, done.stderr) == (4, "", line)
    assert left(tmp_path)["metadata"]["ctxlab"]["status"] == "failed"


# covers EXP-067
def test_a_cell_that_leaves_quietly_does_not_complete_the_notebook(tmp_path):
    write_notebook(tmp_path / "x.ipynb", "raise SystemExit(0)", MARKER)
    good_page(tmp_path)
    with pytest.raises(NotebookError, match=r"ended in code cell \[3\] before its last cell"):
        report_notebook(tmp_path / "x.ipynb", out_dir=tmp_path / "out")
    left(tmp_path)


# covers EXP-067
def test_a_cell_over_its_time_does_not_complete_the_notebook(tmp_path):
    write_notebook(tmp_path / "x.ipynb", "import time; time.sleep(60)")
    good_page(tmp_path)
    with pytest.raises(NotebookError, match=r"took too long: code cell \[3\]"):
        report_notebook(tmp_path / "x.ipynb", out_dir=tmp_path / "out", cell_timeout_s=1)
    left(tmp_path)


SLOW = """\
from ctxlab.comparison import run
from ctxlab.standins import StandIn
run(place, "full", client=StandIn(name="slow", wait_s=60))
"""


# covers GEN-040, EXP-067, RUN-046
def test_an_interrupt_reaches_the_run_in_the_kernel_and_names_it(tmp_path):
    write_notebook(
        tmp_path / "x.ipynb",
        SLOW,
        MARKER,
        parameters=f'place: str = "{ROOT / "data" / "continuation.jsonl"}"',
    )
    good_page(tmp_path)
    process = begin("x.ipynb", "--out", "out", cwd=tmp_path)
    assert process.stderr.readline() == "rows: 0 of 3 in 0 s\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    [run] = (tmp_path / "runs" / ".staging").iterdir()
    assert f"interrupted; go on with -p resume={run.name}" in err.splitlines()
    assert "Traceback" not in err
    assert (run / "journal.jsonl").stat().st_size > 0
    assert left(tmp_path)["metadata"]["ctxlab"]["status"] == "interrupted"


def test_a_later_success_removes_the_copy_of_the_failure(tmp_path):
    path = write_notebook(tmp_path / "x.ipynb", "assert number == 2")
    with pytest.raises(NotebookError, match="AssertionError"):
        execute_notebook(path, out_dir=tmp_path / "out")
    executed = execute_notebook(path, out_dir=tmp_path / "out", parameters={"number": 2})
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["x.ipynb"]
    assert executed.metadata.ctxlab.parameters == {"number": 2}
    # An executed copy may be executed again: what was injected then is replaced.
    with pytest.raises(NotebookError, match="AssertionError"):
        execute_notebook(tmp_path / "out" / "x.ipynb", out_dir=tmp_path / "again")


# Endpoints and messages


# covers EXP-067
def test_endpoints_are_sockets_of_their_own_unless_the_path_is_too_long():
    short, long = Path("/tmp/ctxlab-1"), Path("/tmp") / ("x" * LONGEST_SOCKET_PATH)
    assert endpoints(short)["KernelManager"] == {
        "connection_file": "/tmp/ctxlab-1/kernel.json", "transport": "ipc", "ip": "/tmp/ctxlab-1/s",
    }  # fmt: skip
    assert endpoints(long)["KernelManager"] == {"connection_file": f"{long}/kernel.json"}


def test_only_progress_is_passed_on_and_only_what_can_be_printed():
    told = []
    watched = Watched(show=told.append)
    watched.hear({"content": {"data": {"text/plain": "rows: 1 of 2"}}})
    watched.hear({"content": {"execution_state": "idle"}})
    data = {"text/plain": "rows: 1 of 2 \x1b[2J", PROGRESS_TYPE: {"last": True, "run_id": "r"}}
    watched.hear({"content": {"data": data}})
    assert told == [Line(text="rows: 1 of 2 [2J", last=True, run_id="r")]
