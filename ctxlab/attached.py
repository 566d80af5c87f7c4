"""Gates attached to a run: the baseline found and verified before the first request, the gates judged after the last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import InputError, IntegrityError
from ctxlab.gates import GateLimits, judge_gates, not_evaluated, workers_to_measure
from ctxlab.registry import resolve, verify_run
from ctxlab.reports import JSON_NAME, demand_recomputed, read_report, restored_run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from ctxlab.dataset import Dataset
    from ctxlab.declarations import AttachedGates
    from ctxlab.records import Run

JUDGED = "full"
"""The strategy that attached gates judge; `max_recall_drop` judges every other one besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Gates ready to judge a run.

    Attributes:
        attached: what was declared, the baseline resolved to a run id.
        limits: the same as limits.
        baseline: the run to compare with, null without.
    """

    attached: AttachedGates
    limits: GateLimits
    baseline: Run | None

    async def judged(self, run: Run, measure: Callable[[int], Awaitable[float]]) -> Run:
        """The run with its gates; after an operational error or an interrupt none of them is evaluated (GEN-041).

        `measure` finds the seconds that the client alone takes at so many workers.
        """
        if run.incomplete or any(row.status == "error" for row in run.rows):
            return replace(run, gates=not_evaluated(run, self.limits, strategy=JUDGED))
        workers = workers_to_measure(run, self.limits)
        client_s = None if workers is None else await measure(workers)
        verdict = judge_gates(run, self.limits, baseline=self.baseline, strategy=JUDGED, client_s=client_s)
        return replace(run, gates=verdict.results)


def judge_of(
    attached: AttachedGates, dataset: Dataset, strategies: Iterable[str], runs_dir: str | Path | None
) -> Judge:
    """Read the limits and find the baseline, before anything is sent.

    Raises:
        InputError: a limit is out of range, or the baseline ran another dataset or has no report.
        NotFoundError: there is no such run.
        IntegrityError: the baseline is damaged.
    """
    limits = GateLimits(**dict(attached.given))  # type: ignore[arg-type]  # texts are read as exact numbers
    if limits.max_recall_drop is not None and set(strategies) == {JUDGED}:
        raise InputError(f"--max-recall-drop: needs a strategy besides {JUDGED}")
    if attached.baseline is None:
        return Judge(attached=attached, limits=limits, baseline=None)
    if runs_dir is None:
        raise InputError("--baseline: is looked for in the runs directory, and there is none")
    directory = resolve(runs_dir, attached.baseline)
    if damage := verify_run(directory):
        raise IntegrityError(f"--baseline: {damage[0]}")
    baseline = _baseline(directory / JSON_NAME, dataset)
    found = replace(attached, baseline_run_id=baseline.run_id)
    return Judge(attached=found, limits=limits, baseline=baseline)


def _baseline(path: Path, dataset: Dataset) -> Run:
    if not path.is_file():
        raise InputError("--baseline: the run has no report")
    report = read_report(path)
    demand_recomputed(report, path.name)
    baseline = restored_run(report)
    if baseline.dataset.sha256 != dataset.sha256:
        raise InputError("--baseline: ran another dataset")
    if JUDGED not in baseline.strategies:
        raise InputError(f"--baseline: has no strategy {JUDGED}")
    return baseline
