import json
from pathlib import Path

import pytest

from ctxlab.importers import import_swe_agent
from ctxlab.importers.drafts import DEFAULT_QUESTION
from ctxlab.messages import Message

RUNS = Path(__file__).parents[3] / "shared/data/agent-transcripts/swe-agent"

CALL = {"id": "c1", "type": "function", "function": {"name": "open", "arguments": '{"path": "src/app.py"}'}}


def trajectory(**fields):
    made = {
        "history": [
            {"role": "system", "content": "You repair."},
            {"role": "user", "content": "An example with demo/only.py", "is_demo": "True"},
            {"role": "user", "content": "Another example", "is_demo": True},
            {"role": "user", "content": "Fix src/app.py, see tests/test_app.py", "is_demo": False},
            {"role": "assistant", "content": "Opening.", "tool_calls": [CALL]},
            {"role": "tool", "content": "def main(): pass", "tool_call_ids": ["c1"]},
            {"role": "assistant", "content": "Ran helper.py: 3 tests of SUITE-9 passed, see build-7f3a9bc."},
        ],
        "trajectory": [
            {"action": "open src/app.py 10", "observation": "x"},
            {"action": "edit 1:2\nimport other/unseen.py\nend_of_edit", "observation": "x"},
            {"action": "grep helper.py", "observation": "x"},
            {"action": "python tests/test_app.py", "observation": "SUITE-9 passed, SUITE-10 never named"},
            {"action": "submit", "observation": " \n"},
        ],
        "info": {
            "exit_status": "submitted",
            "submission": "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n+++ b/not/in/history.py\r\n",
        },
        **fields,
    }
    return {name: value for name, value in made.items() if value is not ...}


@pytest.fixture
def imported(tmp_path):
    def write_and_import(record, **options):
        path = tmp_path / "session.traj"
        path.write_text(json.dumps(record))
        return import_swe_agent(path, **options)

    return write_and_import


# covers DAT-149, DAT-162
def test_a_session_becomes_its_history_without_demonstrations(imported):
    result = imported(trajectory())
    [case] = result.cases
    assert case.id == "swe_agent-000001"
    assert [m.role for m in case.messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert case.messages[-1] == Message(role="user", content=DEFAULT_QUESTION)
    assert case.messages[3].tool_call_id == "c1"
    assert case.metadata.tags == ("exit:submitted",)
    assert result.rows[0].flags == ("demos_dropped:2",)


# covers DAT-162, DAT-170
def test_facts_are_changed_files_files_of_commands_and_identifiers_of_the_last_result(imported):
    [case] = imported(trajectory()).cases
    # not the file that nobody named, the edited text, the argument of `grep`, and what the last result alone holds
    assert [(fact.kind, fact.literals[0]) for fact in case.facts] == [
        ("path", "src/app.py"),
        ("path", "tests/test_app.py"),
        ("status", "SUITE-9"),
    ]


# covers DAT-140, DAT-148, DAT-162
@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"steps": []}, "not_a_trajectory"),
        (trajectory(trajectory=..., info=...), "nothing_to_score"),
        (trajectory(trajectory=[None, {"action": 5}], info={"submission": 7}), "nothing_to_score"),
    ],
)
def test_a_record_that_gives_no_case_is_named_with_its_reason(imported, record, reason):
    result = imported(record)
    assert result.cases == ()
    assert [row.reason for row in result.rows] == [reason]


# covers DAT-142, DAT-147, DAT-162
@pytest.mark.skipif(not RUNS.exists(), reason="public data is not here")
@pytest.mark.parametrize(
    ("name", "messages", "path"),
    [
        (
            "pydicom-1458",
            26,
            "pydicom/pixel_data_handlers/numpy_handler.py",
        ),  # 26 of which one is a demonstration
        ("test-repo-function-calling", 11, "tests/missing_colon.py"),
        ("ctf-crypto-katy", 38, "recover_flag.py"),
    ],
)
def test_real_sessions_are_imported_with_their_paths(name, messages, path):
    first, second = (import_swe_agent(RUNS / f"{name}.traj") for _ in range(2))
    assert first == second
    [case] = first.cases
    assert len(case.messages) == messages
    assert path in {fact.literals[0] for fact in case.facts}
