"""Citations that name nothing that was sent are counted."""

import pytest

from ctxlab.answers import judge_answers
from ctxlab.citations import dropped_citations
from ctxlab.strategies.base import Span
from tests.factories import make_case, make_dataset, make_snippet

CASE = make_case(snippets=tuple(make_snippet(name, "text") for name in ("s1", "s2", "note: old")))


def ledger(*fates):
    return tuple(
        Span(item="snippet", item_index=i, part="text", start=0, end=4, fate=fate, reason=None)
        for i, fate in enumerate(fates)
    )


# covers ADM-064
@pytest.mark.parametrize(
    ("answer", "dropped"),
    [
        ("The limit is 45 s [s1].", 0),
        ("The limit is 30 s [s2].", 1),
        ("It is so [s1][s2] and so [s2].", 2),
        ("It is so [s1, s2; s9].", 2),
        ("It is so [s7].", 1),
        ("It is so [note: old].", 0),
        ("Nothing is cited.", 0),
        ("- [x] done, [TODO] later, [2025-01-01], [see below]", 0),
        ("A link [s2](https://example.org) and an index list[s2]", 0),
        ("中文[s2]。", 1),
        ("[]", 0),
        ("[" * 5000, 0),
    ],
)
def test_a_citation_that_names_no_snippet_of_the_request_is_counted(answer, dropped):
    assert dropped_citations(answer, CASE, ledger("admitted", "omitted", "clipped")) == dropped


# covers ADM-064
def test_what_stands_whole_or_clipped_was_sent_and_without_a_ledger_all_was():
    assert dropped_citations("[s1] [s2]", CASE, ledger("kept", "clipped", "omitted")) == 0
    assert dropped_citations("[s1] [s2] [s3]", CASE, None) == 1


# covers ADM-064
def test_a_case_without_snippets_has_nothing_to_cite():
    assert dropped_citations("[s1]", make_case(), ()) is None


# covers ADM-064
def test_stored_answers_are_judged_as_if_all_snippets_had_been_sent():
    row = judge_answers(make_dataset(CASE), {"c1": "It is so [s2] [s5]."}).rows[0]
    assert row.dropped_citations == 1
    assert row.answer is None or "[s5]" in row.answer
