import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ctxlab.budget import Budget
from ctxlab.calls import Generation
from ctxlab.client import EndpointClient
from ctxlab.comparison import run
from ctxlab.declarations import AttachedGates, Deployment, SystemPrompt
from ctxlab.experiments import Source, package_source
from ctxlab.prices import Prices
from ctxlab.records import GateResult
from ctxlab.registry import read_manifest, register, resolve, runs_frame, verify_run
from ctxlab.registry.artifacts import artifacts_of, kind_of, stored_files
from ctxlab.registry.registration import errors_in_words
from ctxlab.registry.reproduction import reproduction_of, words_of
from ctxlab.strategies.parse import parse_strategies, parse_strategy
from ctxlab.thresholds import Thresholds
from tests.factories import SHA, error_row, make_call, make_row, make_run, refused_row
from tests.registry.building import RUN_ID, SUMMARIES, dataset, design, fill, interrupted, loaded

ROOT = Path(__file__).parents[2]
GATED = AttachedGates(given={"min_pass_rate": "0.9"})


def gate(passed):
    return GateResult(
        strategy="full", gate="min_pass_rate", passed=passed, current=None, baseline=None, threshold=1,
        state="passed" if passed else "failed", explanation="e",
    )  # fmt: skip


GOOD, REFUSED = make_row(passed=True), refused_row(strategy="x")
TIMEOUT = error_row(strategy="y")
LOST = error_row(strategy="z", error_kind="connection_failure")
NOT_RUN = make_row(strategy="n", status="not_run", fitted=None)


# covers EXP-021, EXP-022, EXP-023
@pytest.mark.parametrize(
    ("rows", "options", "outcome"),
    [
        ([GOOD], {}, ("completed", "not_evaluated", None)),
        ([make_row(passed=False)], {}, ("completed", "not_evaluated", None)),
        ([GOOD, REFUSED], {}, ("completed", "not_evaluated", None)),
        ([GOOD], {"gates": (gate(True),)}, ("completed", "passed", None)),
        ([GOOD], {"gates": (gate(True), gate(False))}, ("regression_failed", "failed", None)),
        ([GOOD, TIMEOUT], {}, ("failed", "not_evaluated", "1 rows in error: 1 timeout")),
        (
            [TIMEOUT, LOST, replace(LOST, repeat=1)],
            {"gates": (gate(True),)},
            ("failed", "not_evaluated", "3 rows in error: 2 connection_failure, 1 timeout"),
        ),
        ([GOOD, NOT_RUN], {"incomplete": True}, ("incomplete", "not_evaluated", None)),
    ],
    ids=["completed", "wrong answer", "refused", "passed", "regression", "error", "errors", "incomplete"],
)
def test_status_decision_and_failure_follow_from_rows_and_gates(tmp_path, rows, options, outcome):
    directory = tmp_path / RUN_ID
    fill(directory)
    attached = GATED if options.get("gates") else None
    written = register(design(attached=attached), directory, run=make_run(*rows, **options))
    manifest = read_manifest(directory)
    assert (manifest.status, manifest.decision, manifest.failure) == outcome
    assert manifest == written


# covers EXP-022, EXP-023
@pytest.mark.parametrize(
    ("left_out", "kind"),
    [("evaluation.json", "report_json"), ("evaluation.md", "report_markdown"), ("journal.jsonl", "journal")],
)
def test_a_run_without_what_has_to_be_there_has_failed(tmp_path, left_out, kind):
    directory = tmp_path / RUN_ID
    fill(directory, left_out)
    manifest = register(design(), directory, run=make_run(GOOD))
    assert (manifest.status, manifest.failure) == ("failed", f"no {kind} could be registered")


# covers EXP-022
def test_an_internal_failure_registers_what_exists(tmp_path):
    directory = tmp_path / RUN_ID
    directory.mkdir()
    (directory / "journal.jsonl").write_text("x")
    manifest = register(design(), directory, failure="internal failure (OSError)")
    assert (manifest.status, manifest.decision, manifest.failure) == (
        "failed", "not_evaluated", "internal failure (OSError)",
    )  # fmt: skip
    assert [artifact.path for artifact in manifest.artifacts] == ["journal.jsonl"]
    assert manifest.aggregates == ()


