import json
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.budget import Budget
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.strategies.mined import decoded, joined, mine, within
from ctxlab.strategies.project import claims_of, project
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.verify import violations
from ctxlab.thresholds import Thresholds
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, user

COUNTER = token_counter(None)
LEVEL = (384, 128)  # 512 characters: 256 for facts
PAD = "x" * 600


def facts(text, characters=2000):
    return [f"{fact.name}: {fact.text}".removeprefix(": ") for fact in mine(text, characters=characters)]


# covers STR-054
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"id": "a1"}], ["id: a1"]),
        ({"stdout": "fine", "id": "a1"}, ["id: a1"]),
        ({"stderr": "", "id": "a1"}, ["id: a1"]),
        ({"path": "/a", "id": "a1"}, ["path: /a", "id: a1"]),
        ({"resource": 7, "id": "a1"}, ["resource: 7", "id: a1"]),
        ({"operation": "x", "id": "a1"}, ["id: a1"]),
        ({"files": [], "id": "a1"}, ["id: a1"]),
        ({"text": "", "id": "a1"}, ["id: a1"]),
        ({"error": None, "id": "a1"}, ["id: a1"]),
        ({"id": "a1"}, []),  # an object without one of the eight names
        ({"message": {"path": "/a"}}, []),
        ("path", []),
        (7, []),
    ],
)
def test_an_array_or_an_object_with_one_of_eight_names_is_mined(value, expected):
    assert [fact for fact in facts(json.dumps(value)) if not fact.startswith("{")] == expected


# covers STR-055
def test_errors_exit_code_status_and_timed_out_come_first_and_the_rest_in_source_order():
    result = {
        "url": "u1", "timedOut": True, "status": "bad", "exitCode": 3, "total": 9, "errors": ["e1", "e2"], "error": "e0",
        "stdout": "", "color": "red",
    }  # fmt: skip
    assert facts(json.dumps(result)) == [
        "error: e0", "errors: e1", "errors: e2", "exitCode: 3", "status: bad", "timedOut: true", "url: u1", "total: 9",
    ]  # fmt: skip


# covers STR-055
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("exit_code", True),
        ("timed_out", True),
        ("dry_run", True),
        ("file_path", True),
        ("next_cursor", True),
        ("userId", True),
        ("user_id", True),
        ("Id", True),
        ("uid", False),
        ("idea", False),
        ("Status", False),
        ("message", False),
    ],
)
def test_names_in_snake_case_and_names_ending_in_id_count(name, kept):
    assert facts(json.dumps([{name: "v"}])) == ([f"{name}: v"] if kept else [])


# covers STR-055
def test_values_are_cut_at_320_characters_and_blank_ones_are_skipped():
    text = json.dumps(
        [{"id": "", "uri": " \n", "url": None, "path": "p" * 400, "total": 0, "truncated": False}]
    )
    shown = within(mine(text, characters=2000), text, characters=2000)
    assert shown.lines == ("path: " + "p" * 319 + "…", "total: 0", "truncated: false")


# covers STR-054
def test_four_levels_are_walked_and_thirty_two_are_parsed():
    def nested(depth, leaf):
        return leaf if depth == 0 else [nested(depth - 1, leaf)]

    assert facts(json.dumps([{"id": 1, "a": {"id": 2, "a": {"id": 3, "a": {"id": 4}}}}])) == [
        "id: 1",
        "id: 2",
        "id: 3",
    ]
    assert facts(json.dumps([{"id": 1}, nested(31, 0)])) == ["id: 1"]  # 32 levels with the root
    assert facts(json.dumps([{"id": 1}, nested(32, 0)])) == []
    assert facts('[{"id": 1}, ' + "[" * 100_000 + "]" * 100_000 + "]") == []


# covers STR-054
def test_two_thousand_and_forty_eight_nodes_are_visited_upper_levels_first():
    text = json.dumps({"files": [{"id": i} for i in range(3000)], "total": 3000})
    found = facts(text, characters=100_000)
    # 2 members of the root and 2,046 items of the list, which leaves none of their members
    assert found == ["total: 3000"]
    text = json.dumps([{"id": i} for i in range(1500)])
    # 1,500 items, then 548 of their members
    assert facts(text, characters=100_000) == [f"id: {i}" for i in range(548)]


# covers STR-056
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ok\nAn ERROR here  \nok", ["An ERROR here"]),
        ("1 Failed\r\n2 passed\r\nunexpected exception", ["1 Failed", "unexpected exception"]),
        ("warning: a\rwarning: b", ["warning: a", "warning: b"]),
        ("all is well", []),
        (json.dumps({"stdout": "a\nerror 1\nb", "id": 5}), ["id: 5", "error 1"]),
        (json.dumps({"stderr": 'say \\ "fail" \u00e9\n'}), ['say \\ "fail" \u00e9']),
        (json.dumps({"text": ["x", "an error"]}), ["an error"]),
        (json.dumps({"path": "/a", "stdout": "fine", "note": "error"}), ["path: /a"]),
        ('{"path": "/a",\n"note": "error"}', ["path: /a", '"note": "error"}']),
    ],
)
def test_failure_lines_of_the_streams_or_of_the_whole_are_facts(text, expected):
    assert facts(text) == expected


