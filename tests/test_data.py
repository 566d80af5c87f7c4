"""The bundled data: what it promises, and that nobody changed it by accident."""

import hashlib
import json
from pathlib import Path

import pytest

from ctxlab.admission.clips import Clip, clip_of
from ctxlab.facts import judge_facts
from ctxlab.loading import load_dataset
from ctxlab.messages import lay_out
from ctxlab.text import find_literal, searchable
from ctxlab.tokens import counter_named
from tests.factories import user

DATA = Path(__file__).parents[1] / "data"
CASES = load_dataset(DATA / "continuation.jsonl").cases
EVIDENCE = {case.id: case for case in load_dataset(DATA / "evidence.jsonl")}
KINDS = {
    "narrower-correction", "earlier-exception", "correction-not-retrieved", "broken-lineage", "late-ingestion",
    "independent-topics",
}  # fmt: skip


# covers DAT-180
def test_each_file_has_the_hash_of_the_manifest():
    manifest = json.loads((DATA / "manifest.json").read_text())
    assert set(manifest) == {path.name for path in DATA.glob("*.jsonl")}
    for name, entry in manifest.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == entry["sha256"]
        dataset = load_dataset(DATA / name)
        assert len(dataset) == entry["cases"]
        assert sum(len(case.facts) for case in dataset) == entry["facts"]
        assert dataset.warnings == ()


# covers DAT-180
def test_continuation_holds_debugging_pending_work_and_a_corrected_constraint():
    assert [(case.id, len(case.facts)) for case in CASES] == [
        ("debugging", 7), ("pending-work", 6), ("corrected-constraint", 6),
    ]  # fmt: skip


# covers DAT-180
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_four_long_irrelevant_answers_stand_among_ten_to_sixteen_messages(case):
    long = [m for m in case.messages if m.role == "assistant" and len(m.text) > 800]
    assert len(long) == 4
    assert 10 <= len(case.messages) - 4 <= 16
    for fact in case.facts:
        for literal in fact.literals:
            assert all(find_literal(searchable(m.text), searchable(literal)) is None for m in long)


