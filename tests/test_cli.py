"""The installed command, as a user runs it: output, exit codes, one line per error."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ctxlab.frames import read_parquet
from tests.loopback import Answer, completion, loopback

ROOT = Path(__file__).parents[1]
COMMAND = str(Path(sys.executable).parent / "ctxlab")
CONTINUATION = str(ROOT / "data" / "continuation.jsonl")
RUN_ID = "20260102T030405123456Z-0123456789ab-01234567"


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


def compare(tmp_path, *arguments, dataset=CONTINUATION, client="stand-in:extractive", **environment):
    return ctxlab(
        "compare", "--dataset", dataset, "--client", client, *arguments, cwd=tmp_path, **environment
    )


# covers GEN-034, GEN-040, RUN-084, FRM-030
def test_compare_gives_its_row_frame_as_json(tmp_path):
    done = compare(
        tmp_path, "--format", "json", "--output", "OUT.json",
        "--strategies", "full,empty,shorten:target_tokens=512,summarize,summarize:generations=4",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    out = json.loads((tmp_path / "OUT.json").read_text())
    assert list(out) == ["frame", "version", "run_id", "fingerprint", "counter", "rows"]
    assert (out["frame"], out["counter"]) == ("results", "utf8_bytes_2")
    assert len(out["rows"]) == 15
    assert [row["calls"] for row in out["rows"]] == [1, 1, 1, 2, 5] * 3
    assert {row["status"] for row in out["rows"]} == {"completed"}
    assert out["rows"][0]["cost"] is None
    assert (tmp_path / "runs" / out["run_id"] / "journal.jsonl").exists()


# covers GEN-034
def test_compare_prints_metrics_per_strategy_as_a_table_and_rows_as_csv(tmp_path):
    table = compare(tmp_path, "--strategies", "full,empty")
    assert table.returncode == 0
    lines = table.stdout.splitlines()
    assert [line.split()[0] for line in lines[-4:-1]] == ["strategy", "full", "empty"]
    assert "a property of the inputs, not of a model" in lines[-1]
    assert max(map(len, lines[:-1])) <= 120
    rows = list(
        csv.DictReader(io.StringIO(compare(tmp_path, "--strategies", "full", "--format", "csv").stdout))
    )
    assert [(r["case_id"], r["strategy"], r["cost"]) for r in rows] == [
        ("debugging", "full", ""), ("pending-work", "full", ""), ("corrected-constraint", "full", ""),
    ]  # fmt: skip


# covers GEN-004, STR-076
def test_a_comparison_without_full_gets_it_and_shortening_lies_between_full_and_nothing(tmp_path):
    done = compare(tmp_path, "--strategies", "empty,shorten:target_tokens=512", "--format", "json")
    rows = json.loads(done.stdout)["rows"]
    recall = {row["strategy"]: row["context_recall"] for row in rows if row["case_id"] == "debugging"}
    assert list(recall) == ["full", "empty", "shorten[target_tokens=512]"]
    assert recall["empty"] == 0 < recall["shorten[target_tokens=512]"] < recall["full"] == 1


# covers GEN-035, GEN-040, DAT-122
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--strategies", "fulll"], 2, "error: strategies: 'fulll' is no strategy; allowed is full, empty"),
        (
            ["--strategies", "shorten:target=1"],
            2,
            "error: strategies: shorten: parameter 'target' is unknown",
        ),
        (["--window-tokens", "many"], 2, "error: --window-tokens: expected a valid integer"),
        (["--window-tokens", "-1"], 2, "error: window_tokens: out of range"),
        (["--set", "nonsense"], 2, "error: thresholds: expected NAME=VALUE"),
        (["--set", "nonsense=1"], 2, "error: threshold: unknown name"),
        (["--set", "ahead_trigger_share=1.5"], 2, "error: ahead_trigger_share: out of range"),
        (["--repeats", "0"], 2, "error: repeats: allowed is a whole number from 1 to 100"),
        (["--concurrency", "1000"], 2, "error: concurrency: allowed"),
        (["--format", "xml"], 2, "error: --format: allowed is table, json, csv"),
        (["--output", "none/OUT.json"], 2, "error: --output: the folder does not exist"),
        (["--client", "endpoint"], 2, "error: --client endpoint: needs --base-url and --model"),
        (["--client", "gpt-4"], 2, "error: client: allowed is local, endpoint"),
        (["--client", "stand-in:nobody"], 2, "error: "),
        (
            ["--client", "endpoint", "--base-url", "ftp://x", "--model", "m"],
            2,
            "error: base URL: must be absolute",
        ),
        (["--helper-model", "m"], 2, "error: --helper-model: only with --client endpoint"),
        (["--prices", "none.json"], 2, "error: none.json: cannot be read"),
        (["--resume", "yesterday"], 2, "error: --resume: expected a run id"),
        (["--resume", RUN_ID], 5, f"error: run {RUN_ID}: not found"),
        (["--nonsense"], 2, "error: No such option"),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_with_its_exit_code_and_nothing_is_written(tmp_path, arguments, code, message):
    done = compare(tmp_path, *arguments)
    assert done.returncode == code
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(message)
    assert len(line) <= 240
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


# covers GEN-035, DAT-122, DAT-010
def test_each_faulty_line_of_a_dataset_is_one_error_line(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"schema_version": "1.1", "secret": "text"}\nnot json\n')
    done = compare(tmp_path, dataset=str(path))
    assert done.returncode == 2
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == ["bad.jsonl:1", "bad.jsonl:2"]
    assert all(line.startswith("error: bad.jsonl:") for line in done.stderr.splitlines())
    assert "text" not in done.stderr
    missing = compare(tmp_path, dataset="missing.jsonl")
    assert missing.returncode == 2
    assert missing.stderr.startswith("error: missing.jsonl")
    assert len(missing.stderr.splitlines()) == 1


# covers GEN-008, GEN-032, GEN-033, RUN-006
def test_an_endpoint_is_asked_only_when_it_is_chosen_and_gets_the_key_of_the_environment(tmp_path):
    with loopback(Answer(body=completion("INC-4821"))) as server:
        environment = {
            "CTXLAB_BASE_URL": server.base_url,
            "CTXLAB_MODEL": "m",
            "CTXLAB_API_KEY": "s3cret-key",
        }
        compare(tmp_path, "--strategies", "full", **environment)
        assert server.requests == []
        done = compare(tmp_path, "--strategies", "full", client="endpoint", **environment)
        assert done.returncode == 0
        assert {r.headers["authorization"] for r in server.requests} == {"Bearer s3cret-key"}
        assert len(server.requests) == 3
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"s3cret-key" not in written + done.stdout.encode() + done.stderr.encode()


# covers GEN-032
def test_a_bad_default_of_the_environment_fails_the_verb_and_not_its_help(tmp_path):
    bad = {"CTXLAB_CONCURRENCY": "many"}
    assert ctxlab("compare", "--help", cwd=tmp_path, **bad).returncode == 0
    assert compare(tmp_path, **bad).returncode == 2


# covers GEN-040, RUN-031
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(status=500), "platform_http_error"),
        (
            Answer(body=b"<html>hello</html>", headers={"content-type": "text/html"}),
            "malformed_platform_response",
        ),
    ],
    ids=["500", "html"],
)
def test_rows_in_error_are_written_and_give_exit_3(tmp_path, answer, kind):
    with loopback(answer) as server:
        done = compare(
            tmp_path, "--base-url", server.base_url, "--model", "m", "--strategies", "full", "--format", "json",
            client="endpoint",
        )  # fmt: skip
    rows = json.loads(done.stdout)["rows"]
    assert done.returncode == 3
    assert {(r["status"], r["error_kind"], r["passed"]) for r in rows} == {("error", kind, False)}
    assert {r["answer_recall"] for r in rows} == {None}


# covers GEN-040, RUN-030
def test_an_endpoint_that_is_down_is_a_row_in_error(tmp_path):
    done = compare(
        tmp_path, "--base-url", "http://127.0.0.1:9", "--model", "m", "--strategies", "full", "--format", "json",
        client="endpoint",
    )  # fmt: skip
    assert done.returncode == 3
    assert {r["error_kind"] for r in json.loads(done.stdout)["rows"]} == {"connection_failure"}


# covers GEN-040, BUD-031
def test_a_window_smaller_than_the_reserves_refuses_every_row_and_sends_nothing(tmp_path):
    done = compare(tmp_path, "--window-tokens", "2000", "--format", "json")
    rows = json.loads(done.stdout)["rows"]
    assert done.returncode == 0
    assert {(r["status"], r["error_kind"], r["calls"]) for r in rows} == {("refused", "budget_exceeded", 0)}
    assert {r["context_recall"] for r in rows} == {None}
    assert done.stderr == "warning: the reserves fill the window, so every request is refused\n"


# covers RUN-115
def test_the_embedded_model_without_its_file_names_the_command_that_brings_it(tmp_path):
    done = compare(tmp_path, client="local", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 2
    assert done.stderr == "error: the embedded model's file is missing: run `ctxlab fetch-model` once\n"
    named = compare(tmp_path, client="local", CTXLAB_GGUF=str(tmp_path / "none.gguf"))
    assert (named.returncode, len(named.stderr.splitlines())) == (2, 1)
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").glob("2*"))


# covers GEN-040, RUN-046, RUN-077
def test_an_interrupt_keeps_what_is_finished_and_says_how_to_go_on(tmp_path):
    def answer(request):
        hangs = len(server.requests) > 4
        return Answer(silent=True, then="hang") if hangs else Answer(body=completion("INC-4821"))

    with loopback(answer) as server:
        process = subprocess.Popen(
            [COMMAND, "compare", "--dataset", CONTINUATION, "--client", "endpoint", "--base-url", server.base_url,
             "--model", "m", "--strategies", "full,empty", "--concurrency", "2"],
            cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        while len(server.requests) < 6:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        (run_id,) = [p.name for p in (tmp_path / "runs" / ".staging").iterdir()]
        assert err.splitlines()[-1] == f"interrupted; go on with --resume {run_id}"
        assert "Traceback" not in err


def test_help_version_and_no_arguments(tmp_path):
    assert "compare" in ctxlab("--help", cwd=tmp_path).stdout
    assert "compare" in ctxlab(cwd=tmp_path).stdout
    version = ctxlab("--version", cwd=tmp_path)
    assert (version.returncode, version.stdout) == (0, "ctxlab 0.1.0\n")


# covers DAT-140
def test_a_record_that_gives_no_case_is_named(tmp_path):
    runs = [
        {"task_id": 1, "reward": 1.0, "info": {"task": {"actions": actions, "outputs": []}}, "traj": traj}
        for actions, traj in (
            ([{"name": "book", "kwargs": {"code": "AB12CD"}}], [{"role": "user", "content": "Book AB12CD."}]),
            ([], [{"role": "user", "content": "Nothing to do."}]),
        )
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(run) + "\n" for run in runs))
    done = compare(tmp_path, "--dataset-format", "tau_bench", "--strategies", "full", dataset=str(path))
    assert (done.returncode, done.stderr) == (0, "warning: runs.jsonl: record 2: skipped, nothing_to_score\n")


# covers GEN-035, RUN-115, RUN-112
def test_a_file_that_is_no_model_is_named_as_such(tmp_path):
    other = tmp_path / "notes.gguf"
    other.write_bytes(b"just text")
    done = compare(tmp_path, client="local", CTXLAB_GGUF=str(other))
    assert (done.returncode, done.stderr) == (2, "error: the model file is no GGUF file: name another one\n")
    assert [p.name for p in tmp_path.iterdir()] == ["notes.gguf"] or not list((tmp_path / "runs").iterdir())


# covers GEN-035
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--temperature", "nan"], "error: temperature: allowed is 0 to 2"),
        (["--temperature", "3"], "error: temperature: allowed is 0 to 2"),
        (["--max-tokens", "0"], "error: max_tokens: allowed is a whole number of 1 or more"),
        (["--timeout-s", "0"], "error: timeout_s: must be a number of seconds above 0"),
        (["--timeout-s", "inf"], "error: timeout_s: must be a number of seconds above 0"),
        (["--output", "."], "error: --output: is a folder"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_a_value_out_of_range_is_refused_before_the_first_request(tmp_path, arguments, message):
    done = compare(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert list(tmp_path.iterdir()) == []


# covers DAT-010
def test_a_pipe_or_a_folder_is_no_dataset(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("pipe.jsonl", "."):
        done = compare(tmp_path, dataset=str(tmp_path / name))
        assert done.returncode == 2
        assert done.stderr.endswith(": cannot be read: it is not a file\n")
    assert compare(tmp_path, dataset=".").stderr == "error: .: cannot be read: it is not a file\n"
    assert compare(tmp_path, "--prices", ".").stderr == "error: .: cannot be read: it is not a file\n"
    done = compare(tmp_path, "--dataset-format", "tau_bench", dataset=str(tmp_path / "pipe.jsonl"))
    assert done.stderr == "error: pipe.jsonl: cannot be read: it is not a file\n"


# covers GEN-059, GEN-011
def test_the_table_says_why_rows_have_no_result_and_invents_no_cost(tmp_path):
    down = compare(
        tmp_path,
        "--base-url",
        "http://127.0.0.1:9",
        "--model",
        "m",
        "--strategies",
        "full",
        client="endpoint",
    )
    assert "error: 3 connection_failure" in down.stdout.splitlines()
    assert "cost" not in down.stdout
    refused = compare(tmp_path, "--window-tokens", "2000", "--strategies", "full,empty")
    assert "refused: 3 full_too_large, 3 pinned_too_large" in refused.stdout.splitlines()


# covers GEN-036
@pytest.mark.parametrize(
    ("verb", "missing"),
    [("compare", set()), ("eval", {"--helper-model", "--set"})],
)
def test_a_verb_that_runs_cases_takes_the_shared_options_that_mean_something_to_it(tmp_path, verb, missing):
    shared = {
        "--dataset", "--dataset-format", "--client", "--base-url", "--model", "--helper-model", "--window-tokens",
        "--output-reserve-tokens", "--set", "--repeats", "--concurrency", "--temperature", "--seed", "--max-tokens",
        "--timeout-s", "--max-attempts", "--stream", "--prices", "--runs-dir", "--resume", "--quiet",
    }  # fmt: skip
    told = ctxlab(verb, "--help", cwd=tmp_path).stdout
    offered = set(re.findall(r"^ +(--[a-z-]+)", told, re.MULTILINE))
    assert shared - offered == missing


# covers EVA-122, FRM-036
def test_previews_can_be_left_out_and_the_ledger_kept(tmp_path):
    usual = compare(tmp_path, "--strategies", "full", "--runs-dir", "usual")
    other = compare(tmp_path, "--strategies", "full", "--runs-dir", "other", "--no-previews", "--ledger")
    assert (usual.returncode, other.returncode) == (0, 0)
    (first,), (second,) = (list((tmp_path / name).glob("2*")) for name in ("usual", "other"))
    assert (first.name[23:35], read_parquet(first / "frames/results.parquet")["preview"].notna().all()) == (
        second.name[23:35], True,
    )  # fmt: skip
    assert read_parquet(second / "frames/results.parquet")["preview"].isna().all()
    assert [(one / "frames/ledger.parquet").exists() for one in (first, second)] == [False, True]
    report = json.loads((second / "evaluation.json").read_text())
    assert {case["response_preview"] for case in report["cases"]} == {None}


# covers RUN-082, GEN-034
def test_forecast_lists_requests_and_sends_nothing(tmp_path):
    words = ("forecast", "--dataset", CONTINUATION, "--strategies", "full,shorten,summarize:generations=4")
    table = ctxlab(*words, cwd=tmp_path)
    assert (table.returncode, table.stderr) == (0, "")
    assert table.stdout.splitlines()[-2].split()[:4] == ["all", "21", "12", "0"]
    assert table.stdout.splitlines()[-1] == (
        "replies of stand-in:head in the model's place; counter utf8_bytes_2"
    )
    done = ctxlab(*words, "--format", "json", cwd=tmp_path)
    made = json.loads(done.stdout)
    assert (made["frame"], made["counter"], len(made["rows"])) == ("forecast", "utf8_bytes_2", 21)
    refused = ctxlab(*words, "--client", "local", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (
        2, "error: client: a forecast sends nothing; allowed is stand-in:NAME\n",
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


# covers EXP-064, GEN-034
def test_sweep_is_offline_unless_a_client_is_named_and_then_needs_a_limit(tmp_path):
    words = ("sweep", "--dataset", CONTINUATION, "--strategies", "extract", "--set", "target_tokens=256,512")
    table = ctxlab(*words, cwd=tmp_path)
    assert (table.returncode, table.stderr) == (0, "")
    assert "extract: 2 of 2 settings cannot be told from the best (context recall 0.952)" in table.stdout
    done = ctxlab(*words, "--format", "json", cwd=tmp_path)
    made = json.loads(done.stdout)
    assert (made["frame"], made["counter"], len(made["rows"])) == ("sweep", "o200k_base", 6)
    assert list(tmp_path.iterdir()) == []
    for limit, said in (((), "is needed with a client"), (("--max-calls", "8"), "allowed are 8")):
        refused = ctxlab(*words, "--client", "stand-in:echo", *limit, cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr
    live = ctxlab(*words, "--client", "stand-in:echo", "--max-calls", "18", "--quiet", cwd=tmp_path)
    assert live.returncode == 0
    assert live.stderr.startswith("sending 18 requests with ")


# covers GEN-034, GEN-035
@pytest.mark.parametrize("encoding", ["latin-1:strict", "cp437:strict"])
def test_an_output_that_lacks_a_character_gets_a_replacement_for_it(tmp_path, encoding):
    words = ["--strategies", "full", "--format", "json"]
    printed = compare(tmp_path, *words, PYTHONIOENCODING=encoding)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert {row["preview"][-1] for row in json.loads(printed.stdout)["rows"]} == {"?"}
    written = compare(tmp_path, *words, "--output", "OUT.json", PYTHONIOENCODING=encoding)
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    rows = json.loads((tmp_path / "OUT.json").read_text(encoding="utf-8"))["rows"]
    assert {row["preview"][-1] for row in rows} == {"…"}
    listed = ctxlab("runs", "list", cwd=tmp_path, PYTHONIOENCODING=encoding)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert [line.split()[-1] for line in listed.stdout.splitlines()[1:]] == ["?", "?"]
    refused = ctxlab("runs", "show", "日本", cwd=tmp_path, PYTHONIOENCODING=encoding)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: ")
