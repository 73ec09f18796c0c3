"""The flow LP, with and without the balances of switches."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.forest_packing.formulations import flow
from gadgetopt.solvers import solve_model

from .. import brute_force
from ..networks import digraph, known, random_instance


def rate(model):
    return solve_model(model, "highs").objective


def test_switches_that_copy_double_what_a_star_can_carry():
    # H4: a tree centred at a worker uses its cable twice, hence 3/4; the Steiner star uses every
    # cable once in each direction, hence 1.
    assert rate(flow.build(known("H4"))) == pytest.approx(3 / 4)
    assert rate(flow.build_multicast(known("H4"))) == pytest.approx(1)
    assert rate(flow.build_multicast(known("H4", in_network=True))) == pytest.approx(1)


def test_balances_of_both_stages_together_would_not_do():
    # With balanced sums g + h only, H4's switch copies in the broadcast what it loses in the
    # reduction.
    model = flow.build_multicast(known("H4"))
    arcs = list(model.A)

    @model.Constraint()
    def balanced_sum(m):
        return sum(m.g[a] + m.h[a] for a in arcs if a[1] == 3) == sum(
            m.g[a] + m.h[a] for a in arcs if a[0] == 3
        )

    assert rate(model) == pytest.approx(1)


def test_trees_that_copy_at_switches_keep_the_bound():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        instance = digraph(rng, workers=int(rng.integers(2, 4)), switches=int(rng.integers(1, 3)))
        instance = instance.model_copy(update={"in_network": True})
        bound = rate(flow.build_multicast(instance))
        assert brute_force.optimal_rate(instance) <= bound * (1 + 1e-9)


def test_copying_switches_never_slow_a_collective():
    for seed in range(12):
        instance = random_instance(seed)
        assert rate(flow.build(instance)) <= rate(flow.build_multicast(instance)) + 1e-7


def test_the_model_has_the_size_of_its_statement():
    network = known("DGX-1V").network
    n, arcs = network.num_nodes, len(network.arcs)
    model = flow.build(known("DGX-1V"))
    assert model.nvariables() == 1 + n + 2 * arcs + 2 * n * (arcs + n)
    assert model.nconstraints() == 1 + arcs + 2 * n * (arcs + n + n)
