from concurrent.futures import ThreadPoolExecutor

import pytest

from ctxlab.estimates import (
    content_tokens,
    guidance_tokens,
    message_tokens,
    request_tokens,
    tool_tokens,
    tools_tokens,
)
from ctxlab.messages import Function, Message, Projected, ToolCall
from ctxlab.tokens import UTF8_BYTES_1, UTF8_BYTES_2, counter_named, token_counter

CALL = ToolCall(id="call_1", function=Function(name="run", arguments='{"a":1}'))
TOOL = {
    "type": "function",
    "function": {"name": "run", "description": "Run it", "parameters": {"type": "object", "b": 1}},
}


# covers BUD-020, BUD-022
@pytest.mark.parametrize(
    ("model", "message", "tokens"),
    [
        ("gpt-4o", Message(role="user", content="one two three four"), 17),  # 12 + 1 + 4
        ("gpt-4", Message(role="user", content="one two three four"), 17),
        ("other", Message(role="user", content="hello"), 17),  # 12 + 2 + 3
        ("other", Message(role="user", content=""), 14),
        ("other", Message(role="user", content="hello", name="ana"), 19),  # + 2 for the name
        ("other", Message(role="tool", content="ok", tool_call_id="call_1"), 18),  # 12 + 2 + 1 + 3
        ("other", Message(role="assistant", content=None, tool_calls=(CALL,)), 46),  # 12 + 5 + 20 + 3 + 2 + 4
        ("other", Message(role="assistant", content=None, tool_calls=(CALL, CALL)), 75),
    ],
)
def test_a_message_costs_its_envelope_and_each_text_item(model, message, tokens):
    assert message_tokens(message, token_counter(model)) == tokens


# covers BUD-020
@pytest.mark.parametrize(
    ("tool", "tokens"),
    [
        (TOOL, 56),  # 24 + `run` 3 + `Run it` 6 + `{"type":"object","b":1}` 23
        ({"type": "function", "function": {"name": "run"}}, 27),
        ({"type": "function", "function": {"name": "run", "description": None, "parameters": None}}, 27),
        ({"name": "run"}, 27),
    ],
)
def test_a_tool_definition_costs_name_description_and_schema_as_compact_json(tool, tokens):
    assert tool_tokens(tool, UTF8_BYTES_1) == tokens


# covers BUD-020
def test_guidance_costs_as_much_as_a_user_message_and_nothing_when_absent():
    assert guidance_tokens(None, UTF8_BYTES_2) == 0
    assert guidance_tokens("hello", UTF8_BYTES_2) == 17


# covers BUD-025
def test_a_request_is_the_sum_of_its_messages_tools_and_guidance():
    messages = [Message(role="user", content="hello"), Message(role="user", content="hello")]
    assert request_tokens(messages, UTF8_BYTES_2) == 34
    assert request_tokens(messages, UTF8_BYTES_2, guidance="hello") == 51
    # 24 + ceil(3/2) + 3 + ceil(23/2) = 41
    assert tools_tokens([TOOL, TOOL], UTF8_BYTES_2) == 82
    assert request_tokens(messages, UTF8_BYTES_2, tools=[TOOL, TOOL], guidance="hello") == 133


# covers BUD-020, BUD-025
@pytest.mark.parametrize(
    ("text", "tokens"), [("é" * 200, 200), ("é" * 100, 100), ("a" * 200, 100), ("日" * 67, 101)]
)
def test_a_text_costs_the_same_for_whoever_shortens_and_whoever_checks(text, tokens):
    message = Message(role="user", content=text)
    assert UTF8_BYTES_2(text) == tokens
    assert message_tokens(message, UTF8_BYTES_2) == request_tokens([message], UTF8_BYTES_2) == 14 + tokens


# covers BUD-023
def test_content_accounting_adds_only_contents_and_the_answer_schema():
    messages = [
        Message(role="system", content="abc", name="ana"),
        Message(role="assistant", content=None, tool_calls=(CALL,)),
        Message(role="user", content="é"),
    ]
    assert content_tokens(messages, UTF8_BYTES_1) == 5
    assert content_tokens(messages, UTF8_BYTES_1, answer_schema={"b": 1, "a": [1, 2]}) == 5 + len(
        '{"b":1,"a":[1,2]}'
    )


# covers BUD-024
def test_a_projected_message_costs_the_text_that_is_sent():
    projected = Projected(role="tool", content="short", tool_call_id="c", source_characters=90_000)
    assert message_tokens(projected, UTF8_BYTES_1) == 12 + 4 + 5 + 1


# covers BUD-025
def test_requests_are_estimated_alike_while_other_models_are_counted_at_the_same_time():
    messages = [Message(role="user", content=f"line {n}: café, 日本語, run_{n}") for n in range(40)]
    counters = [counter_named(name) for name in ("cl100k_base", "o200k_base", "utf8_bytes_2")]
    alone = [request_tokens(messages, counter, tools=[TOOL]) for counter in counters]
    with ThreadPoolExecutor(6) as pool:
        together = list(
            pool.map(lambda n: request_tokens(messages, counters[n % 3], tools=[TOOL]), range(30))
        )
    assert together == alone * 10
