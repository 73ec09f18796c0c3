"""Shared parts of pictures: colours and the feasibility check."""

import pytest
from toy import (
    BEST,
    KNAPSACK,
    TOO_MUCH,
    TOY,
)

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import (
    INK,
    PALE,
    drawn,
    mixed,
)
from gadgetopt.system.declaration import Picture

OF_SOLUTION = Picture("chosen", summary="-", draw=lambda instance, solution: solution)
OF_INSTANCE = Picture("items", summary="-", draw=lambda instance: instance, of="instance")


def test_an_infeasible_solution_is_not_drawn():
    assert drawn(TOY, OF_SOLUTION, KNAPSACK, BEST) is BEST
    assert drawn(TOY, OF_INSTANCE, KNAPSACK, TOO_MUCH) is KNAPSACK
    with pytest.raises(InputError, match=r"^x\.json: is infeasible: capacity at knapsack: by 2$"):
        drawn(TOY, OF_SOLUTION, KNAPSACK, TOO_MUCH, "x.json")


def test_colours_mix():
    assert mixed(INK, PALE, 0.0) == INK
    assert mixed(INK, PALE, 1.0) == PALE
    assert mixed("#000000", PALE, 0.5) == "#808080"
