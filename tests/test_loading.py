import hashlib
import json
import time
import tracemalloc

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.calls import Generation
from ctxlab.dataset import FACT_KINDS, Case, Expected, Fact, Metadata, Pattern, Scope, Snippet, parse_time
from ctxlab.errors import DatasetError, InputError
from ctxlab.loading import dataset_bytes, load_dataset
from ctxlab.messages import Function, Message, ToolCall

SECRET = "PLANTED-SECRET"


def old(**fields):
    case = {
        "schema_version": "1.0",
        "id": "c1",
        "category": "general",
        "messages": [{"role": "user", "content": "Hello?"}],
        "expected": {"exact_match": "yes"},
    }
    return {name: value for name, value in {**case, **fields}.items() if value is not ...}


def new(**fields):
    return old(schema_version="1.1", **fields) if "schema_version" not in fields else old(**fields)


def fact(**fields):
    made = {"id": "f1", "kind": "identifier", "literals": ["Hello"], **fields}
    return {name: value for name, value in made.items() if value is not ...}


def snippet(**fields):
    made = {
        "id": "s1",
        "title": "T",
        "text": "Hello",
        "scope": {"workspace": "w", "project": "p"},
        "evidence_time": "2026-01-02",
        **fields,
    }
    return {name: value for name, value in made.items() if value is not ...}


def call(id="a", **fields):  # noqa: A002
    made = {"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}, **fields}
    return {name: value for name, value in made.items() if value is not ...}


def user(content="q"):
    return {"role": "user", "content": content}


def asks(*ids, content=None):
    return {"role": "assistant", "content": content, "tool_calls": [call(one) for one in ids]}


def tool(id="a", content="r"):  # noqa: A002
    return {"role": "tool", "content": content, "tool_call_id": id}


@pytest.fixture
def load(tmp_path):
    def write_and_load(*lines, end=b"\n"):
        path = tmp_path / "set.jsonl"
        path.write_bytes(b"".join(raw(line) + end for line in lines))
        return load_dataset(path)

    return write_and_load


def raw(line):
    if isinstance(line, bytes):
        return line
    return (line if isinstance(line, str) else json.dumps(line)).encode()


def refusals(load, *lines, **options):
    with pytest.raises(DatasetError) as refused:
        load(*lines, **options)
    return refused.value


def first(load, *lines, **options):
    error = refusals(load, *lines, **options).errors[0]
    return error.line, error.field, error.rule


# The file


# covers DAT-001, DAT-009, DAT-030, DAT-032
def test_a_file_of_both_versions_loads_in_order_with_the_hash_of_its_bytes(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(old(id="b")) + "\n" + json.dumps(new(id="a")))
    dataset = load_dataset(str(path))
    assert [(case.id, case.schema_version) for case in dataset] == [("b", "1.0"), ("a", "1.1")]
    assert dataset.path == str(path)
    assert dataset.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_text(json.dumps(old(id="b")) + "\r\n" + json.dumps(new(id="a")))
    assert load_dataset(path).sha256 != dataset.sha256
    assert load_dataset(path).cases == dataset.cases


# covers DAT-002
@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085"])
def test_only_lf_and_crlf_end_a_line(load, inside):
    line = json.dumps(new(messages=[user(f"x{inside}y")]), ensure_ascii=False)
    dataset = load(line, json.dumps(new(id="c2")), end=b"\r\n")
    assert dataset.cases[0].messages[0].content == f"x{inside}y"
    assert len(dataset) == 2


# covers DAT-002
def test_escaped_vertical_tab_and_form_feed_stay_inside_their_string(load):
    assert load(new(messages=[user("x\v\fy")])).cases[0].messages[0].content == "x\v\fy"


# covers DAT-003
@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (raw(new(id="a")) + b"\r" + raw(new(id="b")), "lone_cr"),
        (raw(new(id="a")) + b"\r\r" + raw(new(id="b")) + b"\r", "lone_cr"),
        (raw(new(id="a")).replace(b"Hello", b"Hel\rlo"), "json"),  # inside a string it is a control character
    ],
)
def test_a_file_whose_records_end_in_cr_alone_is_refused_by_name(load, content, rule):
    assert first(load, content, end=b"") == (1, "-", rule)


# covers DAT-004
def test_blank_lines_count_but_hold_no_case(load):
    assert len(load(b"", raw(new(id="a")), b" \t\xc2\xa0\xe3\x80\x80", raw(new(id="b")))) == 2
    assert first(load, b"", b"  ", new(id="-")) == (3, "id", "pattern")


# covers DAT-005
@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16 LE"), ("utf-16-be", "UTF-16 BE")],
)
def test_a_byte_order_mark_is_refused_with_the_encoding_it_announces(load, encoding, mark):
    text = json.dumps(new())
    content = ("\ufeff" + text).encode(encoding) if encoding == "utf-16-be" else text.encode(encoding)
    error = refusals(load, content)
    assert [(one.line, one.field, one.rule, one.detail) for one in error.errors] == [(1, "-", "bom", mark)]


# covers DAT-006, DAT-024
@pytest.mark.parametrize(
    ("line", "offset"),
    [(b'{"id": "\xff"}', 8), (b'{"id": "a\xed\xa0\x80"}', 9), (b'{"id": "\xc3', 8)],
)
def test_invalid_utf8_is_refused_with_line_and_byte_offset(load, line, offset):
    error = refusals(load, new(id="a"), line).errors[0]
    assert (error.line, error.field, error.rule) == (2, "-", "utf8")
    assert error.detail == f"byte {offset} of the line"


# covers DAT-007
@pytest.mark.parametrize("content", [b"", b"\n\n", b" \t\r\n"])
def test_a_file_without_a_case_is_refused(load, content):
    assert first(load, content, end=b"") == (1, "-", "empty_dataset")


