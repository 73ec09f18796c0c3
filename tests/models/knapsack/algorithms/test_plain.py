"""The fast Frieze and Clarke is the printed one."""

import numpy as np
import pytest

from gadgetopt.models.knapsack.algorithms import plain
from gadgetopt.models.knapsack.algorithms.frieze_clarke import frieze_clarke
from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.evaluate import evaluate
from gadgetopt.system.files import library, read_instance

from ..outcomes import run, value_of


@pytest.mark.parametrize("k", range(3))
def test_the_fast_algorithm_finds_the_profit_of_the_printed_one(k):
    for seed in range(40):
        rng = np.random.default_rng([38, k, seed])
        items, rows = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        instance = paper(rng, items=items, rows=rows)
        printed = evaluate(instance, plain.frieze_clarke(instance, k))
        assert not printed.violations
        assert value_of(instance, run(frieze_clarke, instance, k=k)) == printed.objective


def test_a_set_of_two_is_needed():
    instance = read_instance(library() / "knapsack/tiny/e6_two_rows.json").data
    assert evaluate(instance, plain.frieze_clarke(instance, 0)).objective == 11
    assert evaluate(instance, plain.frieze_clarke(instance, 2)).objective == 27
