"""The embedded model: what is sent to it, and how its server starts, is guarded and ends."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import ctxlab.server_process
from ctxlab.calls import ChatRequest, Generation, Reply
from ctxlab.errors import CallError, InputError, LocalModelError
from ctxlab.fetch import MODELS, cached_model
from ctxlab.local import LocalClient, demand_runtime, local_client, object_arguments
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.server_process import ServerProcess, start_server
from ctxlab.threads import physical_cores
from tests.loopback import Answer, Request, completion, loopback

ROOT = Path(__file__).parents[1]


def user(text: str) -> Message:
    return Message(role="user", content=text)


def assistant(*, arguments: str) -> Message:
    call = ToolCall(id="a", function=Function(name="f", arguments=arguments))
    return Message(role="assistant", content=None, tool_calls=(call,))


QUESTION = ChatRequest(messages=(user("Name three fruits."),))


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "other-model.gguf"
    path.write_bytes(b"GGUF")
    return path


# --- what is sent


def test_a_request_is_bounded_and_without_chance_unless_the_case_says_otherwise() -> None:
    # covers RUN-113, RUN-115
    client = LocalClient(output_reserve_tokens=700)
    assert client.payload(QUESTION) == {
        "model": "qwen2.5-coder-1.5b-instruct",
        "messages": [{"role": "user", "content": "Name three fruits."}],
        "stream": False,
        "temperature": 0.0,
        "max_tokens": 700,
        "cache_prompt": False,
    }
    asked = replace(QUESTION, generation=Generation(temperature=0.5, max_tokens=9, seed=3))
    payload = client.payload(asked)
    assert (payload["temperature"], payload["max_tokens"], payload["seed"]) == (0.5, 9, 3)


def test_a_warm_cache_is_asked_for_by_leaving_the_cache_alone() -> None:
    # covers RUN-115
    assert "cache_prompt" not in LocalClient(warm_cache=True).payload(QUESTION)


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("{}", "{}"),
        ("not json", {"raw": "not json"}),
        ("", {"raw": ""}),
        ("[1]", {"raw": "[1]"}),
        ("null", {"raw": "null"}),
        ('{"a": NaN}', {"raw": '{"a": NaN}'}),
        (r'{"a": "\ud800"}', {"raw": r'{"a": "\ud800"}'}),
        ('{"a": 1', {"raw": '{"a": 1'}),
        ("[" * 100_000, {"raw": "[" * 100_000}),
    ],
)
def test_tool_arguments_that_are_no_object_are_sent_as_raw_text(arguments: str, sent: Any) -> None:
    # covers RUN-112
    made = object_arguments(arguments)
    assert made == sent if isinstance(sent, str) else json.loads(made) == sent
    payload = LocalClient().payload(ChatRequest(messages=(assistant(arguments=arguments),)))
    assert payload["messages"][0]["tool_calls"][0]["function"]["arguments"] == made


def test_the_model_is_called_by_its_name_and_never_by_a_path(
    monkeypatch: pytest.MonkeyPatch, model_file: Path
) -> None:
    # covers RUN-112, RUN-111
    assert LocalClient().model == "qwen2.5-coder-1.5b-instruct"
    assert LocalClient(model_path=cached_model("small")).model == "qwen2.5-coder-0.5b-instruct"
    monkeypatch.setenv("CTXLAB_GGUF", str(model_file))
    assert LocalClient().model == "other-model"
    assert LocalClient(model_path=Path("/x/y.gguf")).model == "y"


def test_the_endpoint_is_the_hash_of_the_model_file(model_file: Path) -> None:
    # covers RUN-070, RUN-114
    client = LocalClient(model_path=model_file)
    assert client.endpoint == f"local:{hashlib.sha256(b'GGUF').hexdigest()}"
    assert client.kind == "local"


# --- what is missing


def test_without_its_file_the_command_that_brings_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # covers RUN-115
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CTXLAB_GGUF", raising=False)
    with pytest.raises(LocalModelError, match="run `ctxlab fetch-model` once") as caught:
        LocalClient().facts()
    assert caught.value.exit_code == 2
    with pytest.raises(LocalModelError, match="names a file that does not exist"):
        LocalClient(model_path=tmp_path / "nowhere.gguf").facts()


def test_a_damaged_model_file_is_not_served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # covers RUN-111
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CTXLAB_GGUF", raising=False)
    cached_model().parent.mkdir()
    cached_model().write_bytes(b"GGUF, cut")
    with pytest.raises(LocalModelError, match="is damaged: run `ctxlab fetch-model` again"):
        LocalClient().facts()


def test_without_the_runtime_the_command_that_installs_it_is_named() -> None:
    # covers RUN-115
    with pytest.raises(LocalModelError) as caught:
        demand_runtime("not_installed_runtime")
    assert str(caught.value) == "the embedded model's runtime is missing: run `pip install 'ctxlab[local]'`"
    assert caught.value.exit_code == 2


def test_a_window_that_its_reserve_fills_is_refused() -> None:
    # covers RUN-113
    with pytest.raises(InputError, match="window_tokens"):
        local_client(window_tokens=1000, output_reserve_tokens=1000)


# --- one slot


def test_one_request_is_in_flight_whatever_the_number_of_workers(model_file: Path) -> None:
    # covers RUN-034
    async def main() -> list[Reply]:
        client = LocalClient(model_path=model_file, base_url=server.base_url, timeout_s=0.5)
        async with client.open() as session:
            payload = client.payload(QUESTION)
            return await asyncio.gather(*(session.complete(payload) for _ in range(8)))

    async def answering(_: Request) -> Answer:
        await asyncio.sleep(0.1)
        return Answer(body=completion())

    with loopback(answering) as server:
        replies = asyncio.run(main())
    assert server.most_in_flight == 1
    # eight waits of 0.1 s are longer than the deadline: it starts when the slot is free, and so do durations
    assert all(0.1 <= reply.duration_s < 0.5 for reply in replies)


def test_the_deadline_of_the_embedded_model_is_600_s() -> None:
    # covers RUN-034
    assert LocalClient().timeout_s == 600


# --- threads


@pytest.mark.parametrize(
    ("cores", "quota", "threads"),
    [
        ({}, None, "all"),
        ("shared", None, 1),
        ({}, "max 100000", "all"),
        ({}, "50000 100000", 1),
        ({}, "100000000 100000", "all"),
    ],
)
def test_threads_are_the_physical_cores_that_may_be_used(
    tmp_path: Path, cores: Any, quota: str | None, threads: Any
) -> None:
    # covers RUN-113
    allowed = sorted(os.sched_getaffinity(0))
    for cpu in allowed if cores == "shared" else ():
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text("0\n")
        (topology / "core_id").write_text("3\n")
    limit = tmp_path / "cpu.max"
    if quota is not None:
        limit.write_text(f"{quota}\n")
    found = physical_cores(cpus=tmp_path, quota=limit)
    assert found == (len(allowed) if threads == "all" else threads)


# --- the process, with a server that is none


FAKE = """
    import json, pathlib, sys, time
    settings = json.loads(sys.stdin.readline())
    print("loading", settings["model"], flush=True)
    {then}
    sys.stdin.read()
