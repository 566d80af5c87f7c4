"""The bundled data: what it promises, and that nobody changed it by accident."""

import hashlib
import json
from pathlib import Path

import pytest

from ctxlab.loading import load_dataset
from ctxlab.messages import lay_out
from ctxlab.text import find_literal, searchable

DATA = Path(__file__).parents[1] / "data"
CASES = load_dataset(DATA / "continuation.jsonl").cases


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