# covers DAT-007
def test_more_than_ten_thousand_cases_are_refused(load):
    lines = [raw(old(id=f"c{n}")) for n in range(10_001)]
    assert first(load, *lines) == (1, "-", "too_many_cases")
    assert len(load(*lines[:-1])) == 10_000


# covers DAT-007
def test_a_file_over_256_mebibytes_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "set.jsonl"
    with path.open("wb") as file:
        file.truncate(256 * 1024 * 1024 + 1)  # a sparse file
    with pytest.raises(DatasetError) as refused:
        load_dataset(path)
    assert str(refused.value) == "set.jsonl:1: -: too_large (at most 268435456 bytes)"


# covers DAT-007
def test_lines_of_1_0_are_accepted_only_in_a_file_of_at_most_16_mebibytes(load):
    filler = new(id="big", messages=[user("x" * 1_000_000)])
    size = 16 * 1024 * 1024
    lines = [json.dumps({**filler, "id": f"n{n}"}).encode() for n in range(16)]
    rest = size - sum(len(line) + 1 for line in lines) - len(raw(old())) - 1
    padding = raw(new(id="pad", messages=[user("x")]))
    padding = padding.replace(b'"x"', b'"' + b"x" * (rest - len(padding)) + b'"')
    exact = [*lines, padding, raw(old())]
    assert sum(len(line) + 1 for line in exact) == size
    assert len(load(*exact)) == 18
    error = refusals(load, *exact, b"")
    assert [(one.line, one.field, one.rule) for one in error.errors] == [(1, "-", "too_large_for_1_0")]
    assert "line 18" in error.errors[0].detail
    assert len(load(*exact[:-1], new(id="z"), b"")) == 18


# covers DAT-007
def test_loading_takes_at_most_four_times_the_file_and_200_mebibytes(load, tmp_path):
    lines = [new(id=f"c{n}", messages=[user(f"{n} café 🦊 " + "word " * 20_000)]) for n in range(40)]
    load(*lines)
    size = (tmp_path / "set.jsonl").stat().st_size
    tracemalloc.start()
    try:
        dataset = load_dataset(tmp_path / "set.jsonl")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(dataset) == 40
    assert peak < 4 * size + 200 * 2**20
    assert peak < 6 * size  # it streams: one line at a time beside the records, four bytes a character here


