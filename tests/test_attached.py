"""Gates attached to a run: the baseline is checked before the first request, the results stand in the report."""

import json
from dataclasses import replace

import pytest

from ctxlab.comparison import run
from ctxlab.declarations import AttachedGates
from ctxlab.errors import InputError, IntegrityError, NotFoundError
from ctxlab.registry import read_manifest
from ctxlab.standins import stand_in
from tests.factories import make_case, make_dataset, make_fact, user

DATASET = make_dataset(
    *(
        make_case(
            f"c{i}",
            messages=(user(f"The name is X-{i}7."), user("Which name?")),
            facts=(make_fact("f", f"X-{i}7"),),
        )
        for i in (1, 2)
    )
)


def attached_run(tmp_path, client="stand-in:extractive", dataset=DATASET, baseline=None, **given):
    gates = AttachedGates(given=given, baseline=baseline) if given else None
    return run(dataset, "full,empty", client=client, gates=gates, runs_dir=tmp_path, progress=False)


def report_of(done):
    with open(f"{done.directory}/evaluation.json", encoding="utf-8") as file:
        return json.load(file)


# covers EVA-095, EXP-021
def test_the_results_stand_in_record_report_and_manifest(tmp_path):
    done = attached_run(tmp_path, max_recall_drop="0.5", max_error_rate="0")
    assert [(one.strategy, one.gate, one.passed) for one in done.gates] == [
        ("full", "max_error_rate", True),
        ("empty", "max_recall_drop", False),
    ]
    told = report_of(done)["gates"]
    assert [(one["gate"], one["state"], one["threshold"]) for one in told] == [
        ("max_error_rate", "passed", 0.0),
        ("max_recall_drop", "failed", 0.5),
    ]
    manifest = read_manifest(tmp_path / done.run_id)
    assert (manifest.status, manifest.decision) == ("regression_failed", "failed")


# covers GEN-041, EXP-022
def test_after_an_operational_error_no_gate_is_evaluated(tmp_path):
    done = attached_run(tmp_path, client=stand_in("error"), min_pass_rate="0", max_error_rate="1")
    assert {row.status for row in done.rows} == {"error"}
    assert [(one.gate, one.passed, one.state) for one in done.gates] == [
        ("min_pass_rate", None, "not_evaluated"),
        ("max_error_rate", None, "not_evaluated"),
    ]
    assert {one["state"] for one in report_of(done)["gates"]} == {"not_evaluated"}
    assert read_manifest(tmp_path / done.run_id).decision == "not_evaluated"


# covers EXP-027
def test_a_run_is_compared_with_its_baseline(tmp_path):
    first = attached_run(tmp_path)
    done = attached_run(tmp_path, baseline=first.run_id, max_pass_rate_drop="0")
    (one,) = done.gates
    assert (one.passed, one.current, one.baseline) == (True, one.baseline, one.current)
    assert read_manifest(tmp_path / done.run_id).gates.baseline_run_id == first.run_id


class Unasked:
    """A client that no test may reach."""

    kind, model, endpoint = "endpoint", "m", "http://localhost:1"

    def open(self):
        raise AssertionError("a request was sent")


# covers EXP-027, GEN-040
def test_a_baseline_that_does_not_do_is_found_before_the_first_request(tmp_path):
    first = attached_run(tmp_path)
    unknown = f"{first.run_id[:-8]}00000000"
    other = replace(DATASET, sha256="1" * 64)
    for baseline, dataset, error in (
        (unknown, DATASET, NotFoundError),
        ("Not A Name", DATASET, InputError),
        (first.run_id, other, InputError),
    ):
        with pytest.raises(error):
            attached_run(
                tmp_path, client=Unasked(), dataset=dataset, baseline=baseline, max_pass_rate_drop="0"
            )
    report = tmp_path / first.run_id / "evaluation.json"
    report.write_text(report.read_text().replace('"incomplete": false', '"incomplete": true'))
    with pytest.raises(IntegrityError):
        attached_run(tmp_path, client=Unasked(), baseline=first.run_id, max_pass_rate_drop="0")
    assert [path.name for path in tmp_path.iterdir() if path.name != ".staging"] == [first.run_id]


# covers EVA-071, GEN-040
@pytest.mark.parametrize("given", [{"min_pass_rate": "2"}, {"max_p95_latency_seconds": "0"}])
def test_a_limit_out_of_range_is_found_before_the_first_request(given, tmp_path):
    with pytest.raises(InputError):
        attached_run(tmp_path, client=Unasked(), **given)
    assert list(tmp_path.iterdir()) == []


def test_a_recall_drop_needs_another_strategy_than_full(tmp_path):
    gates = AttachedGates(given={"max_recall_drop": "0"})
    with pytest.raises(InputError, match="besides full"):
        run(DATASET, "full", client="stand-in:head", gates=gates, runs_dir=tmp_path, progress=False)


# covers EVA-080
def test_a_run_that_passes_does_not_become_a_baseline(tmp_path):
    done = attached_run(tmp_path, min_pass_rate="0")
    assert all(one.passed for one in done.gates)
    assert not (tmp_path / ".aliases").exists()
