"""Tags of cases, which no report holds: read from the dataset that the report was made on, if it can be found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.loading import load_dataset

if TYPE_CHECKING:
    from ctxlab.dataset import Dataset
    from ctxlab.records import Run

COPY = Path("inputs") / "cases.jsonl"
"""Where a run keeps cases that were converted from another format."""


def with_cases_of(run: Run, *, report_path: Path, dataset: Path | None = None) -> Run:
    """The run with the whole cases of its dataset, whose hash has to be the report's.

    Args:
        run: restored from a report.
        report_path: where the report is; a copy of the dataset may stand beside it.
        dataset: where the dataset is; null looks beside the report and where the report says it was.

    Raises:
        InputError: it is not there, or is another dataset.
    """
    found = _found(run, report_path) if dataset is None else load_dataset(dataset)
    if found is None:
        raise InputError("--tag: the report's dataset is not where it was; name it with --dataset")
    if found.sha256 != run.dataset.sha256:
        raise InputError("--dataset: is not the dataset of the report")
    cases = {case.id: case for case in found}
    rows = tuple(replace(row, case=cases.get(row.case.id, row.case)) for row in run.rows)
    return replace(run, dataset=found, rows=rows)


def _found(run: Run, report_path: Path) -> Dataset | None:
    for path in (report_path.parent / COPY, Path(run.dataset.path)):
        if path.is_file():
            found = load_dataset(path)
            if found.sha256 == run.dataset.sha256:
                return found
    return None