# covers DAT-125
def test_sixteen_mebibytes_load_in_five_seconds(load):
    history = [
        message for n in range(20) for message in (user(f"Item {n}: " + "word " * 40), asks("a"), tool("a"))
    ]
    made = new(
        messages=[*history, user("?")], facts=[fact(literals=["Item 7"]), fact(id="f2", literals=["Item 9"])]
    )
    lines = [
        json.dumps({**made, "id": f"c{n}"}).encode() for n in range(16 * 2**20 // len(json.dumps(made)) + 1)
    ]
    assert sum(map(len, lines)) >= 16 * 2**20
    start = time.process_time()
    assert len(load(*lines)) == len(lines)
    assert time.process_time() - start < 5


def test_a_file_that_cannot_be_read_is_named_in_one_line(tmp_path):
    for path in (tmp_path / "absent.jsonl", tmp_path):
        with pytest.raises(InputError) as refused:
            load_dataset(path)
        assert str(refused.value).startswith(f"{path.name}: cannot be read: ")
        assert "\n" not in str(refused.value)


# JSON


# covers DAT-020, DAT-021, DAT-022, DAT-023, DAT-024
@pytest.mark.parametrize(
    ("line", "field", "rule"),
    [
        ('{"id": 1,}', "-", "json"),
        ('{"id": "a"},', "-", "json"),  # a comma at the end of each line is not stripped
        ("{'id': 'a'}", "-", "json"),
        ('{"id": "a"} {"id": "b"}', "-", "json"),
        ('{"id": "a\tb"}', "-", "json"),
        ('{"id": 01}', "-", "json"),
        ('{"id": .5}', "-", "json"),
        ("{", "-", "json"),
        ("[]", "-", "not_an_object"),
        ('"text"', "-", "not_an_object"),
        ("null", "-", "not_an_object"),
        ("5", "-", "not_an_object"),
        ('{"id": "a", "id": "b"}', "id", "duplicate_key"),
        ('{"id": "a", "\\u0069d": "b"}', "id", "duplicate_key"),
        ('{"expected": {"exact_match": "a", "exact_match": "a"}}', "expected.exact_match", "duplicate_key"),
        ('{"messages": [{}, {"role": 1, "role": 2}]}', "messages[1].role", "duplicate_key"),
        ('{"a b": 1, "a b": 2}', "-", "duplicate_key"),
        ('{"generation": {"temperature": NaN}}', "generation.temperature", "number_not_finite"),
        ('{"generation": {"temperature": Infinity}}', "generation.temperature", "number_not_finite"),
        ('{"generation": {"temperature": -Infinity}}', "generation.temperature", "number_not_finite"),
        ('{"generation": {"temperature": 1e400}}', "generation.temperature", "number_not_finite"),
        ('{"generation": {"temperature": -1e400}}', "generation.temperature", "number_not_finite"),
        ('{"generation": {"max_tokens": 111111111111111111111}}', "generation.max_tokens", "number_too_long"),
        ('{"generation": {"max_tokens": ' + "1" * 5000 + "}}", "generation.max_tokens", "number_too_long"),
        ('{"generation": {"temperature": 0.' + "1" * 20 + "}}", "generation.temperature", "number_too_long"),
        ('{"n": ' + "1" * 4301 + ', "n": 2}', "n", "duplicate_key"),
        ('{"x": ' + "[" * 32 + "]" * 32 + "}", "-", "too_deep"),
        ('{"x": ' + "[" * 500 + "]" * 500 + "}", "-", "too_deep"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "-", "too_deep"),
        ('{"x": ' + '{"x":' * 100_000 + "1" + "}" * 100_001, "-", "too_deep"),
        ("[" * 33 + "]" * 33, "-", "too_deep"),
        ('{"id": "\\ud83d"}', "id", "lone_surrogate"),
        ('{"messages": [{"role": "user", "content": "a\\udd8a"}]}', "messages[0].content", "lone_surrogate"),
        ('{"metadata": {"tags": ["a", "\\ud83dx"]}}', "metadata.tags[1]", "lone_surrogate"),
        ('{"x\\ud83d": 1}', "-", "lone_surrogate"),
    ],
)  # fmt: skip
def test_json_that_departs_from_the_rules_is_refused_at_its_place(load, line, field, rule):
    assert first(load, line) == (1, field, rule)


# covers DAT-023
def test_32_levels_are_not_too_deep(load):
    assert first(load, {**new(), "x": json.loads("[" * 31 + "]" * 31)}) == (1, "x", "unknown_field")
    assert first(load, {**new(), "x": json.loads("[" * 32 + "]" * 32)}) == (1, "-", "too_deep")


# covers DAT-024
def test_an_escaped_surrogate_pair_is_one_character(load):
    line = json.dumps(new(messages=[user("🦊")]))
    assert "\\ud83e" in line
    assert load(line).cases[0].messages[0].content == "🦊"


# covers DAT-022
def test_integers_beyond_double_precision_keep_their_value(load):
    assert load(new(generation={"max_tokens": 10176929106694746001})).cases[0].generation.max_tokens == (
        10176929106694746001
    )


# covers DAT-025
@pytest.mark.parametrize(
    ("case", "field"),
    [
        (new(generation={"temperature": "0.5"}), "generation.temperature"),
        (new(generation={"temperature": True}), "generation.temperature"),
        (new(generation={"max_tokens": "5"}), "generation.max_tokens"),
        (new(generation={"max_tokens": 5.0}), "generation.max_tokens"),
        (new(generation={"max_tokens": True}), "generation.max_tokens"),
        (new(expected={"exact_match": "a", "case_sensitive": "yes"}), "expected.case_sensitive"),
        (new(expected={"exact_match": "a", "case_sensitive": 1}), "expected.case_sensitive"),
        (new(expected={"exact_match": None}), "expected.exact_match"),
        (new(expected={"exact_match": "a", "contains_all": None}), "expected.contains_all"),
        (new(expected={"exact_match": "a", "unicode_form": None}), "expected.unicode_form"),
        (new(expected={"minimum_characters": 1.0}), "expected.minimum_characters"),
        (new(expected={"contains_all": "a"}), "expected.contains_all"),
        (new(expected={"contains_all": {"a": 1}}), "expected.contains_all"),
        (new(expected={"contains_all": [1]}), "expected.contains_all[0]"),
        (new(expected=None), "expected"),
        (new(expected=[]), "expected"),
        (new(generation=None), "generation"),
        (new(metadata=None), "metadata"),
        (new(metadata={"description": None}), "metadata.description"),
        (new(metadata={"tags": None}), "metadata.tags"),
        (new(facts=None), "facts"),
        (new(facts=[fact(where=None)]), "facts[0].where"),
        (new(snippets=None), "snippets"),
        (new(language=None), "language"),
        (new(language=5), "language"),
        (new(id=5), "id"),
        (new(schema_version=1.1), "schema_version"),
        (new(messages="x"), "messages"),
        (new(messages=["x"]), "messages[0]"),
        (new(messages=[{"role": 1, "content": "x"}]), "messages[0].role"),
        (new(messages=[{"role": "user", "content": None}]), "messages[0].content"),
        (new(messages=[{"role": "user", "content": ["x"]}]), "messages[0].content"),
        (new(messages=[{"role": "user", "content": "x", "name": None}]), "messages[0].name"),
        (new(messages=[user(), {**asks("a"), "tool_calls": None}]), "messages[1].tool_calls"),
        (new(snippets=[snippet(session_start=None)]), "snippets[0].session_start"),
        (new(snippets=[snippet(ingested_at=None)]), "snippets[0].ingested_at"),
        (new(snippets=[snippet(superseded_by=None)]), "snippets[0].superseded_by"),
        (old(messages=[{"role": "assistant", "content": None}]), "messages[0].content"),
    ],
)
def test_a_value_of_another_type_is_refused_and_null_stands_for_nothing(load, case, field):
    assert first(load, case) == (1, field, "type")


# covers DAT-025
@pytest.mark.parametrize("written", ["1", "1.0", "0.5e0", "0", "2"])
def test_a_temperature_may_be_written_as_an_integer_or_a_fraction(load, written):
    line = json.dumps(new(generation={"temperature": "T"})).replace('"T"', written)
    assert load(line).cases[0].generation.temperature == float(written)


# Fields


# covers DAT-020, DAT-025, DAT-030, DAT-031, DAT-043, DAT-050, DAT-120, DAT-123
@pytest.mark.parametrize(
    ("case", "field", "rule"),
    [
        (old(schema_version=...), "schema_version", "missing"),
        (old(id=...), "id", "missing"),
        (old(category=...), "category", "missing"),
        (old(messages=...), "messages", "missing"),
        (old(expected=...), "expected", "missing"),
        (new(expected=...), "expected", "missing"),
        (new(messages=[{"role": "user"}]), "messages[0].content", "missing"),
        (new(messages=[{"content": "x"}]), "messages[0].role", "missing"),
        (new(facts=[fact(id=...)]), "facts[0].id", "missing"),
        (new(facts=[fact(kind=...)]), "facts[0].kind", "missing"),
        (new(facts=[fact(literals=...)]), "facts[0].literals", "missing"),
        (new(snippets=[snippet(id=...)]), "snippets[0].id", "missing"),
        (new(snippets=[snippet(title=...)]), "snippets[0].title", "missing"),
        (new(snippets=[snippet(text=...)]), "snippets[0].text", "missing"),
        (new(snippets=[snippet(scope=...)]), "snippets[0].scope", "missing"),
        (new(snippets=[snippet(scope={"workspace": "w"})]), "snippets[0].scope.project", "missing"),
        (new(snippets=[snippet(evidence_time=...)]), "snippets[0].evidence_time", "missing"),
        (new(messages=[user(), {"role": "tool", "content": "x"}]), "messages[1].tool_call_id", "missing"),
        (
            new(messages=[user(), {**asks(), "tool_calls": [call(type=...)]}, tool()]),
            "messages[1].tool_calls[0].type",
            "missing",
        ),
        (
            new(messages=[user(), {**asks(), "tool_calls": [call(function={"name": "x"})]}, tool()]),
            "messages[1].tool_calls[0].function.arguments",
            "missing",
        ),
        (old(extra=1), "extra", "unknown_field"),
        (old(**{"a b": 1}), "-", "unknown_field"),
        (old(**{"x" * 41: 1}), "-", "unknown_field"),
        (old(expected={"exact_match": "a", "regex": "x"}), "expected.regex", "unknown_field"),
        (old(generation={"seed": 1}), "generation.seed", "unknown_field"),
        (old(generation={"seed": None}), "generation.seed", "unknown_field"),
        (old(metadata={"owner": 1}), "metadata.owner", "unknown_field"),
        (old(messages=[{**user(), "weight": 1}]), "messages[0].weight", "unknown_field"),
        (old(messages=[{**user(), "name": "x"}]), "messages[0].name", "unknown_field"),
        (old(messages=[{**user(), "tool_calls": []}]), "messages[0].tool_calls", "unknown_field"),
        (old(messages=[{**user(), "tool_call_id": "x"}]), "messages[0].tool_call_id", "unknown_field"),
        (old(facts=[fact()]), "facts", "unknown_field"),
        (old(snippets=[]), "snippets", "unknown_field"),
        (old(language="en"), "language", "unknown_field"),
        (old(expected={"exact_match": "a", "whole_words": False}), "expected.whole_words", "unknown_field"),
        (old(expected={"exact_match": "a", "unicode_form": "NFC"}), "expected.unicode_form", "unknown_field"),
        (new(snippets=[snippet(rank=1)]), "snippets[0].rank", "unknown_field"),
        (
            new(facts=[fact(must_hold=[{"phrase": "a", "far": True}])]),
            "facts[0].must_hold[0].far",
            "unknown_field",
        ),
        (old(schema_version="2.0"), "schema_version", "value"),
        (old(messages=[{"role": "tool", "content": "x"}]), "messages[0].role", "value"),
        (old(messages=[{"role": "developer", "content": "x"}]), "messages[0].role", "value"),
        (new(expected={"exact_match": "a", "unicode_form": "NFD"}), "expected.unicode_form", "value"),
        (new(facts=[fact(kind="other")]), "facts[0].kind", "value"),
        (new(facts=[fact(where="source")]), "facts[0].where", "value"),
        (new(facts=[fact(match="fuzzy")]), "facts[0].match", "value"),
        (new(facts=[fact(must_hold=[{}])]), "facts[0].must_hold[0]", "value"),
        (new(facts=[fact(must_hold=[{"phrase": "a", "regex": "a"}])]), "facts[0].must_hold[0]", "value"),
        (new(metadata={"tags": ["a", "a"]}), "metadata.tags", "value"),
        (
            new(messages=[user(), {**asks(), "tool_calls": [call(type="code")]}, tool()]),
            "messages[1].tool_calls[0].type",
            "value",
        ),
        (new(messages=[{**user(), "tool_calls": [call()]}]), "messages[0].tool_calls", "value"),
        (new(messages=[{**user(), "tool_call_id": "a"}]), "messages[0].tool_call_id", "value"),
        (new(messages=[{"role": "system", "content": "x"}]), "messages", "value"),
        (new(snippets=[snippet(superseded_by="s1")]), "snippets[0].superseded_by", "value"),
        (new(snippets=[snippet(superseded_by=["x", "s1"])]), "snippets[0].superseded_by", "value"),
        (new(snippets=[snippet(evidence_time="2026-02-30")]), "snippets[0].evidence_time", "value"),
        (new(snippets=[snippet(session_start="2026-01-01T25:00:00Z")]), "snippets[0].session_start", "value"),
        (old(id=""), "id", "pattern"),
        (old(id="-a"), "id", "pattern"),
        (old(id="a\n"), "id", "pattern"),
        (old(id="é"), "id", "pattern"),
        (old(id="a" * 129), "id", "pattern"),
        (old(category="A"), "category", "pattern"),
        (old(category="a" * 65), "category", "pattern"),
        (new(language="english language"), "language", "pattern"),
        (new(language="x"), "language", "pattern"),
        (new(messages=[{**user(), "name": "a b"}]), "messages[0].name", "pattern"),
        (new(messages=[{**user(), "name": "a" * 65}]), "messages[0].name", "pattern"),
        (new(facts=[fact(id="a" * 65)]), "facts[0].id", "pattern"),
        (new(snippets=[snippet(id="a\u0007")]), "snippets[0].id", "pattern"),
        (new(snippets=[snippet(evidence_time="yesterday")]), "snippets[0].evidence_time", "pattern"),
        (
            new(snippets=[snippet(evidence_time="2026-01-02T03:04:05")]),
            "snippets[0].evidence_time",
            "pattern",
        ),
        (new(snippets=[snippet(evidence_time="20260102")]), "snippets[0].evidence_time", "pattern"),
        (old(messages=[]), "messages", "length"),
        (old(messages=[user()] * 129), "messages", "length"),
        (new(messages=[user()] * 10_001), "messages", "length"),
        (old(messages=[user("")]), "messages[0].content", "length"),
        (old(messages=[user("x" * 32_769)]), "messages[0].content", "length"),
        (new(messages=[user("")]), "messages[0].content", "length"),
        (new(messages=[user("x" * 1_048_577)]), "messages[0].content", "length"),
        (new(messages=[user(), {"role": "assistant", "content": ""}]), "messages[1].content", "length"),
        (new(messages=[user(), {**asks(), "tool_calls": []}]), "messages[1].tool_calls", "length"),
        (new(messages=[user(), asks(*map(str, range(65)))]), "messages[1].tool_calls", "length"),
        (new(messages=[user(), asks("")]), "messages[1].tool_calls[0].id", "length"),
        (new(messages=[user(), asks("a" * 129)]), "messages[1].tool_calls[0].id", "length"),
        (
            new(
                messages=[
                    user(),
                    {**asks(), "tool_calls": [call(function={"name": "", "arguments": ""})]},
                    tool(),
                ]
            ),
            "messages[1].tool_calls[0].function.name",
            "length",
        ),
        (
            new(
                messages=[
                    user(),
                    {**asks(), "tool_calls": [call(function={"name": "x", "arguments": "x" * 32_769})]},
                    tool(),
                ]
            ),
            "messages[1].tool_calls[0].function.arguments",
            "length",
        ),
        (old(expected={"exact_match": "x" * 4097}), "expected.exact_match", "length"),
        (old(expected={"contains_all": []}), "expected.contains_all", "length"),
        (old(expected={"contains_any": ["x"] * 33}), "expected.contains_any", "length"),
        (old(expected={"not_contains": [""]}), "expected.not_contains[0]", "length"),
        (old(expected={"not_contains": ["x" * 257]}), "expected.not_contains[0]", "length"),
        (old(metadata={"description": "x" * 501}), "metadata.description", "length"),
        (old(metadata={"tags": [str(n) for n in range(17)]}), "metadata.tags", "length"),
        (old(metadata={"tags": [""]}), "metadata.tags[0]", "length"),
        (old(metadata={"tags": ["x" * 65]}), "metadata.tags[0]", "length"),
        (new(facts=[]), "facts", "length"),
        (new(facts=[fact(id=f"f{n}") for n in range(513)]), "facts", "length"),
        (new(facts=[fact(literals=[])]), "facts[0].literals", "length"),
        (new(facts=[fact(literals=["x"] * 17)]), "facts[0].literals", "length"),
        (new(facts=[fact(literals=["x" * 1025])]), "facts[0].literals[0]", "length"),
        (new(facts=[fact(must_hold=[])]), "facts[0].must_hold", "length"),
        (new(facts=[fact(must_hold=["x"] * 17)]), "facts[0].must_hold", "length"),
        (new(facts=[fact(must_hold=["x", ""])]), "facts[0].must_hold[1]", "length"),
        (
            new(facts=[fact(must_not_claim=[{"regex": "x" * 513}])]),
            "facts[0].must_not_claim[0].regex",
            "length",
        ),
        (new(snippets=[]), "snippets", "length"),
        (new(snippets=[snippet(id=f"s{n}") for n in range(257)]), "snippets", "length"),
        (new(snippets=[snippet(id="")]), "snippets[0].id", "length"),
        (new(snippets=[snippet(title="x" * 257)]), "snippets[0].title", "length"),
        (new(snippets=[snippet(text="x" * 1_048_577)]), "snippets[0].text", "length"),
        (
            new(snippets=[snippet(scope={"workspace": "", "project": "p"})]),
            "snippets[0].scope.workspace",
            "length",
        ),
        (new(snippets=[snippet(superseded_by=[])]), "snippets[0].superseded_by", "length"),
        (new(snippets=[snippet(superseded_by="")]), "snippets[0].superseded_by", "length"),
        (
            new(snippets=[snippet(superseded_by=[str(n) for n in range(17)])]),
            "snippets[0].superseded_by",
            "length",
        ),
        (old(generation={"temperature": 2.01}), "generation.temperature", "range"),
        (old(generation={"temperature": -0.01}), "generation.temperature", "range"),
        (old(generation={"max_tokens": 0}), "generation.max_tokens", "range"),
        (old(expected={"minimum_characters": -1}), "expected.minimum_characters", "range"),
        (
            old(expected={"minimum_characters": 5, "maximum_characters": 4}),
            "expected.minimum_characters",
            "range",
        ),
        (old(expected={}), "expected", "nothing_expected"),
        (
            old(expected={"case_sensitive": True, "normalize_whitespace": False}),
            "expected",
            "nothing_expected",
        ),
        (new(expected={"whole_words": True, "unicode_form": "NFC"}), "expected", "nothing_expected"),
        (new(expected={}, facts=[fact()]), "expected", "nothing_expected"),
        (new(facts=[fact(), fact()]), "facts[1].id", "duplicate_id"),
        (new(snippets=[snippet(), snippet()]), "snippets[1].id", "duplicate_id"),
        (new(snippets=[snippet(superseded_by=["a", "a"])]), "snippets[0].superseded_by[1]", "duplicate_id"),
        (new(messages=[user(), asks("a", "a"), tool("a")]), "messages[1].tool_calls[1].id", "duplicate_id"),
    ],
)
def test_a_field_outside_its_rule_is_refused_by_place_and_rule(load, case, field, rule):
    assert first(load, case) == (1, field, rule)


# covers DAT-030
@pytest.mark.parametrize(
    "case",
    [
        old(messages=[user("x" * 32_768)] * 128),
        old(messages=[user(" ")], expected={"exact_match": " "}),
        old(expected={"exact_match": ""}),
        old(expected={"contains_all": ["\t"]}),
        old(expected={"minimum_characters": 0}),
        old(expected={"minimum_characters": 3, "maximum_characters": 3}),
        old(
            expected={"contains_all": ["x" * 256] * 32, "case_sensitive": True, "normalize_whitespace": False}
        ),
        old(generation={}, metadata={}),
        old(generation={"temperature": 2, "max_tokens": 1}, metadata={"description": "", "tags": []}),
        old(id="A.b_c-9" + "x" * 121, category="0_a-" + "b" * 60),
        old(messages=[{"role": "system", "content": "only"}]),
        new(messages=[user("x" * 1_048_576)]),
        new(messages=[user()] * 10_000),
        new(expected=..., facts=[fact()]),
        new(expected=..., facts=[fact(id=f"f{n}") for n in range(512)]),
        new(snippets=[snippet(title="", text="", evidence_time=None)]),
        new(snippets=[snippet(evidence_time="2026-01-02T03:04:05.123+05:30", superseded_by="other")]),
        new(
            snippets=[snippet(ingested_at="2026-01-02t03:04:05z", superseded_by=["a", "b"], language="code")]
        ),
        new(language="pt-BR"),
        new(language="zh-Hant-TW"),
        new(messages=[user(), asks("a", content=""), tool("a", "")]),
        new(messages=[user(), asks("a", "b"), tool("b"), tool("a"), user()]),
        new(messages=[user(), asks("a"), tool("a"), asks("a"), tool("a")]),  # ids recur in later messages
        new(messages=[{**user(), "name": "ana_b.c-9"}]),
    ],
)
def test_a_case_at_the_edge_of_the_tables_loads(load, case):
    assert len(load(case)) == 1


# covers DAT-050, DAT-030
def test_every_field_arrives_in_its_record(load):
    case = new(
        messages=[
            {"role": "system", "content": "S", "name": "n"},
            user("Where is Hello?"),
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call("k", function={"name": "f", "arguments": "{"})],
            },
            tool("k", ""),
        ],
        expected={"contains_any": ["a", "b"], "whole_words": True, "case_sensitive": True},
        generation={"temperature": 1, "max_tokens": 7},
        metadata={"description": "d", "tags": ["t"]},
        facts=[
            fact(
                must_hold=["one", {"regex": "t.o", "near": True}],
                must_not_claim=[{"phrase": "p"}],
                where="context",
                match="substring",
            )
        ],
        snippets=[snippet(superseded_by="z", session_start="2026-01-01", language="en")],
        language="en",
    )
    assert load(case).cases[0] == Case(
        schema_version="1.1",
        id="c1",
        category="general",
        messages=(
            Message(role="system", content="S", name="n"),
            Message(role="user", content="Where is Hello?"),
            Message(
                role="assistant",
                content=None,
                tool_calls=(ToolCall(id="k", function=Function(name="f", arguments="{")),),
            ),
            Message(role="tool", content="", tool_call_id="k"),
        ),
        expected=Expected(contains_any=("a", "b"), whole_words=True, case_sensitive=True, unicode_form="NFC"),
        generation=Generation(temperature=1.0, max_tokens=7),
        metadata=Metadata(description="d", tags=("t",)),
        facts=(
            Fact(
                id="f1",
                kind="identifier",
                literals=("Hello",),
                must_hold=(Pattern(phrase="one"), Pattern(regex="t.o", near=True)),
                must_not_claim=(Pattern(phrase="p"),),
                where="context",
                match="substring",
            ),
        ),
        snippets=(
            Snippet(
                id="s1",
                title="T",
                text="Hello",
                scope=Scope(workspace="w", project="p"),
                evidence_time="2026-01-02",
                session_start="2026-01-01",
                superseded_by=("z",),
                language="en",
            ),
        ),
        language="en",
    )


