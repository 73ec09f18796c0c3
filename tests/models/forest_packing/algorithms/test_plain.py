"""The fast packing and schedule are the printed ones."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.forest_packing.algorithms import plain, schedule
from gadgetopt.models.forest_packing.algorithms.multiplicative_weights import pack_columns
from gadgetopt.models.forest_packing.heuristics.unpolished_packing import unpolished_packing
from gadgetopt.models.forest_packing.subproblems import roots
from gadgetopt.models.forest_packing.subproblems.price_oracles import make_oracle
from gadgetopt.system.result import Limits

from ..networks import BUILDERS, known, symmetric, with_nics


def drawn(seed):
    """A network of small whole capacities, on which trees often have the same price."""
    rng = np.random.default_rng([38, seed])
    kind = ("symmetric", "symmetric", "eulerian", "digraph")[seed % 4]
    instance = BUILDERS[kind](rng, int(rng.integers(2, 6)), int(rng.integers(0, 3)))
    return with_nics(rng, instance) if rng.random() < 0.3 else instance


@pytest.mark.parametrize("block", range(6))
def test_the_fast_packing_finds_the_same_trees_and_rates_as_the_printed_one(block):
    for seed in range(20 * block, 20 * (block + 1)):
        instance = drawn(seed)
        eps, gap = ((0.5, 0.0), (0.3, 0.2))[seed % 2]
        printed = plain.pack(instance, eps, gap)
        fast = pack_columns(make_oracle(instance), Limits(), eps=eps, target_gap=gap)
        assert [tree.key for tree in fast.trees] == [tree.key for tree in printed.trees], seed
        rates = [amount / fast.rho for amount in fast.amounts]
        assert rates == pytest.approx(printed.x, rel=1e-9)
        if printed.trees:
            assert fast.bound == pytest.approx(printed.best_ub, rel=1e-9)


def test_the_fast_plan_has_the_printed_roots_and_rates():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        instance = symmetric(rng, int(rng.integers(2, 6)))
        printed = plain.forest_packing(instance, 0.3, 0.0)
        fast = unpolished_packing(instance, Limits(), eps=0.3).solution
        R = sum(x for _, _, x in printed)
        total = sum(float(tree.rate_gbyte_per_s) for tree in fast.trees)
        assert total == pytest.approx(R, rel=1e-6)
        labels = instance.workers
        expected = sorted(
            (labels[r], sorted(tuple(sorted((labels[e[0]], labels[e[-1]]))) for e in routes))
            for r, routes, _ in printed
        )
        found = sorted(
            (tree.root, sorted(tuple(sorted((e[0], e[-1]))) for e in tree.in_tree))
            for tree in fast.trees
        )
        assert found == expected, seed


def test_slices_heights_periods_and_chunks_are_the_printed_ones():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.1, 5, int(rng.integers(1, 6))).tolist()
        exact = [Fraction(part) for part in x]
        elements = int(rng.integers(1, 1000))
        assert plain.slices(exact, elements) == schedule.slices(exact, elements)
        nodes = int(rng.integers(2, 8))
        routes = [(int(rng.integers(v)), v) for v in range(1, nodes)]
        heights = roots.heights(routes)
        assert heights == {v: plain.height(routes, v) for v in range(nodes)}
        root = int(rng.integers(nodes))
        away = roots.directed_from(root, routes)
        inward = tuple(route[::-1] for route in away)
        up, down = schedule.subtree_heights(root, inward), schedule.depths(root, away)
        periods = plain.periods(routes, root, 3)
        assert all(periods["up", v] == 3 + up[v] for v in range(nodes) if v != root)
        assert all(periods["down", v] == 3 + up[root] + down[u] for u, v in away)
        T, alpha = float(rng.uniform(0.1, 9)), float(rng.uniform(0.01, 1))
        h = max(up.values()) + max(down.values())
        m, time_s = plain.chunks(T, h, alpha)
        phase = [schedule.Phase(T, h)]
        assert m == schedule.best_chunks(phase, alpha)
        assert time_s == pytest.approx(schedule.chunked_time_s(phase, m, alpha))


def test_the_printed_packing_comes_close_to_the_optimum_by_hand():
    # Optimal rates: H2 9/2, H3 3, H6 1.
    for name, rate in (("H2", 4.5), ("H3", 3.0), ("H6", 1.0)):
        packing = plain.pack(known(name), 0.1)
        assert (1 - 0.1) ** 2 * rate <= sum(packing.x) <= rate * (1 + 1e-9)
        assert packing.best_ub >= rate * (1 - 1e-9)
