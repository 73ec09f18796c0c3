"""Python's collector of reference cycles, paused where none are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cycle_collector_paused() -> Iterator[None]:
    """Pause the collector of cycles, which else looks at all objects again and again.

    What no name holds is freed as ever; only cycles of references have to wait.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
