"""Sizes are those of the whole text, however they are found."""

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.admission.rendering import ELLIPSIS, EVIDENCE, Entry, Growing, render_snippets, write_entry
from ctxlab.tokens import UTF8_BYTES_1, UTF8_BYTES_2, CountedOnce, counter_named, utf8_ratio
from tests.admission.building import snip

ENDS = (
    "",
    " ",
    ".",
    ".\n",
    "\r\n",
    "\r",
    "\n\n\n",
    "/",
    "(",
    "☕",
    "。",
    "\u2028",
    "a",
    "[",
    "]",
    "…",
    "'",
    "9",
)
texts = st.builds("".join, st.lists(st.one_of(st.sampled_from(ENDS), st.text(max_size=8)), max_size=5))


# covers ADM-006
@given(parts=st.lists(st.tuples(texts, texts), max_size=5), limit=st.integers(0, 200))
@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize(
    "counter",
    [
        UTF8_BYTES_1,
        UTF8_BYTES_2,
        utf8_ratio(3.3),
        CountedOnce(UTF8_BYTES_2),
        counter_named("o200k_base"),
        counter_named("cl100k_base"),
        CountedOnce(counter_named("o200k_base")),
    ],
    ids=["bytes", "halves", "ratio", "halves once", "o200k", "cl100k", "o200k once"],
)
def test_an_entry_fits_exactly_if_the_whole_text_with_it_is_within_the_limit(counter, parts, limit):
    grown = Growing(form=EVIDENCE, counter=counter, limit_tokens=limit)
    for number, (title, text) in enumerate(parts, 1):
        piece = write_entry(Entry(snip(f"s{number}", title=title), number, None, text))
        whole = "".join([EVIDENCE.head, *grown.pieces, piece, EVIDENCE.notice])
        before = grown.text
        assert grown.tokens_with(piece) == counter(whole)
        taken = grown.take(piece)
        assert taken == (counter(whole) <= limit)
        assert grown.text == (whole if taken else before)


# covers ADM-024, ADM-026
@pytest.mark.parametrize(
    ("label", "is_clip", "written"),
    [
        (None, False, "[a] T\ntext\n\n"),
        ("older", False, "[a] (older) T\ntext\n\n"),
        ("superseded", True, "[a] (superseded) T\n… text\n\n"),
        (
            "superseded, successor not retrieved",
            False,
            "[a] (superseded, successor not retrieved) T\ntext\n\n",
        ),
    ],
)
def test_an_entry_shows_id_label_title_and_text(label, is_clip, written):
    assert write_entry(Entry(snip("a", title="T"), 1, label, "text", is_clip)) == written
    assert len(ELLIPSIS.encode()) == 4


# covers STR-021
def test_all_snippets_are_written_whole_in_rank_order_without_labels_or_notice():
    snippets = [snip("b", "B", title="old", by=("a",)), snip("a", "A")]
    assert render_snippets(snippets) == "Evidence:\n\n[b] old\nB\n\n[a] \nA"
