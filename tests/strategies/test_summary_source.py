"""The source of a summary, and which call saw which of its spans when it is sent in pieces."""

import json

import pytest

from ctxlab.budget import Budget
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.strategies.source import look_at
from ctxlab.strategies.summary_source import format_source
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, user

CALL = ToolCall(id="c1", function=Function(name="run", arguments='{"a": 1}'))


def formatted(*messages):
    case = make_case(messages=(*messages, user("And?")))
    return format_source(look_at(case, Budget(), token_counter(None)))


def fates(spans):
    return [(s.item_index, s.part, s.start, s.end, s.fate, s.call_index) for s in spans]


def cut(text, *places):
    return [text[start:end] for start, end in zip((0, *places), (*places, len(text)), strict=True)]


# covers STR-081, STR-083
def test_blocks_begin_with_the_role_and_calls_stand_behind_the_text():
    source = formatted(user("Hi"), assistant(None, tool_calls=(CALL,)), assistant("Both", tool_calls=(CALL,)))
    assert (
        source.text == '[user] Hi\n\n[tool call] run({"a": 1})\n\n[assistant] Both\n[tool call] run({"a": 1})'
    )
    assert [source.text[start:][:7] for start in source.blocks] == ["[user] ", "[tool c", "[assist"]


# covers STR-034, STR-037, STR-083
def test_a_span_that_crosses_a_cut_is_split_and_each_piece_names_its_call():
    source = formatted(user("abcdef"), assistant("gh", tool_calls=(CALL,)))
    # [user] abcdef is 13 characters; the second block begins at 15, its arguments at 46
    assert source.text.index('{"a"') == 46
    assert fates(source.claims(cut(source.text, 10, 11, 15, 48), calls=5)) == [
        (0, "content", 0, 3, "summarised", 0),
        (0, "content", 3, 4, "summarised", 1),
        (0, "content", 4, 6, "summarised", 2),
        (1, "content", 0, 2, "summarised", 3),
        (1, "arguments:0", 0, 2, "summarised", 3),
        (1, "arguments:0", 2, 8, "summarised", 4),
    ]


# covers STR-034, STR-037
def test_what_stands_in_a_piece_that_was_not_sent_reached_no_helper():
    source = formatted(user("abcdef"), assistant("gh"))
    pieces = cut(source.text, 10, 15)
    assert fates(source.claims(pieces, calls=1)) == [(0, "content", 0, 3, "summarised", 0)]
    assert fates(source.claims(pieces, calls=2)) == [
        (0, "content", 0, 3, "summarised", 0),
        (0, "content", 3, 6, "summarised", 1),
    ]
    assert source.claims(pieces, calls=0) == ()


# covers STR-034, STR-036
def test_a_span_that_begins_or_ends_at_a_cut_is_whole():
    source = formatted(user("abcdef"))
    assert fates(source.claims(cut(source.text, 7), calls=2)) == [(0, "content", 0, 6, "summarised", 1)]
    source = formatted(user("abcdef"), assistant("gh"))
    first, *_ = fates(source.claims(cut(source.text, 13), calls=2))
    assert first == (0, "content", 0, 6, "summarised", 0)
    assert len(source.claims(cut(source.text, 13), calls=2)) == 2


# covers STR-034, STR-037, STR-058
def test_a_cut_inside_a_string_that_only_the_facts_show_splits_its_token():
    result = json.dumps({"log": "z" * 5000, "error": 'line "one"\nline two', "more": "y" * 3000})
    source = formatted(
        user("Run."),
        assistant(None, tool_calls=(CALL,)),
        Message(role="tool", content=result, tool_call_id="c1"),
    )
    begin = result.index('"line')
    shown = source.text.index('line "one"')
    # up to and with the line break: 11 characters shown, 14 in the source behind the mark: line \"one\"\n
    pieces = cut(source.text, shown + 11)
    spans = [s for s in source.claims(pieces, calls=2) if begin <= s.start < begin + 24]
    assert fates(spans) == [
        (2, "content", begin, begin + 15, "summarised", 0),
        (2, "content", begin + 15, begin + 23, "summarised", 1),
    ]
    assert result[begin : begin + 15] == '"line \\"one\\"\\n'
    assert result[begin + 15 : begin + 24] == 'line two"'


# covers STR-081, STR-035
@pytest.mark.parametrize("text", ["", None], ids=["empty", "null"])
def test_messages_with_neither_text_nor_calls_are_skipped(text):
    source = formatted(user("Hi"), assistant(text))
    assert (source.text, source.blocks) == ("[user] Hi", (0,))