class Breaking:
    """A progress display that fails at a row: something inside ctxlab that no row catches."""

    def begin(self, *, run_id, rows):
        self.run_id = run_id

    def row_done(self, row):
        raise RuntimeError("SECRET")

    def end(self):
        pass


# covers EXP-022
def test_a_run_that_breaks_inside_is_kept_as_failed_with_its_journal(tmp_path):
    breaking = Breaking()
    with pytest.raises(ExceptionGroup):
        run(dataset(), SUMMARIES, client="stand-in:extractive", runs_dir=tmp_path, progress=breaking)
    directory = resolve(tmp_path, breaking.run_id)
    manifest = read_manifest(directory)
    assert (manifest.status, manifest.failure) == ("failed", "internal failure (RuntimeError)")
    assert [artifact.kind for artifact in manifest.artifacts] == ["journal"]
    assert verify_run(directory) == ()
    assert "SECRET" not in (directory / "manifest.json").read_text()
    assert list((tmp_path / ".staging").iterdir()) == []


# covers EXP-021, EXP-041
def test_an_interrupted_run_is_incomplete_until_a_resume_completes_it(tmp_path):
    run_id = interrupted(tmp_path, after=2)
    manifest = read_manifest(tmp_path / ".staging" / run_id)
    assert (manifest.status, manifest.decision, manifest.failure) == ("incomplete", "not_evaluated", None)
    assert runs_frame(tmp_path).empty
    listed = runs_frame(tmp_path, incomplete=True)
    assert [list(listed[name]) for name in ("run_id", "status", "damaged")] == [
        [run_id], ["incomplete"], [False],
    ]  # fmt: skip
    options = {"client": "stand-in:extractive", "runs_dir": tmp_path, "progress": False}
    (tmp_path / ".staging" / run_id / ".evaluation.json.0123abcd.part").write_text("left over by a kill")
    run(dataset(3), SUMMARIES, resume=run_id, **options)
    assert read_manifest(tmp_path / run_id).status == "completed"
    assert verify_run(tmp_path / run_id) == ()


# covers EXP-002, EXP-020, EXP-026
def test_a_run_leaves_a_report_for_gates_frames_journal_and_inputs_as_artifacts(kept):
    from ctxlab.reports import demand_recomputed, read_report

    artifacts = {one["path"]: one for one in loaded(kept)["artifacts"]}
    kinds = {path: one["kind"] for path, one in artifacts.items()}
    named = (
        "evaluation.json",
        "evaluation.md",
        "journal.jsonl",
        "frames/results.parquet",
        "frames/facts.parquet",
    )
    assert [kinds[path] for path in named] == ["report_json", "report_markdown", "journal", "frame", "frame"]
    assert sorted(kinds) == sorted(
        str(path.relative_to(kept))
        for path in kept.rglob("*")
        if path.is_file() and path.name not in ("manifest.json", "checksums.sha256")
    )
    assert artifacts["journal.jsonl"]["size_bytes"] == (kept / "journal.jsonl").stat().st_size
    report = read_report(kept / "evaluation.json")
    demand_recomputed(report, "evaluation.json")
    assert report.run_id == kept.name


# covers EXP-026
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("evaluation.json", "report_json"),
        ("evaluation.md", "report_markdown"),
        ("04_compare.html", "report_html"),
        ("frames/results.parquet", "frame"),
        ("journal.jsonl", "journal"),
        ("inputs/cases.jsonl", "input"),
        ("summary.md", "summary"),
        ("admission.csv", "measurement"),
    ],
)
def test_an_artifact_has_the_kind_of_its_path(path, kind):
    assert kind_of(path) == kind


