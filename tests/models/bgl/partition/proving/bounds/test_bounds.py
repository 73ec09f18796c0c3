"""Bounds beyond tiny instances: certified, below the optimum, and better than the LP."""

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.data.generate.presets import (
    planted,
    quickstart,
)
from gadgetopt.models.bgl.partition.proving.bounds.cut_bound import close
from gadgetopt.models.bgl.partition.proving.bounds.semidefinite import Relaxation
from gadgetopt.models.bgl.partition.proving.certificate.check import (
    BglPartitionCertificate,
    Eigenvalue,
    check_bound,
)
from gadgetopt.models.bgl.partition.proving.cut_lp import CutLp
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...brute_force import run

BOUNDS = ("isolating_cuts", "eigenvalue", "elimination_bound")


@pytest.mark.parametrize("seed", range(2))
def test_bounds_beat_the_linear_program_on_two_communities(seed):
    instance = planted(np.random.default_rng(seed), nodes=60)
    best = run(instance, "elimination")
    weak = run(instance, "difference_lp@highs").bound
    for method in BOUNDS:
        found = run(instance, method)
        assert found.bound_voucher == "verified"
        assert weak < found.bound <= best.bound
    assert run(instance, "elimination_bound").bound == best.bound


def test_fewer_partial_partitions_prove_less():
    instance = quickstart(np.random.default_rng(0))
    bounds = [run(instance, f"elimination_bound:most_states={m}").bound for m in (10, 1000, 10**6)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_with_four_parts_the_semidefinite_bound_with_cuts_beats_the_linear_programs():
    instance = quickstart(np.random.default_rng(0), nodes=40)
    best = run(instance, "elimination").bound
    certificate = _semidefinite(instance, rounds=3)
    found = check_bound(instance, certificate)
    assert isinstance(certificate.proof, Eigenvalue)
    for weak in ("eigenvalue", "isolating_cuts", "difference_lp@highs", "both_lp@highs"):
        assert run(instance, weak).bound < found <= best


def test_without_communities_it_proves_no_less_than_the_cuts_alone():
    instance = planted(
        np.random.default_rng(0), nodes=20, parts=4, inside=4.0, outside=4.0, train_share=0.5
    )
    cuts, found = run(instance, "cut_bound"), run(instance, "semidefinite")
    assert found.bound_voucher == "verified"
    assert cuts.bound <= found.bound <= run(instance, "multi_start").objective


def _semidefinite(instance, rounds):
    """Return the certificate of the last point, whether or not the cuts alone prove more."""
    lp, clock = CutLp(instance), Clock(Limits())
    leaf, _ = close(lp, clock)
    program = Relaxation(lp, [lp.cuts[c] for c in leaf.cuts])
    for _ in range(rounds):
        program.solve(clock, 300)
        if not program.cut():
            break
    program.solve(clock, 300)
    return BglPartitionCertificate(proof=program.proof())
