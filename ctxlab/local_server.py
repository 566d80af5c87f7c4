"""The embedded model's server process: a script, run by `server_process` and never imported.

Its settings come as one JSON line on standard input, so that the key is in no argument list. The input stays open
as long as the parent lives: its end is this process's end. When the health endpoint says that the model is
loaded, the server's address is written to a file.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


def end_with_parent(parent_pid: int) -> None:
    """End this process when its parent ends, however that happens and however busy this process is."""
    threading.Thread(target=_end_at_end_of_input, daemon=True).start()
    if sys.platform == "linux":
        import ctypes

        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
        if os.getppid() != parent_pid:  # it ended before the line above
            os._exit(0)


def _end_at_end_of_input() -> None:
    # not by `sys.stdin`, whose lock this thread would hold while the interpreter ends after an error
    while os.read(0, 4096):
        pass
    os._exit(0)


def parameters(settings: dict[str, Any]) -> Any:
    """The runtime's parameters: one slot, no cache beyond the context, one key, and no page or tool on top."""
    import xllamacpp  # type: ignore[import-untyped]

    made = xllamacpp.CommonParams()
    made.model.path = settings["model_path"]
    made.model_alias = {settings["model"]}
    made.n_ctx = settings["context_tokens"]
    made.n_parallel = 1
    made.cache_ram_mib = 0
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = settings["threads"]
    made.hostnames = ["127.0.0.1"]
    made.port = 0
    made.api_keys = [settings["key"]]
    made.cors_origins = ""
    made.ui = False
    made.endpoint_slots = False
    return made


def wait_until_healthy(address: str) -> None:
    """Return when the health endpoint answers 200; the parent holds the deadline."""
    parts = urlsplit(address)
    while True:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == http.client.OK:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.05)


def main() -> None:
    """Serve until the parent ends or ends this."""
    settings = json.loads(sys.stdin.buffer.readline())
    end_with_parent(settings["parent_pid"])
    import xllamacpp

    server = xllamacpp.Server(parameters(settings))
    wait_until_healthy(server.listening_address)
    file = Path(settings["address_file"])
    written = file.with_suffix(".tmp")
    written.write_text(server.listening_address, encoding="utf-8")
    written.replace(file)
    threading.Event().wait()


if __name__ == "__main__":
    main()
