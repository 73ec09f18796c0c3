"""The mapping problem of one job: branch and bound, MILP, CP-SAT and enumeration agree."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.random_jobs import random_type
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.models.a_srpt.mapping import fastest_mapping, sparse
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..brute_force import best_mapping, cluster_of
from ..hand_checked import H1, H2, alpha_max_s
from . import mapping_cut, mapping_milp
from .mapping_cp import MappingModel

CASES = [(seed, (2, 2, 1, 1) if seed % 3 else (3, 2, 1)) for seed in range(24)]


def drawn(seed, free):
    """Draw a job type that fits, and a cluster with these GPUs."""
    job_type = random_type(np.random.default_rng(seed), sum(free))
    return job_type, cluster_of(free, job_type)


@pytest.mark.parametrize(("seed", "free"), CASES)
def test_all_routes_find_the_fastest_mapping(seed, free):
    job_type, instance = drawn(seed, free)
    times = instance.times[0]
    fastest, _ = best_mapping(instance, job_type, free)
    found = fastest_mapping(times, free)
    assert found.proven
    assert times.seconds(found.units) == times.seconds(times.units(sparse(found.counts))) == fastest
    model = mapping_milp.build(times, free)
    assert solve_model(model, "highs", Limits()).status is Status.OPTIMAL
    assert times.seconds(times.units(sparse(mapping_milp.decode(model)))) == fastest
    program = MappingModel(job_type.replicas, free)
    program.takes_the_iteration(times)
    solved, counts = program.solve(Limits())
    assert times.seconds(solved.objective) == fastest
    assert times.units(sparse(counts)) == solved.objective


@pytest.mark.parametrize(("seed", "free"), CASES[:10])
def test_both_cuts_are_least(seed, free):
    job_type, instance = drawn(seed, free)
    scale, *_ = mapping_cut.weights(job_type)
    _, least = best_mapping(instance, job_type, free)
    model = mapping_cut.build(job_type, free)
    solved = solve_model(model, "highs", Limits())
    assert abs(Fraction(solved.objective) / scale - least) < Fraction(1, 10**6)
    program = MappingModel(job_type.replicas, free)
    program.cuts_traffic(job_type)
    assert Fraction(program.solve(Limits())[0].objective, scale) == least


def test_the_hand_checked_mappings():
    """H1: 0.17 s and 0.2 GB; H2 with 3 and 2 free GPUs: 0.261 s and 0.2 GB."""
    for instance, free, fastest, cut in (
        (H1, (2, 2), Fraction(17, 100), Fraction(1, 5)),
        (H2, (3, 2), Fraction(261, 1000), Fraction(1, 5)),
    ):
        job_type = instance.job_types[0]
        assert best_mapping(instance, job_type, free) == (fastest, cut)
        times = instance.times[0]
        assert times.seconds(fastest_mapping(times, free).units) == fastest


def test_closed_forms_of_the_hand_checked_instances():
    assert (H1.alpha_min_s, alpha_max_s(H1)) == ((Fraction(17, 100),), (Fraction(35, 100),))
    assert (H2.alpha_min_s, alpha_max_s(H2)) == ((Fraction(261, 1000),), (Fraction(81, 100),))


def test_the_bilinear_statement_is_solved_to_the_same_optimum():
    pytest.importorskip("pyscipopt")
    for instance, free in ((H1, (2, 2)), (H2, (3, 2))):
        times = instance.times[0]
        model = mapping_milp.build_bilinear(times, free)
        assert solve_model(model, "scip", Limits(time_s=30)).status is Status.OPTIMAL
        found = times.units(sparse(mapping_milp.decode(model)))
        assert found == fastest_mapping(times, free).units


def test_the_empty_cluster_needs_no_more_servers_than_the_search_looks_at():
    for seed in range(30):
        job_type, instance = drawn(seed, (3, 3, 2, 2))
        fastest, _ = best_mapping(instance, job_type, (3, 3, 2, 2))
        assert instance.alpha_min_s[0] == fastest


def test_a_search_cut_short_proves_a_bound():
    for seed in range(30):
        job_type, instance = drawn(seed, (2, 2, 1, 1))
        times = instance.times[0]
        found = fastest_mapping(times, (2, 2, 1, 1))
        short = fastest_mapping(times, (2, 2, 1, 1), most_nodes=3)
        assert short.bound <= found.units <= short.units
        assert times == mapping_times(
            job_type,
            instance.intra_bandwidth_gbytes_per_s,
            instance.inter_bandwidth_gbytes_per_s,
        )
