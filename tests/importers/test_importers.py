import gzip
import hashlib
import json

import pytest

from ctxlab.dataset import Expected, Fact
from ctxlab.errors import DatasetError, InputError
from ctxlab.importers import IMPORTERS, import_dataset
from ctxlab.importers.conversation import (
    MAXIMUM_CHARACTERS,
    NO_RESULT,
    content_text,
    message_from_wire,
    messages_from_wire,
    paired,
    within_count,
    within_length,
)
from ctxlab.importers.drafts import DEFAULT_QUESTION, facts_in_history, import_records, with_question
from ctxlab.importers.reading import read_records
from ctxlab.importers.results import Draft, Flags, ImportRow, SkippedError
from ctxlab.loading import dataset_bytes, load_dataset
from ctxlab.messages import Function, Message, ToolCall


def user(text="q"):
    return Message(role="user", content=text)


def asks(*ids, content=None):
    calls = tuple(ToolCall(id=one, function=Function(name="run", arguments="{}")) for one in ids)
    return Message(role="assistant", content=content, tool_calls=calls)


def tool(id="a", content="r"):  # noqa: A002
    return Message(role="tool", content=content, tool_call_id=id)


def skipping(run):
    with pytest.raises(SkippedError) as skipped:
        run()
    return skipped.value.reason


# Reading


# covers DAT-143
@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}, {"a": 2}]',
        '[\n  {"a": 1},\n  {"a": 2}\n]\n',
        '{"a": 1}\n{"a": 2}\n',
        '\n{"a": 1}\r\n\r\n{"a": 2}',
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_list_or_lines_plain_or_gzip_give_the_same_records(tmp_path, text, pack):
    path = tmp_path / "source"
    path.write_bytes(pack(text.encode()))
    assert read_records(path) == ([{"a": 1}, {"a": 2}], [])


# covers DAT-143
def test_one_object_over_several_lines_is_one_record(tmp_path):
    path = tmp_path / "source.json"
    path.write_text('{\n "a": [1,\n 2]\n}')
    assert read_records(path)[0] == [{"a": [1, 2]}]
    path.write_text("[[1], [2]]")
    assert read_records(path, is_record=lambda value: isinstance(value, list))[0] == [[[1], [2]]]


# covers DAT-143
def test_of_equal_keys_the_last_wins_with_a_warning(tmp_path):
    path = tmp_path / "source.jsonl"
    path.write_text('{"a": 1}\n{"b": {"a": 1, "a": 2}}')
    assert read_records(path) == (
        [{"a": 1}, {"b": {"a": 2}}],
        ["source.jsonl:2: b.a: duplicate_key"],
    )


# covers DAT-143
@pytest.mark.parametrize(
    ("content", "line", "rule"),
    [
        (b'{"a": 1}\n{"a": NaN}', 2, "number_not_finite"),
        (b'{"a": 1}\n{"a": "\\ud800"}', 2, "lone_surrogate"),
        (b'{"a": 1}\n{"a": 1}}', 2, "json"),
        (b'{"a": 1}\n{"a": ' + b"[" * 33 + b"]" * 33 + b"}", 2, "too_deep"),
        (b'{"a": ' + b"1" * 30 + b"}", 1, "number_too_long"),
        (b'{"a": 1}\n{"a": "\xff"}', 2, "utf8"),
        (b'\xef\xbb\xbf{"a": 1}', 1, "bom"),
        (b"not json", 1, "json"),
        (b" \n ", 1, "empty_dataset"),
    ],
)
def test_source_files_obey_the_rules_of_json(tmp_path, content, line, rule):
    path = tmp_path / "source"
    path.write_bytes(content)
    with pytest.raises(DatasetError) as refused:
        read_records(path)
    assert [(error.line, error.rule) for error in refused.value.errors] == [(line, rule)]


