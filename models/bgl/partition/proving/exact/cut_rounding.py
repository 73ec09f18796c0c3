"""Partitions from the values of the linear program over pairs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock

from ...instance import BglPartitionInstance
from ...subproblems.completion import complete
from ...subproblems.local_search import (
    Weighted,
    improve,
)
from ..cut_lp import CutLp


def rounded(
    instance: BglPartitionInstance,
    weighted: Weighted,
    lp: CutLp,
    clock: Clock,
    rng: np.random.Generator,
) -> Ints | None:
    """Return a partition near the last values, refined; None if it does not fit.

    One training node, drawn, and those farthest from it and from each other are the centres of the
    parts; the others are assigned to them at the least total distance.
    """
    k, r = lp.caps.parts, len(lp.trained)
    if not r:
        return None
    among = lp.metric[np.ix_(lp.trained, lp.trained)]
    centres = [int(rng.integers(r))]
    while len(centres) < min(k, r):
        nearest = among[centres].min(axis=0)
        nearest[centres] = -1.0
        farthest = np.flatnonzero(nearest >= nearest.max() - 1e-6)
        centres.append(int(rng.choice(farthest)))
    slots = np.repeat(np.arange(len(centres)), min(lp.caps.train_cap, r))
    if len(slots) < r:
        return None
    rows, columns = linear_sum_assignment(among[:, centres][:, slots])
    numbers = lp.nodes[lp.trained]
    parts = {int(numbers[i]): int(slots[j]) for i, j in zip(rows, columns, strict=True)}
    whole = complete(instance, parts)
    return None if whole is None else improve(weighted, whole, clock, rng, memory=False)
