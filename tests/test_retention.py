"""The 16 bundled probes, further ones for each rule, and what happens to them without the rules."""

from dataclasses import replace
from functools import partial

import pytest

from ctxlab.admission.lineage import arrange, in_rank_order
from ctxlab.admission.passes import admit_snippets
from ctxlab.dataset import Scope
from ctxlab.estimates import messages_tokens
from ctxlab.facts import judge_facts
from ctxlab.messages import Synthetic
from ctxlab.retention import ALLOWANCES, kept_words, load_probes, lost, probe_budget, retention_frame
from ctxlab.tokens import UTF8_BYTES_1
from tests.admission.building import room
from tests.factories import make_case, make_fact, make_snippet, user

PROBES = load_probes()
FRAME = retention_frame()
COUNTS = {
    "exact_fit": (1, 0, 0),
    "ends_before": (1, 0, 1),
    "obsolete_first": (1, 1, 0),
    "correction_first": (1, 1, 0),
}


# covers ADM-070
def test_four_languages_times_four_boundaries_have_one_current_fact_each():
    found = [(probe.language, probe.category) for probe in PROBES]
    assert found == [
        (language, boundary) for language in ("en", "pt-BR", "zh", "code") for boundary in ALLOWANCES
    ]
    assert all(len(probe.facts) == len(probe.facts[0].literals) == 1 for probe in PROBES)


# covers ADM-070
def test_the_literal_stands_in_the_correction_alone():
    for probe in PROBES:
        literal = probe.facts[0].literals[0]
        holding = [snippet for snippet in probe.snippets if literal in snippet.text]
        assert [snippet.text.count(literal) for snippet in holding] == [1]
        if len(probe.snippets) == 2:
            assert holding[0].id == "new"
            assert probe.snippets[probe.category == "obsolete_first"] == holding[0]


# covers ADM-070, ADM-071
def test_all_literals_are_kept_with_full_and_with_admit():
    assert len(FRAME) == 32
    assert FRAME["literal_kept"].all()
    assert FRAME["request_built"].all()
    assert [kept_words(FRAME, mode=mode) for mode in ("full", "admit")] == ["16/16 kept", "16/16 kept"]
    assert lost(FRAME) == 0


# covers ADM-070
def test_counts_are_those_of_the_table():
    for row in FRAME.itertuples():
        snippets = 2 if row.boundary.endswith("first") else 1
        expected = COUNTS[row.boundary] if row.mode == "admit" else (snippets, 0, 0)
        assert (row.admitted, row.omitted, row.clipped) == expected, row.probe


# covers ADM-072
@pytest.mark.parametrize("probe", [p for p in PROBES if len(p.snippets) == 1], ids=lambda p: p.id)
def test_the_exact_fit_is_the_smallest_allowance_that_takes_the_snippet_whole(probe):
    exact = ALLOWANCES["exact_fit"](probe)
    other = messages_tokens(probe.messages, UTF8_BYTES_1)
    for tokens, clipped in ((exact, 0), (exact - 1, 1)):
        found = admit_snippets(
            probe.snippets,
            budget=room(tokens),
            counter=UTF8_BYTES_1,
            other_tokens=other,
            language=probe.language,
        )
        assert len(found.receipt.clipped) == clipped
    assert probe_budget(probe).allowance_tokens == exact - (probe.category == "ends_before")


# covers ADM-072
def test_of_two_snippets_either_fits_alone_and_both_do_not():
    for probe in PROBES:
        if len(probe.snippets) == 2:
            other = messages_tokens(probe.messages, UTF8_BYTES_1)
            for snippets in ([replace(s, superseded_by=())] for s in probe.snippets):
                found = admit_snippets(
                    snippets, budget=probe_budget(probe), counter=UTF8_BYTES_1, other_tokens=other
                )
                assert len(found.receipt.admitted) == 1
                assert found.receipt.clipped == {}


# covers ADM-070, ADM-021
def test_in_the_order_of_the_retrieval_a_quarter_of_the_probes_loses_its_fact():
    frame = retention_frame(admit=partial(admit_snippets, arrange=in_rank_order))
    assert kept_words(frame, mode="admit") == "12/16 kept"
    assert set(frame.loc[~frame["literal_kept"], "boundary"]) == {"obsolete_first"}
    assert lost(frame) == 4


def unblocked(snippets):
    """The order as it is, and nothing blocks anything."""
    return [place._replace(tier=0, successors=()) for place in arrange(snippets)]


def probe(*snippets, room_tokens, rules=arrange, language="en"):
    """The evidence of a request in which the entries may take so many bytes, and the account of it."""
    messages = (user("What holds now?"),)
    other = messages_tokens(messages, UTF8_BYTES_1)
    around = 12 + 4 + len("Evidence:\n\n") + len("[Sources may have been left out of this list.]")
    found = admit_snippets(
        snippets, budget=room(other + around + room_tokens), counter=UTF8_BYTES_1, other_tokens=other,
        language=language, arrange=rules,
    )  # fmt: skip
    return found.text or "", found.receipt


def entry(snippet):
    return len(f"[{snippet.id}] {snippet.title}\n{snippet.text}\n\n".encode())