# covers DAT-143
def test_a_gzip_that_expands_beyond_256_mebibytes_is_refused(tmp_path):
    path = tmp_path / "source.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(257):
            file.write(b" " * 2**20)
    with pytest.raises(DatasetError, match="too_large"):
        read_records(path)


# covers DAT-143
def test_a_damaged_gzip_and_an_absent_file_are_named_in_one_line(tmp_path):
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(gzip.compress(b'{"a": 1}' * 100)[:-9])
    for path in (damaged, tmp_path / "absent"):
        with pytest.raises(InputError, match=f"{path.name}: cannot be read: "):
            read_records(path)


# Messages


# covers DAT-144
@pytest.mark.parametrize(
    ("content", "text", "flags"),
    [
        ("plain", "plain", {}),
        (None, "", {}),
        ([{"type": "text", "text": "a"}, "b"], "a\nb", {}),
        ([{"type": "image_url", "image_url": {}}, {"type": "image"}], "[image omitted]\n[image omitted]",
         {"image_omitted": 2}),
        ([{"type": "input_audio"}, {"type": "text", "text": "x"}], "[audio omitted]\nx", {"audio_omitted": 1}),
        ([{"type": "file"}], "[file omitted]", {"file_omitted": 1}),
        ([{"type": "reasoning", "text": "hm"}, {"type": "thinking"}, {"type": "text", "text": "x"}], "x",
         {"reasoning_dropped": 2}),
    ],
)  # fmt: skip
def test_parts_of_a_content_become_text_and_are_counted(content, text, flags):
    counted = Flags()
    assert content_text(content, counted) == text
    assert counted == flags


# covers DAT-140, DAT-144
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"role": "judge", "content": "x"}, "unknown_role"),
        ({"role": ["user"], "content": "x"}, "unknown_role"),
        ({"content": "x"}, "unknown_role"),
        ("x", "unknown_role"),
        ({"role": "user", "content": 5}, "unknown_content"),
        ({"role": "user", "content": [{"type": "video"}]}, "unknown_content"),
        ({"role": "user", "content": [{"type": ["text"]}]}, "unknown_content"),
        ({"role": "assistant", "content": "", "tool_calls": 5}, "unknown_tool_call"),
        ({"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]}, "unknown_tool_call"),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "function": {"name": "x"}}]},
            "unknown_tool_call",
        ),
    ],
)
def test_what_is_no_message_skips_the_record_with_a_reason(raw, reason):
    assert skipping(lambda: message_from_wire(raw, Flags())) == reason


# covers DAT-144
def test_messages_keep_names_calls_and_results_and_empty_ones_are_counted():
    flags = Flags()
    assert messages_from_wire(
        [
            {"role": "user", "content": "x", "name": "ana", "weight": 1},
            {"role": "user", "content": "x", "name": "Ana Lima"},
            {"role": "assistant", "content": ""},
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "function": {"name": "run", "arguments": {"b": [1]}}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": None},
        ],
        flags,
    ) == [
        Message(role="user", content="x", name="ana"),
        Message(role="user", content="x"),
        Message(
            role="assistant",
            content=None,
            tool_calls=(ToolCall(id="a", function=Function(name="run", arguments='{"b":[1]}')),),
        ),
        Message(role="tool", content="", tool_call_id="a"),
    ]
    assert flags.texts() == ("empty_dropped:1", "names_dropped:1")


