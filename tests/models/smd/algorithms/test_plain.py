"""The fast SMD is the printed one."""

import numpy as np
import pytest

from gadgetopt.models.smd.algorithms import plain
from gadgetopt.models.smd.algorithms.grid_search import grid_search
from gadgetopt.models.smd.algorithms.smd import smd
from gadgetopt.models.smd.evaluate import evaluate
from gadgetopt.pieces.knapsack.frieze_clarke import frieze_clarke
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.system.result import Limits

from ..inner_jobs import E2, E3
from .drawn import drawn_instance

EPS = 0.6


@pytest.mark.parametrize("block", range(10))
def test_the_fast_algorithm_takes_the_same_decision_as_the_printed_one(block):
    """Points of one Psi may differ, and then what they are rounded to: these are left out here."""
    same_points = 0
    for seed in range(15 * block, 15 * (block + 1)):
        instance = drawn_instance(seed)
        same = True
        for job in instance.jobs:
            printed, fast = plain.alg1(job, EPS), grid_search(job, EPS)
            assert (printed is None) == (fast is None)
            if printed is not None:
                assert fast.value_s == pytest.approx(printed[1], rel=1e-9)
                same = same and printed[0] == pytest.approx((fast.point.w, fast.point.p), rel=1e-7)
        if same:
            same_points += 1
            rng = np.random.default_rng(seed)
            decided = plain.smd(instance, int(np.random.default_rng(seed).integers(2**63)), EPS)
            assert smd(instance, Limits(), rng, eps_inner=EPS).solution == decided
            assert evaluate(instance, decided).feasible
    assert same_points >= 10


@pytest.mark.parametrize("seed", range(100))
def test_the_fast_knapsack_is_that_of_algorithm_3(seed):
    rng = np.random.default_rng(seed)
    jobs, resources = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    u = rng.uniform(1, 100, jobs)
    v = rng.integers(1, 10, (jobs, resources))
    C = rng.integers(5, 25, resources)
    chosen = plain.alg3(u.tolist(), v.tolist(), C.tolist(), 2)
    fast = frieze_clarke(Knapsack(u, v.astype(float), np.arange(jobs), C.astype(float)), 2)
    assert fast.chosen.tolist() == np.flatnonzero(chosen).tolist()


def test_the_printed_knapsack_by_hand():
    u = (14, 13, 11, 5, 9)
    v = ((5, 8), (7, 1), (4, 6), (3, 4), (8, 8))
    assert plain.alg3(u, v, (13, 13), 0) == [False, False, True, False, False]
    assert plain.alg3(u, v, (13, 13), 5) == [True, True, False, False, False]


def test_finer_grids_come_closer_to_the_optimum():
    for job in (E2, E3):
        values = [plain.alg1(job, eps)[1] for eps in (0.8, 0.4, 0.2)]
        exact = grid_search(job, 1e-4).value_s
        assert all(
            exact * (1 - 1e-3) <= value <= (1 + eps) * exact
            for eps, value in zip((0.8, 0.4, 0.2), values, strict=True)
        )
