import asyncio
import json
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from ctxlab import experiments
from ctxlab.budget import Budget
from ctxlab.calls import Generation
from ctxlab.client import EndpointClient
from ctxlab.comparison import arun, run
from ctxlab.declarations import AttachedGates, Deployment, SystemPrompt
from ctxlab.design import Design
from ctxlab.errors import InputError, IntegrityError, NotFoundError, StrategyError
from ctxlab.experiments import Source
from ctxlab.frames import fits_frame, read_parquet, results_frame
from ctxlab.journal import read_journal
from ctxlab.prices import Prices
from ctxlab.standins import stand_in
from ctxlab.strategies.parse import parse_strategies, with_full
from ctxlab.thresholds import Thresholds
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, make_dataset, make_fact, system, user

ROOT = Path(__file__).parents[1]
SUMMARIES = "full,summarize:generations=2"


def dataset(number=2):
    cases = [
        make_case(
            f"c{i}",
            messages=(user(f"Use X-{i}0." + " pad" * 80), assistant("Done." + " pad" * 80), user("Which?")),
            facts=(make_fact("f", f"X-{i}0"),),
        )
        for i in range(1, number + 1)
    ]
    return make_dataset(*cases)


def stable(frame):
    """A results frame without what time and directory put into it."""
    times = ["run_id", "started_at", "duration_s", "helper_duration_s", "total_duration_s"]
    return frame.drop(columns=times)


# covers EXP-001, EXP-041, EXP-007, RUN-070
def test_a_run_leaves_one_directory_named_by_time_fingerprint_and_chance(tmp_path):
    result = run(dataset(), SUMMARIES, client="stand-in:extractive", runs_dir=tmp_path, progress=False)
    assert experiments.RUN_ID.fullmatch(result.run_id)
    assert result.run_id.split("-")[1] == result.fingerprint[:12]
    assert [p.name for p in tmp_path.iterdir() if p.name != ".staging"] == [result.run_id]
    assert list((tmp_path / ".staging").iterdir()) == []
    place = tmp_path / result.run_id
    assert result.directory == str(place)
    header = read_journal(place / "journal.jsonl").header
    assert (header.endpoint, header.dataset_sha256) == ("stand-in:extractive", result.dataset.sha256)
    kept = read_parquet(place / "frames" / "results.parquet")
    assert stable(kept).equals(stable(results_frame(result)))


def test_without_a_runs_directory_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(dataset(), "full", client="stand-in:echo", runs_dir=None, progress=False)
    assert (result.directory, list(tmp_path.iterdir())) == (None, [])


SAME_FRAMES = textwrap.dedent("""
    import asyncio
    from ctxlab.comparison import acompare, compare
    from tests.test_comparison import SUMMARIES, dataset, stable
    options = {"client": "stand-in:extractive", "runs_dir": None, "progress": False}
    plain = compare(dataset(), SUMMARIES, **options)
    async def inside():
        return compare(dataset(), SUMMARIES, **options), await acompare(dataset(), SUMMARIES, **options)
    nested, awaited = asyncio.run(inside())
    again = compare(dataset(), SUMMARIES, **options)
    print([stable(plain).equals(stable(frame)) for frame in (nested, awaited, again)], plain.attrs["frame"])
""")


