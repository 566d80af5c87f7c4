"""A programmable HTTP server on loopback: it records what arrives and answers, or misbehaves, as told.

```python
with loopback(Answer(body=b"{}")) as server:                # always the same answer
    ...server.base_url, server.requests[0].json...
with loopback(lambda request: Answer(status=429)) as server: # an answer for each request
    ...
with loopback(forward_to(other.base_url)) as server:         # a recording proxy
    ...
```
It runs in a thread with a loop of its own, so it serves synchronous tests and other processes as well.
"""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it arrived; header names are in lower case, and so are given once."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What to send back.

    Attributes:
        body: sent at once and with its length; `pieces`, if given, are sent one by one, chunked, in its place.
        pause_s: waiting time before each piece.
        then: what comes after: `keep` the connection, `close` it, `hang` until the client leaves, or `reset` it.
        silent: send nothing at all before `then`.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    body: bytes = b""
    pieces: tuple[bytes, ...] | None = None
    pause_s: float = 0.0
    then: str = "keep"
    silent: bool = False


Answering = "Answer | Callable[[Request], Answer | Awaitable[Answer]]"


@dataclass(kw_only=True)
class Loopback:
    """The running server.

    Attributes:
        requests: every request in order of arrival.
        in_flight, most_in_flight: requests that are being answered, now and at most.
        left: set when a client closes a connection that hangs.
    """

    answering: Any
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    left: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    stopping: bool = False

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests on one connection until one side ends it."""
        self.connections += 1
        try:
            await self.serve_requests(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has left, or the server stops
        finally:
            writer.transport.abort() if self.stopping else writer.close()

    async def serve_requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await read_request(reader)) is not None:
            self.requests.append(request)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                if not await self.answer(request, reader, writer):
                    return
            finally:
                self.in_flight -= 1

    async def answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Send one answer; returns whether the connection stays open."""
        answer = self.answering(request) if callable(self.answering) else self.answering
        if not isinstance(answer, Answer):
            answer = await answer
        if not answer.silent:
            await send(answer, writer)
        if answer.then == "hang":
            await reader.read()
            self.left.set()
        if answer.then == "reset":
            writer.transport.abort()
        return answer.then == "keep" and request.headers.get("connection") != "close"


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection, or null when the client has left."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, target=target, headers=headers, body=body)


async def send(answer: Answer, writer: asyncio.StreamWriter) -> None:
    chunked = answer.pieces is not None
    extent = {"transfer-encoding": "chunked"} if chunked else {"content-length": str(len(answer.body))}
    headers = extent | {name.lower(): value for name, value in answer.headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} -\r\n{lines}\r\n".encode("latin-1"))
    if not chunked:
        writer.write(answer.body)
    for piece in answer.pieces or ():
        await writer.drain()
        await asyncio.sleep(answer.pause_s)
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
    if chunked and answer.then != "hang":
        writer.write(b"0\r\n\r\n")
    await writer.drain()


@contextmanager
def loopback(answering: Any) -> Iterator[Loopback]:
    """Run a server for the block; `answering` is an `Answer` or a function of the request that gives one."""
    server = Loopback(answering=answering)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> asyncio.Server:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=512)
        server.port = listening.sockets[0].getsockname()[1]
        return listening

    async def stop(listening: asyncio.Server) -> None:
        server.stopping = True
        listening.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # the transports close in the next round of the loop

    listening = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(stop(listening), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def completion(text: str | None = "ok", *, usage: dict[str, Any] | None = None, **message: Any) -> bytes:
    """The body of an ordinary chat completion."""
    answer: dict[str, Any] = {
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": text, **message}}],
    }
    return json.dumps(answer if usage is None else {**answer, "usage": usage}).encode()


def forward_to(base_url: str) -> Callable[[Request], Awaitable[Answer]]:
    """Answers with what another server says: the loopback server then is a recording proxy."""
    parts = urlsplit(base_url)

    async def ask(request: Request) -> Answer:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        headers = {**request.headers, "connection": "close", "content-length": str(len(request.body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"{request.method} {request.target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1"))
        writer.write(request.body)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        first, *rest = head.decode("latin-1").split("\r\n")
        kept = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        chunked = kept.pop("transfer-encoding", "") == "chunked"
        kept.pop("content-length", None)
        kept.pop("connection", None)
        whole = unchunked(body) if chunked else body
        return Answer(status=int(first.split(" ")[1]), headers=kept, body=whole)

    return ask


def unchunked(body: bytes) -> bytes:
    """The content of a chunked body."""
    pieces = []
    while True:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return b"".join(pieces)
        pieces.append(body[:length])
        body = body[length + 2 :]