# covers EXP-026
def test_a_hash_is_that_of_the_bytes_and_a_file_over_64_mib_is_no_artifact(tmp_path):
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "a.parquet").write_bytes(b"abc")
    with (tmp_path / "journal.jsonl").open("wb") as sparse:
        sparse.truncate(64 * 1024 * 1024 + 1)
    files = stored_files(tmp_path)
    assert [(one.path, one.size_bytes) for one in files] == [
        ("frames/a.parquet", 3), ("journal.jsonl", 67_108_865),
    ]  # fmt: skip
    assert files[0].sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert [one.path for one in artifacts_of(files)] == ["frames/a.parquet"]


# covers EXP-020
def test_several_observed_models_are_called_multiple(tmp_path):
    fill(tmp_path / RUN_ID)
    rows = [
        make_row(passed=True, calls=(make_call(model_observed="m-1"),)),
        make_row(passed=True, repeat=1, calls=(make_call(model_observed="m-2"),)),
    ]
    manifest = register(design(), tmp_path / RUN_ID, run=make_run(*rows))
    assert manifest.models.observed == "multiple"


def test_rows_without_error_have_no_words():
    assert errors_in_words([GOOD, REFUSED]) is None


# covers EXP-025
def test_the_reproduction_command_has_a_placeholder_for_the_address_and_no_key(source):
    client = EndpointClient(base_url="http://10.1.2.3:8000/v1", model="m 1")
    made = design(
        source=source, client=client, helper=replace(client, model="small"), repeats=3, stream=True,
        generation=Generation(temperature=0.5, seed=7), max_attempts=2, concurrency=4,
        budget=Budget(window_tokens=4096, thresholds=Thresholds(summary_share=0.2)),
        prices=Prices(currency="USD"),
        system_prompt=SystemPrompt(name="house", version="1", text="SECRET", sha256=SHA),
        provenance={"ticket": "SECRET"}, deployment=Deployment(runtime="docker", image="i:1"),
        attached=AttachedGates(given={"min_pass_rate": "0.9"}, baseline="main", baseline_run_id=RUN_ID),
    )  # fmt: skip
    found = reproduction_of(made)
    assert shlex.split(found.command) == [
        "ctxlab", "compare", "--dataset", "made.jsonl", "--client", "endpoint", "--base-url", "<BASE_URL>",
        "--model", "m 1", "--timeout-s", "120", "--helper-model", "small",
        "--strategies", "full,summarize:generations=2", "--window-tokens", "4096", "--set", "summary_share=1/5",
        "--repeats", "3", "--concurrency", "4", "--max-attempts", "2", "--temperature", "0.5", "--seed", "7",
        "--stream", "--prices", "<FILE>", "--system-prompt", "<FILE>", "--system-prompt-name", "house",
        "--system-prompt-version", "1", "--provenance", "<FILE>", "--deployment-runtime", "docker",
        "--deployment-image", "i:1", "--min-pass-rate", "0.9", "--baseline", RUN_ID,
    ]  # fmt: skip
    assert (found.from_commit_alone, found.note) == (True, None)
    assert "10.1.2.3" not in found.command
    assert "SECRET" not in found.command


# covers EXP-025
@pytest.mark.parametrize(
    ("source", "note"),
    [
        (Source(commit="c" * 40, dirty=True), "the working tree had changes: not reproducible from the commit alone"),
        (Source(commit="c" * 40), "the working tree had changes: not reproducible from the commit alone"),
        (Source(), "the package ran from no checkout: not reproducible from a commit"),
    ],
    ids=["dirty", "unknown", "installed"],
)  # fmt: skip
def test_what_is_not_reproducible_from_the_commit_alone_is_called_so(source, note):
    found = reproduction_of(design(source=source))
    assert (found.from_commit_alone, found.note) == (False, note)


# covers EXP-025
def test_what_only_python_takes_is_named(source):
    made = design(
        source=source, client=None, helper=None, guidance="g", shuffle_seed=1, warmup=1,
        tools=({"type": "function", "function": {"name": "t"}},),
        budget=Budget(safety_reserve_tokens=0),
    )  # fmt: skip
    assert reproduction_of(made).note == (
        "to be set in Python: client=None, tools, guidance, shuffle_seed, warmup, budget"
    )


