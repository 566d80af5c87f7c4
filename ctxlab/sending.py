"""One attempt over HTTP: a payload goes out, a `Reply` or a `CallError` comes back.

Only three things end an attempt early: ctxlab's own deadline, the size cap, and a fault of the transport. Which
library reports a fault, and under what name, differs; so each one is read from its causes, and no text of an
exception leaves this module.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import zlib
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from ctxlab.errors import CallError
from ctxlab.responses import malformed, read_reply
from ctxlab.retries import retry_after_s
from ctxlab.streams import ReplyStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from ctxlab.calls import Reply

MAX_CONNECTIONS = 256
"""As many as there may be workers, so that no request waits for a connection."""
_KEEP_ALIVE_S = 2.0
"""Below what servers allow an idle connection, so that a request seldom meets one that is just being closed."""
_ENCODINGS = {"": None, "identity": None, "gzip": 47, "x-gzip": 47, "deflate": 47}
"""Content encodings and zlib's window bits; 47 reads gzip and zlib headers alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSession:
    """Open connections to one endpoint, inside one event loop."""

    http: httpx.AsyncClient = field(repr=False)
    url: str
    timeout_s: float
    max_bytes: int
    strip_reasoning: bool
    clock: Callable[[], float] = field(repr=False)

    async def complete(self, payload: Mapping[str, Any]) -> Reply:
        """Send a payload once; the deadline covers all from the first connect to the last body byte.

        Raises:
            CallError: the attempt failed; it says how long it took, and nothing of what was sent or received.
        """
        body = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        deadline = asyncio.timeout(self.timeout_s)
        started = self.clock()
        try:
            async with deadline:
                reply = await self._exchange(body, stream=bool(payload.get("stream")), started=started)
        except CallError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - transports raise what they like
            failure = CallError("timeout") if deadline.expired() else connection_failure(error)
        else:
            return replace(reply, duration_s=max(0.0, self.clock() - started))
        failure.duration_s = max(0.0, self.clock() - started)
        raise failure from None

    async def _exchange(self, body: bytes, *, stream: bool, started: float) -> Reply:
        # Some servers close a connection after a stream without a word; the next request must not meet that.
        headers = {"connection": "close"} if stream else None
        async with self.http.stream("POST", self.url, content=body, headers=headers) as response:
            if not response.is_success:
                wait_s = retry_after_s(response.headers.get("retry-after"))
                raise CallError("platform_http_error", http_status=response.status_code, retry_after_s=wait_s)
            chunks = body_chunks(response, max_bytes=self.max_bytes)
            if not stream:
                whole = b"".join([chunk async for chunk in chunks])
                return read_reply(whole, strip_reasoning=self.strip_reasoning)
            return await self._read_stream(chunks, started=started)

    async def _read_stream(self, chunks: AsyncIterator[bytes], *, started: float) -> Reply:
        reading = ReplyStream(strip_reasoning=self.strip_reasoning)
        ttft_s = None
        async for chunk in chunks:
            reading.feed(chunk)
            if ttft_s is None and reading.has_text:
                ttft_s = max(0.0, self.clock() - started)
        return replace(reading.finish(), ttft_s=ttft_s)


@asynccontextmanager
async def open_http(
    base_url: str,
    *,
    key: str | None,
    transport: Callable[[], httpx.AsyncBaseTransport] | None = None,
    keep_alive: bool = True,
) -> AsyncIterator[httpx.AsyncClient]:
    """An httpx client that sends nothing but what it is given: no cookies, no redirects, no other credentials."""
    headers = {"content-type": "application/json", "accept-encoding": "gzip"}
    if not keep_alive:
        headers["connection"] = "close"
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    async with httpx.AsyncClient(
        transport=transport() if transport else default_transport(proxy=proxy_for(base_url)),
        headers=headers,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        timeout=None,  # the attempt's deadline is the only clock
        follow_redirects=False,
        trust_env=False,
    ) as http:
        yield http


def default_transport(*, proxy: str | None) -> httpx.AsyncBaseTransport:
    """The aiohttp transport: nine times the throughput of httpx's own at 32 workers."""
    import aiohttp
    from httpx_aiohttp import AiohttpTransport

    ssl_context = httpx.create_ssl_context()

    def connect(**options: Any) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(ssl=ssl_context, limit=MAX_CONNECTIONS, **options)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    def transport(**options: Any) -> AiohttpTransport:
        through = httpx.Proxy(proxy) if proxy else None
        return AiohttpTransport(verify=ssl_context, proxy=through, client=lambda: connect(**options))

    return KeepOrClose(
        keeping=transport(keepalive_timeout=_KEEP_ALIVE_S), closing=transport(force_close=True)
    )


class KeepOrClose(httpx.AsyncBaseTransport):
    """Keeps `connection: close` even where the server does not: such a request has a connection for itself."""

    def __init__(self, *, keeping: httpx.AsyncBaseTransport, closing: httpx.AsyncBaseTransport) -> None:
        self._keeping = keeping
        self._closing = closing

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send over a kept or a new connection, as the request's header says."""
        once = request.headers.get("connection") == "close"
        return await (self._closing if once else self._keeping).handle_async_request(request)

    async def aclose(self) -> None:
        """Close what either has opened."""
        await self._keeping.aclose()
        await self._closing.aclose()


def proxy_for(base_url: str) -> str | None:
    """The environment's proxy for an address; null for loopback addresses and what `no_proxy` names (RUN-005)."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def body_chunks(response: httpx.Response, *, max_bytes: int) -> AsyncIterator[bytes]:
    """The decompressed body, piece by piece, never holding more than the cap (RUN-034).

    Raises:
        CallError: `response_too_large` over the cap, `malformed_platform_response` if it cannot be decompressed.
    """
    if response.is_stream_consumed:  # a response made in memory, already decoded by httpx
        if len(response.content) > max_bytes:
            raise CallError("response_too_large")
        yield response.content
        return
    inflate = Inflater(response.headers.get("content-encoding", ""))
    room = max_bytes
    async for raw in response.aiter_raw():
        chunk = inflate.feed(raw, at_most=room + 1)
        room -= len(chunk)
        if room < 0:
            raise CallError("response_too_large")
        yield chunk
    inflate.close()


class Inflater:
    """Undoes a content encoding, never giving more bytes at once than it is allowed to."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in _ENCODINGS:
            raise malformed()
        bits = _ENCODINGS[name]
        self._zlib = None if bits is None else zlib.decompressobj(bits)

    def feed(self, raw: bytes, *, at_most: int) -> bytes:
        """The bytes that `raw` stands for, cut at `at_most`."""
        if self._zlib is None:
            return raw
        try:
            return self._zlib.decompress(raw, at_most)
        except zlib.error:
            raise malformed() from None

    def close(self) -> None:
        """Raise if the compressed body was cut short."""
        if self._zlib is not None and not self._zlib.eof:
            raise malformed()


def connection_failure(error: BaseException) -> CallError:
    """The call error of a transport fault; it was not `reached` if no connection came about (RUN-030)."""
    from aiohttp import ClientConnectorError

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, (ClientConnectorError, httpx.ConnectError)):
            return CallError("connection_failure", reached=False)
        seen = seen.__cause__ or seen.__context__
    return CallError("connection_failure")
