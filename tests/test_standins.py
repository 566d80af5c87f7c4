"""Stand-ins reply from what they are sent alone, the same each time."""

from __future__ import annotations

import asyncio
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ctxlab.calls import ChatRequest, Generation, Reply, Usage
from ctxlab.client import EndpointClient
from ctxlab.errors import CallError, InputError
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.prompts import summary_prompt
from ctxlab.standins import STAND_INS, StandIn, identifiers, stand_in, units
from ctxlab.tokens import UTF8_BYTES_1

NAMES = ["echo", "head", "extractive", "drop", "empty", "error", "slow", "truncated", "grow", "scripted"]


def user(text: str) -> Message:
    return Message(role="user", content=text)


def assistant(text: str) -> Message:
    return Message(role="assistant", content=text)


def ask(client: StandIn, *messages: Message, **generation: Any) -> Reply:
    request = ChatRequest(messages=messages, generation=Generation(**generation))

    async def once() -> Reply:
        async with client.open() as session:
            return await session.complete(client.payload(request))

    return asyncio.run(once())


def say(name: str, *messages: Message, **generation: Any) -> str:
    return ask(stand_in(name), *messages, **generation).text


def tokens(text: str) -> int:
    """Two UTF-8 bytes are a token, the last one begun counts."""
    return math.ceil(len(text.encode()) / 2)


def helper(source: str, *, target: int) -> Message:
    return user(summary_prompt(source, target_tokens=target, form="prose"))


def test_there_are_ten_stand_ins_and_each_says_its_name() -> None:
    # covers RUN-100, RUN-070
    assert list(STAND_INS) == NAMES
    for name in NAMES:
        client = stand_in(name, replies=["x"] if name == "scripted" else ())
        assert (client.kind, client.endpoint, client.model) == (f"stand-in:{name}", f"stand-in:{name}", name)


def test_another_name_is_refused_with_the_ones_there_are() -> None:
    # covers RUN-100
    with pytest.raises(InputError, match="stand-in: unknown name; allowed are echo, head, extractive"):
        stand_in("parrot")
    with pytest.raises(InputError, match="scripted takes its replies in Python, at least one"):
        stand_in("scripted")
    with pytest.raises(InputError, match="the others take none"):
        stand_in("echo", replies=["x"])


def test_a_stand_in_is_sent_what_an_endpoint_is_sent() -> None:
    # covers RUN-106
    request = ChatRequest(messages=(user("q"),), generation=Generation(temperature=0.0, seed=1))
    endpoint = EndpointClient(base_url="http://h", model="head")
    assert stand_in("head").payload(request) == endpoint.payload(request)


def test_echo_replies_with_the_last_message_and_usage_in_bytes() -> None:
    # covers RUN-100
    reply = ask(stand_in("echo"), Message(role="system", content="abc"), assistant("d"), user("héllo"))
    # abc is 3 bytes or 2 tokens, d is 1, and héllo has 6 bytes or 3 tokens
    assert (reply.text, reply.finish_reason, reply.model_observed) == ("héllo", "stop", "echo")
    assert reply.usage == Usage(prompt_tokens=6, completion_tokens=3, total_tokens=9)


def test_a_message_without_content_counts_nothing() -> None:
    # covers RUN-100
    call = ToolCall(id="a", function=Function(name="f", arguments="{}"))
    silent = Message(role="assistant", content=None, tool_calls=(call,))
    assert ask(stand_in("empty"), user("ab"), silent, user("cd")).usage.prompt_tokens == 2


def test_head_fills_the_target_of_a_summary_prompt_with_the_beginning_of_its_source() -> None:
    # covers RUN-100, RUN-082
    source = "[user] use at most 3 tokens, they said. " + "x" * 500
    assert say("head", helper(source, target=100)) == source[:200]


def test_head_fills_max_tokens_or_else_256_tokens() -> None:
    # covers RUN-100
    assert say("head", user("x" * 900), max_tokens=10) == "x" * 20
    assert say("head", user("x" * 900)) == "x" * 512
    assert say("head", user("use at most 5 tokens")) == "use at most 5 tokens"


@given(st.text(st.sampled_from("aé漢😀 \n"), max_size=200), st.integers(1, 50))
def test_head_is_the_longest_beginning_that_fits(source: str, room: int) -> None:
    # covers RUN-100
    text = say("head", user(source), max_tokens=room)
    assert source.startswith(text)
    assert tokens(text) <= room
    assert text == source or tokens(source[: len(text) + 1]) > room


def test_a_counter_of_ones_own_measures_room_and_usage() -> None:
    # covers RUN-100
    reply = ask(stand_in("head", count=UTF8_BYTES_1), user("x" * 90), max_tokens=10)
    assert (reply.text, reply.usage.prompt_tokens) == ("x" * 10, 90)


HISTORY = (
    user("Please look at the build. It is slow."),
    assistant(
        "The config is in src/app/build.toml.\nI changed MAX_JOBS to 4 in commit 9f3a1c2.\nAll good so far."
    ),
    user("Good. The ticket is APPROVAL-17."),
    assistant("Noted, thank you."),
    user("Which ticket and which file?"),
)