# covers EXP-025, EXP-020
@pytest.mark.parametrize(
    "words",
    [
        "full",
        "empty",
        "shorten:target_tokens=512",
        "x=summarize:generations=4",
        "extract:target_tokens=300",
        "plan",
    ],
)
def test_the_words_of_a_strategy_give_the_strategy_again(words):
    strategy = parse_strategy(words)
    assert words_of(strategy) == words
    assert parse_strategies(words_of(strategy)) == (strategy,)


def git(directory, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-C", directory, *arguments],
        check=True, capture_output=True,
    )  # fmt: skip


# covers EVA-123, EXP-003
def test_the_source_is_that_of_the_packages_own_checkout(tmp_path):
    package = tmp_path / "tree" / "package"
    package.mkdir(parents=True)
    (package / "a.py").write_text("1")
    assert package_source(package) == Source()
    git(package.parent, "init", "-q", "-b", "topic")
    assert package_source(package) == Source()  # no commit yet
    git(package.parent, "add", ".")
    git(package.parent, "commit", "-q", "-m", "m")
    clean = package_source(package)
    assert (len(clean.commit), clean.dirty, clean.branch) == (40, False, "topic")
    (package / "a.py").write_text("2")
    assert package_source(package) == replace(clean, dirty=True)
    git(package.parent, "checkout", "-q", "--detach")
    assert package_source(package).branch is None
    inner = package / "deeper"
    inner.mkdir()
    assert package_source(inner) == Source()  # a checkout around an installed package is not its own


CLAIM = """
import sys
from ctxlab.errors import CtxlabError
from ctxlab.experiments import RunDirectory
print("ready", flush=True)
sys.stdin.readline()
try:
    directory = RunDirectory.claim(sys.argv[1], sys.argv[2])
except CtxlabError as error:
    print(error)
    sys.exit(error.exit_code)
print("won")
sys.stdin.readline()
"""


# covers EXP-040, EXP-052
def test_of_several_processes_that_claim_one_id_one_wins_and_the_others_exit_with_2(tmp_path):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIM, str(tmp_path), RUN_ID],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    first = [writer.stdout.readline() for writer in writers]
    for writer in writers:
        writer.communicate("end\n", timeout=30)
    assert sorted(first) == [f"run {RUN_ID}: exists already\n"] * 3 + ["won\n"]
    assert sorted(writer.returncode for writer in writers) == [0, 2, 2, 2]


# covers EXP-040
def test_a_finished_run_is_not_overwritten(tmp_path):
    from ctxlab.errors import InputError
    from ctxlab.experiments import RunDirectory

    live = RunDirectory.claim(tmp_path, RUN_ID)
    (tmp_path / RUN_ID).mkdir()
    (tmp_path / RUN_ID / "manifest.json").write_text("an earlier run")
    with pytest.raises((InputError, OSError)):
        live.finish()
    assert (tmp_path / RUN_ID / "manifest.json").read_text() == "an earlier run"


# covers EXP-020
def test_a_manifest_states_what_the_user_declares(tmp_path):
    made = run(
        dataset(), "full", client="stand-in:extractive", runs_dir=tmp_path, progress=False,
        provenance={"ticket": 7}, deployment=Deployment(runtime="host"), prices=Prices(currency="EUR"),
        system_prompt=SystemPrompt(name="house", version="1", text="Be exact.", sha256=SHA),
    )  # fmt: skip
    content = json.loads((Path(made.directory) / "manifest.json").read_text())
    assert content["provenance"] == {"ticket": 7}
    assert content["deployment"] == {"runtime": "host", "image": None, "name": None}
    assert content["prices"] == {"currency": "EUR", "models": {}}
    assert content["prompts"]["system"] == {"name": "house", "version": "1", "sha256": SHA}
