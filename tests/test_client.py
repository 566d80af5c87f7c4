"""An endpoint client: the address, the payload, and what one attempt does with each way of answering."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import pickle
import socket
import zlib
from dataclasses import replace
from typing import Any

import aiohttp
import httpx
import pytest
from aiohttp.client_reqrep import ConnectionKey

from ctxlab.calls import ChatRequest, Generation, Reply, Usage, request_sha256
from ctxlab.client import EndpointClient, completions_url, join_neighbours
from ctxlab.errors import CallError, InputError
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.sending import is_loopback, proxy_for
from tests.loopback import Answer, Request, completion, forward_to, loopback

SECRET = "sk-very-secret-0123456789"
CALL = ToolCall(id="a", function=Function(name="f", arguments="{}"))


def user(text: str) -> Message:
    return Message(role="user", content=text)


QUESTION = ChatRequest(messages=(user("What now?"),))


def client_of(base_url: str, **fields: Any) -> EndpointClient:
    return EndpointClient(base_url=base_url, model="m", **fields)


def ask(client: EndpointClient, request: ChatRequest = QUESTION) -> Reply:
    """One attempt in a loop of its own."""

    async def once() -> Reply:
        async with client.open() as session:
            return await session.complete(client.payload(request))

    return asyncio.run(once())


def failure_of(client: EndpointClient, request: ChatRequest = QUESTION) -> CallError:
    with pytest.raises(CallError) as caught:
        ask(client, request)
    return caught.value


# --- address


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://h", "http://h/v1/chat/completions"),
        ("http://h/", "http://h/v1/chat/completions"),
        ("http://h:8000//", "http://h:8000/v1/chat/completions"),
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("https://h/openai/v1", "https://h/openai/v1/chat/completions"),
        ("https://h/api/paas/v4", "https://h/api/paas/v4/chat/completions"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
        ("https://h/vllm", "https://h/vllm/v1/chat/completions"),
        ("https://h/my-v1", "https://h/my-v1/v1/chat/completions"),
        ("https://v1.h/api", "https://v1.h/api/v1/chat/completions"),
        ("http://[::1]:80/v2", "http://[::1]:80/v2/chat/completions"),
    ],
)
def test_the_version_of_the_base_path_is_kept_or_v1_is_added(base_url: str, url: str) -> None:
    # covers RUN-001
    client_of(base_url)
    assert completions_url(base_url) == url


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "h",
        "h:8000/v1",
        "//h/v1",
        "/v1",
        "ftp://h/v1",
        "file:///v1",
        "http://",
        "http:///v1",
        "http://user@h/v1",
        "http://user:hunter2@h/v1",
        "http://:hunter2@h/v1",
        "http://h/v1?key=hunter2",
        "http://h/v1?",
        "http://h/v1#hunter2",
        "http://h/v1#",
        "http://h:port/v1",
        "http://h:99999/v1",
        "http://h:0/v1",
        "http://h/ hunter2",
        "http://h\\@hunter2/v1",
        "http://h/v1\n",
        "http://[::1/v1",
    ],
)
def test_another_form_of_base_url_is_refused_without_repeating_it(base_url: str) -> None:
    # covers RUN-002
    with pytest.raises(InputError) as caught:
        client_of(base_url)
    assert "hunter2" not in str(caught.value)
    assert str(caught.value).startswith("base URL: must be absolute http or https")


def test_the_endpoint_is_the_base_url_without_trailing_slashes() -> None:
    # covers RUN-070, BUD-080
    client = client_of("http://h/v1//")
    assert (client.endpoint, client.kind, client.model) == ("http://h/v1", "endpoint", "m")


# --- payload


def test_only_what_is_set_is_sent() -> None:
    # covers RUN-003
    client = client_of("http://h")
    assert client.payload(QUESTION) == {
        "model": "m",
        "messages": [{"role": "user", "content": "What now?"}],
        "stream": False,
    }
    full = ChatRequest(
        messages=(user("q"),),
        generation=Generation(temperature=0.0, max_tokens=5, seed=0),
        tools=({"type": "function", "function": {"name": "f"}},),
        response_format={"type": "json_object"},
        stream=True,
        estimated_tokens=99,
        target_tokens=7,
    )
    assert client.payload(full) == {
        "model": "m",
        "messages": [{"role": "user", "content": "q"}],
        "stream": True,
        "temperature": 0.0,
        "max_tokens": 5,
        "seed": 0,
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "response_format": {"type": "json_object"},
        "stream_options": {"include_usage": True},
    }


def test_a_case_decides_and_a_run_fills_the_gaps() -> None:
    # covers RUN-004
    case = Generation(temperature=0.0, max_tokens=None, seed=1)
    run = Generation(temperature=0.9, max_tokens=50, seed=None)
    assert case.over(run) == Generation(temperature=0.0, max_tokens=50, seed=1)


def test_neighbours_of_one_role_are_joined_with_a_blank_line_when_asked() -> None:
    # covers RUN-007
    messages = (
        Message(role="system", content="s1"),
        Message(role="system", content="s2"),
        user("u1"),
        user("u2"),
        user("u3"),
        Message(role="assistant", content="a1"),
        Message(role="assistant", content=None, tool_calls=(CALL,)),
        Message(role="tool", content="t1", tool_call_id="a"),
        Message(role="tool", content="t2", tool_call_id="b"),
        user("u4"),
    )
    assert join_neighbours(messages) == [
        Message(role="system", content="s1\n\ns2"),
        Message(role="user", content="u1\n\nu2\n\nu3"),
        Message(role="assistant", content="a1", tool_calls=(CALL,)),
        Message(role="tool", content="t1", tool_call_id="a"),
        Message(role="tool", content="t2", tool_call_id="b"),
        Message(role="user", content="u4"),
    ]
    request = ChatRequest(messages=(user("u1"), user("u2")))
    joined = client_of("http://h", join_roles=True).payload(request)
    assert joined["messages"] == [{"role": "user", "content": "u1\n\nu2"}]
    assert len(client_of("http://h").payload(request)["messages"]) == 2


def test_the_body_on_the_wire_is_the_payload_and_its_fingerprint_knows_no_address() -> None:
    # covers RUN-003, RUN-072
    request = replace(QUESTION, messages=(user("Straße 😀\u2028"),))
    with loopback(Answer(body=completion())) as server:
        client = client_of(server.base_url)
        ask(client, request)
        sent = server.requests[0]
    assert sent.json == client.payload(request)
    assert (sent.method, sent.target) == ("POST", "/v1/chat/completions")
    assert sent.headers["content-type"] == "application/json"
    assert request_sha256(sent.json) == request_sha256(client_of("http://h").payload(request))


# --- credentials


def test_the_key_is_sent_if_it_is_set_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # covers RUN-006
    caplog.set_level(logging.DEBUG)
    shown = []

    async def look(client: EndpointClient) -> None:
        async with client.open() as session:
            shown.extend([repr(client), repr(session), str(session), repr(session.http)])
            with pytest.raises(CallError) as caught:
                await session.complete(client.payload(QUESTION))
            shown.extend([repr(caught.value), str(caught.value), repr(vars(caught.value))])

    with loopback(Answer(status=401, body=SECRET.encode(), headers={"x": SECRET})) as server:
        client = client_of(server.base_url)
        monkeypatch.setenv("CTXLAB_API_KEY", SECRET)
        asyncio.run(look(client))
        monkeypatch.setenv("CTXLAB_API_KEY", "")
        failure_of(client)
        monkeypatch.delenv("CTXLAB_API_KEY")
        failure_of(client)
    sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == [f"Bearer {SECRET}", None, None]
    assert SECRET not in "".join(shown) + caplog.text + repr(pickle.dumps(client))


@pytest.mark.parametrize("key", ["with space", "line\nend", "schlüssel", " "])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    # covers RUN-006
    monkeypatch.setenv("CTXLAB_API_KEY", key)
    with pytest.raises(InputError) as caught:
        ask(client_of("http://127.0.0.1:9"))
    assert str(caught.value) == "CTXLAB_API_KEY: holds a character that no header can carry"


# --- answers


def test_an_answer_comes_back_with_usage_and_duration() -> None:
    # covers RUN-010, RUN-050, RUN-052
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    ticks = iter([100.0, 100.25])
    with loopback(
        Answer(body=completion("four", usage=usage), headers={"content-type": "text/html"})
    ) as server:
        reply = ask(client_of(server.base_url, clock=lambda: next(ticks)))
    assert reply == Reply(
        text="four",
        finish_reason="stop",
        model_observed="m",
        usage=Usage(**usage),
        duration_s=0.25,
        ttft_s=None,
    )


def test_a_clock_that_goes_backwards_gives_no_negative_duration() -> None:
    # covers RUN-050
    ticks = iter([5.0, 4.0, 5.0, 4.0])
    with loopback(
        lambda _: Answer(body=completion(), status=200 if len(server.requests) < 2 else 500)
    ) as server:
        client = client_of(server.base_url, clock=lambda: next(ticks))
        assert ask(client).duration_s == 0.0
        assert failure_of(client).duration_s == 0.0


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308, 400, 401, 404, 408, 429, 500, 503, 599])
def test_any_other_status_is_an_http_error_and_no_redirect_is_followed(status: int) -> None:
    # covers RUN-005, RUN-030
    headers = {"location": "/elsewhere", "retry-after": "7"}
    with loopback(Answer(status=status, body=completion(SECRET), headers=headers)) as server:
        error = failure_of(client_of(server.base_url))
        assert len(server.requests) == 1
    assert (error.kind, error.http_status, error.retry_after_s) == ("platform_http_error", status, 7.0)
    assert str(error) == "The platform answered with an HTTP error."
    assert error.duration_s > 0


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"<html>Welcome to the portal</html>", headers={"content-type": "text/html"}),
        Answer(status=204),
        Answer(status=204, body=b""),
        Answer(body=b"", headers={"content-type": "application/json"}),
        Answer(body=completion(None)),
        Answer(body=gzip.compress(completion())[:-9], headers={"content-encoding": "gzip"}),
        Answer(body=completion(), headers={"content-encoding": "gzip"}),
        Answer(body=completion(), headers={"content-encoding": "br"}),
        Answer(body=gzip.compress(gzip.compress(completion())), headers={"content-encoding": "gzip, gzip"}),
    ],
)
def test_a_success_without_a_readable_answer_is_malformed(answer: Answer) -> None:
    # covers RUN-010, RUN-030
    with loopback(answer) as server:
        assert failure_of(client_of(server.base_url)).kind == "malformed_platform_response"


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [(gzip.compress, "gzip"), (gzip.compress, "X-GZIP"), (zlib.compress, "deflate"), (bytes, "identity")],
)
def test_a_compressed_answer_is_read(packed: Any, encoding: str) -> None:
    # covers RUN-010
    with loopback(
        Answer(body=packed(completion("packed")), headers={"content-encoding": encoding})
    ) as server:
        assert ask(client_of(server.base_url)).text == "packed"


def test_a_body_over_the_cap_is_too_large_and_one_at_the_cap_is_not() -> None:
    # covers RUN-034
    body = completion("x" * 5000)
    with loopback(Answer(body=body)) as server:
        assert len(ask(client_of(server.base_url, max_bytes=len(body))).text) == 5000
        error = failure_of(client_of(server.base_url, max_bytes=len(body) - 1))
    assert error.kind == "response_too_large"


def test_the_cap_holds_after_decompression() -> None:
    # covers RUN-034
    bomb = gzip.compress(b" " * (64 << 20))
    assert len(bomb) < 1 << 20
    with loopback(Answer(body=bomb, headers={"content-encoding": "gzip"})) as server:
        assert failure_of(client_of(server.base_url)).kind == "response_too_large"


def test_a_body_without_an_end_is_cut_at_the_cap() -> None:
    # covers RUN-034
    endless = Answer(pieces=(b" " * (1 << 20),) * 64, then="hang")
    with loopback(endless) as server:
        assert failure_of(client_of(server.base_url)).kind == "response_too_large"


def test_the_default_cap_is_8_mib_and_the_default_deadline_120_s() -> None:
    # covers RUN-034
    client = client_of("http://h")
    assert (client.max_bytes, client.timeout_s) == (8 * 1024 * 1024, 120)


@pytest.mark.parametrize("timeout_s", [0, -1, float("inf"), float("nan")])
def test_a_deadline_that_is_none_is_refused(timeout_s: float) -> None:
    # covers RUN-034
    with pytest.raises(InputError, match="timeout_s"):
        client_of("http://h", timeout_s=timeout_s)


# --- time and faults


DRIP = tuple(bytes([byte]) for byte in completion("drip"))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(silent=True, then="hang"),
        Answer(pieces=DRIP[:3], then="hang"),
        Answer(pieces=DRIP, pause_s=0.02),
    ],
)
def test_a_server_that_is_silent_or_drips_ends_with_a_timeout(answer: Answer) -> None:
    # covers RUN-034, RUN-030
    with loopback(answer) as server:
        error = failure_of(client_of(server.base_url, timeout_s=0.3))
    assert error.kind == "timeout"
    assert str(error) == "The request exceeded its deadline."
    assert 0.3 <= error.duration_s < 2


def test_a_client_that_gives_up_closes_its_connection() -> None:
    # covers RUN-034
    with loopback(Answer(silent=True, then="hang")) as server:
        failure_of(client_of(server.base_url, timeout_s=0.2))
        assert server.left.wait(5)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_an_endpoint_that_is_down_is_a_connection_failure_that_reached_nobody() -> None:
    # covers RUN-030, RUN-095
    error = failure_of(client_of(f"http://127.0.0.1:{closed_port()}"))
    assert (error.kind, error.reached, error.http_status) == ("connection_failure", False, None)
    assert str(error) == "The platform could not be reached."
    assert (error.__cause__, error.__suppress_context__) == (None, True)


def test_a_refused_connection_is_known_by_its_cause_whatever_it_is_called() -> None:
    # covers RUN-030, RUN-095
    renamed = httpx.ConnectTimeout("as the aiohttp transport calls it")
    key = ConnectionKey("h", 80, False, True, None, None, None)
    renamed.__cause__ = aiohttp.ClientConnectorError(key, OSError(111, "refused"))
    error = failure_of(client_of("http://h", transport=raising(renamed)))
    assert (error.kind, error.reached) == ("connection_failure", False)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(silent=True, then="close"),
        Answer(silent=True, then="reset"),
        Answer(body=completion(), headers={"content-length": "5000"}, then="close"),
        Answer(pieces=(b"{",), headers={"content-length": "x"}, then="close"),
    ],
)
def test_a_connection_that_breaks_may_have_reached_the_platform(answer: Answer) -> None:
    # covers RUN-030, RUN-095
    with loopback(answer) as server:
        error = failure_of(client_of(server.base_url))
    assert (error.kind, error.reached) == ("connection_failure", True)


def raising(error: Exception) -> Any:
    def answer(request: httpx.Request) -> httpx.Response:
        raise error

    return lambda: httpx.MockTransport(answer)


@pytest.mark.parametrize(
    ("raised", "reached"),
    [
        (httpx.ConnectError("refused"), False),
        (httpx.ReadTimeout(SECRET), True),
        (httpx.ConnectTimeout("named so, but not ctxlab's deadline"), True),
        (TimeoutError("of the transport"), True),
        (OSError(5, SECRET), True),
        (ValueError(SECRET), True),
        (UnicodeError(SECRET), True),
    ],
)
def test_every_fault_of_a_transport_is_a_connection_failure(raised: Exception, reached: bool) -> None:
    # covers RUN-030
    error = failure_of(client_of("http://h", transport=raising(raised)))
    assert (error.kind, error.reached) == ("connection_failure", reached)
    assert str(error) == "The platform could not be reached."


def test_a_transport_made_from_a_function_takes_the_place_of_the_network() -> None:
    # covers RUN-042
    def answer(request: httpx.Request) -> httpx.Response:
        question = json.loads(request.content)["messages"][0]["content"]
        return httpx.Response(200, content=completion(question.upper()))

    assert ask(client_of("http://h", transport=lambda: httpx.MockTransport(answer))).text == "WHAT NOW?"


def test_a_cancelled_attempt_is_a_cancellation_and_not_an_error() -> None:
    # covers RUN-031
    async def cancelled() -> bool:
        async with client_of(server.base_url).open() as session:
            attempt = asyncio.create_task(session.complete({"model": "m", "messages": []}))
            await arrived.wait()
            attempt.cancel()
            await asyncio.wait({attempt})
            return attempt.cancelled()

    async def main() -> bool:
        nonlocal arrived, loop
        arrived, loop = asyncio.Event(), asyncio.get_running_loop()
        return await cancelled()

    def answering(_: Request) -> Answer:
        loop.call_soon_threadsafe(arrived.set)
        return Answer(silent=True, then="hang")

    arrived: asyncio.Event
    loop: asyncio.AbstractEventLoop
    with loopback(answering) as server:
        assert asyncio.run(main())


# --- connections


def test_256_workers_have_256_requests_in_flight() -> None:
    # covers RUN-040
    workers = 256

    async def main() -> list[Reply]:
        async with client_of(server.base_url, timeout_s=30).open() as session:
            return await asyncio.gather(
                *(session.complete({"model": "m", "messages": []}) for _ in range(workers))
            )

    async def answering(_: Request) -> Answer:
        while server.most_in_flight < workers:
            await asyncio.sleep(0.01)
        return Answer(body=completion())

    with loopback(answering) as server:
        assert len(asyncio.run(main())) == workers


def test_connections_are_used_again_and_hold_no_cookies() -> None:
    # covers RUN-003
    async def main() -> None:
        async with client_of(server.base_url).open() as session:
            for _ in range(3):
                await session.complete({"model": "m", "messages": []})

    with loopback(Answer(body=completion(), headers={"set-cookie": "a=b; Path=/"})) as server:
        asyncio.run(main())
    assert server.connections == 1
    assert not any("cookie" in request.headers for request in server.requests)


def test_one_client_serves_one_loop_after_another() -> None:
    # covers RUN-044
    with loopback(Answer(body=completion())) as server:
        client = client_of(server.base_url)
        assert [ask(client).text, ask(client).text] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("h", False),
        ("10.0.0.1", False),
        ("127.0.0.1.example", False),
    ],
)
def test_no_proxy_stands_before_a_loopback_address(
    monkeypatch: pytest.MonkeyPatch, host: str, here: bool
) -> None:
    # covers RUN-005
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    base_url = f"http://[{host}]/v1" if ":" in host else f"http://{host}/v1"
    assert is_loopback(host) is here
    assert proxy_for(base_url) == (None if here else "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "h,10.0.0.1,127.0.0.1.example")
    assert proxy_for(base_url) is None


def test_a_request_to_loopback_goes_there_although_a_proxy_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    # covers RUN-005
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with loopback(Answer(body=completion())) as server:
        assert ask(client_of(server.base_url)).text == "ok"


def test_a_recording_proxy_sees_what_is_sent_and_changes_nothing() -> None:
    # covers RUN-003
    with (
        loopback(Answer(pieces=(completion("far"),))) as server,
        loopback(forward_to(server.base_url)) as proxy,
    ):
        assert ask(client_of(proxy.base_url)).text == "far"
    assert proxy.requests[0].body == server.requests[0].body


# --- streaming


def event(content: str, **choice: Any) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": {"content": content}, **choice}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


STREAM = replace(QUESTION, stream=True)
SSE = {"content-type": "text/event-stream"}


def test_a_streamed_answer_has_the_time_of_its_first_text() -> None:
    # covers RUN-053
    pieces = (event(""), event("a"), event("b", finish_reason="stop"), b"data: [DONE]\n\n")
    with loopback(Answer(pieces=pieces, pause_s=0.05, headers=SSE)) as server:
        reply = ask(client_of(server.base_url), STREAM)
        assert server.requests[0].json["stream"] is True
        assert server.requests[0].json["stream_options"] == {"include_usage": True}
    assert reply.text == "ab"
    assert reply.ttft_s is not None
    assert 0.1 <= reply.ttft_s < reply.duration_s - 0.05


def test_a_streamed_answer_without_text_has_no_time_of_first_text() -> None:
    # covers RUN-053
    with loopback(Answer(pieces=(event("", finish_reason="stop"),), headers=SSE)) as server:
        reply = ask(client_of(server.base_url), STREAM)
    assert (reply.text, reply.ttft_s) == ("", None)


def test_a_json_body_answers_a_streaming_request_too() -> None:
    # covers RUN-056
    with loopback(Answer(body=completion("whole"))) as server:
        reply = ask(client_of(server.base_url), STREAM)
    assert (reply.text, reply.ttft_s) == ("whole", None)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(pieces=(event("half"),), headers=SSE), "malformed_platform_response"),
        (
            Answer(pieces=(event("half"), b'data: {"error": {}, "x": 1', b"\n\n"), headers=SSE),
            "malformed_platform_response",
        ),
        (Answer(pieces=(event("half"),), then="hang"), "timeout"),
        (Answer(body=event("half"), headers={"content-length": "999"}, then="close"), "connection_failure"),
        (Answer(pieces=(event("x" * 3000),), headers=SSE), "response_too_large"),
        (Answer(status=429, headers=SSE), "platform_http_error"),
    ],
)
def test_a_broken_stream_gives_an_error_and_no_partial_text(answer: Answer, kind: str) -> None:
    # covers RUN-055, RUN-034
    with loopback(answer) as server:
        error = failure_of(client_of(server.base_url, timeout_s=0.3, max_bytes=2000), STREAM)
    assert error.kind == kind


def test_a_server_that_closes_after_a_stream_without_a_word_spoils_no_later_request() -> None:
    # covers RUN-060
    whole = event("a", finish_reason="stop") + b"data: [DONE]\n\n"

    async def main() -> list[str]:
        client = client_of(server.base_url)
        async with client.open() as session:
            return [(await session.complete(client.payload(STREAM))).text for _ in range(20)]

    with loopback(Answer(body=whole, headers=SSE, then="close")) as server:
        assert asyncio.run(main()) == ["a"] * 20
    assert len(server.requests) == 20
