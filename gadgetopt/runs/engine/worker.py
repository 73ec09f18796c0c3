"""The Dask worker whose thread this is, if any; Dask is not imported to find out."""

from __future__ import annotations

import sys
from typing import Any


def dask_worker() -> Any:
    """Return the worker, or None in a thread that is not one of a worker's."""
    if sys.modules.get("distributed") is None:  # a worker has imported it
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None
