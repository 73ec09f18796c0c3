"""Proofs by branches on starts for instances of a few jobs."""

from fractions import Fraction

import numpy as np

from gadgetopt.models.a_srpt.heuristics.order_annealing import pool_lists
from gadgetopt.models.a_srpt.proving.exact.size_branches import SizeBranching
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from .rigid_jobs import instance_of, pool_optimum, random_jobs

WEIGHTS = 1, Fraction(1, 2), 2


def drawn(seed, jobs=5):
    rng = np.random.default_rng(seed)
    return instance_of((2, 2), random_jobs(rng, jobs, 4, WEIGHTS))


def searched(instance, more=0):
    """Search a proof from a value that is the pool's optimum and some units more."""
    pool = pool_of(instance)
    optimum = int(pool_optimum(instance) * pool.weight_scale)
    value = optimum + more * int(np.gcd.reduce(pool.weight))
    order = np.argsort(pool.release, kind="stable")
    starts = np.array(pool_lists(pool).decoded(order)[1], dtype=float)
    return SizeBranching(pool, value, lambda _: value, Clock(Limits())).proof(starts)


def closed():
    """Return an instance of which prices by size alone are no proof, its optimum, and a proof."""
    for seed in range(100):
        instance = drawn(seed)
        proof = searched(instance)
        if proof is not None and len(proof.branches) > 2 and any(b.cut for b in proof.branches):
            return instance, pool_optimum(instance), proof
    raise AssertionError("no proof needs a cut")
