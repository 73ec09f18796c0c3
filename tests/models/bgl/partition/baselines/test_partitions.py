"""Baselines: what each looks at, and that all keep the caps."""

import importlib.util

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.data.generate.presets import (
    caveman,
    planted,
)

from ..brute_force import instance_of, run

SEARCHES = ("multi_start:starts=2", "annealing:sweeps=500")
ALL = ("random", "hash", "ldg", "fennel", "metis_like", "pagraph", "bgl", *SEARCHES)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("imbalance", [0.0, 0.1])
def test_partitions_keep_the_caps(method, imbalance):
    for seed in range(3):
        instance = planted(np.random.default_rng(seed), nodes=50, parts=3, node_imbalance=imbalance)
        assert run(instance, method, seed).status == "feasible"


def test_cliques_stay_together_in_ldg_and_spectral_bisection():
    instance = caveman(np.random.default_rng(0), cliques=8, clique_nodes=6, parts=2)
    dealt = run(instance, "random").objective
    for method in ("ldg", "metis_like", "pagraph", "multi_start:starts=3", "annealing"):
        assert run(instance, method).objective < dealt / 2


def test_hash_is_the_same_every_time():
    instance = planted(np.random.default_rng(0))
    assert run(instance, "hash", 0).solution == run(instance, "hash", 7).solution


def test_metis_is_refused_without_its_package_and_keeps_the_caps_with_it():
    found = run(planted(np.random.default_rng(0), nodes=60), "metis")
    if importlib.util.find_spec("pymetis") is None:
        assert found.refused
        assert "pip install 'gadgetopt[metis]'" in found.reason
    else:
        assert found.status == "feasible"


def test_more_parts_than_nodes_leave_some_empty():
    instance = instance_of(3, ((0, 1),), (0, 1, 2), parts=9)
    for method in (*ALL, "elimination"):
        assert run(instance, method).status in ("feasible", "optimal")


def test_annealing_finds_the_optimum_of_small_graphs():
    for seed in range(3):
        instance = planted(np.random.default_rng(seed), nodes=40)
        optimum = run(instance, "elimination")
        assert optimum.status == "optimal"
        found = run(instance, "annealing", seed)
        assert optimum.objective <= found.objective <= optimum.objective * 1.05
        assert found.objective <= run(instance, "multi_start:starts=1", seed).objective
