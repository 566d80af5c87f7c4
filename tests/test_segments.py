import json
import re
import time
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.segment_rules import SEGMENT_RULES_VERSION
from ctxlab.segments import SEGMENT_RULES_SHA256, line_segments, prose_segments, sentence_ends

SHARED = Path(__file__).parents[2] / "shared"
GOLD = SHARED / "data/sentences/pysbd-rules.jsonl"


def sentences(text, **options):
    return [text[start:end].strip() for start, end in prose_segments(text, **options)]


# covers STR-071, ADM-040
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("It works (mostly). Good.", ["It works (mostly).", "Good."]),
        ("第一条。第二条！第三条？", ["第一条。", "第二条！", "第三条？"]),
        ("「終わり。」次です。", ["「終わり。」", "次です。"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("هل هذا؟ نعم۔", ["هل هذا؟", "نعم۔"]),
        ("Really?! Yes... Maybe.", ["Really?!", "Yes...", "Maybe."]),
        ("No end here", ["No end here"]),
        ("", []),
        ("  \n ", [""]),
    ],
)
def test_a_sentence_ends_at_its_mark_with_what_the_mark_closes(text, expected):
    assert sentences(text) == expected


# covers STR-071, ADM-042, ADM-044
@pytest.mark.parametrize(
    "text",
    [
        "One; two: three, four",
        "第一；第二：第三、第四",
        "He asked (Why? When?) and left",
        'They wrote "A. B. C" on it',
        "Call `f(x. y)` now",
        "He waited. then he left",  # before a small letter it is not sure
    ],
)
def test_other_marks_and_ends_inside_brackets_and_quotes_end_nothing(text):
    assert len(prose_segments(text)) == 1


# covers STR-071, ADM-045
@pytest.mark.parametrize(
    ("text", "language", "n"),
    [
        ("Ask Dr. Silva. She knows.", None, 2),
        ("See e.g. Redis. It is fast.", None, 2),
        ("It was written by Lester B. Pearson and by D. S. Ruegg. Both agreed.", None, 2),
        ("Made in the U.S. Army depot. Done.", None, 2),
        ("See Fig. 3 for it. Done.", None, 2),
        ("No. The request is pending.", None, 2),  # an answer, and an abbreviation only before a number
        ("Version 3.11.4 is out. Use src/app.py or a.b.c now.", None, 2),
        ("Open https://example.com/a.b?x=1. Then read.", None, 2),
        ("Conforme o art. 5º, § 2º, da Lei nº 8.078/90, a Sra. Silva e o Dr. Souza concordaram. O prazo é de 30 dias.", "pt", 2),
        ("Am 5. März ist es fertig. Gut.", None, 2),
        ("Am 3. Termin ist es fertig. Gut.", "de", 2),
        ("There were 5. Then came 6.", "en", 2),
        ("Это было в т.ч. Москва. Да.", "ru", 2),
        ("See M. Dupont. Il sait.", "fr", 2),
    ],
)  # fmt: skip
def test_a_full_stop_after_an_abbreviation_or_inside_a_name_ends_no_sentence(text, language, n):
    assert len(prose_segments(text, language=language)) == n


# covers STR-071, ADM-041
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The limit is\n90 per minute. Good.", ["The limit is\n90 per minute.", "Good."]),
        ("A heading\n\nSome text", ["A heading", "Some text"]),
        ("# Title\nText goes on", ["# Title", "Text goes on"]),
        (
            "Do this:\n- one\n- two\n  goes on\n1. three",
            ["Do this:", "- one", "- two\n  goes on", "1. three"],
        ),
        ("Name: Ana\nPort: 8080\nplain", ["Name: Ana", "Port: 8080\nplain"]),
        (
            "it waits because the\nreason: it fails",
            ["it waits because the\nreason: it fails"],
        ),  # a broken line
        ("| a | b |\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("> said one\n> said two", ["> said one", "> said two"]),
    ],
)
def test_blank_lines_headings_items_and_rows_end_a_block_and_other_line_breaks_nothing(text, expected):
    assert sentences(text) == expected


