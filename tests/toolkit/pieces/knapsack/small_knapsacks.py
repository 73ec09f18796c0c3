"""Small knapsacks, checked by hand or random, and their optima by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from gadgetopt.pieces.knapsack.problem import Knapsack

#: Five items, two rows, integer optimum 27 = items 1 and 2, linear relaxation 31.41176.
FIVE_ITEMS = Knapsack(
    profit=np.array([14.0, 13, 11, 5, 9]),
    weight=np.array([[5.0, 7, 4, 3, 8], [8, 1, 6, 4, 8]]).T,
    owner=np.arange(5),
    capacity=np.array([13.0, 13]),
)

#: Petersen's first problem, public as the first of mknap1: optimum 3800 = items 2, 3, 6.
PETERSEN_1 = Knapsack(
    profit=np.array([100.0, 600, 1200, 2400, 500, 2000]),
    weight=np.array(
        [
            [8.0, 12, 13, 64, 22, 41],
            [8, 12, 13, 75, 22, 41],
            [3, 6, 4, 18, 6, 4],
            [5, 10, 8, 32, 6, 12],
            [5, 13, 8, 42, 6, 20],
            [5, 13, 8, 48, 6, 20],
            [0, 0, 0, 0, 8, 0],
            [3, 0, 4, 0, 8, 0],
            [3, 2, 4, 0, 8, 4],
            [3, 2, 4, 8, 8, 4],
        ]
    ).T,
    owner=np.arange(6),
    capacity=np.array([80.0, 96, 20, 36, 44, 48, 10, 18, 22, 24]),
)

#: Weingartner's first problem, public in mknap2: optimum 141278.
WEING_1 = Knapsack(
    profit=np.array(
        [
            *(1898.0, 440, 22507, 270, 14148, 3100, 4650, 30800, 615, 4975, 1160, 4225, 510, 11880),
            *(479, 440, 490, 330, 110, 560, 24355, 2885, 11748, 4550, 750, 3720, 1950, 10500),
        ]
    ),
    weight=np.array(
        [
            [
                *(45.0, 0, 85, 150, 65, 95, 30, 0, 170, 0, 40, 25, 20, 0),
                *(0, 25, 0, 0, 25, 0, 165, 0, 85, 0, 0, 0, 0, 100),
            ],
            [
                *(30, 20, 125, 5, 80, 25, 35, 73, 12, 15, 15, 40, 5, 10),
                *(10, 12, 10, 9, 0, 20, 60, 40, 50, 36, 49, 40, 19, 150),
            ],
        ]
    ).T,
    owner=np.arange(28),
    capacity=np.array([600.0, 600]),
)

#: Khan's I01, exactly one item of each of five groups: optimum 173 with items 3, 4, 1, 2, 3 of the
#: groups, counted from 0; linear relaxation 182.71.
KHAN_1 = Knapsack(
    profit=np.array(
        [
            *(7.0, 17, 25, 35, 36, 9, 10, 10, 39, 44, 15, 19, 20, 44, 50),
            *(5, 25, 32, 37, 37, 24, 30, 32, 43, 44),
        ]
    ),
    weight=np.array(
        [
            *(
                [1.0, 3, 1, 1, 6],
                [1, 4, 9, 9, 3],
                [4, 3, 9, 8, 2],
                [4, 5, 8, 0, 6],
                [6, 8, 3, 0, 7],
            ),
            *([0, 0, 4, 4, 2], [0, 0, 1, 8, 7], [1, 1, 6, 0, 6], [9, 1, 2, 2, 4], [8, 7, 0, 8, 2]),
            *([2, 0, 5, 5, 5], [2, 3, 2, 6, 2], [3, 1, 6, 4, 7], [6, 7, 5, 6, 9], [9, 5, 9, 2, 2]),
            *([0, 1, 3, 8, 0], [2, 2, 7, 0, 8], [5, 5, 6, 1, 9], [6, 3, 6, 9, 1], [7, 9, 7, 2, 3]),
            *([4, 0, 7, 0, 2], [4, 8, 9, 0, 0], [5, 2, 7, 2, 0], [5, 5, 9, 5, 2], [9, 2, 2, 2, 3]),
        ]
    ),
    owner=np.repeat(np.arange(5), 5),
    capacity=np.full(5, 25.0),
    exactly_one=True,
)


def best_value(knapsack: Knapsack) -> float:
    """Return the optimum by trying every choice; minus infinity if none fits."""
    starts = knapsack.group_starts
    options = [
        [*range(starts[i], starts[i + 1]), *([] if knapsack.exactly_one else [-1])]
        for i in range(knapsack.num_groups)
    ]
    best = -math.inf
    for choice in itertools.product(*options):
        items = [c for c in choice if c >= 0]
        if fits(knapsack, items):
            best = max(best, knapsack.value(items))
    return best


def fits(knapsack: Knapsack, items) -> bool:
    """Return True if items keep to capacities, up to rounding, and to the groups."""
    load = knapsack.weight[np.asarray(items, dtype=int)].sum(axis=0)
    owners = knapsack.owner[np.asarray(items, dtype=int)]
    enough = not knapsack.exactly_one or len(owners) == knapsack.num_groups
    unique = len(set(owners.tolist())) == len(owners)
    return bool((load <= knapsack.capacity + 1e-9).all()) and unique and enough


@st.composite
def knapsacks(draw, *, single=None, exactly_one=None, most_groups=5):
    """Draw a knapsack: integers, decimals, or profits of any digits; tight, loose, empty rows."""
    groups = draw(st.integers(1, most_groups))
    rows = draw(st.integers(1, 3))
    if single is None:
        single = draw(st.booleans())
    if exactly_one is None:
        exactly_one = draw(st.booleans())
    sizes = [1 if single else draw(st.integers(1, 3)) for _ in range(groups)]
    items = sum(sizes)
    kind = draw(st.sampled_from(["whole", "decimal", "any"]))
    amount = st.integers(0, 12)
    weight = np.array(draw(st.lists(amount, min_size=items * rows, max_size=items * rows)), float)
    weight = weight.reshape(items, rows) / (10 if kind == "decimal" else 1)
    number = st.integers(0, 40) if kind != "any" else st.floats(0, 40, allow_subnormal=False)
    profit = np.array(draw(st.lists(number, min_size=items, max_size=items)), float)
    if kind == "decimal":
        profit /= 10
    part = draw(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]))
    capacity = np.floor(10 * part * weight.sum(axis=0)) / 10
    return Knapsack(profit, weight, np.repeat(np.arange(groups), sizes), capacity, exactly_one)
