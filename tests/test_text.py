import time

import pytest
import regex
from hypothesis import given, settings, strategies as st

from ctxlab.text import (
    collapse,
    find_literal,
    flatten,
    normalize,
    preview,
    safe_cut,
    safe_cut_back,
    searchable,
)

FLAG = "\U0001f1f0\U0001f1f7"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
# Pieces whose neighbours join or part by different rules: controls, marks, prefixes, Hangul, Indic, emoji, flags.
PIECES = [
    "a", "e\u0301", "\u0301", "\r", "\n", "\r\n", " ", "\u0600", "\u0915", "\u094d", "\u0937", "\u093e", "\u200d",
    "\u1100", "\u1161", "\u11a8", "\uac00", "\uac01", "\U0001f1f0", "\U0001f1f7", "\U0001f468", "\U0001f3fd",
    "\ufe0f", FAMILY, "\u0e33", "\u0e01", "\u65e5", "\x00", "\xad", "\ud83d", "\u0d4e", "\u200c", "\u0e34",
]  # fmt: skip
tangled = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def boundaries(text):
    """Every cluster boundary, by segmenting the whole text from its start."""
    return [0, *(match.end() for match in regex.finditer(r"\X", text))]


# covers EVA-006
@pytest.mark.parametrize(
    ("text", "collapsed"),
    [
        ("  a \t\r\n b\u00a0\u3000\u2028c ", "a b c"),
        ("\u200ba\ufeff", "\u200ba\ufeff"),  # zero-width characters are no white space
        (" \n ", ""),
        ("", ""),
    ],
)
def test_collapsing_makes_one_space_of_every_white_space_run_and_trims(text, collapsed):
    assert collapse(text) == collapsed


# covers EVA-004, EVA-005, EVA-006
@pytest.mark.parametrize(
    ("left", "right", "options", "agree"),
    [
        ("Straße", "STRASSE", ("NFC", True, True), True),
        ("café", "cafe\u0301", ("NFC", True, True), True),
        ("café", "cafe\u0301", (None, True, True), False),
        ("café", "cafe\u0301", ("none", True, True), False),
        ("ﬁle", "file", ("NFC", True, False), False),
        ("ﬁle", "file", ("NFKC", True, False), True),
        ("a  b", "a b", ("NFC", False, True), False),
        ("a  b ", " a b", ("NFC", True, True), True),
        ("Ab", "ab", ("NFC", True, False), False),
    ],
)
def test_texts_are_compared_after_form_white_space_and_case(left, right, options, agree):
    form, spaces, case = options
    compared = [
        normalize(text, unicode_form=form, collapse_whitespace=spaces, casefold=case)
        for text in (left, right)
    ]
    assert (compared[0] == compared[1]) is agree


# covers EVA-093, EVA-120
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\n\t b\x00\x1b[0m", "a b [0m"),
        ("x" * 240, "x" * 240),
        ("x" * 241, "x" * 239 + "…"),
        ("e\u0301" * 200, "e\u0301" * 119 + "…"),  # 239 would split the accent from its letter
    ],
)
def test_a_preview_is_one_line_of_at_most_240_characters(text, shown):
    assert preview(text) == shown


def test_a_preview_takes_another_bound():
    assert preview("abcdef", characters=4) == "abc…"


@pytest.mark.parametrize(
    ("text", "flat"), [("a\r\n\r\nb\nc", "a b c"), ("a  b\tc", "a  b\tc"), ("\n", " "), ("x\u2028y", "x y")]
)
def test_flattening_replaces_each_run_of_line_breaks_and_nothing_else(text, flat):
    assert flatten(text) == flat


# covers STR-150, STR-151
@pytest.mark.parametrize(
    ("text", "characters", "length"),
    [
        ("a" * 9 + "\U0001f98a" + "b" * 9, 9, 9),
        ("a" * 9 + "\U0001f98a" + "b" * 9, 10, 10),
        (FLAG * 3, 3, 2),  # flags pair from the left
        (FLAG * 3, 4, 4),
        ("cafe\u0301", 4, 3),
        (FAMILY + "!", 4, 0),  # a cluster that exceeds the room is left out
        (FAMILY + "!", 5, 5),
        ("\r\n", 1, 0),
        ("a\r\nb", 2, 1),
        ("\u0915\u094d\u0937!", 2, 0),
        ("\u1100\u1161\u11a8", 2, 0),
        ("abc", 0, 0),
        ("abc", -1, 0),
        ("abc", 99, 3),
        ("", 5, 0),
    ],
)
def test_a_cut_never_splits_what_a_reader_sees_as_one_character(text, characters, length):
    assert safe_cut(text, characters=characters) == length


