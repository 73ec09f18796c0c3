r"""The threshold sweep: the best rates under the error bound, exactly and in near linear time.

Both :math:`k_i` and :math:`\tau_i` fall with :math:`n_i`. For the fewest commits c and a threshold
:math:`\theta` the smallest :math:`n_i \ge c` with :math:`\tau_i(n_i) \le \theta` maximise every
:math:`k_i` and minimise the commits together. The thresholds that matter are values
:math:`\tau_i(n)`; from the largest down, each lets one worker commit once more. All of them are
sorted once, and a window takes those of commits from c on, down to the one that no further commit
may undercut: cumulative sums give S, and the objective of all thresholds is one array.
O(m N log(m N) + windows m N).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock

from ...instance import AdspRatesInstance
from ...tables import (
    Tables,
    objective,
)


@dataclass(frozen=True)
class Swept:
    """The best decision of a sweep.

    Attributes
    ----------
    value : float
        Its objective; infinite if there is no decision.
    commits : ndarray of int, shape (m,)
    complete : bool
        False if time ran out between two windows.
    """

    value: float
    commits: Ints
    complete: bool = True


def sweep(instance: AdspRatesInstance, clock: Clock) -> Swept:
    """Return the best decision of all windows and thresholds."""
    tables = Tables.of(instance)
    m, most = len(tables.most), tables.most
    width = int(most.max()) if instance.last_window_start else 0
    n = np.arange(1, width + 1)
    local = tables.period_steps[:, None] / n - tables.commit_steps[:, None]
    flat = np.nonzero((n <= most[:, None]).ravel())[0]
    order = flat[np.argsort(-local.ravel()[flat], kind="stable")]
    falling, workers, commits = -local.ravel()[order], order // max(1, width), order % max(1, width)
    lost, rows = tables.commit_steps[workers], np.arange(m)
    full, each = float(tables.period_steps.sum()), float(tables.commit_steps.sum())
    best, start, events = np.inf, 0, np.empty(0, dtype=np.int64)
    for c in range(1, instance.last_window_start + 1):
        if clock.expired and c > 1:
            return Swept(best, _decision(most, start, workers[events]), False)
        last = np.minimum(most, c + instance.window)
        lowest = float(local[rows, last - 1].max())
        above = int(np.searchsorted(falling, -lowest, side="left"))
        # One event more than the cap allows: its threshold is that of the last decision.
        chosen = np.nonzero(commits[:above] >= c - 1)[0][: instance.cap - m * c + 1]
        thresholds = -falling[chosen]
        if len(chosen) <= instance.cap - m * c:
            thresholds = np.append(thresholds, lowest)
        steps = np.empty(len(thresholds))
        steps[0] = full - c * each
        np.subtract(steps[0], np.cumsum(lost[chosen[: len(thresholds) - 1]]), out=steps[1:])
        values = objective(instance, steps / m, thresholds)
        k = int(values.argmin())
        if values[k] < best:
            best, start, events = float(values[k]), c, chosen[:k]
    return Swept(best, _decision(most, start, workers[events]))


def _decision(most: Ints, start: int, events: Ints) -> Ints:
    """Return the fewest commits, and one more for each event of a worker."""
    decision: Ints = start + np.bincount(events, minlength=len(most))
    return decision
