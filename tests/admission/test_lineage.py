"""Topics, lineage and times, and the order that follows from them."""

import pytest

from ctxlab.admission.lineage import arrange, folded_title
from ctxlab.dataset import Scope
from ctxlab.errors import InputError
from tests.admission.building import THERE, snip


def ids(snippets):
    return [snippets[place.rank].id for place in arrange(snippets)]


def topics(snippets):
    """Ids by topic, as sets in the order of topics."""
    found = {}
    for place in arrange(snippets):
        found.setdefault(place.topic, set()).add(snippets[place.rank].id)
    return list(found.values())


def labels(snippets):
    return {snippets[place.rank].id: place.label for place in arrange(snippets) if place.label}


def flags(snippets):
    return {snippets[place.rank].id: place.flags for place in arrange(snippets) if place.flags}


# covers ADM-010
@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("Ports", "ports", True),
        ("Ports", "Ｐｏｒｔｓ", True),
        ("  Open \n ports ", "open ports", True),
        ("Straße", "STRASSE", True),
        ("ﬁle limits", "File limits", True),
        ("\u212b unit", "\u00e5 UNIT", True),
        ("Open ports", "Openports", False),
        ("Ports", "Port", False),
        ("", "", False),
        ("   ", "", False),
        ("سياسة النسخ", "سياسة  النسخ", True),
        # NFKC of the folded text: U+0345 folds to iota, so only another NFKC makes these equal
        ("\u1fb3", "\u03b1\u0345", True),
    ],
)
def test_equal_titles_make_a_topic_after_folding_and_similar_ones_do_not(one, other, together):
    assert len(topics([snip("a", title=one), snip("b", title=other)])) == (1 if together else 2)


# covers ADM-010
def test_a_folded_title_stays_as_it_is_when_it_is_folded_again():
    for title in ("ﬁ", "\u1fb3\u0345", "ẞ", "K", "㎏", "İ", "ǰ\u0323"):
        assert folded_title(folded_title(title)) == folded_title(title)


# covers ADM-010, ADM-022
@pytest.mark.parametrize(
    "scope", [THERE, Scope(workspace="v", project="p"), Scope(workspace="W", project="p")]
)
def test_scopes_compare_exactly_and_keep_equal_titles_apart(scope):
    assert topics([snip("a", title="T"), snip("b", title="T", scope=scope)]) == [{"a"}, {"b"}]


# covers ADM-010
def test_similar_text_never_makes_a_topic():
    assert topics([snip("a", "The very same text."), snip("b", "The very same text.")]) == [{"a"}, {"b"}]


# covers ADM-010, ADM-011
def test_a_topic_is_the_closure_of_titles_and_lineage():
    found = topics(
        [snip("a", title="T", by=("b",)), snip("b", title="U"), snip("c", title="u"), snip("d", title="V")]
    )
    assert found == [{"a", "b", "c"}, {"d"}]


# covers ADM-011
def test_lineage_across_scopes_is_ignored_and_flagged_at_who_names_the_successor():
    snippets = [snip("old", title="T", by=("new",)), snip("new", title="T", scope=THERE)]
    assert topics(snippets) == [{"old"}, {"new"}]
    assert flags(snippets) == {"old": ("lineage_out_of_scope",)}
    assert labels(snippets) == {}


# covers ADM-012
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"time": "2025-01-01"}, {"time": "2025-01-02"}),
        ({"time": None}, {"time": "1970-01-01"}),
        ({"time": "2025-06-01", "session_start": "2025-01-01"}, {"time": "2025-02-01"}),
        ({"time": None}, {"time": None, "session_start": "2020-01-01"}),
        # 10:00 at +01:00 is 09:00 in UTC
        ({"time": "2025-01-01T10:00:00+01:00"}, {"time": "2025-01-01T09:30:00Z"}),
        ({"time": "2025-01-01"}, {"time": "2025-01-01T00:00:00.000001Z"}),
        # what was ingested late is no newer for that
        (
            {"time": "2025-01-01", "ingested_at": "2025-12-01"},
            {"time": "2025-02-01", "ingested_at": "2025-02-02"},
        ),
    ],
)
def test_time_is_session_start_then_evidence_time_and_unknown_is_oldest(older, newer):
    snippets = [snip("old", title="T", **older), snip("new", title="T", **newer)]
    assert ids(snippets) == ["new", "old"]
    assert labels(snippets) == {"old": "older"}


# covers ADM-012
def test_a_successor_is_at_least_as_new_as_all_that_it_supersedes():
    # new claims 2020, but supersedes mid, which supersedes old of 2025: its effective time is 2025, after other's 2024
    snippets = [
        snip("other", title="T", time="2024-01-01"),
        snip("new", title="T", time="2020-01-01"),
        snip("mid", title="T", time=None, by=("new",)),
        snip("old", title="T", time="2025-01-01", by=("mid",)),
    ]
    order = arrange(snippets)
    assert [snippets[place.rank].id for place in order] == ["new", "mid", "old", "other"]
    assert [str(place.time)[:10] for place in order] == ["2025-01-01"] * 3 + ["2024-01-01"]
    assert [place.tier for place in order] == [0, 0, 0, 1]


# covers ADM-013
def test_lineage_outranks_time():
    snippets = [snip("a", title="T", time="2025-05-05", by=("b",)), snip("b", title="T", time="2024-01-01")]
    assert ids(snippets) == ["b", "a"]
    assert labels(snippets) == {"a": "superseded"}


