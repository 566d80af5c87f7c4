"""A chat completions server on loopback that answers at once: what it takes to ask it, the client alone takes.

Run as a script it prints its port on standard output and ends when standard input does. It uses the standard library
only and opens no connection of its own.
"""

from __future__ import annotations

import asyncio
import sys

BODY = (
    b'{"model":"instant","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}],'
    b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
)
REPLY = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY)
) + BODY
_LENGTH = b"content-length:"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request of a connection with the same completion, until the client leaves."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(_body_bytes(head))
            writer.write(REPLY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _body_bytes(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(line[len(_LENGTH) :]) for line in lines if line.startswith(_LENGTH)), 0)


async def serve() -> None:
    """Listen on a free port of loopback until standard input ends."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    async with server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(serve())
