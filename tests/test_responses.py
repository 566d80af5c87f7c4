"""What is read from the body of a chat completion, and what is not an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ctxlab.calls import Usage
from ctxlab.errors import CallError
from ctxlab.responses import read_reply, whole_characters

SAMPLE = Path(__file__).parents[2] / "shared" / "data" / "server-responses" / "chat-completions.sample.jsonl"
CALLS = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def body(message: Any = None, *, choice: dict[str, Any] | None = None, **top: Any) -> bytes:
    first = {"message": {"content": "hi"} if message is None else message, **(choice or {})}
    return json.dumps({"choices": [first], **top}).encode()


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"<html><body>Bad gateway</body></html>",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"choices": null}',
        b'{"choices": {}}',
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": ["x"]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "hi"}]}',
        b'{"choices": [{"message": {"content": "hi"}}]',
        b'{"choices": [{"message": {"content": "h\xff"}}]}',
        b'{"choices": [{"message": {"content": "\xed\xa0\x80"}}]}',
        '{"choices": [{"message": {"content": "hi"}}]}'.encode("utf-16"),
        b'{"x": NaN, "choices": [{"message": {"content": "hi"}}]}',
        b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "choices": [{"message": {"content": "hi"}}]}',
        b'{"choices": [{"message": {"content": "hi"}}]} {}',
    ],
)
def test_a_body_without_a_readable_answer_is_malformed(broken: bytes) -> None:
    # covers RUN-010
    with pytest.raises(CallError) as caught:
        read_reply(broken)
    assert caught.value.kind == "malformed_platform_response"
    assert str(caught.value) == "The platform response has an unsupported form."


def test_only_the_first_choice_is_used_and_unknown_fields_are_ignored() -> None:
    # covers RUN-011
    huge = "9" * 6000
    first = f'{{"message": {{"content": "first", "x": {huge}}}}}'
    text = f'{{"choices": [{first}, {{"message": 5}}], "y": {{"z": [1e999, -{huge}]}}}}'
    assert read_reply(text.encode()).text == "first"


def test_a_byte_order_mark_does_not_spoil_an_answer() -> None:
    # covers RUN-010
    assert read_reply(b"\xef\xbb\xbf" + body()).text == "hi"


THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}
IMAGE = {"type": "image_url", "image_url": {"url": "x"}}


@pytest.mark.parametrize(
    ("message", "text", "kind"),
    [
        ({"content": "  as it is\n"}, "  as it is\n", "text"),
        ({"content": ""}, "", "text"),
        ({"content": "", "tool_calls": CALLS}, "", "text"),
        ({"content": "4", "reasoning": "2 + 2"}, "4", "text"),
        ({"content": [{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}]}, "ab", "parts"),
        ({"content": [{"type": "text", "text": ""}]}, "", "parts"),
        ({"content": [THINKING, {"type": "text", "text": "4"}]}, "4", "parts"),
        (
            {"content": ["plain", {"type": "text", "text": 5}, None, {"type": "text", "text": "x"}]},
            "x",
            "parts",
        ),
        ({"content": None, "tool_calls": CALLS}, "", "null"),
        ({"tool_calls": CALLS}, "", "null"),
        ({"content": None, "refusal": "I will not."}, "", "null"),
        ({"content": None, "reasoning": "long thought"}, "", "null"),
        ({"content": None, "reasoning_content": "long thought"}, "", "null"),
        ({"content": None, "reasoning_details": [{"text": "t"}]}, "", "null"),
        ({"content": [THINKING]}, "", "null"),
        ({"content": [], "tool_calls": CALLS}, "", "null"),
        ({"content": [IMAGE], "refusal": "no"}, "", "null"),
    ],
)
def test_text_comes_from_content_and_never_from_reasoning(message: dict, text: str, kind: str) -> None:
    # covers RUN-012, RUN-013
    reply = read_reply(body(message))
    assert (reply.text, reply.content_kind) == (text, kind)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"content": None},
        {"content": []},
        {"content": [IMAGE]},
        {"content": None, "tool_calls": []},
        {"content": None, "refusal": ""},
        {"content": None, "reasoning": "", "reasoning_content": None, "reasoning_details": []},
        {"content": None, "tool_calls": {"id": "1"}, "reasoning": True},
        {"content": 5},
        {"content": {"text": "hi"}},
        {"content": False, "tool_calls": CALLS},
    ],
)
def test_a_message_that_says_nothing_at_all_is_malformed(message: dict) -> None:
    # covers RUN-013
    with pytest.raises(CallError, match="unsupported form"):
        read_reply(body(message))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("stop", "stop"),
        ("", ""),
        ("x" * 100, "x" * 100),
        ("x" * 101, None),
        (None, None),
        (3, None),
        ([], None),
    ],
)
def test_a_finish_reason_is_any_short_text(value: Any, read: str | None) -> None:
    # covers RUN-015
    assert read_reply(body(choice={"finish_reason": value})).finish_reason == read
    assert read_reply(body()).finish_reason is None


@pytest.mark.parametrize(
    ("value", "read"),
    [("m", "m"), ("", ""), ("x" * 200, "x" * 200), ("x" * 201, None), (None, None), (True, None)],
)
def test_an_observed_model_is_any_text_up_to_200_characters(value: Any, read: str | None) -> None:
    # covers RUN-015
    assert read_reply(body(model=value)).model_observed == read


def usage_of(usage: Any) -> Usage:
    return read_reply(body(usage=usage)).usage


@pytest.mark.parametrize(
    ("number", "read"),
    [
        (0, 0),
        (7, 7),
        (2**63 - 1, 2**63 - 1),
        (2**63, None),
        (-1, None),
        (7.0, None),
        ("7", None),
        (True, None),
        (False, None),
        (None, None),
        ([7], None),
    ],
)
def test_each_usage_number_is_taken_on_its_own(number: Any, read: int | None) -> None:
    # covers RUN-016
    usage = usage_of({"prompt_tokens": number, "completion_tokens": 5, "total_tokens": number})
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (read, 5, read)


@pytest.mark.parametrize(
    ("usage", "kind"),
    [
        ({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109}, "full"),
        ({"prompt_tokens": 35, "completion_tokens": 12}, "partial"),
        ({"total_tokens": 0}, "partial"),
        ({"prompt_tokens": "35"}, "absent"),
        ({}, "absent"),
        (None, "absent"),
        ([], "absent"),
        (5, "absent"),
    ],
)
def test_usage_is_full_partial_or_absent_and_totals_are_not_computed(usage: Any, kind: str) -> None:
    # covers RUN-016, RUN-017
    read = usage_of(usage)
    assert read.kind == kind
    assert read.total_tokens == (usage.get("total_tokens") if isinstance(usage, dict) else None)


DETAILS = "prompt_tokens_details"


@pytest.mark.parametrize(
    ("usage", "cached", "conflict"),
    [
        ({DETAILS: {"cached_tokens": 3}}, 3, False),
        ({"num_cached_tokens": 4}, 4, False),
        ({"cached_tokens": 5}, 5, False),
        ({"prompt_cache_hit_tokens": 6}, 6, False),
        ({DETAILS: {"cached_tokens": 512}, "prompt_cache_hit_tokens": 512}, 512, False),
        ({DETAILS: {"cached_tokens": 3}, "prompt_cache_hit_tokens": 6}, 3, True),
        ({"prompt_cache_hit_tokens": 6, "cached_tokens": 5, "num_cached_tokens": 4}, 4, True),
        ({DETAILS: {"cached_tokens": 0}}, 0, False),
        ({DETAILS: {"cached_tokens": 0}, "cached_tokens": 9}, 0, True),
        ({DETAILS: {"cached_tokens": None}, "cached_tokens": 9}, 9, False),
        ({DETAILS: {"cached_tokens": 1.5}, "cached_tokens": "9"}, None, False),
        ({DETAILS: [1]}, None, False),
        ({"prompt_tokens": 10}, None, False),
    ],
)
def test_cached_tokens_come_from_the_first_field_that_holds_a_number(
    usage: dict, cached: int | None, conflict: bool
) -> None:
    # covers RUN-018
    read = usage_of(usage)
    assert (read.cached_tokens, read.cached_conflict) == (cached, conflict)


def test_cache_writes_are_read_from_the_prompt_details() -> None:
    # covers RUN-018
    assert usage_of({DETAILS: {"cache_write_tokens": 21}}).cache_write_tokens == 21
    assert usage_of({"cache_write_tokens": 21}).cache_write_tokens is None


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"a\ud800b", "a\ufffdb"),
        (r"\udc00", "\ufffd"),
        (r"\ud83d\ude00", "😀"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\ud83d\ude00", "\ufffd😀"),
        (r"end\ud83d", "end\ufffd"),
    ],
)
def test_a_lone_surrogate_becomes_the_replacement_character(escaped: str, text: str) -> None:
    # covers RUN-019
    raw = f'{{"choices": [{{"message": {{"content": "{escaped}"}}, "finish_reason": "{escaped}"}}]}}'.encode()
    reply = read_reply(raw)
    assert (reply.text, reply.finish_reason) == (text, text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_whole_text_is_left_as_it_is(text: str) -> None:
    # covers RUN-012, RUN-019
    assert whole_characters(text) == text


@given(st.lists(st.sampled_from(["a", "é", "😀", "\ud83d", "\ude00"])).map("".join))
def test_no_surrogate_is_left_in_any_text(text: str) -> None:
    # covers RUN-019
    assert not any("\ud800" <= character <= "\udfff" for character in whole_characters(text))


@pytest.mark.parametrize(
    ("content", "stripped"),
    [
        ("<think>Maybe 41? No, 42.</think>\n42", "42"),
        ("\n<think>\n\n</think>\n\n42 ", "42 "),
        ("<think>a</think><think>b</think>c", "<think>b</think>c"),
        ("<think>never closed 42", "<think>never closed 42"),
        ("so <think>a</think> 42", "so <think>a</think> 42"),
        ("<think>only</think>", ""),
        ("42", "42"),
    ],
)
def test_one_leading_think_block_goes_only_when_asked(content: str, stripped: str) -> None:
    # covers RUN-020
    raw = body({"content": content})
    assert read_reply(raw, strip_reasoning=True).text == stripped
    assert read_reply(raw).text == content


# One line per recorded body: text or its beginning, kind, finish reason, prompt, completion, total, cached tokens.
RECORDED = [
    ("4", "text", "stop", 21, 2, 23, 0),
    ("4", "text", "stop", 18, 2, 20, 0),
    ("The answer is 4.", "text", "stop", 13, 7, 20, 0),
    ("4", "text", "stop", 80, 45, 125, 0),
    ("4.", "text", "stop", 79, 37, 116, 0),
    ("Let me load the dice rolling capability!", "text", "tool_calls", 563, 116, 679, 512),
    ("Bien sûr!\n\nThe lovely city that is the capital of France is ", "text", "stop", 35, 25, 60, None),
    ("4", "text", "stop", 25, 2, 27, None),
    ("4", "text", "stop", 84, 58, 142, None),
    ("4", "text", "stop", 84, 42, 126, None),
    ("2 + 2 = 4.", "text", "stop", 20, 118, 138, 0),
    ("The capital of France is ", "text", "stop", 28, 6, 34, None),
    ("4", "text", "stop", 28, 2, 30, 0),
    ("", "text", "tool_calls", 65, 16, 81, None),
    ("", "text", "tool_calls", 61, 8, 69, 0),
    ("The weather in Paris is currently sunny.", "text", "stop", 74, 9, 83, 0),
    ("OK", "text", "stop", 65, 1, 66, 0),
    ("", "null", "tool_calls", 48, 14, 62, 0),
    ("", "null", "tool_calls", 48, 14, 62, 0),
    ("4", "text", "stop", 13, 369, 382, 0),
    ("", "null", "tool_calls", 35, 12, 109, None),
    ("The capital of France is Paris.", "text", "stop", 42, 8, 50, None),
    ('{"name":"Loki","animal":"cat","age":3}', "text", "stop", 172, 88, 260, None),
    ("The main content of this document appears", "text", "stop", 23, 48, 71, 0),
    ("Hello! How can I help you today?", "text", "stop", 8, 15, 23, None),
    ("The PDF appears to be a dummy placeholder file.", "text", "stop", 31, 80, 111, 0),
    ("", "text", "tool_calls", 326, 91, 417, 0),
    ("I'm not able to provide real-time information", "text", "stop", 17, 210, 227, None),
    ("", "text", "tool_calls", 608, 30, 638, None),
    ("", "text", "tool_calls", 634, 106, 740, None),
]


@pytest.mark.skipif(not SAMPLE.is_file(), reason="recorded bodies are not at hand")
@pytest.mark.parametrize("line", range(30))
def test_a_recorded_body_is_read_as_a_person_reads_it(line: int) -> None:
    # covers RUN-011, RUN-012, RUN-013, RUN-016, RUN-018
    recorded = json.loads(SAMPLE.read_text(encoding="utf-8").splitlines()[line])
    text, kind, finish_reason, prompt, completion, total, cached = RECORDED[line]
    reply = read_reply(json.dumps(recorded["body"]).encode())
    assert reply.text.startswith(text)
    assert bool(reply.text) == bool(text)
    assert (reply.content_kind, reply.finish_reason) == (kind, finish_reason)
    assert reply.usage == Usage(
        prompt_tokens=prompt, completion_tokens=completion, total_tokens=total, cached_tokens=cached
    )