# covers EVA-005
@pytest.mark.parametrize(
    ("case", "form"),
    [
        (old(), None),
        (new(), "NFC"),
        (new(expected={"exact_match": "a", "unicode_form": "none"}), "none"),
        (new(expected={"exact_match": "a", "unicode_form": "NFKC"}), "NFKC"),
    ],
)
def test_the_unicode_form_of_a_version_is_filled_in(load, case, form):
    assert load(case).cases[0].expected.unicode_form == form


# covers DAT-070
def test_a_longer_cycle_of_supersession_loads(load):
    snippets = [snippet(id="a", superseded_by="b"), snippet(id="b", superseded_by="a")]
    assert len(load(new(snippets=snippets)).cases[0].snippets) == 2


# covers DAT-040, DAT-041, DAT-042, DAT-043
@pytest.mark.parametrize(
    ("messages", "field", "rule"),
    [
        ([user(), tool("a")], "messages[1].tool_call_id", "orphan_tool_message"),
        ([user(), asks("a"), tool("b"), tool("a")], "messages[2].tool_call_id", "orphan_tool_message"),
        (
            [user(), asks("a"), tool("a"), user(), tool("a")],
            "messages[4].tool_call_id",
            "orphan_tool_message",
        ),
        (
            [user(), asks("a"), tool("a"), {"role": "assistant", "content": "x"}, tool("a")],
            "messages[4].tool_call_id",
            "orphan_tool_message",
        ),
        (
            [user(), asks("a", "b"), tool("a"), tool("a"), tool("b")],
            "messages[3].tool_call_id",
            "answered_twice",
        ),
        ([user(), asks("a"), user()], "messages[1].tool_calls[0]", "unanswered_call"),
        ([user(), asks("a", "b"), tool("b"), user()], "messages[1].tool_calls[0]", "unanswered_call"),
        ([user(), asks("a"), asks("b"), tool("b")], "messages[1].tool_calls[0]", "unanswered_call"),
    ],
)
def test_calls_and_results_that_do_not_belong_together_are_refused(load, messages, field, rule):
    assert first(load, new(messages=messages)) == (1, field, rule)