# covers ADM-013, ADM-026
def test_a_chain_obsoletes_what_stands_at_its_far_end():
    snippets = [snip("a", by=("b",)), snip("b", by=("c",)), snip("c")]
    assert ids(snippets) == ["c", "b", "a"]
    assert labels(snippets) == {"a": "superseded", "b": "superseded"}


# covers ADM-014
@pytest.mark.parametrize("time", ["2025-01-01", None])
def test_equal_and_unknown_times_keep_rank_order_and_obsolete_nothing(time):
    snippets = [snip(name, title="T", time=time) for name in ("b", "a", "c")]
    assert ids(snippets) == ["b", "a", "c"]
    assert labels(snippets) == {}
    assert {place.tier for place in arrange(snippets)} == {0}


# covers ADM-014
def test_a_chain_decides_between_equal_times():
    snippets = [snip("a", title="T", time="2025-01-01", by=("b",)), snip("b", title="T", time="2025-01-01")]
    assert ids(snippets) == ["b", "a"]


# covers ADM-015
def test_topics_come_by_their_best_rank_and_the_head_first():
    snippets = [
        snip("x-old", title="X", time="2024-01-01"),
        snip("lone"),
        snip("y-new", title="Y", time="2025-01-01"),
        snip("x-new", title="X", time="2025-01-01"),
        snip("y-old", title="Y", time="2024-01-01"),
        snip("x-mid", title="X", time="2024-06-01"),
    ]
    assert ids(snippets) == ["x-new", "x-mid", "x-old", "lone", "y-new", "y-old"]
    assert [place.topic for place in arrange(snippets)] == [0, 0, 0, 1, 2, 2]


# covers ADM-015
def test_of_one_time_each_follows_its_successors_and_the_best_rank_is_next():
    # a waits for d, b for c; c is free first among c, d, e by rank, then b, then d sets a free
    snippets = [
        snip("a", title="T", by=("d",)),
        snip("b", title="T", by=("c",)),
        snip("c", title="T"),
        snip("d", title="T"),
        snip("e", title="T"),
    ]
    assert ids(snippets) == ["c", "b", "d", "a", "e"]


# covers ADM-016
def test_a_successor_that_is_not_there_obsoletes_nothing_and_is_told():
    snippets = [snip("a", by=("gone",)), snip("b")]
    assert ids(snippets) == ["a", "b"]
    assert labels(snippets) == {"a": "superseded, successor not retrieved"}
    assert arrange(snippets)[0].successors == ()


# covers ADM-026
def test_a_snippet_has_one_label():
    # a: superseded by b and by one that is gone; c: one that is gone and older than b; d: older alone
    snippets = [
        snip("a", title="T", time="2024-01-01", by=("gone", "b")),
        snip("b", title="T", time="2025-01-01"),
        snip("c", title="T", time="2024-02-01", by=("gone",)),
        snip("d", title="T", time="2024-03-01"),
    ]
    assert labels(snippets) == {"a": "superseded", "c": "superseded, successor not retrieved", "d": "older"}


# covers ADM-018
def test_a_cycle_loses_its_inner_lineage_and_its_members_are_ordered_by_time():
    snippets = [
        snip("a", time="2024-01-01", by=("b",)),
        snip("b", time="2025-01-01", by=("c",)),
        snip("c", time="2024-06-01", by=("a",)),
    ]
    assert ids(snippets) == ["b", "c", "a"]
    assert flags(snippets) == dict.fromkeys("abc", ("lineage_cycle",))
    assert labels(snippets) == {"c": "older", "a": "older"}
    assert topics(snippets) == [{"a", "b", "c"}]


# covers ADM-018
def test_edges_into_and_out_of_a_cycle_hold():
    # out leads into the cycle of a and b, b leads out to new; times are unknown, so only the chains order
    snippets = [
        snip("out", by=("a",)),
        snip("a", by=("b",)),
        snip("b", by=("a", "new")),
        snip("new"),
    ]
    order = arrange(snippets)
    by_id = {snippets[place.rank].id: place for place in order}
    assert [snippets[place.rank].id for place in order] == ["a", "out", "new", "b"]
    assert by_id["out"].successors == (1,)
    assert by_id["b"].successors == (3,)
    assert by_id["a"].successors == ()
    assert set(flags(snippets)) == {"a", "b"}


# covers ADM-018
def test_a_snippet_that_names_itself_is_a_cycle_of_one():
    snippets = [snip("a", by=("a",)), snip("b")]
    assert ids(snippets) == ["a", "b"]
    assert flags(snippets) == {"a": ("lineage_cycle",)}
    assert labels(snippets) == {}


def test_a_long_chain_and_a_long_cycle_need_no_recursion():
    number = 20_000
    chain = [snip(f"s{i}", by=(f"s{i + 1}",) if i + 1 < number else ()) for i in range(number)]
    assert [place.rank for place in arrange(chain)] == [*range(number - 1, -1, -1)]
    cycle = [snip(f"s{i}", by=(f"s{(i + 1) % number}",)) for i in range(number)]
    assert [place.rank for place in arrange(cycle)] == [*range(number)]


def test_an_id_that_stands_twice_is_refused():
    with pytest.raises(InputError, match="snippets: an id stands twice"):
        arrange([snip("a"), snip("a")])
