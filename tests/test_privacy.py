"""Markers planted wherever private text passes through a run: none of them is in anything that the run leaves behind.

Whatever is written into a run directory is looked at, so a file that ctxlab learns to write later is covered too.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import io
import json
import logging
import os
import re
import subprocess
import sys
import traceback
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

from ctxlab.client import EndpointClient
from ctxlab.comparison import arun
from ctxlab.loading import dataset_bytes
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.strategies.base import Treatment
from ctxlab.strategies.full import Empty
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize
from tests.factories import assistant, make_case, make_dataset, make_fact, make_snippet, user
from tests.loopback import Answer, completion, loopback

COMMAND = str(Path(sys.executable).parent / "ctxlab")

NEVER = {
    "system": "QZ-SYSTEM-1101",
    "message": "QZ-MESSAGE-1102",
    "question": "QZ-QUESTION-1103",
    "tool result": "QZ-RESULT-1104",
    "tool arguments": "QZ-ARGUMENTS-1105",
    "snippet": "QZ-SNIPPET-1106",
    "snippet title": "QZ-TITLE-1107",
    "key": "QZ-KEY-1108",
    "response header": "QZ-HEADER-1109",
    "redirect": "QZ-LOCATION-1110",
    "error body": "QZ-BODY-1111",
    "unreadable body": "QZ-UNREADABLE-1112",
    "exception": "QZ-EXCEPTION-1113",
    "guidance": "QZ-GUIDANCE-1114",
    "tool definition": "QZ-TOOLS-1115",
    "description": "QZ-DESCRIPTION-1116",
}
"""Where a marker is planted, and the marker; none may be written anywhere but into copies of the input."""
JOURNAL_ONLY = {"answer, far in": "QZ-ANSWER-2201", "summary": "QZ-SUMMARY-2202"}
"""Text of the model: the journal has to hold it, nothing else may."""
PREVIEWED = "QZ-PREVIEW-3301"
"""What the model repeats at the beginning of an answer: a preview of at most 240 characters may show it."""


def case_of(name):
    """A history with a marker in every part; the question's first word tells the server what to do."""
    call = ToolCall(
        id="c1", function=Function(name="look_up", arguments=f'{{"id": "{NEVER["tool arguments"]}"}}')
    )
    return make_case(
        name,
        messages=(
            Message(role="system", content=f"Keep {NEVER['system']} to yourself."),
            user(f"We decided on {NEVER['message']}. It must never change. " + "Some padding follows. " * 60),
            assistant(None, tool_calls=(call,)),
            Message(role="tool", content=f"ERROR {NEVER['tool result']} failed", tool_call_id="c1"),
            assistant(f"Noted: {NEVER['message']} is decided. " + "More padding follows. " * 60),
            user(f"{name} {NEVER['question']} what now?"),
        ),
        snippets=(make_snippet("s1", f"The text is {NEVER['snippet']}.", title=NEVER["snippet title"]),),
        facts=(make_fact("f1", "decided", kind="decision"), make_fact("f2", "padding")),
        metadata=replace(make_case().metadata, description=NEVER["description"], tags=("tag",)),
    )


CASES = ("plain", "failing", "refused", "redirected", "unreadable", "broken", "repeating")
DATASET = replace(make_dataset(*map(case_of, CASES)), converted=True)


def answered(request):
    """What the server sends: it repeats what it was told, and puts markers wherever it can."""
    headers = {"content-type": "application/json", "x-request-id": NEVER["response header"]}
    last = str(request.json["messages"][-1]["content"])
    texts = " ".join(str(message["content"]) for message in request.json["messages"])
    word = next((name for name in CASES if f"{name} {NEVER['question']}" in texts), "")
    if "<source>" in last or not word:
        return Answer(headers=headers, body=completion(f"- decided: {JOURNAL_ONLY['summary']}"))
    far = f"{PREVIEWED} decided, " + "padding " * 60 + JOURNAL_ONLY["answer, far in"]
    return {
        "plain": Answer(headers=headers, body=completion("It is decided.")),
        "failing": Answer(
            status=500, headers=headers, body=json.dumps({"error": {"message": NEVER["error body"]}}).encode()
        ),
        "refused": Answer(status=400, headers=headers, body=NEVER["error body"].encode()),
        "redirected": Answer(status=302, headers={**headers, "location": f"/{NEVER['redirect']}"}),
        "unreadable": Answer(headers=headers, body=f'{{"choices": "{NEVER["unreadable body"]}"}}'.encode()),
        "broken": Answer(
            headers={**headers, "content-length": "999"}, body=NEVER["unreadable body"].encode(), then="close"
        ),
        "repeating": Answer(headers=headers, body=completion(far)),
    }[word]