# covers DAT-042
@pytest.mark.parametrize(
    ("messages", "warnings"),
    [
        ([user(), asks("a")], ["set.jsonl:1: messages[1].tool_calls[0]: unanswered_call"]),
        ([user(), asks("a", "b"), tool("a")], ["set.jsonl:1: messages[1].tool_calls[1]: unanswered_call"]),
        ([user(), asks("a"), tool("a")], []),
    ],
)
def test_a_call_that_waits_at_the_end_is_a_warning(load, messages, warnings):
    assert list(load(new(messages=messages)).warnings) == warnings


# covers DAT-045
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"expected": {"exact_match": " \u00a0"}}, "expected.exact_match"),
        ({"expected": {"exact_match": ""}}, "expected.exact_match"),
        ({"expected": {"contains_all": ["a", "\u2003"]}}, "expected.contains_all[1]"),
        ({"expected": {"not_contains": ["\n"]}}, "expected.not_contains[0]"),
        ({"facts": [fact(literals=["a", " "])]}, "facts[0].literals[1]"),
        ({"facts": [fact(must_hold=["\t"])]}, "facts[0].must_hold[0]"),
    ],
)
def test_in_1_1_an_expected_value_of_white_space_alone_is_refused(load, fields, field):
    assert first(load, new(**fields)) == (1, field, "empty_after_normalization")


