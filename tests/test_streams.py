"""Event streams, whatever the places at which the network cuts them."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.calls import Reply, Usage
from ctxlab.errors import CallError
from ctxlab.streams import ReplyStream, SseReader


def read(*chunks: bytes, **options: Any) -> Reply:
    stream = ReplyStream(**options)
    for chunk in chunks:
        stream.feed(chunk)
    return stream.finish()


def events(*chunks: bytes) -> list[bytes]:
    reader = SseReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()


def delta(content: Any = None, *, finish_reason: Any = None, **top: Any) -> bytes:
    change = {} if content is None else {"content": content}
    chunk = {"model": "m", "choices": [{"index": 0, "delta": change, "finish_reason": finish_reason}], **top}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}

# Comments, blank lines, CR LF, several data lines in one event, other fields, a multi-byte character.
SPECIAL = (
    b": ping\r\n\r\n"
    b"event: message\r\nid: 1\r\n"
    b'data: {"model": "m", "choices": [{"index": 0,\r\n'
    b'data:  "delta": {"content": "h\xc3\xa9"}}]}\r\n'
    b"\r\n\r\n"
    b'data:{"choices":[{"delta":{"content":"\xf0\x9f\x98\x80"},"finish_reason":"stop"}]}\n\n'
    b": usage comes apart\n"
    b'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}\n\n'
    b"data: [DONE]\n\n"
)
EXPECTED = Reply(text="hé😀", finish_reason="stop", model_observed="m", usage=Usage(**USAGE))


@pytest.mark.parametrize("place", range(len(SPECIAL) + 1))
def test_a_stream_may_be_cut_at_any_byte(place: int) -> None:
    # covers RUN-054
    assert read(SPECIAL[:place], SPECIAL[place:]) == EXPECTED


def test_a_stream_may_come_byte_by_byte() -> None:
    # covers RUN-054
    assert read(*(SPECIAL[i : i + 1] for i in range(len(SPECIAL)))) == EXPECTED


@settings(max_examples=50)
@given(st.lists(st.integers(0, len(SPECIAL)), max_size=8), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_line_ends_and_cuts_change_nothing(places: list[int], line_end: bytes) -> None:
    # covers RUN-054
    body = SPECIAL.replace(b"\r\n", b"\n").replace(b"\n", line_end)
    cuts = [0, *sorted(places), len(body)]
    assert read(*(body[a:b] for a, b in itertools.pairwise(cuts))) == EXPECTED


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a", [b"a"]),
        (b"event: x\nretry: 5\n\n: c\n\n", []),
        (b"datas: a\n\n", []),
        (b"", []),
    ],
)
def test_events_are_the_data_between_blank_lines(body: bytes, found: list[bytes]) -> None:
    # covers RUN-054
    assert events(body) == found


def test_usage_is_taken_from_whichever_event_carries_it() -> None:
    # covers RUN-054
    early = read(delta("a", usage=USAGE), delta("b", finish_reason="stop"), DONE)
    late = read(delta("a", usage=None), delta("b", finish_reason="stop", usage=USAGE), DONE)
    assert early == late == Reply(text="ab", finish_reason="stop", model_observed="m", usage=Usage(**USAGE))


def test_text_begins_with_the_first_delta_that_is_not_empty() -> None:
    # covers RUN-053
    stream = ReplyStream()
    seen = []
    for chunk in (delta(""), delta(), delta("a"), delta("", finish_reason="stop")):
        stream.feed(chunk)
        seen.append(stream.has_text)
    assert seen == [False, False, True, True]


@pytest.mark.parametrize(
    "chunks",
    [
        (b"",),
        (DONE,),
        (delta("half"),),
        (delta("half", finish_reason=""),),
        (b'data: {"choices": []}\n\n', DONE),
        (delta("a"), b'data: {"error": {"message": "overloaded"}}\n\n', DONE),
        (delta("a", finish_reason="stop"), b'data: {"error": "overloaded"}\n\n'),
        (delta("a"), b"data: {broken\n\n", DONE),
        (delta("a"), b"data: 5\n\n", DONE),
        (delta("a"), b'data: {"x": "\xff"}\n\n', DONE),
        (delta("a", finish_reason="stop"), delta("b")[:20]),
        (b"<html>\n\n<p>Bad gateway</p>\n\n</html>",),
        (b'{"error": {"message": "no"}}',),
        (b'[{"choices": []}]',),
    ],
)
def test_a_stream_that_is_cut_short_or_unreadable_is_malformed(chunks: tuple[bytes, ...]) -> None:
    # covers RUN-055
    with pytest.raises(CallError) as caught:
        read(*chunks)
    assert caught.value.kind == "malformed_platform_response"


@pytest.mark.parametrize("chunks", [(delta("a"), DONE), (delta("a", finish_reason="stop"),)])
def test_a_done_mark_or_a_finish_reason_completes_a_stream(chunks: tuple[bytes, ...]) -> None:
    # covers RUN-055
    assert read(*chunks).text == "a"


def test_an_empty_finish_reason_gives_way_to_a_real_one() -> None:
    # covers RUN-015, RUN-055
    assert read(delta("a", finish_reason=""), delta(finish_reason="length"), DONE).finish_reason == "length"
    assert read(delta("a", finish_reason="stop"), delta(finish_reason=""), DONE).finish_reason == "stop"
    assert read(delta("a", finish_reason=""), DONE).finish_reason == ""


def test_what_follows_the_done_mark_is_ignored() -> None:
    # covers RUN-054
    assert read(delta("a"), DONE, b"data: {broken\n\n").text == "a"


def test_one_json_body_in_place_of_events_is_read_as_buffered() -> None:
    # covers RUN-056
    body = b' \n{"choices": [{"message": {"content": "whole"}}]}'
    stream = ReplyStream()
    for start in range(0, len(body), 7):
        stream.feed(body[start : start + 7])
    assert stream.finish().text == "whole"
    assert not stream.has_text


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"tool_calls": [{"index": 0}]}, "null"),
        ({"reasoning_content": "thought"}, "null"),
        ({"refusal": "no"}, "null"),
        ({"content": None}, "text"),
        ({"role": "assistant"}, "text"),
        ({"content": ""}, "text"),
        ({"content": [{"type": "text", "text": ""}]}, "parts"),
    ],
)
def test_a_stream_without_text_says_what_it_held(change: dict, kind: str) -> None:
    # covers RUN-013
    chunk = json.dumps({"choices": [{"index": 0, "delta": change, "finish_reason": "stop"}]}).encode()
    reply = read(b"data: " + chunk + b"\n\n", DONE)
    assert (reply.text, reply.content_kind) == ("", kind)


def test_only_the_first_choice_of_a_stream_is_used() -> None:
    # covers RUN-011
    other = b'data: {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}\n\n'
    assert read(delta("a"), other, delta("b"), DONE).text == "ab"


def test_a_surrogate_pair_split_over_two_deltas_is_one_character() -> None:
    # covers RUN-019
    assert read(delta("\ud83d"), delta("\ude00"), delta("\ud83d"), DONE).text == "😀\ufffd"


def test_reasoning_is_stripped_from_the_finished_text() -> None:
    # covers RUN-020
    chunks = (delta("<think>4"), delta("1?</thi"), delta("nk>\n"), delta("42"), DONE)
    assert read(*chunks, strip_reasoning=True).text == "42"
    assert read(*chunks).text == "<think>41?</think>\n42"
