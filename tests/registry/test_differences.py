from dataclasses import replace

import pytest

from ctxlab.comparison import run
from ctxlab.errors import IntegrityError
from ctxlab.experiments import Source
from ctxlab.registry import diff_frame, register
from ctxlab.registry.showing import diff_markdown, diff_table
from ctxlab.schemas import SCHEMAS
from tests.registry.building import RUN_ID, another_id, dataset, design, fill

CATEGORIES = ["input", "source", "environment", "quality", "performance", "artifacts"]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two runs of two cases: a stand-in that finds both identifiers, and one that repeats the question."""
    runs_dir = tmp_path_factory.mktemp("two")
    return [
        run(dataset(), "full", client=client, runs_dir=runs_dir, progress=False, repeats=repeats).directory
        for client, repeats in (("stand-in:extractive", 1), ("stand-in:echo", 1), ("stand-in:extractive", 2))
    ]


def cell(frame, field, strategy="*"):
    (row,) = frame[(frame["field"] == field) & (frame["strategy"] == strategy)].to_dict("records")
    return row["left"], row["right"], row["difference"], row["equal"]


# covers EXP-047
def test_a_run_differs_from_itself_in_nothing(two):
    frame = diff_frame(two[0], two[0])
    assert list(frame.columns) == [column.name for column in SCHEMAS["diff"].columns]
    assert list(dict.fromkeys(frame["category"])) == CATEGORIES
    assert frame["equal"].all()
    assert diff_table(frame).empty


# covers EXP-047
def test_two_runs_are_compared_in_six_categories(two):
    frame = diff_frame(two[0], two[1])
    (models,) = frame[frame["field"] == "models.requested"].to_dict("records")
    assert (models["category"], models["left"], models["right"], models["equal"]) == (
        "input", "extractive", "echo", False,
    )  # fmt: skip
    assert frame[frame["category"] == "environment"]["equal"].all()
    # both cases: are in the one answer and not in the other
    assert cell(frame, "passed", "full") == ("2", "0", -2.0, False)
    assert cell(frame, "pass_rate", "full") == ("1.0", "0.0", -1.0, False)
    assert cell(frame, "answer_recall_pooled", "full") == ("1.0", "0.0", -1.0, False)
    assert cell(frame, "context_recall", "full")[:3] == ("1.0", "1.0", 0.0)
    assert cell(frame, "calls", "full") == ("2", "2", 0.0, True)
    assert set(frame[~frame["equal"] & (frame["category"] == "artifacts")]["field"]) >= {
        "evaluation.json:sha256", "frames/results.parquet:sha256", "journal.jsonl:sha256",
    }  # fmt: skip


# covers EXP-048
def test_quality_holds_the_transitions_of_the_same_dataset(two):
    frame = diff_frame(two[0], two[1])
    assert cell(frame, "comparable")[:2] == ("yes", "yes")
    counts = {name: cell(frame, f"cases_{name}", "full")[1] for name in ("fixed", "broken", "unchanged")}
    assert counts == {"fixed": "0", "broken": "2", "unchanged": "0"}
    back = diff_frame(two[1], two[0])
    assert cell(back, "cases_fixed", "full")[1] == "2"
    assert cell(back, "pass_rate", "full")[2] == 1.0


# covers EXP-047
def test_guidance_and_tools_are_inputs_too(two, tmp_path):
    other = run(
        dataset(), "full", client="stand-in:extractive", guidance="Be brief.", runs_dir=tmp_path, progress=False
    )  # fmt: skip
    frame = diff_frame(two[0], other.directory)
    assert not cell(frame, "identity.guidance")[3]
    assert cell(frame, "identity.tools")[3]
    assert frame[frame["field"] == "identity.repeats"].empty


# covers EXP-047
def test_repeats_are_an_input(two):
    frame = diff_frame(two[0], two[2])
    assert cell(frame, "generation.repeats") == ("1", "2", 1.0, False)
    assert cell(frame, "rows", "full") == ("2", "4", 2.0, False)
    assert cell(frame, "cases_unchanged", "full")[1] == "2"


# covers EXP-048
def test_quality_of_other_datasets_is_null_with_the_reason(two, tmp_path):
    changed = run(
        replace(dataset(3), sha256="1" * 64), "full", client="stand-in:extractive", runs_dir=tmp_path, progress=False
    )  # fmt: skip
    frame = diff_frame(two[0], changed.directory)
    assert cell(frame, "comparable")[:2] == ("no: another dataset", "no: another dataset")
    quality = frame[(frame["category"] == "quality") & (frame["strategy"] != "*")]
    assert len(quality) > 20
    assert quality[["left", "right", "difference"]].isna().all(axis=None)
    assert not quality["equal"].any()
    assert cell(frame, "calls", "full") == ("2", "3", 1.0, False)


# covers EXP-047
def test_runs_without_frames_are_compared_in_what_they_have(tmp_path):
    sides = []
    for run_id, commit in ((RUN_ID, "a" * 40), (another_id(9), "b" * 40)):
        fill(tmp_path / run_id, "frames/results.parquet")
        register(
            design(source=Source(commit=commit)), tmp_path / run_id, failure="internal failure (OSError)"
        )
        sides.append(tmp_path / run_id)
    frame = diff_frame(*sides)
    assert cell(frame, "comparable")[:2] == ("no: a run has no frames",) * 2
    (commit,) = frame[frame["field"] == "source.commit"].to_dict("records")
    assert (commit["category"], commit["left"], commit["right"]) == ("source", "a" * 40, "b" * 40)
    assert cell(frame, "status")[:2] == ("failed", "failed")


# covers EXP-047
def test_a_damaged_side_is_an_integrity_error(two, directory):
    (directory / "manifest.json").write_text("{}")
    with pytest.raises(IntegrityError):
        diff_frame(two[0], directory)


# covers EXP-047
def test_markdown_tells_each_category_and_escapes_what_it_shows(two):
    text = diff_markdown(diff_frame(two[0], two[1]))
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        f"## {name.capitalize()}" for name in CATEGORIES
    ]
    assert "| models.requested | &#42; | extractive | echo | – |" in text
    assert "13 of 13 fields are equal." in text
