"""The embedded model as a client: a language model on this machine, started for a run and ended with it.

```text
LocalClient.open() -> server process (llama.cpp on 127.0.0.1, random key) -> one request at a time
```
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import json
import os
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.client import MAX_BODY_BYTES, EndpointClient, api_key, chat_payload, completions_url
from ctxlab.errors import InputError, LocalModelError
from ctxlab.fetch import MODELS, cached_model, file_sha256
from ctxlab.sending import EndpointSession, open_http
from ctxlab.server_process import ServerProcess, start_server
from ctxlab.threads import physical_cores

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from ctxlab.calls import ChatRequest, Reply

MODEL_VARIABLE = "CTXLAB_GGUF"
RUNTIME = "xllamacpp"
DEADLINE_S = 600.0
GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFacts:
    """What a run records about the embedded model (RUN-113)."""

    model: str
    model_sha256: str
    runtime: str
    threads: int
    context_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalClient:
    """The embedded model, or another model file.

    `open()` starts the server for one run. As a context manager the client keeps one server for all runs inside
    the block.

    Attributes:
        model_path: the model file; null takes the one named by `CTXLAB_GGUF`, else the fetched one.
        window_tokens: context size of the server, which is the budget's window.
        output_reserve_tokens: `max_tokens` of requests that do not set it, because a small model can loop.
        warm_cache: leave the server's prompt cache on; off, answers do not depend on what ran before.
        threads: null takes the physical cores.
        timeout_s: deadline of one attempt, counted from when the only slot is free.
        base_url: a server that is already running; nothing is started.
    """

    model_path: Path | None = None
    window_tokens: int = 8192
    output_reserve_tokens: int = 1000
    warm_cache: bool = False
    threads: int | None = None
    timeout_s: float = DEADLINE_S
    base_url: str | None = None
    clock: Callable[[], float] = field(default=time.perf_counter, repr=False)
    _held: list[ServerProcess] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def kind(self) -> str:
        """`local`."""
        return "local"

    @property
    def enforces_schema(self) -> bool:
        """Its server keeps replies to a JSON schema (STR-093a)."""
        return True

    @property
    def model(self) -> str:
        """The known model's name, or that of another file without its ending; never a path."""
        path = self.file
        known = {model.file_name: model.name for model in MODELS.values()}
        return known.get(path.name, path.stem)

    @property
    def file(self) -> Path:
        """The model file, whether it is there or not."""
        named = os.environ.get(MODEL_VARIABLE, "")
        return self.model_path or (Path(named) if named else cached_model())

    @property
    def endpoint(self) -> str:
        """`local:` and the SHA-256 of the model file (RUN-070)."""
        return f"local:{self.demand_model()}"

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """The JSON object that is sent: always bounded, without chance unless set, in a form its template takes."""
        bounded = replace(
            request.generation,
            max_tokens=self.output_reserve_tokens
            if request.generation.max_tokens is None
            else request.generation.max_tokens,
            temperature=0.0 if request.generation.temperature is None else request.generation.temperature,
        )
        payload = chat_payload(replace(request, generation=bounded), model=self.model)
        for message in payload["messages"]:
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = object_arguments(call["function"]["arguments"])
        return payload if self.warm_cache else {**payload, "cache_prompt": False}

    def facts(self) -> LocalFacts:
        """What a run records; raises `LocalModelError` if model or runtime are missing."""
        return LocalFacts(
            model=self.model,
            model_sha256=self.demand_model(),
            runtime=demand_runtime(),
            threads=self.threads or physical_cores(),
            context_tokens=self.window_tokens,
        )

    def demand_model(self) -> str:
        """The model file's SHA-256; raises `LocalModelError` if it is missing, or not what its name says."""
        path = self.file
        if not path.is_file():
            advice = (
                "run `ctxlab fetch-model` once"
                if path == cached_model()
                else f"--model-path or {MODEL_VARIABLE} names a file that does not exist"
            )
            raise LocalModelError(f"the embedded model's file is missing: {advice}")
        with path.open("rb") as file:
            if file.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
                raise LocalModelError("the model file is no GGUF file: name another one")
        found = file_sha256(path)
        known = {cached_model(which): model.sha256 for which, model in MODELS.items()}
        if known.get(path, found) != found:
            raise LocalModelError("the embedded model's file is damaged: run `ctxlab fetch-model` again")
        return found

    def start(self) -> ServerProcess:
        """Start a server process for this client; it is not ready yet."""
        facts = self.facts()
        return start_server(
            model_path=self.file.resolve(),
            model=facts.model,
            context_tokens=facts.context_tokens,
            threads=facts.threads,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[LocalSession]:
        """Start the server, wait until it is ready, and end it on leaving."""
        if self.base_url is not None:
            EndpointClient(base_url=self.base_url, model=self.model)  # checks the address
            async with self._session(self.base_url, api_key()) as session:
                yield session
        elif self._held:
            async with self._session(self._held[-1].wait(), self._held[-1].key) as session:
                yield session
        else:
            server = self.start()
            try:
                async with self._session(await server.ready(), server.key) as session:
                    yield session
            finally:
                server.stop()

    @asynccontextmanager
    async def _session(self, base_url: str, key: str | None) -> AsyncIterator[LocalSession]:
        async with open_http(base_url, key=key, keep_alive=False) as http:
            yield LocalSession(
                one=EndpointSession(
                    http=http,
                    url=completions_url(base_url),
                    timeout_s=self.timeout_s,
                    max_bytes=MAX_BODY_BYTES,
                    strip_reasoning=False,
                    clock=self.clock,
                ),
                slot=asyncio.Lock(),
            )

    def __enter__(self) -> LocalClient:
        """Keep one server for all runs of the block."""
        server = self.start()
        try:
            server.wait()
        except BaseException:
            server.stop()
            raise
        self._held.append(server)
        return self

    def __exit__(self, *_: object) -> None:
        """End the block's server."""
        self._held.pop().stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSession:
    """The server's only slot: one request in flight, whatever the number of workers (RUN-034)."""

    one: EndpointSession
    slot: asyncio.Lock = field(repr=False)

    async def complete(self, payload: Mapping[str, Any]) -> Reply:
        """Wait for the slot, then send a payload once; waiting is in no duration and no deadline."""
        async with self.slot:
            return await self.one.complete(payload)


def local_client(
    *,
    model_path: Path | None = None,
    window_tokens: int = 8192,
    output_reserve_tokens: int = 1000,
    warm_cache: bool = False,
    threads: int | None = None,
) -> LocalClient:
    """The embedded model as a client, checked: its runtime and its file are there (RUN-114).

    Each run starts the server and ends it. `with local_client() as client:` keeps one server for several runs.
    """
    if window_tokens <= output_reserve_tokens:
        raise InputError("window_tokens: must be larger than output_reserve_tokens")
    client = LocalClient(
        model_path=model_path,
        window_tokens=window_tokens,
        output_reserve_tokens=output_reserve_tokens,
        warm_cache=warm_cache,
        threads=threads,
    )
    client.facts()
    return client


def demand_runtime(name: str = RUNTIME) -> str:
    """Name and version of the installed runtime; raises `LocalModelError` with the command that installs it."""
    if importlib.util.find_spec(name) is None:
        raise LocalModelError("the embedded model's runtime is missing: run `pip install 'ctxlab[local]'`")
    return f"{name} {importlib.metadata.version(name)}"


def object_arguments(arguments: str) -> str:
    """Arguments of a tool call as the text of a JSON object, which the model's chat template demands (RUN-112)."""
    try:
        parsed = json.loads(arguments, parse_constant=_refuse)
        json.dumps(parsed, ensure_ascii=False).encode()  # a lone surrogate is no text for the server
    except (ValueError, RecursionError):
        parsed = None
    return arguments if isinstance(parsed, dict) else json.dumps({"raw": arguments}, ensure_ascii=False)


def _refuse(constant: str) -> float:
    raise ValueError(constant)