OLD = make_snippet(
    "old",
    "The cache holds 10 entries.",
    title="Cache",
    session_start="2024-05-01",
    evidence_time="2024-05-01",
)
NEW = make_snippet(
    "new",
    "The cache holds 25 entries.",
    title="Cache",
    session_start="2025-05-01",
    evidence_time="2025-05-01",
)


# covers ADM-073, ADM-012
def test_session_chronology_decides_against_late_ingestion():
    late = make_snippet(
        "old",
        OLD.text,
        title="Cache",
        session_start="2024-05-01",
        evidence_time="2026-01-01",
        ingested_at="2026-01-01",
    )
    text, receipt = probe(late, NEW, room_tokens=entry(NEW))
    assert (receipt.admitted, "25 entries" in text, "10 entries" in text) == (("new",), True, False)


# covers ADM-073, ADM-013
def test_lineage_decides_against_imported_times():
    old = make_snippet("old", OLD.text, evidence_time="2025-12-01", superseded_by=("new",))
    new = make_snippet("new", NEW.text, evidence_time="2020-01-01")
    text, receipt = probe(old, new, room_tokens=entry(new))
    assert (receipt.admitted, "25 entries" in text) == (("new",), True)


UNUSABLE = {
    "too large": "The cache holds 25 entries " + "and more " * 40 + "of them.",
    "empty": "",
    "incomplete": "The cache holds 25 entries unless it was " + "really " * 40,
}


# covers ADM-073, ADM-021
@pytest.mark.parametrize("text", UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_newer_one_leaves_no_room_for_the_outdated_one(text):
    newer = make_snippet("new", text, title="cache", session_start="2025-05-01")
    evidence, receipt = probe(OLD, newer, make_snippet("b", "Backups run at two."), room_tokens=100)
    assert receipt.admitted == ("b",)
    assert receipt.omitted["old"] == "blocked_by_newer"
    assert "10 entries" not in evidence
    # what the rule is for: without it the outdated one comes in
    evidence, receipt = probe(
        OLD, newer, make_snippet("b", "Backups run at two."), room_tokens=100, rules=unblocked
    )
    assert "10 entries" in evidence


# covers ADM-073, ADM-022
def test_topics_and_scopes_are_independent():
    large = make_snippet(
        "big",
        "x" * 400 + ".",
        title="Cache",
        session_start="2026-05-01",
        scope=Scope(workspace="w", project="z"),
    )
    text, receipt = probe(large, NEW, OLD, room_tokens=entry(NEW))
    assert (receipt.admitted, "25 entries" in text) == (("new",), True)


# covers ADM-073, ADM-023
def test_whole_snippets_come_before_a_clip():
    long = make_snippet("long", "The first part is of no use here at all. The cache holds 99 entries.")
    short = make_snippet("short", "The cache holds 25 entries.")
    text, receipt = probe(long, short, room_tokens=entry(short))
    assert (receipt.admitted, receipt.clipped) == (("short",), {})
    assert "99 entries" not in text


# covers ADM-073, ADM-063, ADM-033, ADM-031
@pytest.mark.parametrize(
    ("reason", "text", "language"),
    [
        ("ambiguous_boundary", "The limit was set by Dr. Miller of the storage team in May.", "en"),
        (
            "ambiguous_boundary",
            "The old call is `close(queue). open(queue)` and nothing else was ever allowed.",
            "en",
        ),
        ("incomplete_tail", "The limit was 30 s in May. Since June it is 45 s, but only if", "en"),
        ("no_complete_sentence", "The limit of the storage team was raised to 45 seconds in June.", "en"),
        (
            "leaning_sentence",
            "The limit of the team was 30 seconds in May. However, it was raised to 45 seconds.",
            "en",
        ),
    ],
    ids=["abbreviation", "quoted code", "incomplete tail", "one sentence", "leaning"],
)
def test_what_may_not_be_clipped_is_left_out_with_its_reason(reason, text, language):
    snippet = make_snippet("a", text)
    found, receipt = probe(snippet, room_tokens=entry(snippet) - 1, language=language)
    assert (found, receipt.omitted) == ("", {"a": reason})
    assert receipt.refusal == "no_evidence_admitted"


# covers ADM-073, ADM-023
def test_a_last_sentence_that_does_not_fit_leaves_the_snippet_too_large():
    snippet = make_snippet("a", "The limit is low. Since June the limit of the storage team is 45 seconds.")
    _, receipt = probe(snippet, room_tokens=40)
    assert receipt.omitted == {"a": "too_large"}


# covers ADM-074
def test_a_label_on_an_obsolete_snippet_does_not_recover_its_correction():
    case = make_case(
        messages=(user("How many entries?"),), snippets=(OLD, NEW), facts=(make_fact("f", "25 entries"),)
    )
    evidence = Synthetic(
        role="user",
        content="Evidence:\n\n[old] (older) Cache\nThe cache holds 10 entries.",
        made_by="evidence",
    )
    (fact,) = judge_facts(case, (evidence, *case.messages), None)
    assert fact.in_context is False
