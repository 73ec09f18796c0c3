"""The memory of this machine or container, determined without importing Dask."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

#: Files with a container's memory limit on Linux, for both versions of control groups.
_CONTAINER_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")


def machine_memory_mb() -> float:
    """Return the memory of this machine, or of the container if there is one."""
    sizes = [psutil.virtual_memory().total]
    for name in _CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no container, or "max"
            sizes.append(int(Path("/sys/fs/cgroup", name).read_text()))
    return float(min(size for size in sizes if size > 0) / 1e6)