# covers FRM-012, GEN-021, RUN-044
def test_synchronous_and_awaitable_names_give_the_same_frame():
    # in a process of its own, because nesting patches asyncio for the whole process
    done = subprocess.run(
        [sys.executable, "-c", SAME_FRAMES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[True, True, True] results"


# covers GEN-008, EXP-040
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"client": "gpt"}, InputError, "client: allowed is local, endpoint"),
        ({"client": "stand-in:nobody"}, InputError, "stand-in"),
        ({"client": None, "strategies": "summarize"}, StrategyError, "summarize asks a model"),
        ({"repeats": 0}, InputError, "repeats: allowed is a whole number from 1 to 100"),
        ({"concurrency": 257}, InputError, "concurrency: allowed is a whole number from 1 to 256"),
        ({"max_attempts": 11}, InputError, "max_attempts"),
        ({"strategies": "full,nothing"}, StrategyError, "'nothing' is no strategy"),
        ({"resume": "yesterday"}, InputError, "--resume: expected a run id"),
        ({"resume": "20260102T030405123456Z-0123456789ab-01234567"}, NotFoundError, "not found"),
    ],
    ids=range(9),
)
def test_bad_input_is_found_before_the_first_request_and_leaves_nothing(tmp_path, options, error, message):
    arguments = {"strategies": "full", "client": "stand-in:echo", **options}
    with pytest.raises(error, match=message):
        run(dataset(), arguments.pop("strategies"), runs_dir=tmp_path, progress=False, **arguments)
    left = [p for p in tmp_path.rglob("*") if p.name != ".staging"]
    assert left == []


RUN_ID = "20260102T030405123456Z-0123456789ab-01234567"
SYSTEM = SystemPrompt(name="house", version="1", text="Be exact.", sha256="a" * 64)
GATED = AttachedGates(given={"max_pass_rate_drop": "0"}, baseline="main", baseline_run_id=RUN_ID)


def design(**changes):
    client = stand_in("extractive")
    base = Design(
        source=Source(),
        dataset=dataset(),
        strategies=with_full(parse_strategies(SUMMARIES)),
        client=client,
        helper=client,
        budget=Budget(),
        counter=token_counter(None),
    )
    return replace(base, **changes)


CHANGES = {
    "dataset": {"dataset": replace(dataset(), sha256="1" * 64)},
    "temperature": {"generation": Generation(temperature=0.5)},
    "seed": {"generation": Generation(seed=1)},
    "repeats": {"repeats": 2},
    "strategies": {"strategies": with_full(parse_strategies("full,summarize:generations=3"))},
    "labels": {"strategies": with_full(parse_strategies("full,x=summarize:generations=2"))},
    "window": {"budget": Budget(window_tokens=4096)},
    "thresholds": {"budget": Budget(thresholds=Thresholds(summary_share=0.2))},
    "counter": {"counter": token_counter("gpt-4o")},
    "client": {"client": stand_in("echo")},
    "helper": {"helper": stand_in("echo")},
    "stream": {"stream": True},
    "tools": {"tools": ({"type": "function", "function": {"name": "t"}},)},
    "guidance": {"guidance": "Be brief."},
    "attempts": {"max_attempts": 3},
    "concurrency": {"concurrency": 8},
    "system prompt": {"system_prompt": SYSTEM},
    "system prompt's name": {"system_prompt": replace(SYSTEM, name="other")},
    "system prompt's version": {"system_prompt": replace(SYSTEM, version="2")},
    "system prompt's hash": {"system_prompt": replace(SYSTEM, sha256="b" * 64)},
    "gates": {"attached": AttachedGates(given={"min_pass_rate": "0.9"})},
    "baseline": {"attached": replace(GATED, baseline_run_id=f"{RUN_ID[:-1]}8")},
    "deployment": {"deployment": Deployment(runtime="docker")},
    "deployment's image": {"deployment": Deployment(runtime="docker", image="i:1")},
    "provenance": {"provenance": {"ticket": 1}},
    "commit": {"source": Source(commit="c" * 40)},
    "timeout": {"client": EndpointClient(base_url="http://127.0.0.1", model="m", timeout_s=7)},
    "calibration": {"budget": Budget(calibration_tokens=50)},
}
BEFORE = {
    "system prompt's name": {"system_prompt": SYSTEM},
    "system prompt's version": {"system_prompt": SYSTEM},
    "system prompt's hash": {"system_prompt": SYSTEM},
    "baseline": {"attached": GATED},
    "deployment's image": {"deployment": Deployment(runtime="docker")},
    "timeout": {"client": EndpointClient(base_url="http://127.0.0.1", model="m", timeout_s=8)},
}
"""What a change starts from where that is not the plain design."""
NOT_INPUT = {
    "timeout",
    "attempts",
    "concurrency",
    "gates",
    "baseline",
    "deployment",
    "deployment's image",
    "commit",
}