# covers STR-056
def test_a_line_is_cut_at_320_characters():
    text = f"ok\nerror {'y' * 400}\nok"
    shown = within(mine(text, characters=2000), text, characters=2000)
    assert shown.lines == ("error " + "y" * 313 + "…",)
    assert shown.plain == ((3, 3 + 319),)


# covers STR-057
@pytest.mark.parametrize(
    "text",
    [
        '{"error": "x",}',
        '[{"id": 1}',
        '{"error": NaN}',
        '{"error": 1} tail',
        '[{"id": "\n"}]',
        '{"error": Infinity}',
    ],
)
def test_malformed_json_is_text(text):
    assert not any(fact.startswith(("id:", "error:")) for fact in facts(text))
    assert mine(text + "\nfail", characters=2000)[-1].text == "fail"


# covers STR-057
@pytest.mark.parametrize("level", [(3000, 1000), (1500, 500), (750, 250), (384, 128)])
def test_a_failure_line_in_the_middle_is_shown_at_every_level(level):
    text = "fine line\n" * 500 + "E1042 failed here " + "z" * 282 + "\n" + "fine line\n" * 500
    message = Message(role="tool", content=text, tool_call_id="c1")
    projected, short = project(message, name="run", level=level, thresholds=Thresholds())
    second = projected.content.split("\n")[1]
    assert second.startswith("E1042 failed here zzz")
    # whole with its 300 characters; at the smallest level 256 less the line break, of which the last is the ellipsis
    assert len(second) == (255 if level == LEVEL else 300)
    assert (5000, 5000 + (254 if level == LEVEL else 300)) in short.ranges


# covers STR-052
def test_facts_use_at_most_half_and_the_excerpt_gets_the_rest():
    text = "a" * 300 + "\nerror 1\n" + "b" * 3000
    message = Message(role="tool", content=text, tool_call_id="c1")
    projected, short = project(message, name="run", level=LEVEL, thresholds=Thresholds())
    # 512 - 8 characters of "error 1" with its line break = 504: 378 at the beginning and 126 at the end
    assert projected.content.split("\n", 2)[1] == "error 1"
    assert projected.content.endswith("\n" + text[:378] + "\n…\n" + text[-126:])
    # the line stands in facts and excerpt, and counts once
    assert short.ranges == ((0, 378), (len(text) - 126, len(text)))
    many = "\n".join(f"error number {i:03}" for i in range(400))
    message = Message(role="tool", content=many, tool_call_id="c1")
    projected, _ = project(message, name="run", level=LEVEL, thresholds=Thresholds())
    # of 256 characters the beginning gets at least 192, which show eleven lines whole; a line takes 17: 15 fit 256
    assert projected.content.split("\n")[1:17] == [f"error number {i:03}" for i in range(11, 26)] + [
        "error number 000"
    ]


# covers STR-056
def test_a_failure_line_that_the_beginning_shows_anyway_takes_no_room():
    text = '{"error": null, "path": "/a", "note": "' + "n" * 900 + '"}'
    message = Message(role="tool", content=text, tool_call_id="c1")
    projected, _ = project(message, name="run", level=LEVEL, thresholds=Thresholds())
    assert projected.content.split("\n")[1:3] == [
        "path: /a",
        text[:377],
    ]  # 512 - 9 = 503: 377 at the beginning


# covers STR-058
@pytest.mark.parametrize(
    ("ranges", "strings", "expected"),
    [
        ([(0, 10), (90, 100)], [(40, 50)], ((0, 10), (40, 50), (90, 100))),
        ([(0, 10), (90, 100)], [(2, 8)], ((0, 10), (90, 100))),  # in facts and excerpt: once
        ([(0, 10), (90, 100)], [(5, 20)], ((0, 5), (5, 20), (90, 100))),
        ([(0, 10), (90, 100)], [(80, 95)], ((0, 10), (80, 95), (95, 100))),
        ([(0, 10), (90, 100), (5, 20)], [], ((0, 5), (5, 20), (90, 100))),
        ([(0, 10), (8, 20)], [(9, 30)], ((0, 8), (8, 9), (9, 30))),
        ([(0, 0), (5, 9)], [], ((0, 0), (5, 9))),
    ],
)
def test_what_two_ranges_share_counts_once(ranges, strings, expected):
    assert joined(ranges, strings) == expected


# covers STR-037, STR-058
@pytest.mark.parametrize(
    ("quotation", "meant"),
    [
        ('"a\\nb"', "a\nb"),
        ('"a\\nb', "a\nb"),
        ("a\\u00e9", "aé"),
        ('"\\ud83d\\ude00"', "😀"),
        ('"a" b', None),
        ('a"b', None),
        ("a\\", None),
        ("a\nb", None),
        ('"a\\u00', None),
    ],
)
def test_a_quotation_of_a_json_string_is_decoded_or_is_none(quotation, meant):
    assert decoded(quotation) == meant


