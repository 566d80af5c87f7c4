"""`ctxlab gate` and `ctxlab eval` as a user runs them: output and exit codes of the installed command."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ctxlab.cli import main
from ctxlab.messages import canonical_json
from tests.factories import make_run
from tests.loopback import Answer, completion, loopback
from tests.reporting import OLD, answered, as_file, mixed_run, old, two_strategies

COMMAND = str(Path(sys.executable).parent / "ctxlab")
UNKNOWN_RUN = "20260102T030405123456Z-0123456789ab-01234567"


def ctxlab(*arguments, cwd, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CTXLAB_")}
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def put(folder, name, report):
    (folder / name).write_text(json.dumps(report))
    return name


def gate(folder, current, *arguments):
    return ctxlab("gate", "--current", current, *arguments, cwd=folder)


@pytest.fixture
def gate_here(tmp_path, capsys, monkeypatch):
    """`ctxlab gate` in this process, where what it prints and returns is looked at, not the command itself."""
    monkeypatch.chdir(tmp_path)

    def gate(current, *arguments):
        code = main(["gate", "--current", current, *arguments])
        told = capsys.readouterr()
        return subprocess.CompletedProcess([], code, told.out, told.err)

    return gate


def one_line(done):
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) <= 241
    return done.stderr


# covers EVA-070, EVA-075, EVA-078, GEN-040
def test_gates_that_pass_exit_0_and_print_what_changed(tmp_path):
    put(tmp_path, "now.json", as_file(mixed_run()))
    done = gate(
        tmp_path, "now.json", "--baseline", "now.json", "--min-pass-rate", "0.25", "--max-pass-rate-drop", "0",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "passed"
    assert "unchanged: 4 (c1, c2, c3, c4)" in lines


# covers EVA-070, GEN-040
def test_a_gate_that_fails_exits_1(tmp_path):
    put(tmp_path, "now.json", as_file(mixed_run()))
    done = gate(tmp_path, "now.json", "--min-pass-rate", "0.26")
    assert done.returncode == 1
    assert done.stdout.startswith("failed: 1 of 1 gates\n")


# covers EVA-078
def test_a_broken_case_exits_1_and_is_named(tmp_path):
    put(tmp_path, "then.json", as_file(make_run(answered("a"), answered("b", index=1))))
    put(tmp_path, "now.json", as_file(make_run(answered("a"), answered("b", passed=False, index=1))))
    done = gate(tmp_path, "now.json", "--baseline", "then.json", "--max-pass-rate-drop", "0")
    assert done.returncode == 1
    assert "broken: 1 (b)" in done.stdout


# covers EVA-076, GEN-040
def test_an_edited_aggregate_exits_4_and_names_the_field(tmp_path):
    report = as_file(mixed_run())
    report["aggregate"]["pass_rate"] = 1.0
    put(tmp_path, "now.json", report)
    done = gate(tmp_path, "now.json", "--min-pass-rate", "0")
    assert done.returncode == 4
    assert one_line(done) == "error: now.json: aggregate.pass_rate: differs from what the cases give\n"


# covers EVA-071, EVA-073, EVA-076, EVA-077, GEN-040
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "gates: at least one is needed"),
        (("--min-pass-rate", "nan"), "--min-pass-rate: expected a number"),
        (("--min-pass-rate", "1.5"), "--min-pass-rate: 0 to 1 is allowed"),
        (("--max-p95-latency-seconds", "0"), "--max-p95-latency-seconds: above 0"),
        (("--max-pass-rate-drop", "0"), "--max-pass-rate-drop: needs --baseline"),
        (("--max-pass-rate-drop", "0", "--baseline", "other.json"), "--baseline: contents of the dataset"),
        (("--max-pass-rate-drop", "0", "--baseline", "fewer.json"), "--baseline: case ids"),
        (("--min-recall", "0", "--recall", "best"), "--recall"),
        (("--min-pass-rate", "0", "--strategy", "none"), "--strategy: is not in the report"),
        (("--min-pass-rate", "0", "--tag", "x"), "--tag: the report's dataset is not where it was"),
        (("--min-pass-rate", "0", "--baseline", "Not An Alias"), "run: expected a run id, or an alias"),
        (("--min-pass-rate", "0", "--baseline", "nowhere.json"), "nowhere.json: cannot be read"),
        (("--min-pass-rate", "0", "--output", "none/out.txt"), "--output: the folder does not exist"),
    ],
)
def test_bad_input_exits_2_with_one_line(arguments, error, tmp_path, gate_here):
    put(tmp_path, "now.json", as_file(mixed_run()))
    put(tmp_path, "other.json", {**as_file(mixed_run()), "dataset_content_hash": "1" * 64})
    put(tmp_path, "fewer.json", as_file(make_run(answered("c1"))))
    done = gate_here("now.json", *arguments)
    assert done.returncode == 2
    assert one_line(done).startswith(f"error: {error}")


# covers EVA-090, GEN-040
@pytest.mark.parametrize(
    "content",
    [
        json.dumps(OLD)[:500],
        "[" * 100_000,
        json.dumps(OLD).replace('"total_cases": 2', '"total_cases": ' + "9" * 5000),
        "\ufeff" + json.dumps(OLD),
        json.dumps(OLD).replace('"run_id"', '"run_id": "x", "run_id"'),
    ],
    ids=["cut in half", "brackets", "digits", "BOM", "key twice"],
)
def test_a_damaged_report_exits_2_with_one_line(content, tmp_path, gate_here):
    (tmp_path / "now.json").write_text(content)
    done = gate_here("now.json", "--min-pass-rate", "0")
    assert done.returncode == 2
    assert one_line(done).startswith("error: now.json: ")


# covers GEN-040
def test_the_installed_command_exits_2_on_bad_input(tmp_path):
    done = gate(tmp_path, "nowhere.json", "--min-pass-rate", "0")
    assert done.returncode == 2
    assert one_line(done) == "error: nowhere.json: cannot be read: No such file or directory\n"


# covers GEN-040, EVA-070
@pytest.mark.parametrize("words", [UNKNOWN_RUN, "no-such-alias"])
def test_an_unknown_run_or_alias_exits_5(words, tmp_path):
    done = gate(tmp_path, words, "--min-pass-rate", "0")
    assert done.returncode == 5
    one_line(done)


# covers EVA-077
def test_another_dataset_is_compared_if_that_is_allowed_and_it_is_printed(tmp_path, gate_here):
    put(tmp_path, "now.json", as_file(mixed_run()))
    put(tmp_path, "other.json", {**as_file(mixed_run()), "dataset_content_hash": "1" * 64})
    done = gate_here(
        "now.json",
        "--baseline",
        "other.json",
        "--max-pass-rate-drop",
        "0",
        "--allow-different-dataset",
    )
    assert done.returncode == 0
    assert "note: compared although contents of the dataset are not the same\n" in done.stdout


# covers EVA-097
def test_a_report_of_schema_1_0_is_judged_and_the_upgrade_is_told(tmp_path, gate_here):
    put(tmp_path, "old.json", old())
    done = gate_here("old.json", "--min-pass-rate", "0.5", "--max-error-rate", "0.5")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: old.json: is of schema 1.0 and was upgraded")
    assert gate_here("old.json", "--min-recall", "0").returncode == 1  # 1.0 knows no facts


# covers EVA-074, EVA-079, GEN-034
def test_gates_are_printed_as_frame_markdown_and_junit(tmp_path, gate_here):
    put(tmp_path, "now.json", as_file(two_strategies()))
    arguments = ("--min-recall", "0.5", "--max-recall-drop", "0.4", "--strategy", "full")
    found = json.loads(gate_here("now.json", *arguments, "--format", "json").stdout)
    assert list(found) == ["frame", "version", "run_id", "fingerprint", "counter", "rows"]
    assert (found["frame"], found["run_id"]) == ("gates", UNKNOWN_RUN)
    assert [(row["strategy"], row["gate"], row["passed"], row["current"]) for row in found["rows"]] == [
        ("full", "min_recall", True, 0.75),
        ("short", "max_recall_drop", False, 0.25),
    ]
    rows = list(csv.DictReader(io.StringIO(gate_here("now.json", *arguments, "--format", "csv").stdout)))
    assert [row["state"] for row in rows] == ["passed", "failed"]
    markdown = gate_here("now.json", *arguments, "--format", "markdown")
    assert markdown.stdout.startswith("# Gates: failed: 1 of 2 gates\n")
    junit = gate_here("now.json", *arguments, "--format", "junit", "--output", "gates.xml")
    assert (junit.returncode, junit.stdout) == (1, "")
    assert len(ElementTree.parse(tmp_path / "gates.xml").findall("testsuite/testcase")) == 2


# covers EVA-079
def test_a_latency_gate_fails_on_few_samples_and_is_refused_below_what_the_client_takes(tmp_path, gate_here):
    put(tmp_path, "now.json", as_file(make_run(answered("a", seconds=1e-6))))
    few = gate_here("now.json", "--max-p95-latency-seconds", "60", "--min-samples", "2")
    assert few.returncode == 1
    assert "1 samples are fewer than 2" in few.stdout
    assert gate_here("now.json", "--max-p95-latency-seconds", "600").returncode == 0
    bound = gate_here("now.json", "--max-p95-latency-seconds", "0.00001")
    assert bound.returncode == 1
    assert "client_bound: " in bound.stdout


def test_a_paired_gate_is_inconclusive_on_few_cases(tmp_path, gate_here):
    def runs(passed):
        return as_file(make_run(*(answered(f"c{i}", passed=i < passed, index=i) for i in range(10))))

    put(tmp_path, "then.json", runs(10))
    put(tmp_path, "now.json", runs(5))
    arguments = ("now.json", "--baseline", "then.json", "--max-pass-rate-drop", "0", "--paired")
    done = gate_here(*arguments)
    assert done.returncode == 1
    assert "about 2 more cases would settle it" in done.stdout
    assert gate_here(*arguments, "--allow-inconclusive").returncode == 0
    assert gate_here(*arguments, "--level", "0.9", "--allow-inconclusive").returncode == 1


CASES = [
    {
        "schema_version": "1.1", "id": name, "category": "general",
        "messages": [{"role": "user", "content": f"Say {word}."}],
        "expected": {"contains_all": [word]}, "metadata": {"tags": [word]},
    }
    for name, word in (("a", "yes"), ("b", "no"))
]  # fmt: skip


def evaluate(folder, server, *arguments, **environment):
    (folder / "cases.jsonl").write_text("".join(canonical_json(case) + "\n" for case in CASES))
    return ctxlab(
        "eval", "--dataset", "cases.jsonl", "--client", "endpoint", "--base-url", server.base_url, "--model", "m",
        "--quiet", *arguments, cwd=folder, **environment,
    )  # fmt: skip


def only_run(folder):
    (path,) = (p for p in (folder / "runs").iterdir() if not p.name.startswith("."))
    return path


# covers GEN-003, GEN-009, GEN-034, EXP-046, EVA-070, EVA-074, EVA-091, EXP-002
def test_eval_writes_reports_that_gate_takes_by_run_id(tmp_path):
    with loopback(Answer(body=completion("yes"))) as server:
        done = evaluate(tmp_path, server, "--format", "json")
        assert [request.json["messages"] for request in server.requests] == [
            case["messages"] for case in CASES
        ]
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["frame"], [row["strategy"] for row in found["rows"]]) == ("results", ["full", "full"])
    run = only_run(tmp_path)
    assert {"evaluation.json", "evaluation.md"} <= {path.name for path in run.iterdir()}
    report = json.loads((run / "evaluation.json").read_text())
    assert (report["dataset_path"], report["aggregate"]["pass_rate"]) == ("cases.jsonl", 0.5)
    assert report["platform"]["base_url"] == server.base_url
    assert ctxlab("runs", "verify", run.name, cwd=tmp_path).returncode == 0
    assert "| window tokens | no limit |" in (run / "evaluation.md").read_text()
    same = ("--baseline", run.name, "--max-pass-rate-drop", "0")
    assert gate(tmp_path, run.name, *same, "--min-pass-rate", "0.5", "--format", "junit").returncode == 0
    assert gate(tmp_path, run.name, "--min-pass-rate", "1", "--tag", "yes").returncode == 0
    assert gate(tmp_path, run.name, "--min-pass-rate", "1", "--tag", "no").returncode == 1
    (tmp_path / "cases.jsonl").rename(tmp_path / "moved.jsonl")
    assert gate(tmp_path, run.name, "--min-pass-rate", "1", "--tag", "yes").returncode == 2
    assert (
        gate(
            tmp_path, run.name, "--min-pass-rate", "1", "--tag", "yes", "--dataset", "moved.jsonl"
        ).returncode
        == 0
    )
    report["platform"]["base_url"] = "http://elsewhere"
    (run / "evaluation.json").write_text(canonical_json(report))
    for option in (("--min-pass-rate", "0"), same):
        done = gate(tmp_path, run.name, *option)
        assert (done.returncode, one_line(done)) == (4, "error: --current: evaluation.json: was changed\n")


# covers GEN-009
def test_eval_sends_a_case_of_any_size(tmp_path):
    long = "word " * 100_000
    with loopback(Answer(body=completion("yes"))) as server:
        (tmp_path / "long.jsonl").write_text(
            canonical_json({**CASES[0], "messages": [{"role": "user", "content": long}]}) + "\n"
        )
        done = evaluate(tmp_path, server, "--dataset", "long.jsonl")
        assert done.returncode == 0
        assert [request.json["messages"][0]["content"] for request in server.requests] == [long]


# covers GEN-040, GEN-041
def test_eval_exits_1_on_a_failed_gate_and_3_on_an_error_with_its_gates_not_evaluated(tmp_path):
    with loopback(Answer(body=completion("yes"))) as server:
        failed = evaluate(tmp_path, server, "--min-pass-rate", "0.6")
        passed = evaluate(tmp_path, server, "--min-pass-rate", "0.5")
    assert (failed.returncode, passed.returncode) == (1, 0)
    assert "min_pass_rate (full): pass rate 0.5 is below 0.6" in failed.stdout
    with loopback(Answer(status=500)) as server:
        broken = evaluate(tmp_path, server, "--min-pass-rate", "0.6", "--runs-dir", "other")
    assert broken.returncode == 3
    assert "not evaluated" in broken.stdout
    (path,) = (tmp_path / "other").glob("2*/evaluation.json")
    assert json.loads(path.read_text())["gates"][0]["state"] == "not_evaluated"


# covers GEN-040, EXP-027
def test_eval_finds_a_bad_gate_or_baseline_before_it_sends(tmp_path):
    with loopback(Answer(body=completion("yes"))) as server:
        for arguments, code in (
            (("--min-pass-rate", "7"), 2),
            (("--max-pass-rate-drop", "0"), 2),
            (("--baseline", UNKNOWN_RUN), 2),
            (("--max-pass-rate-drop", "0", "--baseline", UNKNOWN_RUN), 5),
            (("--max-recall-drop", "0"), 2),
            (("--client", "stand-in:head"), 2),
        ):
            done = evaluate(tmp_path, server, *arguments)
            assert (arguments, done.returncode) == (arguments, code)
            one_line(done)
        assert server.requests == []
    assert not list((tmp_path / "runs").glob("2*"))


# covers EVA-123
def test_a_report_is_written_where_there_is_no_git(tmp_path):
    with loopback(Answer(body=completion("yes"))) as server:
        done = evaluate(tmp_path, server, PATH=str(tmp_path))
    assert done.returncode == 0
    assert "git" not in json.loads((only_run(tmp_path) / "evaluation.json").read_text())