# covers STR-150
@pytest.mark.parametrize(
    ("text", "characters", "start"),
    [
        (FLAG * 3, 3, 4),
        ("cafe\u0301", 1, 5),
        ("cafe\u0301", 2, 3),
        ("a\r\n", 1, 3),
        ("abc", 2, 1),
        ("abc", 0, 3),
        ("abc", -1, 3),
        ("abc", 9, 0),
        ("", 1, 0),
    ],
)
def test_a_suffix_begins_where_a_character_begins(text, characters, start):
    assert safe_cut_back(text, characters=characters) == start


# covers STR-150, STR-151
@settings(max_examples=400)
@given(text=tangled)
def test_cuts_lie_on_the_boundaries_of_the_whole_text_and_are_the_longest(text):
    whole = boundaries(text)
    for characters in range(len(text) + 2):
        assert safe_cut(text, characters=characters) == max(b for b in whole if b <= characters)
        assert safe_cut_back(text, characters=characters) == min(
            b for b in whole if b >= max(0, len(text) - characters)
        )


# covers STR-150
@settings(max_examples=100)
@given(before=tangled, after=tangled, characters=st.integers(0, 300))
def test_what_follows_a_cut_does_not_move_it(before, after, characters):
    text = before + "x" * 200 + after
    assert safe_cut(text, characters=characters) == max(b for b in boundaries(text) if b <= characters)


# covers STR-150
@pytest.mark.parametrize(
    "unit",
    ["\U0001f1f0", "\u0301", "\u200d", "\U0001f468\u200d", "\u0915\u094d", "\u1100", "\u0600", "a", "\r\n"],
)
def test_cutting_a_long_run_takes_time_in_proportion_to_the_cut(unit):
    text = unit * (400_000 // len(unit))
    start = time.process_time()
    cut = safe_cut(text, characters=200_001)
    assert 0 <= cut <= 200_001
    assert safe_cut_back(text, characters=199_999) >= 200_001
    for _ in range(100):
        safe_cut(text, characters=200)
    assert time.process_time() - start < 2


# covers DAT-053
@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("see  CAFE\u0301\nstreet", "Café street"),
        ("STRASSE 5", "Straße  5"),
        ("\u1e9b\u0323", "\u1e9b\u0323"),
    ],
)
def test_literals_are_found_after_composition_white_space_and_case(text, literal):
    assert find_literal(searchable(text), searchable(literal)) == (
        searchable(text).index(searchable(literal))
    )


# covers DAT-054, EVA-007
@pytest.mark.parametrize(
    ("text", "literal", "at"),
    [
        ("port 80801", "8080", None),
        ("port 8080.", "8080", 5),
        ("80801 8080", "8080", 6),  # a later occurrence that stands alone counts
        ("x8080", "8080", None),
        ("8080_a", "8080", None),
        ("tokenizer", "token", None),
        ("(token)", "token", 1),
        ("a--flag-b", "--flag", 1),  # begins in no letter, so anything may stand before it
        ("a--flagb", "--flag", None),
        ("端口8080号", "8080", 2),  # Han next to it continues nothing
        ("ポート8080です", "8080", 3),
        ("ราคา500บาท", "500", 4),
        ("ລາຄາ500ກີບ", "500", 4),
        ("ថ្លៃ500រៀល", "500", 4),
        ("ဈေး500ကျပ်", "500", 3),
        ("東京都", "東京", 0),
        ("サーバーX1", "サーバ", 0),  # the long vowel mark belongs to Kana
        ("цена500руб", "500", None),
        ("500㎞", "500", 0),  # a unit sign is neither letter nor digit
        ("naïve\u0316x", "naïve", None),  # a further mark changes the last letter
        ("", "a", None),
        ("abc", "", 0),
    ],
)
def test_a_whole_literal_is_not_continued_by_a_letter_digit_or_underscore(text, literal, at):
    assert find_literal(text, literal) == at


# covers DAT-054
def test_a_substring_may_be_continued():
    assert find_literal("80801", "8080", match="substring") == 0
    assert find_literal("tokenizer", "token", match="substring") == 0
    assert find_literal("x", "token", match="substring") is None


# covers DAT-054
@settings(max_examples=150)
@given(
    text=st.text(st.sampled_from("ab1_ -日ーกé."), max_size=12),
    literal=st.text(st.sampled_from("ab1_-日é"), min_size=1, max_size=3),
)
def test_the_word_rule_is_that_of_looking_at_both_neighbours_of_every_occurrence(text, literal):
    joins = set("ab1_é")

    def stands_alone(at):
        before, after = text[:at][-1:], text[at + len(literal) :][:1]
        return not (literal[0] in joins and before in joins) and not (literal[-1] in joins and after in joins)

    spots = [at for at in range(len(text)) if text.startswith(literal, at) and stands_alone(at)]
    assert find_literal(text, literal) == (spots[0] if spots else None)


# covers DAT-054
def test_a_million_near_misses_are_passed_over_in_time():
    start = time.process_time()
    assert find_literal("a" * 1_000_000, "aaaa") is None
    assert time.process_time() - start < 1
