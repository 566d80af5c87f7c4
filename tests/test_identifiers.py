import random
import re
import time
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.identifiers import IDENTIFIER_RULES_SHA256, IDENTIFIER_RULES_VERSION, identifiers

DOCS = Path(__file__).parents[2] / "shared/data/evidence-docs/fastapi"


def found(text):
    return [(identifier.kind, identifier.text) for identifier in identifiers(text)]


# covers STR-161
@pytest.mark.parametrize(
    ("text", "kind", "identifier"),
    [
        ("see https://example.com/a?b=1#c now", "url", "https://example.com/a?b=1#c"),
        ("git ssh://git@host/x.git", "url", "ssh://git@host/x.git"),
        ("mail ana.b+c@x-y.co.uk please", "email", "ana.b+c@x-y.co.uk"),
        ("id 123e4567-e89b-12d3-a456-426614174000 ok", "uuid", "123e4567-e89b-12d3-a456-426614174000"),
        ("commit 7f3a9bc is bad", "hex", "7f3a9bc"),
        ("at 0xdeadbeef1", "hex", "0xdeadbeef1"),
        ("edit src/app please", "path", "src/app"),
        ("edit src/app/main please", "path", "src/app/main"),
        ("in /etc/hosts there", "path", "/etc/hosts"),
        ("run ./build.sh there", "path", "./build.sh"),
        ("open README.md there", "path", "README.md"),
        ("a .env file", "path", ".env"),
        ("C:\\Users\\ana\\notes.txt is open", "path", "C:\\Users\\ana\\notes.txt"),
        ("docs/résumé.md is", "path", "docs/résumé.md"),
        ("fails in main.py:42 today", "file_line", "main.py:42"),
        ("fails in src/app/main.py:42:7 today", "file_line", "src/app/main.py:42:7"),
        ("call os.path.join here", "name", "os.path.join"),
        ("use std::vec::Vec here", "name", "std::vec::Vec"),
        ("set max_tokens here", "word", "max_tokens"),
        ("user noah_muller_9847 asked", "word", "noah_muller_9847"),
        ("the __init__ method", "word", "__init__"),
        ("MAX_RETRIES is", "word", "MAX_RETRIES"),
        ("call getUserId here", "word", "getUserId"),
        ("a ChatClient is", "word", "ChatClient"),
        ("ticket APPROVAL-17 is", "code", "APPROVAL-17"),
        ("error E1042 is", "code", "E1042"),
        ("reservation 4OG6T3 is", "code", "4OG6T3"),
        ("in UTF-8 text", "code", "UTF-8"),
        ("since 3.11.4rc1 it", "version", "3.11.4rc1"),
        ("since v2 it", "version", "v2"),
        ("on 2024-05-15 it", "date", "2024-05-15"),
        ("on 2024-05-15T15:00:00Z it", "date", "2024-05-15T15:00:00Z"),
        ("on 15/03/2024 it", "date", "15/03/2024"),
        ("on 15 March 2024 it", "date", "15 March 2024"),
        ("on May 3, 2024 it", "date", "May 3, 2024"),
        ("em 15 de maio de 2024 foi", "date", "15 de maio de 2024"),
        ("15 марта 2024 было", "date", "15 марта 2024"),
        ("于2024年5月1日发布", "date", "2024年5月1日"),
        ('the "blue team" said', "quoted", "blue team"),
        ("run `x = 1` now", "quoted", "x = 1"),
        ("the 'blue team' said", "quoted", "blue team"),
        ("the “blue team” said", "quoted", "blue team"),
        ("「青組」です", "quoted", "青組"),
        ("after 250 ms it", "number", "250 ms"),
        ("after 90 minutes it", "number", "90 minutes"),
        ("costs $1,234.56 now", "number", "$1,234.56"),
        ("port 8080 is", "number", "8080"),
        ("at 12% now", "number", "12%"),
        ("価格は500円です", "number", "500円"),
    ],
)
def test_each_form_is_found_whole_and_alone(text, kind, identifier):
    assert found(text) == [(kind, identifier)]


# covers STR-161
@pytest.mark.parametrize(
    "text",
    [
        "plain words only, nothing to keep",
        "e.g. this, i.e. that, in the U.S. at 5 p.m.",
        "7 of 9",  # one digit
        "don't or can't, isn't it",  # apostrophes are no quotation marks
        "abcdefa 1234567890"[:7],  # hexadecimal letters without a digit
        "1/2 and 3/4",
        '"" and " "',
        '"' + "x" * 65 + '"',
        "日本語の文です。",
        "I. II, A-",
        "",
    ],
)
def test_ordinary_text_holds_no_identifier(text):
    assert found(text) == []


# covers STR-162
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.example/x/y.py:10", [("url", "https://a.example/x/y.py:10")]),  # the longest wins
        ("src/app/E1042/main.py", [("path", "src/app/E1042/main.py")]),
        ('open "src/a.py" now', [("path", "src/a.py")]),  # as long as the quoted text: the earlier rule
        ('say "open src/a.py now" twice', [("quoted", "open src/a.py now")]),
        ("16GB", [("code", "16GB")]),  # as long as the number with its unit
        ("2024/05/01", [("date", "2024/05/01")]),
        ("src/a.py src/b.py", [("path", "src/a.py"), ("path", "src/b.py")]),
    ],
)
def test_of_overlapping_candidates_the_longest_then_the_earlier_rule_stands(text, expected):
    assert found(text) == expected