def tool_case(text):
    call = ToolCall(id="c1", function=Function(name="run", arguments="{}"))
    result = Message(role="tool", content=text, tool_call_id="c1")
    return make_case(messages=(user("Go."), assistant(None, tool_calls=(call,)), result))


# covers STR-058, STR-037
def test_a_mined_value_is_ledgered_as_its_token():
    text = '[{"note": "' + PAD + '", "error": "first\\nsecond \\u00e9", "x": "' + PAD + '"}]'
    start = text.index('"first')
    case = tool_case(text)
    fitted = Shorten(target_tokens=500).fit(case, Budget(), COUNTER)
    assert "error: first\nsecond é" in fitted.messages[2].content
    token = next(s for s in fitted.ledger if s.item_index == 2 and s.start == start)
    assert (token.fate, text[token.start : token.end]) == ("projected", '"first\\nsecond \\u00e9"')
    assert violations(case, fitted, Budget(), COUNTER) == []


# covers STR-037, STR-012
@pytest.mark.parametrize("widened", [0, 1, 40])
def test_a_mined_span_that_claims_more_than_is_shown_is_found(widened):
    text = '[{"note": "' + PAD + '", "error": "first\\nsecond", "x": "third\\n' + PAD + '"}]'
    case = tool_case(text)
    fitted = Shorten(target_tokens=500).fit(case, Budget(), COUNTER)
    start = text.index('"first')
    ledger, after = [], None
    for span in fitted.ledger:
        if span.item_index == 2 and span.start == start:
            after = span.end
            span = replace(span, end=after + widened)
        elif span.item_index == 2 and widened and span.start == after:
            span = replace(span, start=span.start + widened)
        ledger.append(span)
    found = violations(case, replace(fitted, ledger=tuple(ledger)), Budget(), COUNTER)
    assert found == (["STR-037: a projected span is not in the result"] if widened else [])


# covers STR-037
def test_a_token_that_is_shown_in_another_result_does_not_count():
    text = '[{"note": "' + PAD + '", "error": "one\\ntwo", "x": "' + PAD + '"}]'
    calls = tuple(ToolCall(id=f"c{i}", function=Function(name="run", arguments="{}")) for i in (1, 2))
    results = tuple(Message(role="tool", content=text, tool_call_id=f"c{i}") for i in (1, 2))
    case = make_case(messages=(user("Go."), assistant(None, tool_calls=calls), *results))
    fitted = Shorten(target_tokens=1000).fit(case, Budget(), COUNTER)
    assert violations(case, fitted, Budget(), COUNTER) == []
    hidden = replace(fitted.messages[3], content=fitted.messages[3].content.replace("one\ntwo", "one"))
    broken = replace(fitted, messages=(*fitted.messages[:3], hidden))
    assert violations(case, broken, Budget(), COUNTER) == ["STR-037: a projected span is not in the result"]


names = st.sampled_from(
    ["error", "errors", "stdout", "text", "id", "userId", "path", "status", "note", "files"]
)
strings = st.text(
    st.sampled_from('ab\\"/\n\r\té😀\u2028 {[}]:,') | st.characters(codec="utf-8"), max_size=40
) | st.just("line\nan error\\ here\n\ttail")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=25,
)
results = st.builds(
    lambda value, ascii_only, indent, pad: json.dumps([value, pad], ensure_ascii=ascii_only, indent=indent),
    values,
    st.booleans(),
    st.sampled_from([None, 2]),
    st.sampled_from(["x" * 600, "error " * 150, "é\n" * 400]),
)


# covers STR-037, STR-052, STR-058
@given(text=results, level=st.sampled_from([(384, 128), (750, 250), (30, 10), (3, 1)]))
@settings(max_examples=150, deadline=None)
def test_every_projected_span_is_shown_and_every_character_counted_once(text, level):
    message = Message(role="tool", content=text, tool_call_id="c1")
    found = project(message, name="run", level=level, thresholds=Thresholds())
    assert (found is None) == (len(text) <= sum(level))
    if found is None:
        return
    projected, short = found
    body = projected.content.partition("\n")[2]
    assert len(body) <= sum(level) + len("\n…\n")
    spans = claims_of(2, short, fate="projected")
    assert "".join(text[s.start : s.end] for s in spans) == text
    for span in spans:
        quoted = text[span.start : span.end]
        assert span.fate == "omitted" or quoted in body or decoded(quoted) in body


# covers STR-054, STR-057
@given(text=st.text(st.sampled_from('{}[]":,\\ntrue1 error\n'), max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_mined_and_facts_stand_in_it(text):
    for fact in mine(text, characters=500):
        quoted = text[fact.start : fact.end]
        assert fact.text == (decoded(quoted) if fact.escaped else quoted)
