"""The receipt beside a measurement: what made it, where, and which bytes it speaks of (ADM-087)."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.experiments import package_source
from ctxlab.files import is_written_through, output_stream
from ctxlab.measurement import TEMPLATE

if TYPE_CHECKING:
    from ctxlab.experiments import Source

CPU_FACTS = Path("/proc/cpuinfo")
NOTE = "Timings on a shared machine are exploratory: they are no promise, and no limit is set on them."


def write_measurement(csv: str, path: Path) -> Path | None:
    """Write a measurement as CSV, and its receipt beside it, each whole or not at all; return the receipt's path.

    Beside what is no file, such as a device or a pipe, no receipt is written, and the path is null.

    Raises:
        InputError: one of them cannot be written.
    """
    alone = is_written_through(path)
    beside = path.with_name(f"{path.stem}.receipt.json")
    receipt = json.dumps(measurement_receipt(csv), ensure_ascii=False, indent=1)
    for target, text in ((path, csv),) if alone else ((path, csv), (beside, f"{receipt}\n")):
        with output_stream(target, option="--output") as stream:
            stream.write(text.encode())
    return None if alone else beside


def measurement_receipt(
    csv: str, *, source: Source | None = None, now: datetime | None = None, cpu_facts: Path = CPU_FACTS
) -> dict[str, str | int | bool | None]:
    """What a reader has to know of a measurement; what is not known is null.

    Args:
        csv: the measurement as text.
        source: the checkout that the package ran from; null asks git.
        now: when it was made.
        cpu_facts: a file in which Linux names its processor.
    """
    checkout = package_source() if source is None else source
    return {
        "package": "ctxlab",
        "version": version("ctxlab"),
        "commit": checkout.commit,
        "dirty": checkout.dirty,
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "cpu_model": _cpu_model(cpu_facts),
        "cpus": os.cpu_count(),
        "time": (now or datetime.now(UTC)).isoformat(),
        "fixture_sha256": hashlib.sha256(TEMPLATE.read_bytes()).hexdigest(),
        "csv_sha256": hashlib.sha256(csv.encode()).hexdigest(),
        "note": NOTE,
    }


def _cpu_model(facts: Path) -> str | None:
    try:
        lines = facts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or None
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, None)
