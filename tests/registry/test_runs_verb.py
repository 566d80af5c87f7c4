"""`ctxlab runs ...` as the installed command: output and exit codes."""

import csv
import io
import json

import pytest

from ctxlab.cli import main
from tests.registry.building import RUN_ID, sparse
from tests.test_cli import CONTINUATION, ctxlab

OTHER = "20260102T030406123456Z-0123456789ab-01234567"


@pytest.fixture
def place(directory):
    """A folder in which `runs` holds one sound run; its name."""
    return directory.parent.parent, directory.name


# covers EXP-043, EXP-044, GEN-034
def test_list_prints_runs_as_table_json_and_csv(place, capsys):
    folder, run_id = place
    table = ctxlab("runs", "list", cwd=folder)
    assert (table.returncode, table.stderr) == (0, "")
    assert table.stdout.splitlines()[1].split()[:4] == [run_id, "completed", "not_evaluated", "compare"]
    runs = ("--runs-dir", str(folder / "runs"))
    assert main(["runs", "list", "--format", "json", "--status", "completed", *runs]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["frame"], [row["run_id"] for row in content["rows"]]) == ("runs", [run_id])
    assert main(["runs", "list", "--format", "csv", *runs]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert [(row["run_id"], row["damaged"]) for row in rows] == [(run_id, "False")]


# covers EXP-043, GEN-040
def test_list_with_a_stray_file_shows_all_and_exits_with_4(place, kept):
    folder, run_id = place
    sparse(folder / "runs", kept, RUN_ID)
    (folder / "runs" / "stray").write_text("x")
    done = ctxlab("runs", "list", cwd=folder)
    assert (done.returncode, done.stderr) == (4, "error: 1 damaged entries in the runs directory\n")
    first = [line.split()[:2] for line in done.stdout.splitlines()[1:]]
    assert sorted(first) == sorted([[run_id, "completed"], [RUN_ID, "completed"], ["stray", "damaged"]])


# covers EXP-045
def test_show_prints_summary_and_metrics_per_strategy(place):
    folder, run_id = place
    ctxlab("runs", "alias", "set", "main", run_id, cwd=folder)
    done = ctxlab("runs", "show", "main", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["run", run_id] in lines
    assert ["status", "completed"] in lines
    assert [line[0] for line in lines[-3:]] == ["all", "full", "summarize[generations=2]"]
    metrics = json.loads(ctxlab("runs", "show", run_id, "--format", "json", cwd=folder).stdout)
    assert (metrics["frame"], [row["passed"] for row in metrics["rows"]]) == ("metrics", [2, 2])


# covers EXP-041, EXP-045
def test_show_of_a_run_that_has_no_manifest_yet_says_so(place):
    folder, _ = place
    (folder / "runs" / ".staging" / RUN_ID).mkdir(parents=True)
    done = ctxlab("runs", "show", RUN_ID, cwd=folder)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith(f"error: run {RUN_ID}: has no manifest yet")


# covers EXP-046, GEN-040
def test_verify_finds_a_flipped_byte(place):
    folder, run_id = place
    done = ctxlab("runs", "verify", run_id, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"run {run_id}: is as it was left\n", "")
    path = folder / "runs" / run_id / "frames" / "results.parquet"
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    done = ctxlab("runs", "verify", run_id, cwd=folder)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.splitlines()[0] == f"error: run {run_id}: frames/results.parquet: was changed"


# covers EXP-047
def test_diff_of_different_runs_exits_with_0_in_every_format(place, capsys):
    folder, run_id = place
    cases = folder / "cases.jsonl"
    cases.write_text('{"schema_version": "1.1", "id": "a", "category": "c", "messages": '
                     '[{"role": "user", "content": "Which?"}], "expected": {"contains_all": ["X"]}}\n')  # fmt: skip
    runs = ("--runs-dir", str(folder / "runs"))
    asked = (
        "compare",
        "--dataset",
        str(cases),
        "--client",
        "stand-in:echo",
        "--strategies",
        "full",
        "--quiet",
    )
    assert main([*asked, *runs]) == 0
    other = next(p.name for p in (folder / "runs").iterdir() if p.name not in (run_id, ".staging"))
    capsys.readouterr()
    shown = {}
    for name in ("table", "json", "csv"):
        assert main(["runs", "diff", run_id, other, "--format", name, *runs]) == 0
        shown[name] = capsys.readouterr().out
    assert shown["table"].startswith("category")
    assert json.loads(shown["json"])["frame"] == "diff"
    assert "no: another dataset" in shown["json"]
    assert shown["csv"].startswith("category,field,strategy,left,right,difference,equal\n")
    done = ctxlab("runs", "diff", run_id, other, "--format", "markdown", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# Two runs side by side\n")


# covers EXP-049
def test_an_alias_is_set_by_hand_and_shown_with_its_log(place, kept):
    folder, run_id = place
    sparse(folder / "runs", kept, RUN_ID)
    for target in (RUN_ID, run_id):
        done = ctxlab("runs", "alias", "set", "main", target, cwd=folder)
        assert (done.returncode, done.stdout) == (0, f"main: {target}\n")
    shown = ctxlab("runs", "alias", "show", "main", cwd=folder).stdout.splitlines()
    assert [line.split(" since ")[0] for line in shown] == [f"main: {run_id}", f"before: {RUN_ID}"]


# covers EXP-050, EXP-042, GEN-040
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("show", OTHER), 5, f"error: run {OTHER}: not found in the runs directory"),
        (("show", "nobody"), 5, "error: alias nobody: not found in the runs directory"),
        (("show", "No Body"), 2, "error: run: expected a run id, or an alias"),
        (("verify", OTHER[:-1]), 2, "error: run: expected a run id, or an alias"),
        (("verify", "nobody"), 5, "error: alias nobody"),
        (("diff", "nobody", "nobody"), 5, "error: alias nobody"),
        (("alias", "set", "main", OTHER), 5, f"error: run {OTHER}: not found"),
        (("alias", "set", "Main", OTHER), 2, "error: alias: expected 1 to 64"),
        (("alias", "show", "nobody"), 5, "error: alias nobody"),
        (("list", "--status", "done"), 2, "error: --status: allowed is"),
        (("list", "--output", "none/OUT"), 2, "error: --output: the folder does not exist"),
        ((), 2, "error: Missing command."),
    ],
    ids=range(12),
)
def test_malformed_names_exit_with_2_and_unknown_ones_with_5(tmp_path, capsys, arguments, code, message):
    (tmp_path / "runs").mkdir()
    place = ("--runs-dir", str(tmp_path / "runs")) if arguments else ()
    assert main(["runs", *arguments, *place]) == code
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith(message)
    assert list((tmp_path / "runs").iterdir()) == []