TOOLS = ({"type": "function", "function": {"name": "f", "description": NEVER["tool definition"]}},)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing(Treatment):
    """A strategy with a fault that tells a secret."""

    kind: ClassVar[str] = "failing"
    label: str | None = None

    def fit(self, case, budget, counter):
        raise RuntimeError(NEVER["exception"])


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyClient:
    """A client whose transport fails in a way of its own."""

    kind: str = "endpoint"
    model: str = "m"
    endpoint: str = "http://127.0.0.1"

    def payload(self, request):
        return {"messages": [message.text for message in request.messages]}

    @asynccontextmanager
    async def open(self):
        yield self

    async def complete(self, payload):
        raise ConnectionError(NEVER["exception"])


def strategies():
    return (Shorten(target_tokens=400), Summarize(requested_tokens=200, generations=2), Empty(), Failing())


def run_with(client, directory):
    return asyncio.run(
        arun(
            DATASET, strategies(), client=client, runs_dir=directory, progress=True, concurrency=2, max_attempts=2,
            tools=TOOLS, guidance=NEVER["guidance"],
        )
    )  # fmt: skip


def texts_in(path):
    """All that a file can be read as: its bytes, what they unpack to, and the values of a frame."""
    content = path.read_bytes()
    yield content.decode("utf-8", "replace")
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content).decode("utf-8", "replace")
    if path.suffix == ".parquet":
        yield "\n".join(map(str, pl.read_parquet(io.BytesIO(content)).rows()))


def files(directory):
    """All files below, copies of the input left out."""
    below = (path for path in directory.rglob("*") if path.is_file())
    return [path for path in below if "inputs" not in path.relative_to(directory).parts]


def values_in(path):
    """The texts of which a frame or a JSON file consists, and the cells or lines of any other."""
    content = path.read_bytes()
    if path.suffix == ".parquet":
        return [str(value) for row in pl.read_parquet(io.BytesIO(content)).rows() for value in row]
    text = content.decode("utf-8", "replace")
    if path.suffix == ".json":
        return strings_in(json.loads(text))
    return [html.unescape(cell).strip() for cell in re.split(r"[\n|]", text)]


def strings_in(value):
    if isinstance(value, dict):
        return [*value, *strings_in(list(value.values()))]
    if isinstance(value, list):
        return [text for one in value for text in strings_in(one)]
    return [value] if isinstance(value, str) else []