def test_extractive_answers_with_the_lines_that_hold_most_identifiers() -> None:
    # covers RUN-100, RUN-101
    # 34 and 42 bytes: MAX_JOBS, 4 and 9f3a1c2 are three identifiers, the others hold one each
    assert say("extractive", *HISTORY, max_tokens=22) == "I changed MAX_JOBS to 4 in commit 9f3a1c2."
    assert say("extractive", *HISTORY, max_tokens=38) == (
        "I changed MAX_JOBS to 4 in commit 9f3a1c2.\nThe ticket is APPROVAL-17."
    )
    assert say("extractive", *HISTORY).splitlines()[:4] == [
        "Please look at the build.",
        "It is slow.",
        "The config is in src/app/build.toml.",
        "I changed MAX_JOBS to 4 in commit 9f3a1c2.",
    ]


def test_extractive_does_not_answer_with_the_question() -> None:
    # covers RUN-100
    assert "Which ticket" not in say("extractive", *HISTORY)
    assert say("extractive", user("Only this: E1042.")) == "Only this: E1042."


def test_extractive_summarises_the_source_of_a_summary_prompt_within_its_target() -> None:
    # covers RUN-100
    source = "[user] well\n[assistant] see src/a.py\n[tool] E1042 in src/b.py:7\n[user] fine"
    assert say("extractive", helper(source, target=14)) == "[tool] E1042 in src/b.py:7"
    assert say("extractive", helper(source, target=200)) == source


def test_units_are_lines_and_sentences() -> None:
    # covers RUN-100
    assert units("One. Two!\n\nThree\n四。五") == ["One.", "Two!", "Three", "四。", "五"]


@pytest.mark.parametrize(
    ("unit", "found"),
    [
        ("plain Words here.", set()),
        ("(see `src/a.py`, E1042)", {"src/a.py", "E1042"}),
        ("max_jobs maxJobs 4 v1.2 a@b", {"max_jobs", "maxJobs", "4", "v1.2", "a@b"}),
    ],
)
def test_an_identifier_has_a_digit_a_joint_or_a_capital_inside(unit: str, found: set[str]) -> None:
    # covers RUN-100
    assert identifiers(unit) == found


def test_drop_loses_lines_by_the_seed_of_the_request() -> None:
    # covers RUN-100
    source = "\n".join(f"line {number}" for number in range(40))
    first = say("drop", helper(source, target=500), seed=1)
    kept = first.splitlines()
    assert 5 < len(kept) < 35
    assert kept == [line for line in source.splitlines() if line in kept]
    assert say("drop", helper(source, target=500), seed=1) == first
    assert say("drop", helper(source, target=500), seed=2) != first


def test_a_line_that_drop_keeps_is_kept_whatever_stands_beside_it() -> None:
    # covers RUN-100, GEN-013
    lines = [f"line {number}" for number in range(40)]
    whole = set(say("drop", helper("\n".join(lines), target=500)).splitlines())
    part = set(say("drop", helper("\n".join(lines[10:]), target=500)).splitlines())
    assert part == whole & set(lines[10:])


def test_empty_error_truncated_and_grow_do_what_their_names_say() -> None:
    # covers RUN-100
    assert ask(stand_in("empty"), user("q")).text == ""
    with pytest.raises(CallError) as caught:
        ask(stand_in("error"), user("q"))
    assert (caught.value.kind, caught.value.http_status) == ("platform_http_error", 500)
    cut = ask(stand_in("truncated"), helper("x" * 900, target=100))
    assert (cut.text, cut.finish_reason) == ("x" * 100, "length")
    assert say("grow", helper("source", target=100)) == "source\nsource"


def test_slow_waits_as_it_is_told_to() -> None:
    # covers RUN-100
    waits = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    assert ask(StandIn(name="slow", wait_s=3.5, sleep=sleep), user("q")).text == "q"
    assert waits == [3.5]


def test_scripted_gives_its_replies_in_turn_and_starts_again_with_each_session() -> None:
    # covers RUN-100
    client = stand_in("scripted", replies=["one", "two"])
    payload = client.payload(ChatRequest(messages=(user("q"),)))

    async def three() -> list[str]:
        async with client.open() as session:
            return [(await session.complete(payload)).text for _ in range(3)]

    assert asyncio.run(three()) == asyncio.run(three()) == ["one", "two", "one"]


@pytest.mark.parametrize("name", ["echo", "head", "extractive", "slow", "grow"])
def test_no_reply_is_longer_than_max_tokens(name: str) -> None:
    # covers RUN-102
    reply = ask(stand_in(name), user("a b c d e f"), max_tokens=3)
    assert (tokens(reply.text), reply.finish_reason) == (
        3,
        "stop" if name in ("head", "extractive") else "length",
    )


def test_a_stand_in_can_be_handed_to_another_process() -> None:
    # covers RUN-100
    assert pickle.loads(pickle.dumps(stand_in("drop"))) == stand_in("drop")
