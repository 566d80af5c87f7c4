"""Reports of whole runs, whatever the client did: written, read, recomputed and written again."""

from pathlib import Path

import pytest

from ctxlab.answers import judge_answers
from ctxlab.comparison import run
from ctxlab.loading import load_dataset
from ctxlab.metrics import metrics
from ctxlab.reports import (
    demand_recomputed,
    read_report,
    report_bytes,
    report_markdown,
    restored_run,
    write_report,
)
from tests.reporting import SOURCE

CONTINUATION = Path(__file__).parents[2] / "data" / "continuation.jsonl"
STRATEGIES = "full,empty,shorten:target_tokens=512,extract:target_tokens=512,summarize:generations=2,plan"


def comes_back(done, folder):
    path, markdown = write_report(done, folder, source=SOURCE)
    report = read_report(path)
    demand_recomputed(report, path.name)
    assert report_bytes(report) == path.read_bytes()
    assert markdown.read_text(encoding="utf-8") == report_markdown(done)
    for one, other in zip(metrics(done), metrics(restored_run(report)), strict=True):
        for name in (
            "rows",
            "passed",
            "pass_rate",
            "context_recall_pooled",
            "answer_recall_pooled",
            "duration_p95_s",
        ):
            assert getattr(one, name) == getattr(other, name), name


# covers EVA-076, EVA-098
@pytest.mark.parametrize(
    "client",
    [
        "stand-in:extractive",
        "stand-in:drop",
        "stand-in:empty",
        "stand-in:error",
        "stand-in:grow",
        "stand-in:head",
        None,
    ],
)
def test_a_report_of_any_run_comes_back(client, tmp_path):
    strategies = STRATEGIES if client else "full,empty,shorten:target_tokens=512"
    comes_back(
        run(CONTINUATION, strategies, client=client, repeats=2, runs_dir=None, progress=False), tmp_path
    )


# covers EVA-076, EVA-098
def test_a_report_of_judged_answers_comes_back(tmp_path):
    dataset = load_dataset(CONTINUATION)
    answers = {case.id: f"It is {case.facts[0].literals[0]}." for case in list(dataset)[:2]}
    comes_back(judge_answers(dataset, answers), tmp_path)