# covers EXP-003, EXP-005, EXP-006
@pytest.mark.parametrize("name", CHANGES)
def test_each_field_of_the_identity_changes_the_fingerprint(name):
    before = design(**BEFORE.get(name, {})).identity()
    after = design(**CHANGES[name]).identity()
    assert experiments.fingerprint(before) != experiments.fingerprint(after)
    comparable = name in NOT_INPUT
    assert (experiments.input_identity(before) == experiments.input_identity(after)) == comparable


LISTED = {
    "dataset", "models", "generation", "repeats", "strategies", "budget", "thresholds", "counter", "accounting",
    "prompts", "identifier_rules", "cue_lists", "evaluators", "client", "attempts", "concurrency", "timeout_s",
    "system_prompt", "baseline", "gates", "commit", "deployment", "provenance",
}  # fmt: skip
"""The parts of EXP-003 by name; calibration and reserves are in the budget, seeds in the generation settings."""


# covers EXP-003, EXP-006
@pytest.mark.parametrize("name", sorted(LISTED))
def test_the_fingerprint_speaks_of_every_listed_part(name):
    identity = design().identity()
    assert set(identity) >= LISTED
    other = {**identity, name: "another"}
    assert experiments.fingerprint(other) != experiments.fingerprint(identity)


# covers EXP-004, EXP-006
def test_paths_prices_and_the_spelling_of_numbers_do_not_change_the_fingerprint():
    shares = [
        design(budget=Budget(thresholds=Thresholds(ahead_trigger_share=share))).identity()
        for share in (0.7, "7/10", "0.70")
    ]
    assert len({experiments.fingerprint(identity) for identity in shares}) == 1
    spelled = [
        design(attached=AttachedGates(given={"min_pass_rate": share})).identity()
        for share in ("0.9", "0.90", "9e-1")
    ]
    assert len({experiments.fingerprint(identity) for identity in spelled}) == 1
    state = design(source=Source(dirty=True, branch="topic"), prices=Prices(currency="USD")).identity()
    assert experiments.fingerprint(state) == experiments.fingerprint(design().identity())
    moved = design(dataset=replace(dataset(), path="elsewhere.jsonl")).identity()
    assert experiments.fingerprint(moved) == experiments.fingerprint(design().identity())
    identity = design().identity()
    turned = dict(reversed(identity.items()))
    assert experiments.fingerprint(turned) == experiments.fingerprint(identity)


# covers EXP-040
def test_of_two_that_claim_one_id_one_wins(tmp_path):
    run_id = "20260102T030405123456Z-0123456789ab-01234567"
    first = experiments.RunDirectory.claim(tmp_path, run_id)
    with pytest.raises(InputError, match="exists already"):
        experiments.RunDirectory.claim(tmp_path, run_id)
    first.finish()
    with pytest.raises(InputError, match="exists already"):
        experiments.RunDirectory.claim(tmp_path, run_id)
    with pytest.raises(InputError, match="is finished"):
        experiments.RunDirectory.resume(tmp_path, run_id)


class Stopping:
    """A progress display that cancels the run after so many rows."""

    def __init__(self, after):
        self.after = after
        self.run_id = None

    def begin(self, *, run_id, rows):
        self.run_id = run_id

    def row_done(self, row):
        self.after -= 1
        if self.after == 0:
            asyncio.current_task().cancel()
            self.main.cancel()

    def end(self):
        pass


def interrupted(tmp_path, *, after, strategies=SUMMARIES):
    """Interrupt a run after some rows; return its id."""
    stopping = Stopping(after)

    async def work():
        stopping.main = asyncio.current_task()
        await arun(dataset(3), strategies, client="stand-in:extractive", runs_dir=tmp_path, progress=stopping)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(work())
    return stopping.run_id