def found_in(directory, markers):
    """(file, where the marker was planted) of each marker in a file."""
    return {
        (str(path.relative_to(directory)), where)
        for path in files(directory)
        for text in texts_in(path)
        for where, marker in markers.items()
        if marker in text
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run against a server that answers in every way; the run, its directory, and all that was printed or logged."""
    directory = tmp_path_factory.mktemp("private")
    printed, logged = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(logged)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    with pytest.MonkeyPatch.context() as patch, loopback(answered) as server:
        patch.setenv("CTXLAB_API_KEY", NEVER["key"])
        patch.setattr(sys, "stdout", printed)
        patch.setattr(sys, "stderr", printed)
        run = run_with(EndpointClient(base_url=server.base_url, model="m", timeout_s=20), directory)
        requests = list(server.requests)
    root.removeHandler(handler)
    root.setLevel(level)
    return run, directory, printed.getvalue() + logged.getvalue(), requests


def test_the_markers_were_planted_and_every_kind_of_row_came_about(finished):
    run, directory, _, requests = finished
    assert {(row.status, row.error_kind) for row in run.rows} == {
        ("completed", None),
        ("error", "platform_http_error"),
        ("error", "malformed_platform_response"),
        ("error", "connection_failure"),
        ("error", "internal_error"),
    }
    sent = "\n".join(request.body.decode() + str(request.headers) for request in requests)
    planted = {"message", "question", "tool result", "tool arguments", "key", "guidance", "tool definition"}
    assert {where for where in planted if NEVER[where] not in sent} == set()
    (copy,) = directory.rglob("inputs/*")
    assert copy.read_bytes() == dataset_bytes(DATASET.cases)
    assert len([path for path in directory.rglob("*") if path.is_file()]) > 8


# covers EVA-120, EVA-121, RUN-006, RUN-030, RUN-072, STR-002
def test_no_marker_is_in_any_file_of_a_run(finished):
    _, directory, _, _ = finished
    assert found_in(directory, NEVER) == set()


# covers EVA-120, EVA-121
def test_what_the_model_said_is_in_the_journal_and_in_bounded_previews_only(finished):
    _, directory, _, _ = finished
    found = found_in(directory, JOURNAL_ONLY)
    assert {where for _, where in found} == set(JOURNAL_ONLY)
    assert {Path(name).name for name, _ in found} == {"journal.jsonl"}
    previews = {
        path.name: [text for text in values_in(path) if PREVIEWED in text] for path in files(directory)
    }
    assert previews["results.parquet"]  # the marker is where it may be
    assert [
        name
        for name, texts in previews.items()
        if name != "journal.jsonl" and any(len(text) > 240 or "\n" in text for text in texts)
    ] == []


# covers EVA-121, RUN-006
def test_no_marker_is_printed_or_logged(finished):
    _, _, printed, _ = finished
    assert printed  # the line of progress, and what the libraries log
    planted = {**NEVER, **JOURNAL_ONLY, "preview": PREVIEWED}
    assert [where for where, marker in planted.items() if marker in printed] == []


# covers EVA-121, RUN-006, RUN-030
def test_keys_headers_bodies_and_exceptions_are_in_no_representation(finished):
    run, _, _, _ = finished
    shown = repr(run) + str(run)
    private = ("key", "response header", "redirect", "error body", "unreadable body", "exception")
    assert [where for where in private if NEVER[where] in shown] == []


# covers EVA-121, RUN-006, RUN-030
@pytest.mark.parametrize("word", ["failing", "redirected", "unreadable", "broken"])
def test_no_marker_is_in_the_traceback_of_a_failed_request(word, monkeypatch):
    monkeypatch.setenv("CTXLAB_API_KEY", NEVER["key"])

    async def ask(client):
        async with client.open() as session:
            shown.append(repr(client) + repr(session))
            await session.complete({"messages": [{"content": f"{word} {NEVER['question']}"}]})

    shown = []
    with loopback(answered) as server, pytest.raises(Exception) as caught:
        asyncio.run(ask(EndpointClient(base_url=server.base_url, model="m", timeout_s=20)))
    shown += [*traceback.format_exception(caught.value), repr(caught.value), repr(vars(caught.value))]
    assert [where for where, marker in NEVER.items() if marker in "".join(shown)] == []


# covers EVA-121, RUN-030
def test_no_text_of_an_exception_is_in_any_file(tmp_path, capsys):
    run = run_with(FaultyClient(), tmp_path)
    assert {row.error_kind for row in run.rows} == {"internal_error"}
    assert found_in(tmp_path, NEVER | {"type": "RuntimeError", "other type": "ConnectionError"}) == set()
    assert NEVER["exception"] not in repr(run) + "".join(capsys.readouterr())


def command(verb, folder, *arguments, base_url):
    """The installed command with the key in its environment, run in a folder with dataset and system prompt."""
    (folder / "cases.jsonl").write_bytes(dataset_bytes(DATASET.cases))
    (folder / "prompt.txt").write_text(f"You keep {NEVER['system']}.")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CTXLAB_")}
    return subprocess.run(
        [COMMAND, verb, "--dataset", "cases.jsonl", "--client", "endpoint", "--base-url", base_url, "--model", "m",
         "--runs-dir", "runs", "--format", "csv", "--output", "out.csv", *arguments],
        cwd=folder, env={**environment, "CTXLAB_API_KEY": NEVER["key"]},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


# covers EVA-121, GEN-033, GEN-035
@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("compare", ["--strategies", "full,shorten:target_tokens=400,summarize"]),
        (
            "eval",
            ["--system-prompt", "prompt.txt", "--system-prompt-name", "p", "--system-prompt-version", "1"],
        ),
    ],
)
def test_the_installed_command_writes_and_prints_no_marker(tmp_path, verb, arguments):
    with loopback(answered) as server:
        done = command(verb, tmp_path, *arguments, base_url=server.base_url)
    assert done.returncode == 3  # some rows ended in an error, as they should
    assert len(files(tmp_path / "runs")) > 8
    assert found_in(tmp_path / "runs", NEVER) == set()
    shown = (tmp_path / "out.csv").read_text() + done.stdout + done.stderr
    assert [where for where, marker in {**NEVER, **JOURNAL_ONLY}.items() if marker in shown] == []
