"""What the client alone takes: a run against a server that answers at once, through the same client and runner.

Latencies of a platform hold the client's own time too. A latency gate whose threshold is near that time would judge the
client; it is refused (`client_bound`). The server is a child process on loopback; no model and no other host is asked.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.budget import UNLIMITED
from ctxlab.client import EndpointClient
from ctxlab.comparison import arun
from ctxlab.dataset import Case, Dataset
from ctxlab.errors import CtxlabError
from ctxlab.loops import blocking
from ctxlab.messages import Message
from ctxlab.metrics import overall

if TYPE_CHECKING:
    from collections.abc import Iterator

REPEATS = 100
CASES = 2
ROUNDS = 4
"""Each worker asks at least so often."""
DEADLINE_S = 10.0
_SCRIPT = Path(__file__).with_name("instant_server.py")


async def aclient_latency(workers: int) -> float:
    """Seconds (p95) that a request takes at so many workers when the server answers at once.

    Raises:
        CtxlabError: the server could not be asked.
    """
    cases = max(CASES, -(-workers * ROUNDS // REPEATS))
    message = Message(role="user", content="ping")
    dataset = Dataset(
        path="calibration",
        sha256="0" * 64,
        cases=tuple(
            Case(schema_version="1.1", id=f"ping-{i}", category="calibration", messages=(message,))
            for i in range(cases)
        ),
    )
    with instant_server() as base_url:
        done = await arun(
            dataset,
            "full",
            client=EndpointClient(base_url=base_url, model="instant", timeout_s=DEADLINE_S),
            budget=UNLIMITED,
            repeats=REPEATS,
            concurrency=workers,
            warmup=workers,
            runs_dir=None,
            progress=False,
        )
    total = overall(done)
    if total.duration_p95_s is None or total.errors:
        raise CtxlabError("client latency: the loopback server could not be asked")
    return total.duration_p95_s


client_latency = blocking(aclient_latency)


@contextmanager
def instant_server() -> Iterator[str]:
    """The base URL of an instant server that runs for the block."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-S", str(_SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        if not port.isdigit():
            raise CtxlabError("client latency: the loopback server did not start")
        yield f"http://127.0.0.1:{port.decode()}"
    finally:
        process.kill()
        process.communicate()