# covers RUN-073, RUN-075, RUN-077, EXP-041
@pytest.mark.parametrize("after", [1, 2, 4])
def test_an_interrupted_run_resumes_to_the_rows_of_an_uninterrupted_one(tmp_path, after):
    run_id = interrupted(tmp_path, after=after)
    staged = tmp_path / ".staging" / run_id
    kept = read_parquet(staged / "frames" / "results.parquet")
    assert list(kept["status"]).count("not_run") >= 6 - after - 1
    before = len(read_journal(staged / "journal.jsonl").entries)
    result = run(
        dataset(3), SUMMARIES, client="stand-in:extractive", runs_dir=tmp_path, resume=run_id, progress=False
    )
    whole = run(dataset(3), SUMMARIES, client="stand-in:extractive", runs_dir=None, progress=False)
    assert result.run_id == run_id
    assert stable(results_frame(result)).equals(stable(results_frame(whole)))
    reused = [call.reused for row in result.rows for call in row.calls]
    assert reused.count(True) == before > 0
    assert len(read_journal(Path(result.directory) / "journal.jsonl").entries) == len(reused) == 12


# covers RUN-076
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": replace(dataset(3), sha256="9" * 64)}, "another dataset"),
        ({"client": "stand-in:echo"}, "another endpoint"),
        ({"repeats": 2}, "another strategies"),
    ],
    ids=["dataset", "client", "repeats"],
)
def test_a_resume_with_other_inputs_is_refused(tmp_path, change, message):
    run_id = interrupted(tmp_path, after=1)
    arguments = {"dataset": dataset(3), "client": "stand-in:extractive", **change}
    with pytest.raises(InputError, match=message):
        run(
            arguments.pop("dataset"), SUMMARIES, runs_dir=tmp_path, resume=run_id, progress=False, **arguments
        )
    run(dataset(3), SUMMARIES, client="stand-in:extractive", runs_dir=tmp_path, resume=run_id, progress=False)


# covers RUN-076
def test_a_differing_concurrency_does_not_stop_a_resume(tmp_path):
    run_id = interrupted(tmp_path, after=1)
    options = {"client": "stand-in:extractive", "runs_dir": tmp_path, "progress": False}
    assert run(dataset(3), SUMMARIES, resume=run_id, concurrency=4, **options).run_id == run_id


# covers RUN-076
def test_a_directory_in_use_is_refused(tmp_path):
    run_id = interrupted(tmp_path, after=1)
    held = experiments.RunDirectory.resume(tmp_path, run_id)
    with pytest.raises(InputError, match="another process is working in it"):
        run(
            dataset(3),
            SUMMARIES,
            client="stand-in:extractive",
            runs_dir=tmp_path,
            resume=run_id,
            progress=False,
        )
    held.leave()


# covers RUN-074
def test_a_damaged_journal_stops_a_resume_and_a_cut_off_line_is_noted(tmp_path):
    run_id = interrupted(tmp_path, after=2)
    journal = tmp_path / ".staging" / run_id / "journal.jsonl"
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    journal.write_bytes(lines[0] + b"damage\n" + b"".join(lines[1:]))
    options = {"client": "stand-in:extractive", "runs_dir": tmp_path, "resume": run_id, "progress": False}
    with pytest.raises(IntegrityError, match=r"journal\.jsonl:2"):
        run(dataset(3), SUMMARIES, **options)
    journal.write_bytes(whole[:-7])
    assert "cut off" in run(dataset(3), SUMMARIES, **options).warnings[0]


KILLED = textwrap.dedent("""
    import asyncio, sys
    from ctxlab.client import EndpointClient
    from ctxlab.comparison import run
    from tests.test_comparison import dataset
    client = EndpointClient(base_url=sys.argv[1], model="m")
    resume = sys.argv[3] if len(sys.argv) > 3 else None
    result = run(dataset(6), "full,summarize:generations=2", client=client, runs_dir=sys.argv[2],
                 concurrency=2, progress=False, resume=resume)
    print(result.run_id)
""")