# covers DAT-147
@pytest.mark.parametrize(
    ("messages", "mended", "flags"),
    [
        ([user(), asks("a"), tool("a"), user()], [user(), asks("a"), tool("a"), user()], ()),
        ([user(), tool("a"), user()], [user(), user()], ("orphans_dropped:1",)),
        ([user(), asks("a"), tool("a"), tool("a")], [user(), asks("a"), tool("a")], ("orphans_dropped:1",)),
        ([user(), asks("a"), tool("b"), tool("a")], [user(), asks("a"), tool("a")], ("orphans_dropped:1",)),
        (
            [user(), asks("a", "b"), tool("b"), user()],
            [user(), asks("a", "b"), tool("b"), tool("a", NO_RESULT), user()],
            ("results_added:1",),
        ),
        (
            [user(), asks("a"), asks("b"), tool("b"), tool("a")],
            [user(), asks("a"), tool("a", NO_RESULT), asks("b"), tool("b")],
            ("orphans_dropped:1", "results_added:1"),
        ),
        ([user(), asks("a")], [user(), asks("a")], ()),  # the group that ends the list may wait
    ],
)
def test_pairing_is_mended_only_by_dropping_strays_and_adding_results(messages, mended, flags):
    counted = Flags()
    assert paired(messages, counted) == mended
    assert counted.texts() == flags


# covers DAT-145
def test_a_message_over_the_limit_is_split_at_newlines_and_loses_nothing():
    flags = Flags()
    line = "x" * 999 + "\n"
    long = asks("a", content=line * 1100)
    parts = within_length([user(), long, tool("a")], flags)
    texts = [part.content for part in parts[1:-1]]
    assert "".join(texts) == long.content
    assert [len(text) for text in texts] == [1_048_000, 52_000]
    assert [part.tool_calls for part in parts[1:-1]] == [(), long.tool_calls]
    assert flags.texts() == ("cut",)


# covers DAT-145
def test_without_a_newline_a_message_is_split_at_a_safe_cut():
    text = "x" * (MAXIMUM_CHARACTERS - 1) + "e\u0301" + "y" * 10
    parts = within_length([user(text)], Flags())
    assert [part.content for part in parts] == ["x" * (MAXIMUM_CHARACTERS - 1), "e\u0301" + "y" * 10]


# covers DAT-145
def test_a_tool_result_over_the_limit_is_cut_with_a_marker_that_counts():
    flags = Flags()
    [cut] = within_length([tool("a", "x" * 2_000_000)], flags)
    kept = cut.content.index("\n")
    assert cut.content[kept:] == f"\n[cut: {2_000_000 - kept} characters left out]"
    assert MAXIMUM_CHARACTERS - 10 <= len(cut.content) <= MAXIMUM_CHARACTERS
    assert cut.tool_call_id == "a"
    assert flags.texts() == ("cut",)


# covers DAT-146
def test_a_long_record_keeps_its_preamble_and_the_newest_turns():
    system = Message(role="system", content="s")
    turn = [user(), asks("a"), tool("a")]
    flags = Flags()
    kept = within_count([system, *turn * 3400, user("last")], flags, on_long="cut")
    assert len(kept) <= 10_000
    assert kept[0] == system
    assert kept[1] == user()
    assert kept[-1] == user("last")
    assert len(kept) == 1 + 3 * 3332 + 1  # room for 9,999 after the preamble: 3,332 turns and the question
    assert flags.texts() == ("history_cut",)
    assert skipping(lambda: within_count([*turn * 3400], Flags(), on_long="skip")) == "too_many_messages"
    assert within_count([user()] * 10_000, Flags(), on_long="skip") == [user()] * 10_000


# covers DAT-146
def test_a_record_whose_newest_turn_is_too_long_is_skipped():
    messages = [user(), *[Message(role="assistant", content="x")] * 10_001]
    assert skipping(lambda: within_count(messages, Flags(), on_long="cut")) == "too_many_messages"


# Records to cases


# covers DAT-149
def test_the_continuation_question_is_the_new_last_user_message():
    assert DEFAULT_QUESTION == (
        "State every identifier, decision, constraint, failure and unfinished item that matters for continuing "
        "this work."
    )
    assert with_question([user("a")], "Now?") == [user("a"), user("Now?")]