"""
READY = 'pathlib.Path(settings["address_file"]).write_text("http://127.0.0.1:1")'


def fake_server(then: str, model_file: Path) -> ServerProcess:
    return start_server(
        model_path=model_file,
        model="fake",
        context_tokens=512,
        threads=1,
        command=[sys.executable, "-c", textwrap.dedent(FAKE.format(then=then))],
    )


def test_a_server_is_ready_when_it_says_so_and_is_gone_after_stop(model_file: Path) -> None:
    # covers RUN-112
    server = fake_server(READY, model_file)
    try:
        assert server.wait(within_s=30) == "http://127.0.0.1:1"
        assert asyncio.run(server.ready()) == "http://127.0.0.1:1"
        assert server.key not in repr(server)
        assert len(server.key) >= 32
        assert server.directory.stat().st_mode & 0o777 == 0o700
        arguments = Path(f"/proc/{server.process.pid}/cmdline")
        assert not arguments.exists() or server.key.encode() not in arguments.read_bytes()
    finally:
        server.stop()
    assert server.process.returncode == -signal.SIGKILL
    assert not server.directory.exists()


@pytest.mark.parametrize("then", ["sys.exit('no room for the model')", "1 / 0"])
def test_a_server_that_ends_early_is_an_error_with_its_last_words(model_file: Path, then: str) -> None:
    # covers RUN-112
    server = fake_server(then, model_file)
    try:
        with pytest.raises(
            LocalModelError, match=r"has ended; its log ends: .*(no room|ZeroDivisionError)"
        ) as caught:
            server.wait(within_s=30)
    finally:
        server.stop()
    assert caught.value.exit_code == 2
    assert len(str(caught.value)) <= 240


CRASH = """\
RuntimeError: Failed to init server, please check the input params.
Fatal Python error: _enter_buffered_busy: could not acquire lock at interpreter shutdown
Python runtime state: finalizing (tstate=0x00007f3f46976ef8)

