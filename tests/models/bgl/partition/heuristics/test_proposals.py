"""Annealing: within the caps, the same for the same seed, plain Python gives the same answer."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.data.generate.presets import (
    geometric,
    planted,
)
from gadgetopt.models.bgl.partition.heuristics import proposals as annealing
from gadgetopt.models.bgl.partition.subproblems.local_search import Weighted
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits


def dealt(instance):
    """Return nodes dealt to parts by number, training nodes first."""
    trained = set(instance.train_nodes)
    order = sorted(range(instance.num_nodes), key=lambda v: v not in trained)
    part = np.zeros(instance.num_nodes, dtype=np.int64)
    part[order] = np.arange(instance.num_nodes) % instance.used_parts
    return part


@given(seed=st.integers(0, 1000), parts=st.integers(2, 4), imbalance=st.sampled_from([0.0, 0.1]))
@settings(max_examples=20, deadline=None)
def test_caps_are_kept_and_the_cut_is_no_larger(seed, parts, imbalance):
    rng = np.random.default_rng(seed)
    instance = planted(rng, nodes=40, parts=parts, node_imbalance=imbalance)
    weighted, start = Weighted.of(instance), dealt(instance)
    found = annealing.anneal(weighted, start, 300, Clock(), rng)
    assert np.bincount(found).max() <= instance.node_cap
    assert np.bincount(found[weighted.trained]).max() <= instance.train_cap
    again = annealing.anneal(weighted, start, 300, Clock(), np.random.default_rng(seed))
    assert np.bincount(again).max() <= instance.node_cap


def test_same_seed_same_partition_compiled_or_not(monkeypatch):
    instance = geometric(np.random.default_rng(1), nodes=80)
    weighted, start = Weighted.of(instance), dealt(instance)

    def found():
        return annealing.anneal(weighted, start, 100, Clock(), np.random.default_rng(5)).tolist()

    first = found()
    assert found() == first
    plain = annealing._propose.plain
    monkeypatch.setattr(annealing, "_propose", plain)
    assert found() == first


def test_without_time_the_start_is_kept():
    instance = planted(np.random.default_rng(0), nodes=30)
    start = dealt(instance)
    clock = Clock(Limits(time_s=0.0))
    found = annealing.anneal(Weighted.of(instance), start, 100, clock, np.random.default_rng(0))
    assert found.tolist() == start.tolist()