# covers DAT-180
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_facts_lie_in_the_first_the_middle_and_the_last_third(case):
    texts = [m.text + "".join(c.function.arguments for c in m.tool_calls) for m in case.messages[:-1]]
    total, position, thirds = sum(map(len, texts)), 0, set()
    for text in texts:
        for fact in case.facts:
            for literal in fact.literals:
                place = find_literal(searchable(text), searchable(literal))
                if place is not None:
                    thirds.add((position + place) * 3 // total)
        position += len(text)
    assert thirds == {0, 1, 2}


# covers DAT-181
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_each_literal_is_in_the_history_and_none_in_the_question(case):
    question = lay_out(case.messages).question
    history = searchable(" ".join(m.text for i, m in enumerate(case.messages) if i != question))
    for fact in case.facts:
        for literal in fact.literals:
            assert find_literal(searchable(case.messages[question].text), searchable(literal)) is None
        assert any(find_literal(history, searchable(literal)) is not None for literal in fact.literals)
        if fact.kind in ("rejected", "pending", "status"):
            assert fact.must_hold
            assert fact.must_not_claim


def evidence(kind):
    return [case for case in EVIDENCE.values() if case.metadata.tags == (kind,)]


# covers DAT-180
def test_evidence_holds_each_kind_of_case_in_each_language():
    assert len(EVIDENCE) >= 24
    for language in ("en", "pt-BR", "zh", "code"):
        own = [case for case in EVIDENCE.values() if case.language == language]
        assert {case.metadata.tags[0] for case in own} == KINDS
    assert all(3 <= len(case.snippets) <= 12 and case.facts for case in EVIDENCE.values())
    assert all(any(fact.must_not_claim for fact in case.facts) for case in EVIDENCE.values())


# covers DAT-180
def test_the_evidence_of_some_cases_is_larger_than_two_thousand_tokens():
    counter = counter_named("o200k_base")
    sizes = {case.id: sum(counter(s.text) for s in case.snippets) for case in EVIDENCE.values()}
    assert [name for name, size in sizes.items() if size > 2_000] == ["en-audit-large", "en-launch-large"]


# covers DAT-180, DAT-181
@pytest.mark.parametrize("case", EVIDENCE.values(), ids=lambda case: case.id)
def test_each_current_fact_is_in_the_evidence_and_none_in_the_question(case):
    question = searchable(case.messages[-1].text)
    for fact in case.facts:
        found = [
            any(find_literal(searchable(s.text), searchable(one)) is not None for one in fact.literals)
            for s in case.snippets
        ]
        assert any(found)
        assert all(find_literal(question, searchable(one)) is None for one in fact.literals)


def test_narrower_corrections_name_what_they_correct_and_leave_a_part_of_it_standing():
    for case in evidence("narrower-correction"):
        texts = {snippet.id: searchable(snippet.text) for snippet in case.snippets}
        (old,) = [snippet for snippet in case.snippets if snippet.superseded_by]
        (new,) = old.superseded_by
        holders = [{i for i in texts if searchable(fact.literals[0]) in texts[i]} for fact in case.facts]
        assert [ids & {old.id, new} for ids in holders] == [{new}, {old.id}]


def test_earlier_exceptions_would_be_lost_by_a_clip():
    for case in evidence("earlier-exception"):
        exception, rule = (searchable(fact.literals[0]) for fact in case.facts)
        (snippet,) = [s for s in case.snippets if exception in searchable(s.text)]
        clip = clip_of(snippet.text, case.language)
        assert isinstance(clip, Clip)
        last = searchable(snippet.text[clip.start :])
        assert rule in last
        assert exception not in last


def test_corrections_that_were_not_retrieved_are_named_by_snippets_alone():
    for case in evidence("correction-not-retrieved"):
        ids = {snippet.id for snippet in case.snippets}
        named = {one for snippet in case.snippets for one in snippet.superseded_by}
        assert named - ids


def test_broken_lineages_go_round_or_leave_their_project():
    for case in evidence("broken-lineage"):
        following = {s.id: s.superseded_by for s in case.snippets if s.superseded_by}
        scopes = {s.id: s.scope for s in case.snippets}
        leaves = any(scopes[one] != scopes[old] for old, new in following.items() for one in new)
        start = next(iter(following))
        place, steps = following[start][0], 1
        while place in following and place != start and steps < 9:
            place, steps = following[place][0], steps + 1
        assert leaves or place == start


def test_late_imports_have_the_oldest_session():
    for case in evidence("late-ingestion"):
        late, fresh = sorted(
            (s for s in case.snippets if s.ingested_at), key=lambda s: s.ingested_at, reverse=True
        )
        assert late.session_start < fresh.session_start
        assert late.title == fresh.title
        assert late.evidence_time > fresh.evidence_time


def test_independent_topics_are_needed_together():
    for case in evidence("independent-topics"):
        assert len(case.facts) == 3
        holders = [
            {s.title.casefold() for s in case.snippets if searchable(fact.literals[0]) in searchable(s.text)}
            for fact in case.facts
        ]
        assert all(holders)
        assert not set.intersection(*holders)


# covers DAT-180
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("en-rate-partner", "Partner keys may make 90 requests per minute; ordinary keys 60 requests per minute.",
         "Partner keys may make 60 requests per minute, ordinary keys 60 requests per minute."),
        ("en-refund-window", "Damaged items: within 60 days. Other items: within 30 days.", "Damaged items: within 30 days."),
        ("en-access-exception", "Payroll: the head of finance. All other shares: the team lead.", "Payroll is approved by the team lead."),
        ("en-retention-missing", "CR-0518 replaced it; the new value is not in the evidence.", "CR-0518. Logs are kept for 45 days."),
        ("en-port-cycle", "It listens on port 9443.", "It listens on port 9200."),
        ("en-deploy-late", "Releases are deployed on Thursday.", "Releases are deployed on Monday."),
        ("pt-frete-parcial", "Região Norte: oito dias úteis; demais regiões: cinco dias úteis.", "Região Norte: cinco dias úteis."),
        ("pt-escala-ciclo", "A escala é coordenada por Beatriz Moura.", "Quem coordena é Caio Prado."),
        ("zh-tuikuan-bufen", "会员四十五天，普通用户十四天。", "会员的期限是十四天。"),
        ("zh-fabu-wandao", "现在在星期四发布。", "版本在星期一发布。"),
        ("code-timeout-partial", "payments uses 8000 ms, all others 3000 ms.", "payments uses 3000 ms."),
        ("code-pool-cycle", "The pool has the size 40.", "The size is 15."),
        ("code-flag-late", "The flag checkout_v3 is true.", "The flag checkout_v3 is set to false."),
    ],
)  # fmt: skip
def test_a_right_answer_keeps_every_fact_and_an_outdated_one_is_told(name, right, wrong):
    case = EVIDENCE[name]
    shown = (*case.messages, user("\n\n".join(snippet.text for snippet in case.snippets)))
    assert {fact.fate for fact in judge_facts(case, shown, right)} == {"retained"}
    assert "reversed" in {fact.fate for fact in judge_facts(case, shown, wrong)}