# covers STR-162
@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("Look at src/a.py.", "src/a.py"),
        ("Is it APPROVAL-17?", "APPROVAL-17"),
        ("(see https://example.com/x).", "https://example.com/x"),
        ("see https://example.com/a_(b)!", "https://example.com/a_(b)"),
        ("[page](https://example.com/x)", "https://example.com/x"),
        ("It was os.path.join: yes", "os.path.join"),
        ("He said “Stop now!” and left", "Stop now"),
        ("since 3.11.", "3.11"),
        ("[max_tokens],", "max_tokens"),
    ],
)
def test_sentence_punctuation_at_the_end_is_no_part_of_an_identifier(text, identifier):
    assert [name for _, name in found(text)] == [identifier]


# covers STR-161
def test_identifiers_end_where_a_script_without_spaces_begins():
    assert found("文件src/a.py使用os.path和APPROVAL-17端口8080") == [
        ("path", "src/a.py"),
        ("name", "os.path"),
        ("code", "APPROVAL-17"),
        ("number", "8080"),
    ]


# covers STR-161
def test_a_long_quotation_does_not_turn_the_next_ones_inside_out():
    text = '{"note": "' + "word " * 30 + '", "city": "New York"}'
    assert ("quoted", "New York") in found(text)
    assert not any(name.startswith((",", ":")) for _, name in found(text))


# covers STR-160
def test_the_rules_have_a_version_and_a_hash():
    assert IDENTIFIER_RULES_VERSION == 2
    assert re.fullmatch("[0-9a-f]{64}", IDENTIFIER_RULES_SHA256)


# covers STR-162
@settings(max_examples=200)
@given(
    text=st.lists(
        st.sampled_from(
            ["a.py", "/", "x_1", "E1", "-", ".", ":", '"', "`", " ", "\n", "12", "日", "ms", "http://", "é"]
        ),
        max_size=20,
    ).map("".join)
)
def test_identifiers_are_disjoint_in_order_and_stand_in_the_text(text):
    end = 0
    for identifier in identifiers(text):
        assert identifier.start >= end
        assert identifier.text == text[identifier.start : identifier.end] != ""
        assert identifier.text[-1] not in ".,;:!?"
        end = identifier.end
    assert identifiers(text) == identifiers(text)


# covers STR-160, STR-161
@settings(max_examples=150)
@given(
    text=st.lists(
        st.sampled_from(
            [
                "src/a.py",
                "x_1",
                "E1",
                "May",
                "15",
                "de",
                "maio",
                "2024",
                "15 ms",
                '"two words"',
                "'one'",
                "a.b",
                "A-",
                "日",
                "é,",
            ]
        ),
        max_size=8,
    ).map(" ".join),
    before=st.sampled_from(["", "plain words\n", "so it is\tthat ", "と。\n\n"]),
    after=st.sampled_from(["", "\nplain words", "\n\nso it is", "\r\n"]),
)
def test_plain_lines_around_change_nothing_that_is_found(text, before, after):
    around = [(one.text, one.start - len(before)) for one in identifiers(before + text + after)]
    assert around == [(one.text, one.start) for one in identifiers(text)]


# covers STR-160
@pytest.mark.parametrize(
    "unit",
    ["a", "A", "1", "_", "-", ".", "/", "\\", '"', '\\"', "`", "' ", "(", ":", "@", "a.", "a/", "a-", "1.", "a_", "aA",
     " ", "0f", "a://", "“a", "a@", "\\a", "日", "é", "A-", "1,", "v1", "a::", "a.py:1"],
)  # fmt: skip
def test_a_hostile_run_takes_time_in_proportion_to_its_length(unit):
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    identifiers(text)
    assert time.process_time() - start < 1


# covers STR-160
def test_long_encoded_data_and_unbalanced_brackets_take_time_in_proportion_to_their_length():
    chance = random.Random(0)
    encoded = b64encode(chance.randbytes(300_000)).decode()
    start = time.process_time()
    assert identifiers(f"{chance.getrandbits(1_000_000):x}") == ()
    assert all(identifier.end - identifier.start <= 11_000 for identifier in identifiers(encoded))
    assert found("http://x" + ")" * 400_000) == [("url", "http://x")]
    assert time.process_time() - start < 3


# covers STR-161
@pytest.mark.skipif(not DOCS.exists(), reason="public data is not here")
@pytest.mark.parametrize("language", ["en", "pt", "zh", "ja"])
def test_a_page_holds_its_names_in_every_language(language):
    page = (DOCS / language / "tutorial__path-params.md").read_text()
    names = {identifier.text for identifier in identifiers(page)}
    assert names >= {"item_id", "http://127.0.0.1:8000/items/foo"}


# covers STR-161
@pytest.mark.parametrize(
    "text",
    ["[Insert Yes/No here]", "N/A.", "this and/or that", "an I/O error, TCP/IP", "sim/não, да/нет", "he/she"],
)
def test_two_words_that_name_a_choice_are_no_path(text):
    assert identifiers(text) == ()


# covers STR-161
def test_a_choice_inside_a_path_is_part_of_it():
    found = [one.text for one in identifiers("see and/or/else, on/off.toml and src/main, not a/b")]
    assert found == ["and/or/else", "on/off.toml", "src/main"]
