"""Public formats as cases of schema 1.1: one module per format, and one table of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.dataset import Dataset
from ctxlab.errors import DatasetError, InputError, LineError
from ctxlab.importers.qmsum import import_qmsum
from ctxlab.importers.results import ImportResult, ImportRow
from ctxlab.importers.swe_agent import import_swe_agent
from ctxlab.importers.tau_bench import import_tau_bench
from ctxlab.loading import MAXIMUM_CASES, dataset_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "IMPORTERS",
    "ImportResult",
    "ImportRow",
    "import_dataset",
    "import_qmsum",
    "import_swe_agent",
    "import_tau_bench",
]

IMPORTERS: Mapping[str, Callable[..., ImportResult]] = {
    "qmsum": import_qmsum,
    "swe_agent": import_swe_agent,
    "tau_bench": import_tau_bench,
}
"""The importer of each format by its name, as `--dataset-format` takes it."""


def import_dataset(path: str | Path, dataset_format: str, **options: Any) -> Dataset:
    """A file of another format as a dataset; its hash is that of the cases written as JSON Lines (DAT-141)."""
    importer = IMPORTERS.get(dataset_format)
    if importer is None:
        raise InputError(f"dataset format: unknown; allowed are ctxlab, {', '.join(sorted(IMPORTERS))}")
    result = importer(path, **options)
    name = Path(path).name
    if not result.cases:
        reasons = ", ".join(
            f"{n} {reason}" for reason, n in Counter(row.reason for row in result.rows).items()
        )
        raise InputError(f"{name}: no record gives a case: {reasons or 'there is none'}")
    if len(result.cases) > MAXIMUM_CASES:
        detail = f"at most {MAXIMUM_CASES}"
        raise DatasetError([LineError(file=name, line=1, field="-", rule="too_many_cases", detail=detail)])
    skipped = tuple(
        f"{name}: record {row.record}: skipped, {row.reason}" for row in result.rows if row.case_id is None
    )
    return Dataset(
        path=str(path),
        sha256=hashlib.sha256(dataset_bytes(result.cases)).hexdigest(),
        cases=result.cases,
        warnings=(*result.warnings, *skipped),
        converted=True,
    )