def test_facts_are_the_candidates_that_occur_in_the_history_once_each():
    messages = [
        Message(role="system", content="policy POL-1"),
        user("I am ANA_1"),
        asks("a"),
        tool("a", "no. 80801"),
    ]
    candidates = [
        ("identifier", text) for text in ("POL-1", "ana_1", "ANA_1", "8080", "80801", " ", "x" * 1025)
    ]
    assert facts_in_history(candidates, messages) == (
        Fact(id="f1", kind="identifier", literals=("ana_1",)),
        Fact(id="f2", kind="identifier", literals=("80801",)),
    )


def draft_of(record):
    if record == 0:
        raise SkippedError("zero")
    facts = (Fact(id="f1", kind="identifier", literals=("q",)),)
    return [Draft(messages=[user()], facts=facts if part % 2 == 0 else ()) for part in range(record)]


# covers DAT-140, DAT-142, DAT-148
def test_every_record_has_its_row_and_ids_count_records_and_parts(tmp_path):
    path = tmp_path / "numbers.json"
    path.write_text("[1, 0, 3]")
    options = {"name": "numbers", "on_long": "cut"}
    result = import_records(path, draft_of, **options, keep_unscored=False)
    made = {"reason": None, "messages": 1, "facts": 1}
    assert result.rows == (
        ImportRow(record=1, part=1, case_id="numbers-000001", **made),
        ImportRow(record=2, part=1, case_id=None, reason="zero"),
        ImportRow(record=3, part=1, case_id="numbers-000003-1", **made),
        ImportRow(record=3, part=2, case_id=None, reason="nothing_to_score"),
        ImportRow(record=3, part=3, case_id="numbers-000003-3", **made),
    )
    assert [case.id for case in result.cases] == ["numbers-000001", "numbers-000003-1", "numbers-000003-3"]
    kept = import_records(path, draft_of, **options, keep_unscored=True).cases[2]
    assert (kept.id, kept.metadata.tags) == ("numbers-000003-2", ("unscored",))
    assert kept.expected == Expected(minimum_characters=1, unicode_form="NFC")


# covers DAT-140
def test_a_record_that_breaks_a_rule_of_the_format_is_skipped_with_the_rule_and_its_place(tmp_path):
    path = tmp_path / "one.json"
    path.write_text("[1]")
    long = ToolCall(id="a", function=Function(name="run", arguments="x" * 40_000))
    messages = [user(), Message(role="assistant", content=None, tool_calls=(long,)), tool("a"), user()]
    draft = Draft(messages=messages, facts=(Fact(id="f", kind="path", literals=("q",)),))
    result = import_records(path, lambda _: [draft], name="x", on_long="cut", keep_unscored=False)
    assert [row.reason for row in result.rows] == ["length messages[1].tool_calls[0].function.arguments"]


# covers DAT-141, DAT-142
def test_an_imported_dataset_has_the_hash_of_the_file_it_is_written_as(tmp_path):
    path = tmp_path / "runs.json"
    run = {
        "traj": [{"role": "user", "content": "I am ana_1"}],
        "info": {"task": {"actions": [{"kwargs": {"user": "ana_1"}}]}},
    }
    path.write_text(json.dumps([run]))
    dataset = import_dataset(path, "tau_bench")
    written = tmp_path / "written.jsonl"
    written.write_bytes(dataset_bytes(dataset.cases))
    assert load_dataset(written).cases == dataset.cases
    assert load_dataset(written).sha256 == dataset.sha256 == hashlib.sha256(written.read_bytes()).hexdigest()
    assert import_dataset(path, "tau_bench").sha256 == dataset.sha256


# covers DAT-140
def test_a_file_that_gives_no_case_says_why_for_how_many_records(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text('[{"traj": [{"role": "user", "content": "x"}]}, {"traj": 5}, {}]')
    with pytest.raises(InputError) as refused:
        import_dataset(path, "tau_bench")
    assert str(refused.value) == "runs.json: no record gives a case: 1 nothing_to_score, 2 not_a_run"


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"allowed are ctxlab, .*tau_bench"):
        import_dataset(tmp_path / "x", "SECRET")
    assert "tau_bench" in IMPORTERS
