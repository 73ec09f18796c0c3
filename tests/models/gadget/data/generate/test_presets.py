"""Presets: within the paper's ranges, deterministic, and as described."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.instance import size

PRESETS = {g.name: g for g in PROBLEM.generators}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_deterministic_and_declare_their_defaults(name):
    preset = PRESETS[name]
    plain = getattr(generate, name)(np.random.default_rng(5))
    assert plain == preset.generate(np.random.default_rng(5), **preset.parameters)
    assert plain != preset.generate(np.random.default_rng(6), **preset.parameters)
    assert size(plain)["jobs"] == preset.parameters["jobs"]


def test_the_paper_preset_stays_in_the_printed_ranges():
    for seed in range(10):
        instance = generate.paper(np.random.default_rng(seed), jobs=40)
        cluster = instance.substrate
        assert len(cluster.servers) == 50
        assert 2 <= len(cluster.racks) <= 5
        assert {s.rack for s in cluster.servers} == set(range(len(cluster.racks)))
        assert {s.capacity[0] for s in cluster.servers} <= {1, 2, 4, 8}
        assert all(10_000 <= s.access_mbps <= 100_000 for s in cluster.servers)
        assert all(200_000 <= rack.uplink_mbps <= 3_200_000 for rack in cluster.racks)
        for job in instance.jobs:
            assert 1 <= job.arrival_slot <= 100
            assert 1 <= job.max_workers <= 5
            assert 100 <= job.ring_bandwidth_mbps <= 5_000
            assert 50 <= job.iterations_per_worker_slot <= 500
            assert 1_000 // 500 <= job.max_worker_slots <= 6_000 // 50
            assert 1 <= job.utility.priority <= 100
            assert 0 < job.utility.sensitivity <= 1
            assert 300 <= job.utility.target_iterations <= 3_000


def test_budgets_read_as_worker_slots_never_bind():
    instance = generate.paper(np.random.default_rng(0), jobs=20, budget_units="worker_slots")
    assert all(job.max_worker_slots >= 1_000 for job in instance.jobs)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 4.0])
def test_factors_set_gpus_of_the_cluster_and_bandwidths(factor):
    instance = generate.paper(np.random.default_rng(0), node_factor=factor, edge_factor=factor)
    cluster = instance.substrate
    assert sum(s.capacity[0] for s in cluster.servers) == 100 * factor
    assert {s.access_mbps for s in cluster.servers} == {10_000 * factor}
    assert {rack.uplink_mbps for rack in cluster.racks} == {200_000 * factor}


@pytest.mark.parametrize("arrivals", ["uniform_first_half", "poisson", "bursty", "all_at_start"])
def test_jobs_arrive_in_order_within_the_horizon(arrivals):
    instance = generate.paper(np.random.default_rng(2), arrivals=arrivals)
    slots = [job.arrival_slot for job in instance.jobs]
    assert slots == sorted(slots)
    assert 1 <= slots[0] <= slots[-1] <= 200
    # Mean gaps bring most of them in the first half.
    assert np.median(slots) <= 100
    assert arrivals != "bursty" or len(set(slots)) < 60


def test_concave_utilities_are_worth_the_priority_at_the_target():
    for kind in ("sqrt", "log"):
        sigmoid, other = (
            generate.contended(np.random.default_rng(1), utility=k) for k in ("sigmoid", kind)
        )
        for a, b in zip(sigmoid.jobs, other.jobs, strict=True):
            target = np.array([a.utility.target_iterations])
            assert b.utility.over(target)[0] == pytest.approx(a.utility.priority)


def test_graphs_have_one_way_around_through_all_nodes():
    instance = generate.graph(np.random.default_rng(0), extra_links=0)
    following = {link.source: link.target for link in instance.substrate.links}
    node, seen = 0, []
    while node not in seen:
        seen.append(node)
        node = following[node]
    assert sorted(seen) == list(range(6))


@pytest.mark.parametrize("option", ["arrivals", "budget_units", "utility"])
def test_what_is_not_understood_is_said(option):
    with pytest.raises(InputError, match=f"{option}: 'any'"):
        generate.paper(np.random.default_rng(0), **{option: "any"})
