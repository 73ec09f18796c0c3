"""BGL's partition with one step changed, and what former spellings are called now."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.bgl.partition.algorithms.bgl import bgl
from gadgetopt.models.bgl.partition.evaluate import evaluate
from gadgetopt.models.bgl.partition.heuristics.bgl_variants import bgl_order, bgl_refined
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..brute_force import instance_of

RNG = np.random.default_rng


def drawn(seed):
    rng = RNG(seed)
    edges = tuple((u, v) for u in range(20) for v in range(u + 1, 20) if rng.random() < 0.2)
    return instance_of(20, edges, tuple(range(0, 20, 2)), parts=2, fanouts=(3, 3))


@pytest.mark.parametrize("seed", range(10))
def test_refinement_never_costs_more_than_the_partition_it_begins_with(seed):
    instance = drawn(seed)
    plain, refined = (
        evaluate(instance, run(instance, Limits(), RNG(seed)).solution)
        for run in (bgl, bgl_refined)
    )
    assert refined.feasible
    assert refined.objective <= plain.objective


def test_the_order_of_the_paper_is_that_of_bgl():
    for seed in range(10):
        instance = drawn(seed)
        ours = bgl_order(instance, Limits(), RNG(seed), order="bfs").solution
        assert ours == bgl(instance, Limits(), RNG(seed)).solution


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("bgl:repair=false", "bgl_order"),
        ("bgl:refine=true", "bgl_refined"),
        ("bgl:order=size", "bgl_order"),
        ("bgl:pops=2", "bgl_order"),
    ],
)
def test_a_former_spelling_is_told_the_new_one(former, now):
    with pytest.raises(InputError, match=now):
        find_method(problem("bgl_partition"), former)