# covers DAT-052, DAT-121
@pytest.mark.parametrize(
    ("expression", "position"), [("a(b", 3), (f"{SECRET}[", 15), ("*a", 0), ("(?P<x", 5)]
)
def test_a_bad_expression_is_refused_with_the_position_of_its_fault(load, expression, position):
    error = refusals(load, new(facts=[fact(must_hold=["x", {"regex": expression}])])).errors[0]
    assert (error.field, error.rule) == ("facts[0].must_hold[1].regex", "bad_regex")
    assert error.detail == f"at position {position}"


# covers DAT-052
@settings(max_examples=150, deadline=None)
@given(
    expression=st.text(st.sampled_from("()[]{}?*+|\\^$.<>=!:P&#-,0129abkpLuUNx "), min_size=1, max_size=14)
)
def test_no_expression_escapes_as_another_error(expression, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "expression.jsonl"
    path.write_text(json.dumps(new(facts=[fact(must_not_claim=[{"regex": expression}])])))
    assert rules_of(path) in ([], ["bad_regex"])


def rules_of(path):
    try:
        load_dataset(path)
    except DatasetError as refused:
        return [error.rule for error in refused.errors]
    return []


# covers DAT-055
@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({"messages": [user("port 8080"), user("?")], "facts": [fact(literals=["8080"])]}, []),
        (
            {"messages": [user("port 80801"), user("?")], "facts": [fact(literals=["8080"])]},
            ["fact_not_in_source"],
        ),
        ({"messages": [user("Cafe\u0301  X"), user("?")], "facts": [fact(literals=["CAFÉ x"])]}, []),
        ({"messages": [user("port 8080?")], "facts": [fact(literals=["8080"])]}, ["literal_in_question"]),
        ({"snippets": [snippet(text="port 8080")], "facts": [fact(literals=["8080"])]}, []),
        ({"facts": [fact(literals=["none"], where="answer")]}, []),
        ({"facts": [fact(literals=["none"], where="context")]}, ["fact_not_in_source"]),
        (
            {
                "messages": [
                    user(),
                    {**asks(), "tool_calls": [call(function={"name": "f", "arguments": '{"id": "X-1"}'})]},
                    tool(),
                    user("?"),
                ],
                "facts": [fact(literals=["X-1"])],
            },
            [],
        ),
    ],
)
def test_facts_that_cannot_be_measured_are_warnings(load, fields, rules):
    assert [warning.rsplit(": ", 1)[1] for warning in load(new(**fields)).warnings] == rules


