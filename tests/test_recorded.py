"""Bodies that real servers sent, replayed on loopback through client and runner: each gives the row one would expect."""

from __future__ import annotations

import asyncio
import functools
import json
from pathlib import Path

import pytest

from ctxlab.calls import Usage
from ctxlab.client import EndpointClient
from ctxlab.comparison import arun
from ctxlab.dataset import Expected
from tests.factories import make_case, make_dataset, user
from tests.loopback import Answer, loopback

SAMPLE = Path(__file__).parents[2] / "shared/data/server-responses/chat-completions.sample.jsonl"
pytestmark = pytest.mark.skipif(not SAMPLE.is_file(), reason="recorded bodies are not at hand")

# One line per body: the answer or its beginning, content kind, finish reason, model,
# and prompt, completion, total and cached tokens. Read off the bodies by eye.
ROWS = [
    ("4", "text", "stop", "", 21, 2, 23, 0),  # a model without a name, a refusal and calls that are empty
    ("4", "text", "stop", "zai-glm-4.7", 18, 2, 20, 0),
    ("The answer is 4.", "text", "stop", "zai-glm-4.7", 13, 7, 20, 0),
    ("4", "text", "stop", "gpt-oss-120b", 80, 45, 125, 0),  # with reasoning, which is no answer
    ("4.", "text", "stop", "gpt-oss-120b", 79, 37, 116, 0),
    ("Let me load the dice", "text", "tool_calls", "deepseek-v4-flash", 563, 116, 679, 512),
    ("Bien sûr!\n\nThe lovely", "text", "stop", "llama3-8b-8192", 35, 25, 60, None),
    ("4", "text", "stop", "qwen/qwen3-32b", 25, 2, 27, None),
    ("4", "text", "stop", "openai/gpt-oss-120b", 84, 58, 142, None),
    ("4", "text", "stop", "openai/gpt-oss-120b", 84, 42, 126, None),
    ("2 + 2 = 4.", "text", "stop", "zai/GLM-5.2", 20, 118, 138, 0),
    ("The capital of France is ", "text", "stop", "ministral-8b-latest", 28, 6, 34, None),
    ("4", "text", "stop", "magistral-small-latest", 28, 2, 30, 0),
    ("", "text", "tool_calls", "pixtral-12b-latest", 65, 16, 81, None),
    ("", "text", "tool_calls", "mistral-medium-latest", 61, 8, 69, 0),
    ("The weather in Paris", "text", "stop", "gpt-4o-2024-08-06", 74, 9, 83, 0),
    ("OK", "text", "stop", "gpt-4o-2024-08-06", 65, 1, 66, 0),
    ("", "null", "tool_calls", "gpt-4o-2024-08-06", 48, 14, 62, 0),  # content is null
    ("", "null", "tool_calls", "gpt-4o-2024-08-06", 48, 14, 62, 0),
    ("4", "text", "stop", "glm-4.7", 13, 369, 382, 0),
    ("", "null", "tool_calls", "gemini-2.5-pro-preview-05-06", 35, 12, 109, None),  # no content, odd total
    ("The capital of France", "text", "stop", "llama-3.3-70b-versatile", 42, 8, 50, None),
    ('{"name":"Loki","animal"', "text", "stop", "gpt-oss:20b", 172, 88, 260, None),
    ("The main content of this", "text", "stop", "openai/gpt-4.1-mini", 23, 48, 71, 0),
    ("Hello! How can I help", "text", "stop", "openai/gpt-5-mini", 8, 15, 23, None),
    ("The PDF appears to be a", "text", "stop", "openai/gpt-5.1-codex-mini", 31, 80, 111, 0),
    ("", "text", "tool_calls", "google/gemini-2.5-flash", 326, 91, 417, 0),
    (
        "I'm not able to provide",
        "text",
        "stop",
        "meta-llama/Llama-4-Scout-17B-16E-Instruct",
        17,
        210,
        227,
        None,
    ),
    ("", "text", "tool_calls", "meta-llama/Llama-4-Scout-17B-16E-Instruct", 608, 30, 638, None),
    ("", "text", "tool_calls", "meta-llama/Llama-4-Scout-17B-16E-Instruct", 634, 106, 740, None),
]


def dataset():
    """One case per body, told from each other by their questions; any answer that says something passes."""
    said = Expected(minimum_characters=1, unicode_form="NFC")
    return make_dataset(
        *(make_case(f"body-{n}", messages=(user(f"Body {n}?"),), expected=said) for n in range(len(ROWS)))
    )


@functools.cache
def rows(*, stream: bool):
    """The row of each body, and how many requests arrived."""
    bodies = [json.loads(line)["body"] for line in SAMPLE.read_text(encoding="utf-8").splitlines()]

    def replayed(request):
        number = int(request.json["messages"][-1]["content"].strip("Body ?"))
        return Answer(body=json.dumps(bodies[number]).encode())

    with loopback(replayed) as server:
        client = EndpointClient(base_url=server.base_url, model="m", timeout_s=30)
        run = asyncio.run(
            arun(
                dataset(), "full", client=client, concurrency=4, stream=stream, runs_dir=None, progress=False
            )
        )
        return run.rows, len(server.requests)


# covers RUN-010, RUN-011, RUN-012, RUN-013, RUN-015, RUN-016, RUN-018, RUN-035, EVA-002
@pytest.mark.parametrize("number", range(30))
def test_a_recorded_body_gives_the_row_that_one_would_expect(number):
    found, requests = rows(stream=False)
    assert (len(found), requests) == (30, 30)
    row = found[number]
    text, content_kind, finish_reason, model, prompt, completion, total, cached = ROWS[number]
    assert (row.case.id, row.status, row.error_kind, row.http_status) == (
        f"body-{number}",
        "completed",
        None,
        None,
    )
    assert row.answer.startswith(text)
    assert bool(row.answer) == bool(text)
    assert "user asks" not in row.answer.lower()  # reasoning is never the answer
    assert row.content_kind == content_kind
    assert row.passed is bool(text)  # an answer of calls alone says nothing
    assert row.evaluations[0].name == "non_empty"
    assert row.evaluations[0].passed is bool(text)
    call = row.main_call
    assert (call.outcome, call.finish_reason, call.model_observed) == ("completed", finish_reason, model)
    assert call.usage == Usage(
        prompt_tokens=prompt, completion_tokens=completion, total_tokens=total, cached_tokens=cached
    )


# covers RUN-056
def test_a_recorded_body_in_answer_to_a_streaming_request_gives_the_same_row():
    (buffered, _), (streamed, requests) = rows(stream=False), rows(stream=True)
    assert requests == 30
    for one, other in zip(buffered, streamed, strict=True):
        assert (other.status, other.answer, other.content_kind) == (one.status, one.answer, one.content_kind)
        assert other.main_call.usage == one.main_call.usage
        assert other.main_call.ttft_s is None
