r"""Upper hulls of tables, and the slot problem's linear relaxation in closed form.

The linear relaxation of (12)-(19) ignores bandwidth and server boundaries (proposition P3,
reconstructed). With one resource it is a fractional multiple-choice knapsack: take the segments of
all jobs' upper hulls by falling slope until the cluster is full.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints


def upper_hull(values: Floats) -> Ints:
    """Return the positions of the vertices of the least concave function above a table.

    Parameters
    ----------
    values : array, shape (n,)
        Table at 0, 1, ..., n - 1.

    Returns
    -------
    array of int
        Increasing, with first and last position; points inside a segment are not vertices.
    """
    hull: list[int] = []
    listed = values.tolist()
    for k, value in enumerate(listed):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            # b lies on or below the segment from a to k.
            if (listed[b] - listed[a]) * (k - a) > (value - listed[a]) * (b - a):
                break
            hull.pop()
        hull.append(k)
    return np.array(hull, dtype=np.int64)


def envelope(values: Floats) -> Floats:
    """Return the least concave function above a table at 0, 1, ..., n - 1."""
    hull = upper_hull(values)
    above = np.interp(np.arange(len(values)), hull, values[hull])
    # Interpolation may round below the table.
    return np.maximum(above, values)


@dataclass(frozen=True)
class FractionalChoice:
    """Optimum of the fractional multiple-choice knapsack.

    Attributes
    ----------
    value : float
    shares : tuple of dict
        For each job, the weight of each size of at least one worker; at most one job is
        fractional.
    price : float
        Price of a unit of capacity: the slope at which it ran out, or 0.
    """

    value: float
    shares: tuple[dict[int, float], ...]
    price: float


def fractional_choice(
    gains: Sequence[Floats], demands: Sequence[int], capacity: int
) -> FractionalChoice:
    """Solve the linear relaxation for one resource.

    Parameters
    ----------
    gains : sequence of array, shapes (q_i + 1,)
        Value of 0, 1, ... workers of each job; the first is 0.
    demands : sequence of int
        Capacity taken by a worker of each job, positive.
    capacity : int

    Notes
    -----
    Ties go to the job, then to the segment, that comes first.
    """
    hulls = [upper_hull(gain) for gain in gains]
    segments = [
        (-(gain[b] - gain[a]) / ((b - a) * demand), i, int(a), int(b))
        for i, (gain, hull, demand) in enumerate(zip(gains, hulls, demands, strict=True))
        for a, b in itertools.pairwise(hull)
        if gain[b] > gain[a]
    ]
    segments.sort()
    shares: list[dict[int, float]] = [{} for _ in gains]
    left, value, price = capacity, 0.0, 0.0
    for slope, i, a, b in segments:
        wanted = (b - a) * demands[i]
        part = min(1.0, left / wanted)
        if part == 0:
            price = -slope
            break
        value += part * float(gains[i][b] - gains[i][a])
        shares[i] = {b: part} if part == 1 or a == 0 else {a: 1 - part, b: part}
        left -= wanted
        if left < 0:
            price = -slope
            break
    return FractionalChoice(value, tuple(shares), price)
