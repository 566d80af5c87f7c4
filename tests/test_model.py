"""The main job on the embedded model: what the first page of the README promises."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from ctxlab.comparison import run
from ctxlab.frames import metrics_frame, results_frame
from ctxlab.local import LocalClient
from ctxlab.metrics import metrics
from tests.factories import make_case, make_dataset, user
from tests.loopback import forward_to, loopback

ROOT = Path(__file__).parents[1]
CONTINUATION = ROOT / "data" / "continuation.jsonl"
TAU_BENCH = ROOT.parent / "shared/data/agent-transcripts/tau-bench_gpt-4o-airline_tasks45-49_trial0.jsonl"
pytestmark = [pytest.mark.slow, pytest.mark.model, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def main_job(tmp_path_factory):
    """The default comparison through a proxy that records what the server was asked and said."""
    replies = []
    with LocalClient() as client:
        server = client._held[-1]
        forward = forward_to(server.wait())

        async def record(request):
            answer = await forward(request)
            replies.append(json.loads(answer.body))
            return answer

        with loopback(record) as proxy, pytest.MonkeyPatch.context() as patch:
            patch.setenv("CTXLAB_API_KEY", server.key)
            result = run(
                CONTINUATION,
                client=LocalClient(base_url=proxy.base_url),
                runs_dir=tmp_path_factory.mktemp("runs"),
                progress=False,
            )
            return result, proxy.requests, replies


# covers RUN-116, RUN-084, DAT-180
def test_the_embedded_model_recalls_the_facts_from_the_full_context_only(main_job):
    result, requests, _ = main_job
    assert [row.status for row in result.rows] == ["completed"] * 15
    assert list(results_frame(result)["calls"]) == [1, 1, 1, 2, 5] * 3
    assert len(requests) == 30
    by_name = {group.strategy: group for group in metrics(result)}
    full, empty, shorten = (by_name[name] for name in list(by_name)[:3])
    assert full.answer_recall_pooled >= Fraction(8, 10)
    assert empty.answer_recall_pooled <= Fraction(1, 10)
    assert empty.context_recall_pooled < shorten.context_recall_pooled < full.context_recall_pooled
    assert all(
        1200 <= row.main_call.usage.prompt_tokens <= 1800 for row in result.rows if row.strategy == "full"
    )


# covers RUN-016, RUN-018, RUN-115, GEN-012
def test_tokens_are_those_that_a_recording_proxy_saw(main_job):
    result, requests, replies = main_job
    calls = [call for row in result.rows for call in row.calls]
    assert [call.usage.prompt_tokens for call in calls] == [
        reply["usage"]["prompt_tokens"] for reply in replies
    ]
    assert [call.usage.completion_tokens for call in calls] == [
        reply["usage"]["completion_tokens"] for reply in replies
    ]
    assert {call.usage.cached_tokens for call in calls} == {0}
    assert {request.json["cache_prompt"] for request in requests} == {False}
    assert {request.json["max_tokens"] for request in requests} == {1000}
    frame = metrics_frame(result)
    totals = dict.fromkeys(result.strategies, 0)
    for row in result.rows:
        for call in row.calls:
            totals[row.strategy] += call.usage.prompt_tokens
    assert dict(zip(frame["strategy"], frame["input_tokens"], strict=True)) == totals
    assert "path" not in {key for reply in replies for key in reply}
    assert {call.model_observed for call in calls} == {"qwen2.5-coder-1.5b-instruct"}


# covers RUN-113
def test_a_run_records_model_runtime_threads_and_context(main_job):
    facts = main_job[0].client_facts
    assert facts["model_sha256"] == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert facts["context_tokens"] == 8192
    assert facts["threads"] >= 1
    assert facts["runtime"].startswith("xllamacpp ")


# covers GEN-008, RUN-114, DAT-141
def test_a_real_session_runs_through_the_installed_command(tmp_path):
    if not TAU_BENCH.exists():
        pytest.skip("the public sessions are not beside the project")
    short = tmp_path / "sessions.jsonl"
    short.write_bytes(TAU_BENCH.read_bytes().splitlines(keepends=True)[0])
    done = subprocess.run(
        [str(Path(sys.executable).parent / "ctxlab"), "compare", "--dataset", str(short), "--dataset-format",
         "tau_bench", "--window-tokens", "16384", "--client", "local", "--strategies",
         "full,shorten:target_tokens=4096", "--format", "json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = json.loads(done.stdout)["rows"]
    assert [row["status"] for row in rows] == ["completed"] * 2
    assert [row["calls"] for row in rows] == [1, 1]
    assert [row["context_recall"] is not None for row in rows] == [True, True]
    assert all(row["prompt_tokens"] > 0 and row["duration_s"] > 0 for row in rows)


# covers RUN-113, GEN-013
def test_the_same_question_gets_the_same_answer_again(tmp_path):
    case = make_case(messages=(user("List five uses of a hammer, one line each."),))
    with LocalClient() as client:
        answers = [
            run(make_dataset(case), "full", client=client, runs_dir=None, progress=False).rows[0].answer
            for _ in range(2)
        ]
    assert answers[0] == answers[1]
    assert len(answers[0]) > 20
