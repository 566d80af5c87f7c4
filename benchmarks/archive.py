"""A registry of 10,000 runs: the seconds of listing it, and one metric over all of them against one concatenated file.

Every run has a manifest and a `results` file of its own, copies of those of one run over the bundled continuation cases.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from time import perf_counter

import polars as pl

from benchmarks.pairs import paired
from ctxlab.comparison import run
from ctxlab.registry import runs_frame, scan_runs

ROOT = Path(__file__).parents[1]
RUNS = 10_000
QUICK_RUNS = 500
MOST_S = 10.0
MOST_RATIO = 10.0
STRATEGIES = "full,empty,shorten:target_tokens=512,summarize,summarize:generations=4"


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row for listing, one for scanning; `against_s` is the concatenated file, null where nothing is beside it."""
    with tempfile.TemporaryDirectory() as folder:
        runs_dir, together = Path(folder) / "runs", Path(folder) / "together.parquet"
        number = _fill(runs_dir, QUICK_RUNS if quick else RUNS)
        scan_runs(runs_dir).collect().write_parquet(together)
        begun = perf_counter()
        listed = runs_frame(runs_dir)
        list_s = perf_counter() - begun
        if listed["damaged"].any():
            raise RuntimeError("the list finds damage in a sound registry")
        timed = paired(lambda: _mean(scan_runs(runs_dir)), lambda: _mean(pl.scan_parquet(together)))
    facts = {"runs": number, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    return [
        {"work": "list", **facts, "work_s": list_s, "most_s": MOST_S, "against_s": None, "ratio": None},
        {
            "work": "scan", **facts, "work_s": timed.work_s, "most_s": MOST_S, "against_s": timed.against_s,
            "ratio": timed.ratio,
        },
    ]  # fmt: skip


def _mean(frame: pl.LazyFrame) -> float:
    return float(frame.select(pl.col("answer_recall").mean()).collect().item())


def _fill(runs_dir: Path, number: int) -> int:
    """So many runs that are copies of one, each with an id of its own."""
    kept = run(
        ROOT / "data/continuation.jsonl",
        STRATEGIES,
        client="stand-in:extractive",
        runs_dir=runs_dir,
        progress=False,
    )
    first = Path(str(kept.directory))
    manifest = (first / "manifest.json").read_bytes()
    results = (first / "frames" / "results.parquet").read_bytes()
    for place in range(number - 1):
        run_id = f"20260102T030405{place:06d}Z-{kept.fingerprint[:12]}-{place:08x}"
        (runs_dir / run_id / "frames").mkdir(parents=True)
        (runs_dir / run_id / "manifest.json").write_bytes(
            manifest.replace(kept.run_id.encode(), run_id.encode())
        )
        (runs_dir / run_id / "frames" / "results.parquet").write_bytes(results)
    return number