# covers EXP-050, GEN-040
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (OTHER, 5, f"error: run {OTHER}: not found in the runs directory\n"),
        ("No Body", 2, "error: run: expected a run id, or an alias of lower case letters, digits, '.', '_' and '-'\n"),
    ],
)  # fmt: skip
def test_the_installed_command_says_which_run_is_not_there(tmp_path, words, code, message):
    done = ctxlab("runs", "verify", words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)


# covers EXP-042, GEN-040
def test_a_manifest_with_a_path_that_leaves_the_run_and_a_linked_run_exit_with_4(place):
    folder, run_id = place
    manifest = folder / "runs" / run_id / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"evaluation.md"', b'"../../evil.md"'))
    for verb in ("show", "verify"):
        done = ctxlab("runs", verb, run_id, cwd=folder)
        assert done.returncode == 4
        assert "a path is absolute, leaves the run directory" in done.stderr
    (folder / "runs" / RUN_ID).symlink_to(folder / "runs" / run_id)
    done = ctxlab("runs", "show", RUN_ID, cwd=folder)
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1)


# covers EXP-008, EXP-028
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--system-prompt", "p.txt"], "error: system prompt: file, name and version are given together"),
        (["--deployment-image", "i:1"], "error: deployment: image and name need --deployment-runtime"),
        (
            ["--deployment-runtime", "vm"],
            "error: deployment runtime: allowed is host, docker, compose, other",
        ),
        (["--provenance", "none.json"], "error: none.json: cannot be read"),
    ],
    ids=range(4),
)
def test_bad_declarations_exit_with_2_before_anything_is_run(tmp_path, capsys, arguments, message):
    (tmp_path / "p.txt").write_text("x")
    given = [str(tmp_path / word) if word.endswith((".txt", ".json")) else word for word in arguments]
    words = [
        "compare",
        "--dataset",
        CONTINUATION,
        "--client",
        "stand-in:echo",
        "--strategies",
        "full",
        "--quiet",
    ]
    assert main([*words, "--runs-dir", str(tmp_path / "runs"), *given]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(message)
    assert not (tmp_path / "runs").exists()
