"""The fast SPP is the printed one."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from gadgetopt.models.spp.algorithms import plain
from gadgetopt.models.spp.algorithms.block_costs import BlockCosts, bandwidth_matrix
from gadgetopt.models.spp.algorithms.device_order import rdo
from gadgetopt.models.spp.algorithms.prm import Prm
from gadgetopt.models.spp.algorithms.spp import spp
from gadgetopt.models.spp.evaluate import evaluate
from gadgetopt.system.result import Limits

from ..brute_force import e1, e2, instance_of


def drawn(seed):
    """Up to five layers on up to four GPUs; numbers so different that loads rarely tie."""
    rng = np.random.default_rng([38, seed])
    L, V, M = int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    b = rng.integers(1000, 9999, size=(V, V)).astype(float)
    b = np.minimum(b, b.T)
    np.fill_diagonal(b, 0)
    return instance_of(
        rng.integers(1000, 9999, size=L).tolist(),
        rng.integers(1000, 19999, size=L).tolist(),
        rng.integers(0, 10**7, size=L).tolist(),
        rng.integers(0, 10**7, size=L - 1).tolist(),
        M,
        b.tolist(),
        {"use_all_gpus": bool(rng.random() < 0.8)},
        duplex="half" if rng.random() < 0.7 else "full",
        comm_model="pair_slice" if rng.random() < 0.7 else "min_end",
    )


@pytest.mark.parametrize("block", range(10))
def test_the_fast_algorithm_takes_the_same_plan_and_orders_as_the_printed_one(block):
    """The same decision, unless loads of plans tie: the fast one compares them in doubles."""
    for seed in range(12 * block, 12 * (block + 1)):
        instance = drawn(seed)
        order = plain.rdo(instance, list(range(instance.num_gpus)))
        assert rdo(bandwidth_matrix(instance)) == tuple(order)
        prm = Prm(BlockCosts(instance, order), use_all_gpus=instance.options.use_all_gpus)
        for xi in range(1, instance.most_stages + 1):
            if xi > 1:
                prm.extend()
            load, plan = plain.prm(instance, order, xi)
            found = prm.best(xi)
            assert found.load_s == pytest.approx(float(load), rel=1e-12)
            assert tuple(pairwise((0, *found.ends))) == tuple(layers for layers, _ in plan)
            assert found.replicas == tuple(len(gpus) for _, gpus in plan)
        T, printed = plain.spp(instance)
        fast = spp(instance, Limits())
        assert fast.claimed_objective == T
        assert fast.solution == printed


def test_the_printed_algorithm_by_hand():
    assert plain.spp(e1())[0] == 44
    T, schedule = plain.spp(e2())
    assert 35 + Fraction(1, 6) == T
    assert evaluate(e2(), schedule).objective == T