Current thread 0x00007f3f46a9db80 (most recent call first):
  <no Python frame>
"""
CUT_OFF = """\
0.00.007.392 I srv    load_model: loading model '/models/x.gguf'
0.00.087.234 E llama_model_load: error loading model: tensor 'output.weight' data is not within the file bounds
0.00.087.278 E llama_model_load_from_file_impl: failed to load model
0.00.152.963 E srv    load_model: failed to load model, '/models/x.gguf'
"""
NO_HEADER = """\
0.00.007.392 E gguf_init_from_file_impl: failed to read key-value pairs
0.00.087.234 E llama_model_load: error loading model: llama_model_loader: failed to load model from /models/x.gguf
"""
NO_ROOM = "0.1 E llama_model_load: error loading model: unable to allocate CPU buffer\n"


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (CUT_OFF, " and may be damaged: tensor 'output.weight' data is not within the file bounds"),
        (NO_HEADER, " and may be damaged: failed to read key-value pairs"),
        ("llama_model_load: error loading model: bad\x1b[31m type\n", " and may be damaged: bad [31m type"),
        ("0.1 E srv    load_model: failed to load model, '/models/x.gguf'\n", " and may be damaged"),
        (NO_ROOM, ": unable to allocate CPU buffer"),
        (
            f"0.1 E a: {'why ' * 200}\n0.2 E b: failed to load model\n",
            f" and may be damaged: {('why ' * 35)[:139]}…",
        ),
    ],
)
def test_a_model_that_cannot_be_loaded_is_told_in_one_line_with_the_reason(
    model_file: Path, log: str, says: str
) -> None:
    # covers RUN-112, GEN-035
    server = fake_server(f"sys.stdout.write({log + CRASH!r}); sys.exit(1)", model_file)
    try:
        with pytest.raises(LocalModelError) as caught:
            server.wait(within_s=30)
    finally:
        server.stop()
    assert str(caught.value) == f"the model file could not be loaded{says}"
    assert caught.value.exit_code == 2
    assert len(str(caught.value)) <= 240


def test_last_words_are_those_before_the_dump_of_a_crash(model_file: Path) -> None:
    # covers RUN-112
    server = fake_server(f"sys.stdout.write({CRASH!r}); sys.exit(1)", model_file)
    try:
        with pytest.raises(LocalModelError, match="has ended; its log ends: ") as caught:
            server.wait(within_s=30)
    finally:
        server.stop()
    assert "at interpreter shutdown" in str(caught.value)
    assert "tstate" not in str(caught.value)
    assert "no Python frame" not in str(caught.value)


RUNTIME_THAT_FAILS = """
class CommonParams:
    model = cpuparams = cpuparams_batch = type("Any", (), {})()

