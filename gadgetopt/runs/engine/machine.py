"""The memory and the cores of this machine, or of the container that this process is in."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psutil

#: Where Linux keeps the limits of a container, for both versions of control groups.
_GROUPS = Path("/sys/fs/cgroup")
_MEMORY_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")


def machine_memory_mb() -> float:
    """Return the memory of this machine, or of the container if there is one."""
    sizes = [psutil.virtual_memory().total]
    for name in _MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no container, or "max"
            sizes.append(int((_GROUPS / name).read_text()))
    return float(min(size for size in sizes if size > 0) / 1e6)


def machine_cores() -> int:
    """Return how many cores this process may keep busy, at least one."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min([cores, *_quotas()]))


def _quotas() -> list[int]:
    """Return the cores that a container's share of time amounts to, rounded down."""
    found = []
    for read in (_quota_of_version_2, _quota_of_version_1):
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):  # no container, or "max"
            quota, period = read()
            if quota > 0:  # -1 stands for no limit
                found.append(quota // period)
    return found


def _quota_of_version_2() -> tuple[int, int]:
    quota, period = (_GROUPS / "cpu.max").read_text().split()
    return int(quota), int(period)


def _quota_of_version_1() -> tuple[int, int]:
    times = (_GROUPS / "cpu" / f"cpu.cfs_{what}_us" for what in ("quota", "period"))
    quota, period = (int(path.read_text()) for path in times)
    return quota, period