# covers STR-071
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run this.\n```sh\ncd app\nmake. It works\n```\nDone.", ["Run this.", "```sh", "cd app", "make. It works", "```", "Done."]),
        ("x = 1;\ny = 2;\nif (x) {\n}", ["x = 1;", "y = 2;", "if (x) {", "}"]),
        ("12: def f():\n13:     return 1\n14: print(f())", ["12: def f():", "13:     return 1", "14: print(f())"]),
        ("2025-01-02 09:14 INFO a\n2025-01-02 09:15 ERROR b", ["2025-01-02 09:14 INFO a", "2025-01-02 09:15 ERROR b"]),
        ("```\nnever closed. It goes on", ["```\nnever closed.", "It goes on"]),
        ("第一句。第二句。\n第三句。", ["第一句。", "第二句。", "第三句。"]),  # no space makes no word of code
    ],
)  # fmt: skip
def test_code_is_cut_at_its_lines(text, expected):
    assert sentences(text) == expected


# covers STR-071
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a. b\nc\r\nd\re", ["a. b", "c", "d", "e"]),
        ("\n\na\n\n\nb\n", ["a", "b"]),
        ("one", ["one"]),
        ("", []),
    ],
)
def test_results_are_cut_at_their_lines(text, expected):
    assert [text[start:end].strip() for start, end in line_segments(text)] == expected


# covers ADM-045
def test_unsure_ends_are_told_apart():
    text = "Ask Dr. Silva. Then go. on."
    assert [(end.place, end.is_sure) for end in sentence_ends(text, 0, len(text))] == [
        (7, False),
        (14, True),
        (23, False),
        (27, True),
    ]


pieces = st.sampled_from(
    ["One. ", "two", ".", "。", "?", "!", "…", "\n", "\n\n", "- ", "1. ", "```", "`", '"', "(", ")", "「", "」", "“", "”",
     " ", "Dr. ", "x;\n", "# ", "| ", "a: ", "\r\n", "\r", "\u2028", "é", "日本", "\u00a0", "~~~\n", "    code\n"]
)  # fmt: skip


# covers STR-071, ADM-050
@given(text=st.lists(pieces, max_size=30).map("".join) | st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_joining_the_segments_gives_the_text_back(text):
    for spans in (prose_segments(text), line_segments(text), prose_segments(text, language="de")):
        assert "".join(text[start:end] for start, end in spans) == text
        assert [end for _, end in spans[:-1]] == [start for start, _ in spans[1:]]
        assert all(end > start for start, end in spans)
        if text.strip():
            assert all(text[start:end].strip() for start, end in spans)


# covers ADM-050, STR-071
@pytest.mark.skipif(not GOLD.exists(), reason="public data is not here")
def test_most_gold_sentences_are_found_and_hardly_any_cut_is_wrong():
    tags = {"french": "fr", "italian": "it", "dutch": "nl", "polish": "pl", "chinese": "zh", "japanese": "ja"}
    right = wrong = n = 0
    for line in GOLD.read_text(encoding="utf-8").splitlines():
        gold = json.loads(line)
        found = sentences(gold["text"], language=tags.get(gold["lang"]))
        places = [
            set(accumulate(len("".join(s.split())) for s in some)) for some in (found, gold["sentences"])
        ]
        n += 1
        right += found == [sentence.strip() for sentence in gold["sentences"]]
        wrong += bool(places[0] - places[1])
    assert n == 61
    assert right >= 54
    assert wrong <= 6


# covers STR-071
@pytest.mark.parametrize(
    "unit", ["a. ", "(", '"', "- a\n", "`", "「」", "\n", "a: b\n", "```\n", "1. ", ". ", "A", "x;\n"]
)
def test_time_is_proportional_to_the_text(unit):
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    prose_segments(text)
    line_segments(text)
    assert time.process_time() - start < 3


def test_the_rules_have_a_version_and_a_hash():
    assert SEGMENT_RULES_VERSION == 2
    assert re.fullmatch("[0-9a-f]{64}", SEGMENT_RULES_SHA256)
