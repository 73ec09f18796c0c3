"""EASY backfilling starts what the plain version starts, when and where it does."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.presets import paper, tensor_parallel
from gadgetopt.models.a_srpt.heuristics.easy import easy
from gadgetopt.models.a_srpt.subproblems.cluster import Cluster
from gadgetopt.models.a_srpt.subproblems.mapper import Mapper
from gadgetopt.models.a_srpt.subproblems.simulation import simulate
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from .plain_easy import PlainEasy


def both(instance, **given):
    """Return the schedule of the method and that of the plain version."""
    predictor, noise_sd = given.get("predictor", "oracle"), given.get("noise_sd", 0.0)
    found = easy(instance, Limits(), np.random.default_rng(0), **given).solution
    mapper = Mapper(instance, given.get("mapping", "heavy_edge"))
    policy = PlainEasy(instance, Cluster(instance, mapper, Fraction(3, 2)))
    rng = np.random.default_rng(0)
    return found, simulate(instance, policy, Clock(), predictor, noise_sd, rng).solution


@pytest.mark.parametrize("mapping", ["heavy_edge", "heavy_edge_contract", "best_of"])
@pytest.mark.parametrize("seed", range(20))
def test_schedules_are_those_of_the_plain_version(seed, mapping):
    rng = np.random.default_rng(seed)
    load = (0.8, 1.5, 3.0)[seed % 3]
    found, plain = both(paper(rng, jobs=60, servers=3, load=load), mapping=mapping)
    assert found == plain


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_so_they_are_with_blocks(seed, mixed):
    rng = np.random.default_rng(seed)
    instance = tensor_parallel(rng, jobs=60, servers=3, gpus_per_server=6, load=2.0, mixed=mixed)
    found, plain = both(instance)
    assert found == plain


@pytest.mark.parametrize("predictor", ["noisy_oracle", "global_mean", "last"])
@pytest.mark.parametrize("seed", range(10))
def test_so_they_are_where_predictions_are_wrong(seed, predictor):
    rng = np.random.default_rng(seed)
    noise_sd = 1.0 if predictor == "noisy_oracle" else 0.0
    instance = paper(rng, jobs=80, servers=4, load=2.0)
    found, plain = both(instance, predictor=predictor, noise_sd=noise_sd)
    assert found == plain
