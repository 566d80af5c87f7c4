import json

import pytest

from ctxlab.allowances import budgets
from ctxlab.budget import Budget
from ctxlab.budget_tables import budget_table, calibration_table, estimates_table, fitting_table
from ctxlab.comparison import run
from ctxlab.errors import InputError
from ctxlab.frames import calibration_frame
from ctxlab.tokens import UTF8_BYTES_1, UTF8_BYTES_2
from tests.factories import make_call, make_case, make_dataset, make_row, make_run, user
from tests.notebooks import ROOT, report

NOTEBOOK = ROOT / "notebooks" / "01_budget.ipynb"
DATASET = ROOT / "data" / "continuation.jsonl"


def rows(table):
    return [tuple(row) for row in table.itertuples(index=False)]


# covers BUD-031, BUD-060
@pytest.mark.parametrize(
    ("about", "large", "small"),
    [
        ("allowance", ("8,192", "1,000", "5,912", "2,364"), ("1,536", "1,000", "0", "0")),
        (
            "compaction",
            ("8,192", "1,000", "4,138", "4,729", "591", "591", "1,182"),
            ("1,536", "1,000", "0", "0", "1", "1", "0"),
        ),
        (
            "summaries",
            ("8,192", "1,000", "512", "256", "591", "1,182"),
            ("1,536", "1,000", "–", "–", "0", "0"),
        ),
        (
            "flags",
            ("8,192", "1,000", "3,547", "591", "1,182", "8", "compact"),
            ("1,536", "1,000", "0", "0", "0", "8", "compact"),
        ),
    ],
)
def test_each_question_about_a_budget_has_its_columns(about, large, small):
    assert rows(budget_table(budgets([8192, 1536]), about)) == [large, small]


def test_another_question_is_refused():
    with pytest.raises(InputError, match="allowed is allowance, compaction, summaries, flags"):
        budget_table(budgets([8192]), "colours")


CASES = make_dataset(make_case("a", messages=(user("x" * 84),)), make_case("b", messages=(user("x" * 184),)))


# covers BUD-025
def test_estimates_stand_side_by_side_per_counter():
    table = estimates_table(CASES, [UTF8_BYTES_1, UTF8_BYTES_2])
    assert list(table.columns) == ["case", "utf8_bytes_1", "utf8_bytes_2"]
    assert rows(table) == [("a", "100", "56"), ("b", "200", "106")]
    assert table.attrs["counter"] == "utf8_bytes_1, utf8_bytes_2"


# covers BUD-036
@pytest.mark.parametrize(
    ("allowance", "fixed", "fitting", "share"),
    [
        (200, 0, "2 of 2", "1.000"),
        (199, 0, "1 of 2", "1.005"),
        (100, 0, "1 of 2", "2.000"),
        (200, 50, "1 of 2", "1.250"),
        (0, 0, "0 of 2", "–"),
    ],
)
def test_the_cases_that_fit_whole_are_counted_per_window(allowance, fixed, fitting, share):
    frame = budgets([allowance + 1280], [0])
    (row,) = rows(fitting_table(frame, CASES, UTF8_BYTES_1, fixed_tokens=fixed))
    assert row[-2:] == (fitting, share)


# covers BUD-086
def test_calibration_is_told_per_key_and_by_both_rules():
    calls = (make_call(0, estimated_tokens=1000, prompt_tokens=2050, endpoint="https://m.example"),)
    table = calibration_table(calibration_frame(make_run(make_row(calls=calls))), Budget())
    assert rows(table) == [
        ("https://m.example", "model", "additive", "1", "1,050", "no", "4,862"),
        ("https://m.example", "model", "ratio", "1", "2,048", "yes", "3,864"),
    ]
    assert table.attrs["client_kind"] == "endpoint"


def outputs_of(path):
    cells = json.loads(path.read_text())["cells"]
    return {
        cell["id"]: "".join("".join(o["data"]["text/plain"]) for o in cell["outputs"])
        for cell in cells
        if cell["cell_type"] == "code" and cell["outputs"]
    }


# covers GEN-050
def test_the_notebook_runs_offline_and_names_what_it_skips(tmp_path):
    done = report(NOTEBOOK, "--out", "out", "-p", f"dataset={DATASET}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = outputs_of(tmp_path / "out" / "01_budget.ipynb")
    assert shown["calibrated"] == "Calibration: skipped, because run_dir names no run"
    assert "5,912" in shown["allowances"]
    assert "3 of 3" in shown["fitting"]


# covers GEN-050, BUD-087
def test_the_notebook_calibrates_from_the_frames_of_a_finished_run(tmp_path):
    done = run(DATASET, "full", client="stand-in:echo", runs_dir=tmp_path / "runs", progress=False)
    where = ("-p", f"dataset={DATASET}", "-p", f"run_dir={done.directory}")
    assert report(NOTEBOOK, "--out", "out", *where, cwd=tmp_path).returncode == 0
    shown = outputs_of(tmp_path / "out" / "01_budget.ipynb")["calibrated"]
    assert "stand-in:echo" in shown
    assert "additive" in shown
