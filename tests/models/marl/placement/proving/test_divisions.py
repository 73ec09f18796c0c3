"""The parts of a gang are whole: rows that every division satisfies, and what it pays least."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from gadgetopt.models.marl.placement.data.generate.presets import single_rack
from gadgetopt.models.marl.placement.proving.bounds.column_generation import ColumnGeneration
from gadgetopt.models.marl.placement.proving.content_search import ContentSearch
from gadgetopt.models.marl.placement.proving.divisions import Divisions, least_of_parts
from gadgetopt.models.marl.placement.proving.terms import Terms
from gadgetopt.search.clock import Clock

from ..brute_force import optimum, small_instance


def divisions_of(tasks, most):
    """All ways to write a number of tasks as a sum of parts."""
    for count in range(1, tasks + 1):
        for parts in combinations_with_replacement(range(1, most + 1), count):
            if sum(parts) == tasks:
                yield parts


@pytest.mark.parametrize("seed", range(20))
def test_the_least_that_parts_pay_is_that_of_all_divisions(seed):
    rng = np.random.default_rng(seed)
    tasks, most = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    pays = rng.uniform(-3, 3, size=most).tolist()
    expected = min(sum(pays[k - 1] for k in parts) for parts in divisions_of(tasks, most))
    assert least_of_parts(pays, tasks) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
def test_every_division_satisfies_the_rows(seed):
    rng = np.random.default_rng(seed)
    terms = Terms(single_rack(rng, jobs=8))
    rows, search = Divisions(terms), ContentSearch(terms, terms.kinds[0])
    for i, lot in enumerate(terms.lots):
        for parts in divisions_of(lot.tasks, rows.most[i]) if lot.gang else ():
            row, _, value = rows.entries(search.of_pairs([[(i, k)] for k in parts]))
            left = np.bincount(row, value, minlength=len(rows))
            mine = np.unique(row)
            assert (left[mine] >= rows.lower[mine]).all()
            assert (left[mine] <= rows.upper[mine]).all()


@pytest.mark.parametrize("seed", range(30))
def test_the_relaxation_with_whole_parts_is_below_the_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    best = optimum(instance)
    done = ColumnGeneration(Terms(instance), Clock()).run()
    if best is not None and instance.jobs:
        assert done.bound <= float(best) * len(instance.jobs) * (1 + 1e-9)