def Server(parameters):
    raise RuntimeError("no such luck")
"""


def test_the_server_process_ends_without_a_crash_if_its_runtime_fails(
    tmp_path: Path, model_file: Path
) -> None:
    # covers RUN-112
    (tmp_path / "xllamacpp.py").write_text(RUNTIME_THAT_FAILS)
    script = Path(ctxlab.server_process.__file__).with_name("local_server.py")
    code = f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); runpy.run_path({str(script)!r}, run_name='__main__')"
    server = start_server(
        model_path=model_file,
        model="fake",
        context_tokens=512,
        threads=1,
        command=[sys.executable, "-c", code],
    )
    try:
        with pytest.raises(LocalModelError, match=r"RuntimeError: no such luck$"):
            server.wait(within_s=30)
        assert server.process.returncode == 1
    finally:
        server.stop()


def test_a_server_that_is_never_ready_is_an_error_with_its_last_words(model_file: Path) -> None:
    # covers RUN-112
    server = fake_server("pass", model_file)
    try:
        with pytest.raises(LocalModelError, match=r"was not ready within 0\.5 s; its log ends: "):
            asyncio.run(server.ready(within_s=0.5))
    finally:
        server.stop()


def test_the_key_of_an_endpoint_does_not_reach_the_server_process(
    monkeypatch: pytest.MonkeyPatch, model_file: Path
) -> None:
    # covers RUN-006
    monkeypatch.setenv("CTXLAB_API_KEY", "sk-secret")
    server = fake_server(
        'import os; pathlib.Path(settings["address_file"]).write_text(repr(os.environ.get("CTXLAB_API_KEY")))',
        model_file,
    )
    try:
        assert server.wait(within_s=30) == "None"
    finally:
        server.stop()


# --- the real one


def small(**fields: Any) -> LocalClient:
    """The small model: good enough for the wire, and for nothing else."""
    defaults = {"window_tokens": 1024, "output_reserve_tokens": 16}
    return LocalClient(model_path=cached_model("small"), **{**defaults, **fields})


def talk(client: LocalClient, *requests: ChatRequest) -> list[Reply | CallError]:
    async def main() -> list[Reply | CallError]:
        replies: list[Reply | CallError] = []
        async with client.open() as session:
            for request in requests:
                try:
                    replies.append(await session.complete(client.payload(request)))
                except CallError as error:
                    replies.append(error)
        return replies

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.model
def test_the_server_answers_alike_each_time_streamed_or_not_and_counts() -> None:
    # covers RUN-110, RUN-112, RUN-113, RUN-115, RUN-053
    first, second, streamed = talk(small(), QUESTION, QUESTION, replace(QUESTION, stream=True))
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert isinstance(streamed, Reply)
    assert first.text == second.text == streamed.text != ""
    assert first.model_observed == "qwen2.5-coder-0.5b-instruct"
    assert first.usage.kind == "full"
    assert first.usage == second.usage == streamed.usage
    assert first.usage.cached_tokens == 0
    assert 0 < (first.usage.completion_tokens or 0) <= 16
    assert first.ttft_s is None
    assert streamed.ttft_s is not None
    assert 0 < streamed.ttft_s < streamed.duration_s


@pytest.mark.slow
@pytest.mark.model
def test_a_warm_cache_reports_what_it_used_again() -> None:
    # covers RUN-115
    first, second = talk(small(warm_cache=True), QUESTION, QUESTION)
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert first.usage.cached_tokens == 0
    assert (second.usage.cached_tokens or 0) > 0


@pytest.mark.slow
@pytest.mark.model
def test_odd_tool_calls_are_accepted_and_too_long_a_prompt_is_a_status() -> None:
    # covers RUN-112, RUN-030
    result = Message(role="tool", content="ok", tool_call_id="a")
    odd = [
        ChatRequest(messages=(user("go"), assistant(arguments=arguments), result, user("And now?")))
        for arguments in ("not json", "", "[1]", '{"a": 1}', r'{"a": "\ud800"}')
    ]
    *replies, too_long = talk(small(), *odd, ChatRequest(messages=(user("word " * 2000),)))
    assert all(isinstance(reply, Reply) for reply in replies)
    assert isinstance(too_long, CallError)
    assert (too_long.kind, too_long.http_status) == ("platform_http_error", 400)


@pytest.mark.slow
@pytest.mark.model
def test_the_server_refuses_whoever_has_no_key_and_allows_no_other_origin() -> None:
    # covers RUN-112
    async def main() -> list[httpx.Response]:
        client = small()
        async with client.open() as session, httpx.AsyncClient(trust_env=False, timeout=60) as stranger:
            url, payload = session.one.url, client.payload(QUESTION)
            assert url.startswith("http://127.0.0.1:")
            return [
                await stranger.post(url, json=payload),
                await stranger.post(url, json=payload, headers={"authorization": "Bearer guessed"}),
                await stranger.options(
                    url, headers={"origin": "http://h", "access-control-request-method": "POST"}
                ),
            ]

    without, guessed, preflight = asyncio.run(main())
    assert (without.status_code, guessed.status_code) == (401, 401)
    assert preflight.headers.get("access-control-allow-origin", "") == ""


@pytest.mark.slow
@pytest.mark.model
def test_a_block_keeps_one_server_for_several_runs() -> None:
    # covers RUN-114
    async def port() -> str:
        async with client.open() as session:
            await session.complete(client.payload(QUESTION))
            return session.one.url

    with small() as client:
        assert asyncio.run(port()) == asyncio.run(port())
    assert asyncio.run(port()) != asyncio.run(port())


PARENT = """
    import asyncio, os
    from pathlib import Path
    from ctxlab.calls import ChatRequest, Generation
    from ctxlab.fetch import cached_model
    from ctxlab.local import LocalClient
    from ctxlab.messages import Message

    client = LocalClient(model_path=cached_model("small"), window_tokens=4096)
    long = ChatRequest(
        messages=(Message(role="user", content="word " * 3000),), generation=Generation(max_tokens=500)
    )

    async def main():
        async with client.open() as session:
            attempt = asyncio.create_task(session.complete(client.payload(long)))
            await asyncio.sleep(0.3)  # let it begin to read the prompt, which takes far longer
            print(Path(f"/proc/self/task/{os.getpid()}/children").read_text(), flush=True)
            await attempt

    asyncio.run(main())
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_busy_server_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    # covers RUN-112
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    with parent, parent.stdout:
        server = int(parent.stdout.readline())
        assert is_alive(server)
        parent.kill()
    end = time.monotonic() + 5
    while is_alive(server) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_alive(server)


@pytest.mark.slow
@pytest.mark.model
def test_a_server_ends_when_its_input_ends_where_no_signal_tells_it() -> None:
    # covers RUN-112
    server = small().start()
    try:
        server.wait()
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(5) == 0
    finally:
        server.stop()


@pytest.mark.slow
@pytest.mark.model
def test_the_embedded_model_answers_from_its_context_and_a_run_records_what_it_was() -> None:
    # covers RUN-110, RUN-113, RUN-114
    client = local_client(window_tokens=2048, output_reserve_tokens=40)
    question = ChatRequest(
        messages=(user("The ticket is APPROVAL-17. Which ticket is it? Answer with its id."),)
    )
    (reply,) = talk(client, question)
    assert isinstance(reply, Reply)
    assert "APPROVAL-17" in reply.text
    assert reply.model_observed == client.model == "qwen2.5-coder-1.5b-instruct"
    facts = client.facts()
    assert facts.model_sha256 == MODELS["default"].sha256
    assert client.endpoint == f"local:{MODELS['default'].sha256}"
    assert facts.runtime.startswith("xllamacpp 2026.10.11549")
    assert (facts.context_tokens, facts.threads) == (2048, physical_cores())