# Errors


# covers DAT-120, DAT-121
def test_a_duplicate_id_is_named_with_both_lines(load):
    error = refusals(load, new(id="a"), new(id="b"), "", new(id="a"))
    assert str(error) == "set.jsonl:4: id: duplicate_id (a is the id of line 1 too)"


# covers DAT-122
def test_one_error_per_line_is_reported_for_at_most_20_lines(load):
    error = refusals(load, new(id="ok"), *[{"id": 5, "extra": 1} for _ in range(25)])
    assert [one.line for one in error.errors] == list(range(2, 22))
    assert error.further == 5
    assert str(error).splitlines()[-1] == "set.jsonl: 5 further faulty lines"
    assert len(str(error).splitlines()) == 21


# covers DAT-123
@pytest.mark.parametrize(
    ("case", "detail"),
    [
        (old(messages=[user("x" * 40_000)]), "at most 32768 characters, found 40000"),
        (old(messages=[user()] * 129), "at most 128 items, found 129"),
        (new(messages=[user("x" * 1_048_577)]), "at most 1048576 characters, found 1048577"),
        (old(expected={"exact_match": "x" * 5000}), "at most 4096 characters, found 5000"),
        (old(metadata={"tags": ["x"] * 20}), "at most 16 items, found 20"),
        (old(expected={"contains_all": []}), "at least 1 items, found 0"),
        (old(generation={"temperature": 3}), "at most 2.0"),
        (old(generation={"max_tokens": 0}), "at least 1"),
        (old(category="É"), "expected ^(?:[a-z0-9][a-z0-9_-]{0,63})$"),
    ],
)
def test_the_limit_that_was_missed_is_stated_with_the_length_found(load, case, detail):
    assert refusals(load, case).errors[0].detail == detail


