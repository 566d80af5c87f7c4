"""The planted set: what became of each fact is known by construction, and the evaluators have to find it."""

from __future__ import annotations

from collections import Counter

import pytest
import regex

from ctxlab.dataset import FACT_KINDS
from ctxlab.evaluators import evaluate
from ctxlab.facts import judge_facts
from ctxlab.records import FATES
from tests.planted.making import LANGUAGES, LAYOUTS, filled, planted

SET = tuple(planted())
WORDINGS = [
    pytest.param(wording, id=f"{language.code}-{wording.kind}")
    for language in LANGUAGES
    for wording in language.statuses
]


def judged():
    """(language, planted fate and detail, found fate and detail) of each fact."""
    for one in SET:
        for result in judge_facts(one.case, one.sent, one.answer):
            yield one.case.language, one.fates[result.fact_id], (result.fate, result.detail)


def table(found):
    """Facts per language and planted fate, and how many were found to be so."""
    lines = [f"{'language':10}{'planted':20}{'facts':>6}{'found':>6}"]
    for language in LANGUAGES:
        for fate in FATES:
            facts = [(was, is_) for code, was, is_ in found if code == language.code and was[0] == fate]
            right = sum(was == is_ for was, is_ in facts)
            lines.append(f"{language.code:10}{fate:20}{len(facts):6}{right:6}")
    return "\n".join(lines)


# covers EVA-030
def test_planted_fates_are_found_and_no_reversed_fact_counts_as_retained():
    found = list(judged())
    print(table(found))  # shown by `pytest -s`, and when the test fails
    assert len(found) >= 400
    for language in LANGUAGES:
        of_language = [was == is_ for code, was, is_ in found if code == language.code]
        assert sum(of_language) >= 0.95 * len(of_language), language.code
    assert [one for one in found if one[1][0] == "reversed" and one[2][0] == "retained"] == []


# covers EVA-030
def test_the_set_holds_all_fates_kinds_and_layouts_in_each_language():
    found = Counter((code, was[0]) for code, was, _ in judged())
    assert min(found[language.code, fate] for language in LANGUAGES for fate in FATES) >= 20
    layouts = {(one.case.language, one.layout) for one in SET}
    assert layouts == {(language.code, layout) for language in LANGUAGES for layout in LAYOUTS}
    kinds = {(one.case.language, fact.kind) for one in SET for fact in one.case.facts}
    assert {kind for _, kind in kinds} == set(FACT_KINDS)
    assert all(len([kind for code, kind in kinds if code == language.code]) >= 9 for language in LANGUAGES)


# covers EVA-015
def test_the_set_is_the_same_each_time_and_judged_the_same_with_its_case():
    assert tuple(planted()) == SET
    for one in SET[:20]:
        if one.answer is not None:
            assert evaluate(one.answer, one.case, one.sent).facts == judge_facts(
                one.case, one.sent, one.answer
            )


@pytest.mark.parametrize("wording", WORDINGS)
def test_each_sentence_says_what_it_was_written_for(wording):
    """Read by themselves, without any rule of ctxlab; a sentence about something else may stand before a fact's own."""
    holds, claims = (regex.compile(one, regex.IGNORECASE) for one in (wording.holds, wording.claims))
    for subject in wording.subjects:
        own = [
            regex.split(r"[;；]|(?<=green|verde|全绿|зелёный)[.。]", filled(one, subject))[-1]
            for one in wording.kept
        ]
        assert all(holds.search(filled(one, subject)) for one in wording.kept)
        assert not [one for one in own if claims.search(one) and "**" not in one]
        assert all(claims.search(filled(one, subject)) for one in wording.turned)
        silent = [filled(one, subject) for one in wording.silent]
        assert not [one for one in silent if holds.search(one) or claims.search(one)]
