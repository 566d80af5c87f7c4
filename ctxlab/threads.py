"""How many threads a computation on this machine should take."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def physical_cores(*, cpus: Path = _CPUS, quota: Path = _QUOTA) -> int:
    """Physical cores that this process may use, at least 1: by affinity and container quota where Linux tells."""
    if hasattr(os, "sched_getaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
    else:
        allowed = list(range(os.cpu_count() or 1))
    cores = {_core(cpus, cpu) for cpu in allowed}
    quota_cores = _quota_cores(quota)
    return max(1, len(cores) if quota_cores is None else min(len(cores), quota_cores))


def _core(cpus: Path, cpu: int) -> tuple[str, ...]:
    """What tells a core from others; two hardware threads of one core share it."""
    topology = cpus / f"cpu{cpu}" / "topology"
    with suppress(OSError):
        return tuple((topology / name).read_text().strip() for name in ("physical_package_id", "core_id"))
    return (str(cpu),)


def _quota_cores(quota: Path) -> int | None:
    with suppress(OSError, ValueError):
        limit_us, period_us = quota.read_text().split()
        return math.ceil(int(limit_us) / int(period_us))
    return None
