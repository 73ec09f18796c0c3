"""The feasibility pump: points of the relaxation and rounded ones that approach each other."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import MipInstance
from ..subproblems.points import Points

#: Least and most integers that are moved where the pump would stand still, as in the paper.
#: By definition.
LEAST_FLIPS, MOST_FLIPS = 10, 30


@method(kind="baseline", reference="Fischetti, Glover, Lodi 2005")
def feasibility_pump(
    instance: MipInstance, limits: Limits, rng: np.random.Generator, *, rounds: int = 100
) -> MethodOutcome:
    """A first feasible point: round, look for the nearest point of the relaxation, round again.

    1. Solve the relaxation and round its integers.
    2. If the rounded integers admit a point, end with the best one.
    3. Else take the point of the relaxation that is nearest in the integers that are at a bound, in
       the 1-norm, and round it.
    4. If that changes nothing, move the integers that are farthest from their rounding, 10 to 30 of
       them, to their other side. Go on with 2.

    Integers strictly between their bounds have no part in the distance, as in the paper's first
    stage.

    Parameters
    ----------
    instance : MipInstance
    limits : Limits
    rng : numpy.random.Generator
    rounds : int
        Most rounds.
    """
    points = Points(instance, Clock(limits))
    values, done = points.relaxed(), 0
    target = None if values is None else points.rounded(values)
    while values is not None and target is not None and not points.clock.expired:
        if points.offer(target) or done >= rounds:
            break
        done += 1
        values = points.relaxed(*_distance(points, target))
        if values is None:
            break
        near = points.rounded(values)
        same = bool((near == target)[points.integer].all())
        target = _flipped(points, values, near, rng) if same else near
    return points.outcome(rounds=done)


def _distance(points: Points, target: Floats) -> tuple[Floats, float]:
    """Return costs and constant of the distance to a point in the integers at a bound of theirs."""
    form = points.form
    at_lower = points.integer & (target == form.col_lower)
    at_upper = points.integer & (target == form.col_upper) & ~at_lower
    costs = at_lower.astype(float) - at_upper.astype(float)
    return costs, float(target[at_upper].sum() - target[at_lower].sum())


def _flipped(points: Points, values: Floats, near: Floats, rng: np.random.Generator) -> Floats:
    """Return a rounded point with the integers moved that are farthest from their rounding."""
    apart = np.where(points.integer, values - near, 0.0)
    count = int(rng.integers(LEAST_FLIPS, MOST_FLIPS + 1))
    # Ties are broken at random: where the pump stands still, many are not apart at all.
    order = np.lexsort((rng.uniform(size=len(apart)), -np.abs(apart)))
    chosen = order[points.integer[order]][:count]
    step = np.where(
        apart[chosen] == 0, rng.choice([-1.0, 1.0], len(chosen)), np.sign(apart[chosen])
    )
    moved = near.copy()
    moved[chosen] += step
    return points.rounded(moved)