# covers DAT-121
@pytest.mark.parametrize(
    "case",
    [
        new(id=f"{SECRET} x"),
        new(category=SECRET),
        new(messages=[{"role": SECRET, "content": SECRET}]),
        new(messages=[{"role": "user", "content": "x", "name": f"{SECRET} {SECRET}"}]),
        new(expected={"exact_match": [SECRET]}),
        new(**{f"{SECRET} {SECRET}": SECRET}),
        new(messages=[{**user(), f"{SECRET} x": 1}]),
        new(language=f"{SECRET}_"),
        new(facts=[fact(kind=SECRET)]),
        new(facts=[fact(must_hold=[{"regex": f"{SECRET}("}])]),
        new(snippets=[snippet(id=SECRET), snippet(id=SECRET)]),
        new(snippets=[snippet(evidence_time=SECRET)]),
        f'{{"{SECRET} a": 1, "{SECRET} a": 2}}',
        f'{{"id": {SECRET}}}',
        f'{{"x": "{SECRET}\\ud800"}}',
    ],
)
def test_no_error_repeats_what_the_file_holds(load, case):
    error = refusals(load, case)
    assert SECRET not in str(error)
    assert all(len(line) <= 240 for line in str(error).splitlines())


# Writing


def texts(least=0, most=20):
    return st.text(st.characters(codec="utf-8"), min_size=least, max_size=most)


ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
words = texts(1).filter(str.strip)
patterns = st.one_of(
    st.builds(Pattern, phrase=words, near=st.booleans()),
    st.builds(Pattern, regex=st.sampled_from(["a+", "(x|y)z"]), near=st.booleans()),
)
facts = st.builds(
    Fact,
    id=ids,
    kind=st.sampled_from(FACT_KINDS),
    literals=st.lists(words, min_size=1, max_size=3).map(tuple),
    must_hold=st.lists(patterns, max_size=2).map(tuple),
    must_not_claim=st.lists(patterns, max_size=2).map(tuple),
    where=st.sampled_from(["both", "context", "answer"]),
    match=st.sampled_from(["word", "substring"]),
)
snippets = st.builds(
    Snippet,
    id=ids,
    title=texts(),
    text=texts(),
    scope=st.builds(Scope, workspace=texts(1), project=texts(1)),
    evidence_time=st.sampled_from([None, "2026-01-02", "2026-01-02T03:04:05Z"]),
    session_start=st.sampled_from([None, "2026-01-02"]),
    superseded_by=st.lists(ids.map("~{}".format), max_size=2, unique=True).map(tuple),
    language=st.sampled_from([None, "en", "code"]),
)
groups = st.lists(texts(), min_size=1, max_size=3).map(
    lambda results: (
        Message(
            role="assistant",
            content=None,
            tool_calls=tuple(
                ToolCall(id=f"c{i}", function=Function(name="f", arguments=result))
                for i, result in enumerate(results)
            ),
        ),
        *(Message(role="tool", content=result, tool_call_id=f"c{i}") for i, result in enumerate(results)),
    )
)
plain = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant"]),
    content=texts(1),
    name=st.sampled_from([None, "a"]),
).map(lambda message: (message,))
histories = st.lists(st.one_of(plain, groups), max_size=4).map(lambda parts: sum(parts, ()))
expectations = st.builds(
    Expected,
    exact_match=st.one_of(st.none(), words),
    contains_all=st.one_of(st.none(), st.lists(words, min_size=1, max_size=2).map(tuple)),
    minimum_characters=st.integers(0, 10),
    case_sensitive=st.booleans(),
    normalize_whitespace=st.booleans(),
    unicode_form=st.sampled_from(["none", "NFC", "NFKC"]),
    whole_words=st.booleans(),
)
cases = st.builds(
    Case,
    schema_version=st.just("1.1"),
    id=st.just("c1"),
    category=st.just("x"),
    messages=histories.map(lambda history: (*history, Message(role="user", content="?"))),
    expected=expectations,
    generation=st.builds(
        Generation,
        temperature=st.sampled_from([None, 0.0, 0.7]),
        max_tokens=st.sampled_from([None, 1, 2**60]),
    ),
    metadata=st.builds(Metadata, description=st.one_of(st.none(), texts()), tags=st.just(("a", "b"))),
    facts=st.lists(facts, max_size=2, unique_by=lambda one: one.id).map(tuple),
    snippets=st.lists(snippets, max_size=2, unique_by=lambda one: one.id).map(tuple),
    language=st.sampled_from([None, "pt-BR"]),
)


# covers DAT-142
@settings(max_examples=150, deadline=None)
@given(case=cases)
def test_what_is_written_loads_again_as_the_same_records(case, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "written.jsonl"
    path.write_bytes(dataset_bytes([case]))
    loaded = load_dataset(path)
    assert loaded.cases == (case,)
    assert dataset_bytes(loaded.cases) == path.read_bytes()


# covers DAT-142
def test_a_written_case_holds_only_what_was_said():
    case = Case(
        schema_version="1.1",
        id="c1",
        category="x",
        messages=(Message(role="user", content="né?"),),
        expected=Expected(minimum_characters=1),
    )
    assert dataset_bytes([case, case]).decode() == 2 * (
        '{"schema_version":"1.1","id":"c1","category":"x","messages":[{"role":"user","content":"né?"}],'
        '"expected":{"minimum_characters":1}}\n'
    )


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-01-02", "2026-01-02T00:00:00+00:00"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02t03:04:05.5+05:30", "2026-01-02T03:04:05.500000+05:30"),
    ],
)
def test_a_time_carries_its_offset_and_a_date_is_midnight_utc(text, iso):
    assert parse_time(text).isoformat() == iso
