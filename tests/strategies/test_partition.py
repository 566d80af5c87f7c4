"""A text cut into pieces: nothing lost, each within its limit, cut where the least is torn apart."""

import pytest
import regex
from hypothesis import given, settings, strategies as st

from ctxlab.strategies.partition import Partition, longest
from ctxlab.tokens import UTF8_BYTES_1, counter_named


def pieces(text, *, room, blocks=(0,), most=1000, counter=UTF8_BYTES_1, language=None):
    """Cut with prompts that cost 10 tokens around each piece, so that a piece has this much room."""
    partition = Partition(
        text=text,
        blocks=blocks,
        size=lambda piece: 10 + counter(piece),
        limit_tokens=10 + room,
        language=language,
    )
    return list(partition.pieces(most=most))


# covers STR-083
@pytest.mark.parametrize(
    ("text", "blocks", "room", "expected"),
    [
        # the second message would fit up to its newline and its sentence, but the cut is between messages
        ("[user] a\n\n[user] b.\nc. d", (0, 10), 20, ["[user] a\n\n", "[user] b.\nc. d"]),
        # of two places between messages the later one
        ("aa\n\nbb\n\ncccccc", (0, 4, 8), 10, ["aa\n\nbb\n\n", "cccccc"]),
        # a message that begins right at the limit
        ("aa\n\nbb\n\ncc", (0, 4, 8), 8, ["aa\n\nbb\n\n", "cc"]),
        # no place between messages: the last newline, although a sentence ends later
        ("one\nTwo. Three four", (0,), 12, ["one\n", "Two. ", "Three four"]),
        # no newline: the last sentence end, with the white space after it
        ("First one. Then more words", (0,), 18, ["First one. ", "Then more words"]),
        ("第一条。第二条还没有完成", (0,), 30, ["第一条。", "第二条还没有完成"]),
        # an abbreviation ends no sentence, so the words are cut between characters
        ("He saw Dr. Smith", (0,), 13, ["He saw Dr. Sm", "ith"]),
        # nothing at all to go by
        ("abcdefghij", (0,), 4, ["abcd", "efgh", "ij"]),
    ],
    ids=[
        "between messages",
        "the last of two",
        "at the limit",
        "newline",
        "sentence",
        "sentence without space",
        "abbreviation",
        "characters",
    ],
)
def test_a_cut_is_placed_between_messages_or_else_at_a_newline_a_sentence_or_a_character(
    text, blocks, room, expected
):
    assert pieces(text, blocks=blocks, room=room) == expected


# covers STR-150, STR-151
@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        # a family is 25 bytes, a flag 8, a letter with its accent 3, a syllable of Devanagari 6 to 12
        ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 49, ["👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"]),
        ("🇰🇷🇯🇵", 15, ["🇰🇷", "🇯🇵"]),
        ("xe\u0301e\u0301", 5, ["xe\u0301", "e\u0301"]),
        ("한국", 3, ["한", "국"]),
        ("\u1112\u1161\u11ab\u1112\u1161", 14, ["\u1112\u1161\u11ab", "\u1112\u1161"]),
        # CR LF is one place to cut behind, not two
        ("ab\r\ncd", 3, ["ab", "\r\nc", "d"]),
        ("ab\r\ncd", 4, ["ab\r\n", "cd"]),
        # an accent on the space after a sentence belongs to the space
        ("One. \u0301Two", 7, ["One. \u0301", "Two"]),
    ],
    ids=["family", "flags", "accents", "Hangul", "jamo", "before CR LF", "after CR LF", "accented space"],
)
def test_no_cut_lies_inside_a_grapheme_cluster_and_no_character_is_changed(text, room, expected):
    assert pieces(text, room=room) == expected


# covers STR-085, STR-151
@pytest.mark.parametrize(
    ("text", "room"),
    [("x", 0), ("👨‍👩‍👧‍👦", 24), ("abc👨‍👩‍👧‍👦", 24)],
    ids=["no room", "one cluster", "a later cluster"],
)
def test_a_text_with_a_cluster_that_fits_nowhere_cannot_be_cut(text, room):
    assert pieces(text, room=room) == []


# covers STR-085
def test_cutting_stops_as_soon_as_there_are_too_many_pieces():
    assert pieces("x" * 63, room=1, most=63) == ["x"] * 63
    assert pieces("x" * 5000, room=1, most=63) == ["x"] * 64


# covers STR-083
def test_a_run_of_white_space_makes_no_piece_of_its_own_where_words_follow():
    assert pieces("\n\n\nabcdefgh", room=8) == ["\n\n\nabcde", "fgh"]


# covers STR-151
def test_a_count_that_jumps_up_at_the_better_place_sends_the_cut_back():
    """A counter by which a text that ends in a newline costs two tokens more."""
    text = "aaaa\nbbb\ncc"
    found = Partition(
        text=text, blocks=(0,), size=lambda piece: len(piece) + 2 * piece.endswith("\n"), limit_tokens=10
    ).pieces(most=9)
    # ten characters fit, the newline after nine does not: 9 + 2; after five it does: 5 + 2
    assert found == ("aaaa\n", "bbb\ncc")


TEXT = st.text(st.sampled_from("ab .\n\r e\u0301👨👩\u200d🇰🇷漢。\u1112\u1161\u11abक्ष"), max_size=200)


# covers STR-083, STR-084, STR-150
@pytest.mark.properties
@given(text=TEXT, starts=st.sets(st.integers(1, 199)), room=st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_pieces_of_any_text_give_it_back_are_full_of_something_and_whole_in_their_characters(
    text, starts, room
):
    boundaries = {match.end() for match in regex.finditer(r"\X", text)}
    blocks = (0, *sorted(start for start in starts if start in boundaries and start < len(text)))
    found = pieces(text, blocks=blocks, room=room)
    if found:
        assert "".join(found) == text
        ends = [sum(map(len, found[: n + 1])) for n in range(len(found))]
        assert set(ends) <= boundaries
        assert all(0 < len(piece.encode()) <= room for piece in found)
    else:
        clusters = regex.findall(r"\X", text)
        assert not text or max(len(cluster.encode()) for cluster in clusters) > room


# covers STR-151, STR-083
@pytest.mark.properties
@pytest.mark.parametrize("name", ["utf8_bytes_2", "o200k_base"])
@given(text=TEXT, room=st.integers(20, 60))
@settings(max_examples=20, deadline=None)
def test_pieces_are_within_their_limit_by_every_counter(name, text, room):
    counter = counter_named(name)
    found = pieces(text, room=room, counter=counter)
    assert all(counter(piece) <= room for piece in found)
    assert "".join(found) in (text, "")


# covers STR-151
@pytest.mark.parametrize("guess", [0, 1, 7, 8, 9, 50, 500])
def test_the_longest_length_is_found_from_any_guess(guess):
    tried = []

    def fits(length):
        tried.append(length)
        return length <= 8

    assert longest(fits, most=100, guess=guess) == 8
    assert longest(fits, most=8, guess=guess) == 8
    assert longest(fits, most=5, guess=guess) == 5
    assert longest(lambda length: length < 1, most=9, guess=guess) == 0
    assert 8 - longest(fits, most=100, guess=guess, left_over=2) in (0, 1, 2)
    assert max(tried) <= max(16, guess)
