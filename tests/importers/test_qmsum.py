import json
from pathlib import Path

import pytest

from ctxlab.importers import import_qmsum
from ctxlab.messages import Message

MEETINGS = Path(__file__).parents[3] / "shared/data/conversations/qmsum_val_4_meetings.jsonl"


def meeting(*queries, turns=None, general=1):
    said = ["Hello all , welcome to this meeting .", "Yeah .", "The price is twenty five euros .", "x" * 2000]
    return {
        "meeting_transcripts": turns
        or [{"speaker": f"S{i}", "content": text} for i, text in enumerate(said)],
        "specific_query_list": [
            {"query": q, "answer": "a", "relevant_text_span": spans} for q, spans in queries
        ],
        "general_query_list": [{"query": "Summarise.", "answer": "a"}] * general,
    }


@pytest.fixture
def imported(tmp_path):
    def write_and_import(*records):
        path = tmp_path / "meetings.jsonl"
        path.write_text("\n".join(map(json.dumps, records)))
        return import_qmsum(path)

    return write_and_import


# covers DAT-163
def test_each_turn_is_one_user_message_and_the_query_the_question(imported):
    [case] = imported(meeting(("What is the price?", [["2", "2"]]))).cases
    assert case.id == "qmsum-000001"
    assert [m.role for m in case.messages] == ["user"] * 5
    assert case.messages[0].content == "S0: Hello all , welcome to this meeting ."
    assert case.messages[-1] == Message(role="user", content="What is the price?")


# covers DAT-163, DAT-164
def test_each_evidence_turn_of_twenty_characters_is_one_fact_of_the_context(imported):
    [case] = imported(meeting(("Q?", [["0", "2"], [2, 3]]))).cases
    # spans are inclusive and may be text; "Yeah ." is too short, turn 2 counts once, turn 3 is cut at 1,024 characters
    assert [fact.literals for fact in case.facts] == [
        ("S0: Hello all , welcome to this meeting .",),
        ("S2: The price is twenty five euros .",),
        ("S3: " + "x" * 1020,),
    ]
    assert {(f.kind, f.where, f.match) for f in case.facts} == {("reason", "context", "substring")}


# covers DAT-140, DAT-142, DAT-164
def test_general_queries_and_queries_without_evidence_are_skipped_with_their_reasons(imported):
    result = imported(meeting(("A?", [[0, 0]]), ("B?", [[1, 1]]), ("C?", [[2, 2]])), meeting(general=2))
    assert [(row.record, row.part, row.case_id, row.reason) for row in result.rows] == [
        (1, 1, "qmsum-000001-1", None),
        (1, 2, None, "nothing_to_score"),
        (1, 3, "qmsum-000001-3", None),
        (1, 4, None, "no_evidence"),
        (2, 1, None, "no_evidence"),
        (2, 2, None, "no_evidence"),
    ]


# covers DAT-140, DAT-163
@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"turns": []}, "not_a_meeting"),
        (meeting(turns=[{"speaker": "S"}]), "unknown_turn"),
        (meeting(("Q?", [["a", "b"]])), "unknown_span"),
        (meeting(("Q?", [[1]])), "unknown_span"),
    ],
)
def test_a_record_of_another_shape_is_skipped_with_its_reason(imported, record, reason):
    result = imported(record)
    assert (result.cases, [row.reason for row in result.rows]) == ((), [reason])


# covers DAT-142, DAT-164
@pytest.mark.skipif(not MEETINGS.exists(), reason="public data is not here")
def test_real_meetings_are_imported_with_their_evidence():
    first, second = (import_qmsum(MEETINGS) for _ in range(2))
    assert first == second
    assert len(first.cases) == 31
    assert [row.reason for row in first.rows if row.case_id is None] == ["no_evidence"] * 4
    assert all(
        fact.literals[0] in {m.text[:1024] for m in case.messages}
        for case in first.cases
        for fact in case.facts
    )
