import json
from pathlib import Path

import pytest

from ctxlab.importers import import_tau_bench
from ctxlab.importers.drafts import DEFAULT_QUESTION
from ctxlab.messages import Message

RUNS = (
    Path(__file__).parents[3]
    / "shared/data/agent-transcripts/tau-bench_gpt-4o-airline_tasks45-49_trial0.jsonl"
)


def run(**fields):
    made = {
        "task_id": 1,
        "reward": 1.0,
        "trial": 2,
        "traj": [
            {"role": "system", "content": "Policy GOLD"},
            {"role": "user", "content": "I am ana_1, booked 4OG6T3 for 2024-05-20"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "book", "arguments": '{"amount": 1234}'}}]},
            {"role": "tool", "tool_call_id": "c", "name": "book", "content": "done"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "###STOP###"},
        ],
        "info": {"task": {
            "actions": [
                {"name": "book", "kwargs": {"user_id": "ana_1", "flights": [{"date": "2024-05-20", "no": "HAT001"}]}},
                {"name": "pay", "kwargs": {"amount": 1234, "bags": 50, "gold": True, "tier": "GOLD", "none": None}},
                {"name": "see", "kwargs": {"user_id": "ana_1", "id": "4OG6T3"}},
            ],
            "outputs": ["done", "Done.", "9999", "no"],
        }},
        **fields,
    }  # fmt: skip
    return {name: value for name, value in made.items() if value is not ...}


@pytest.fixture
def imported(tmp_path):
    def write_and_import(*runs, **options):
        path = tmp_path / "runs.json"
        path.write_text(json.dumps(runs))
        return import_tau_bench(path, **options)

    return write_and_import


# covers DAT-149, DAT-161
def test_a_run_becomes_its_history_and_the_continuation_question(imported):
    case = imported(run()).cases[0]
    assert case.id == "tau_bench-000001"
    assert [message.role for message in case.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert case.messages[-1] == Message(role="user", content=DEFAULT_QUESTION)
    assert case.messages[3].name == "book"
    assert case.metadata.tags == ("reward:1.0", "trial:2")
    assert imported(run(), question="What now?").cases[0].messages[-1].content == "What now?"


# covers DAT-161
def test_facts_are_the_task_values_of_four_characters_that_occur_in_the_history(imported):
    facts = imported(run()).cases[0].facts
    # not `HAT001` and `9999`, which are nowhere; `GOLD`, only in the policy; `50` and `no`, too short
    assert [one.literals for one in facts] == [
        ("ana_1",),
        ("2024-05-20",),
        ("1234",),
        ("4OG6T3",),
        ("done",),
        ("Done.",),
    ]
    assert {(one.kind, one.where, one.match) for one in facts} == {("identifier", "both", "word")}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("###STOP###", None),
        ("Thanks. ###STOP###", "Thanks."),
        ("Thanks.\n\n###STOP###\n", "Thanks."),
        ("###STOP### is what I say", "###STOP### is what I say"),
    ],
)
def test_the_sign_that_ends_a_run_is_no_part_of_what_the_user_says(imported, said, kept):
    traj = [*run()["traj"][:-1], {"role": "user", "content": said}]
    contents = [message.content for message in imported(run(traj=traj)).cases[0].messages[5:-1]]
    assert contents == ([] if kept is None else [kept])


# covers DAT-147
def test_a_call_that_the_run_left_open_gets_a_result(imported):
    result = imported(run(traj=run()["traj"][:3]))
    assert [message.content for message in result.cases[0].messages[3:]] == [
        "[no result recorded]",
        DEFAULT_QUESTION,
    ]
    assert result.rows[0].flags == ("results_added:1",)


# covers DAT-140, DAT-148
@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (run(info={}), "nothing_to_score"),
        (run(info=...), "nothing_to_score"),
        (run(info={"task": {"actions": 5, "outputs": None}}), "nothing_to_score"),
        (run(info={"task": {"actions": [5]}}), "nothing_to_score"),
        (run(traj=...), "not_a_run"),
        (run(traj="x"), "not_a_run"),
        ({}, "not_a_run"),
        (5, "not_a_run"),
        (run(traj=[{"role": "judge", "content": "x"}]), "unknown_role"),
    ],
)
def test_a_record_that_gives_no_case_has_a_row_with_the_reason(imported, record, reason):
    result = imported(record, run())
    assert [(row.record, row.case_id, row.reason) for row in result.rows] == [
        (1, None, reason),
        (2, "tau_bench-000002", None),
    ]


# covers DAT-148
def test_unscored_runs_are_kept_on_demand(imported):
    case = imported(run(info={}), keep_unscored=True).cases[0]
    assert case.metadata.tags == ("reward:1.0", "trial:2", "unscored")
    assert case.expected.minimum_characters == 1


# covers DAT-161
@pytest.mark.skipif(not RUNS.exists(), reason="public data is not here")
def test_four_of_five_published_runs_have_facts():
    result = import_tau_bench(RUNS)
    assert [row.case_id is not None for row in result.rows] == [True, True, True, True, False]
    assert result.rows[4].reason == "nothing_to_score"
    assert [one.literals[0] for one in result.cases[1].facts] == ["noah_muller_9847", "SDZQKO", "4OG6T3"]
    assert all(message.content != "###STOP###" for case in result.cases for message in case.messages)