# covers RUN-074, RUN-073, RUN-071
@pytest.mark.parametrize("sent", [3, 8, 14])
def test_after_kill_9_a_resume_sends_no_recorded_call_again(tmp_path, sent):
    from tests.loopback import Answer, loopback

    release = []

    def answer(request):
        text = f"answer about X-10 {hash(request.body)}"
        body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        if len(server.requests) >= sent and not release:
            return Answer(silent=True, then="hang")
        return Answer(body=json.dumps(body).encode())

    with loopback(answer) as server:
        command = [sys.executable, "-c", KILLED, server.base_url, str(tmp_path)]
        process = subprocess.Popen(command, cwd=ROOT)
        deadline = time.monotonic() + 60
        while len(server.requests) < sent + 1 and time.monotonic() < deadline:
            with suppress(subprocess.TimeoutExpired):
                pytest.fail(f"ended early with {process.wait(timeout=0.02)}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        (run_id,) = [p.name for p in (tmp_path / ".staging").iterdir()]
        recorded = {
            e.request_sha256
            for e in read_journal(tmp_path / ".staging" / run_id / "journal.jsonl").entries.values()
        }
        before = len(server.requests)
        release.append(True)
        subprocess.run([*command, run_id], check=True, cwd=ROOT, capture_output=True)
        again = [experiments.hashlib.sha256(_canonical(r.json)).hexdigest() for r in server.requests[before:]]
    assert recorded.isdisjoint(again)
    assert before - len(recorded) <= 2  # one call in flight per worker
    assert len(recorded) + len(again) == 6 * (1 + 3)
    assert (tmp_path / run_id).is_dir()


def _canonical(payload):
    from ctxlab.messages import canonical_json

    return canonical_json(payload).encode()


# covers DAT-141
def test_converted_cases_are_kept_among_the_inputs_and_their_hash_is_the_datasets(tmp_path):
    from ctxlab.loading import dataset_bytes, load_dataset

    made = dataset(1)
    content = dataset_bytes(made.cases)
    converted = replace(made, sha256=experiments.hashlib.sha256(content).hexdigest(), converted=True)
    result = run(converted, "full", client="stand-in:echo", runs_dir=tmp_path, progress=False)
    kept = load_dataset(Path(result.directory) / "inputs" / "cases.jsonl")
    assert kept.sha256 == read_journal(Path(result.directory) / "journal.jsonl").header.dataset_sha256
    assert kept.cases == made.cases


# covers RUN-057
def test_warm_up_requests_are_in_the_journal_and_in_no_frame(tmp_path):
    result = run(dataset(1), "full", client="stand-in:echo", warmup=3, runs_dir=tmp_path, progress=False)
    recorded = read_journal(Path(result.directory) / "journal.jsonl").entries
    assert [entry.stage for entry in recorded.values()] == ["warmup", "warmup", "warmup", "main"]
    assert len(result.rows) == 1
    assert len(result.rows[0].calls) == 1


# covers RUN-043, STR-100
def test_a_repeat_differs_from_another_in_its_index_only():
    result = run(dataset(1), "full", client="stand-in:extractive", repeats=3, runs_dir=None, progress=False)
    frame = stable(results_frame(result))
    assert list(frame["repeat"]) == [0, 1, 2]
    assert frame.drop(columns="repeat").drop_duplicates().shape[0] == 1


# covers BUD-063, BUD-064
def test_summaries_of_another_model_are_estimated_by_its_counter_and_carry_no_cap():
    from ctxlab.client import EndpointClient
    from tests.loopback import Answer, completion, loopback

    with loopback(Answer(body=completion("X-10 short"))) as server:
        main = EndpointClient(base_url=server.base_url, model="unknown-model")
        result = run(
            dataset(1), "summarize", client=main, helper_client=replace(main, model="gpt-4o"),
            runs_dir=None, progress=False,
        )  # fmt: skip
    helper, answer = result.rows[1].calls
    assert [(r.json["model"], r.json.get("max_tokens")) for r in server.requests[1:]] == [
        ("gpt-4o", None), ("unknown-model", None),
    ]  # fmt: skip
    prompt = server.requests[1].json["messages"][0]["content"]
    assert helper.estimated_tokens == 12 + 1 + token_counter("gpt-4o")(prompt)
    assert answer.estimated_tokens == result.rows[1].request_tokens
    assert (helper.model_requested, answer.model_requested) == ("gpt-4o", "unknown-model")


# covers BUD-064
def test_a_helper_with_a_window_of_its_own_is_gated_by_it():
    """The history does not fit the run's window in one prompt, and fits the helper's."""
    small = Budget(window_tokens=2600, output_reserve_tokens=256)  # U is 1,064
    case = make_case(
        messages=(user("X-10 " + "word " * 400), user("Which code?")), facts=(make_fact("f", "X-10"),)
    )

    def parts_of(**options):
        result = run(
            make_dataset(case), "summarize", client="stand-in:extractive", budget=small, runs_dir=None,
            progress=False, **options,
        )  # fmt: skip
        row = result.rows[1]
        return row.status, row.fitted.receipt.parts, result.fingerprint

    own = parts_of()
    other = parts_of(helper_budget=Budget(window_tokens=8192))
    narrow = parts_of(helper_budget=Budget(window_tokens=1600, output_reserve_tokens=256))  # U is 64
    assert own[0] == "completed"
    assert own[1] > 1
    assert other[:2] == ("completed", 1)
    assert narrow[:2] == ("refused", 0)
    assert len({own[2], other[2], narrow[2]}) == 3


# covers STR-097, STR-098
def test_what_each_summary_took_is_kept_with_the_run(tmp_path):
    result = run(dataset(2), "summarize", client="stand-in:extractive", runs_dir=tmp_path, progress=False)
    kept = [(one.case_id, one.strategy, one.repeat, one.observation.outcome) for one in result.observations]
    assert kept == [("c1", "summarize", 0, "completed"), ("c2", "summarize", 0, "completed")]
    lines = (Path(result.directory) / "observations.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert len(lines) == 2
    assert (first["case_id"], first["observation"]["calls"]) == ("c1", 1)
    assert first["observation"]["sent_tokens"] == result.rows[1].calls[0].estimated_tokens


class Hanging:
    """A client whose every request waits until it is cancelled."""

    kind, model, endpoint = "endpoint", "model", "e"

    def __init__(self):
        self.asked = asyncio.Event()

    def payload(self, request):
        return {"model": self.model, "messages": [message.text for message in request.messages]}

    @asynccontextmanager
    async def open(self):
        yield self

    async def complete(self, payload):
        self.asked.set()
        await asyncio.Event().wait()


# covers STR-097, STR-099
def test_a_cancelled_summary_has_an_observation_and_no_finished_row(tmp_path):
    async def cancelled():
        client = Hanging()
        work = asyncio.create_task(
            arun(dataset(1), "summarize", client=client, concurrency=2, runs_dir=tmp_path, progress=False)
        )
        await client.asked.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    (staged,) = (tmp_path / ".staging").iterdir()
    (line,) = (staged / "observations.jsonl").read_text().splitlines()
    assert json.loads(line)["observation"]["outcome"] == "cancelled"
    assert json.loads(line)["observation"]["result_tokens"] == 0
    rows = read_parquet(staged / "frames" / "results.parquet")
    assert list(rows["status"]) == ["not_run", "not_run"]


# covers BUD-042
def test_what_the_user_sends_along_is_flagged_when_it_is_large_and_never_cut():
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
    case = make_case(messages=(system("s" * 8000), user("q")))  # 4,000 tokens; 3/5 of U are 3,547

    def flags(**options):
        done = run(
            make_dataset(case), "full", client="stand-in:echo", runs_dir=None, progress=False, **options
        )
        assert done.rows[0].status == "completed"
        return fits_frame(done)["flags"][0]

    assert flags() == "large_instructions"
    assert flags(tools=[tool] * 9) == "large_instructions;many_tools"  # 8 below a U of 8,192
    assert flags(guidance="g" * 1200) == "large_guidance;large_instructions"  # 600 of 591
