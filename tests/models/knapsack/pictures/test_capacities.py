"""The picture shows every chosen item in every row it weighs something in."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.knapsack import PROBLEM
from gadgetopt.models.knapsack.instance import KnapsackSolution
from gadgetopt.models.knapsack.pictures.capacities import plot
from gadgetopt.reporting.figures import drawn

from ..brute_force import single

E6 = single([14, 13, 11, 5, 9], [[5, 7, 4, 3, 8], [8, 1, 6, 4, 8]], [13, 13])


def test_bars_are_percent_of_the_capacity_side_by_side():
    figure = plot(E6, KnapsackSolution(chosen=(0, 0, None, None, None)))
    (bar,) = figure.data
    assert list(bar.y) == [0, 0, 1, 1]
    assert list(bar.x) == pytest.approx([500 / 13, 700 / 13, 800 / 13, 100 / 13])
    assert list(bar.base) == pytest.approx([0, 500 / 13, 0, 800 / 13])
    assert "Profit 27 with 2 of 5 items" in figure.layout.title.text


def test_an_infeasible_choice_is_not_drawn():
    with pytest.raises(InputError, match="capacity at row 0: by 3"):
        drawn(PROBLEM, PROBLEM.pictures[0], E6, KnapsackSolution(chosen=(0, 0, 0, None, None)))
