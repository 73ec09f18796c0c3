"""Time limits in processor seconds of this process, for a fair limit on a busy machine.

What a solver is given as its own limit, it still counts by the clock on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from gadgetopt.search import clock


@contextmanager
def processor_clock() -> Iterator[None]:
    """Make every clock that a method asks count processor seconds."""
    with patch.object(clock, "time", SimpleNamespace(perf_counter=time.process_time)):
        yield
