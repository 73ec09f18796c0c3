"""The library's networks have the certified rates, exactly, by every method that applies."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from gadgetopt.models.forest_packing.baselines.forestcoll import forestcoll
from gadgetopt.models.forest_packing.data.generate.topologies import dgx1_v100
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.models.forest_packing.network import Network
from gadgetopt.models.forest_packing.proving.bounds.rooted_cuts import forestcoll_bound
from gadgetopt.models.forest_packing.proving.exact.cut_generation import cut_generation
from gadgetopt.models.forest_packing.subproblems.strength import (
    capacity_matrix,
    tree_packing_number,
)
from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.graphs.flows import FlowNetwork
from gadgetopt.system.result import Limits

from .expected import (
    HARDWARE,
    LIBRARY,
    NETWORKS,
    QUICKSTART,
    RATES,
    SUBSET_COUNTS,
    SUBSETS,
    WITHOUT_RING,
    library_instance,
)

CABLES_ONLY = [
    name
    for name in RATES
    if library_instance(name).network.symmetric and not library_instance(name).switches
]

#: Networks of one box, or as small as one.
SMALL = [name for name in RATES if len(library_instance(name).workers) <= 20]


def strength(instance: ForestPackingInstance) -> Fraction:
    """The allreduce rate of a symmetric network without switches (A4)."""
    network = instance.network
    return tree_packing_number(capacity_matrix(network)).value * network.unit


def broadcast_rate(network: Network, root: int) -> Fraction:
    """The least maximum flow from the root to another worker."""
    flow = FlowNetwork(network.num_nodes, network.tails, network.heads)
    others = (v for v in range(network.num_workers) if v != root)
    return min(flow.max_flow(network.int_capacity, root, v).value for v in others) * network.unit


def has_ring(instance: ForestPackingInstance) -> bool:
    """Return True if cables form a ring through all workers."""
    first, *others = range(instance.network.num_workers)
    return any(
        all(
            arc in instance.network.arc_index
            for arc in zip((first, *order), (*order, first), strict=True)
        )
        for order in itertools.permutations(others)
    )


def test_every_file_has_an_expected_rate() -> None:
    for folder, names in (("hardware", HARDWARE), ("networks", NETWORKS), ("subsets", SUBSETS)):
        files = {path.stem for path in (LIBRARY / "forest_packing" / folder).glob("*.json")}
        assert files == set(names)


@pytest.mark.parametrize("name", CABLES_ONLY)
def test_the_partition_formula_gives_the_rate(name: str) -> None:
    assert strength(library_instance(name)) == RATES[name].allreduce


@pytest.mark.parametrize("name", RATES)
def test_the_least_maximum_flow_is_the_broadcast_rate(name: str) -> None:
    assert broadcast_rate(library_instance(name).network, 0) == RATES[name].broadcast


@pytest.mark.parametrize("name", RATES)
def test_no_rate_exceeds_what_single_workers_can_receive(name: str) -> None:
    network = library_instance(name).network
    n = network.num_workers
    received = [sum(network.capacity[a] for a in network.in_arcs[v]) for v in range(n)]
    assert RATES[name].allreduce <= sum(received) / (2 * (n - 1))
    if RATES[name].tight.startswith(("single", "one GPU's", "one host", "one worker")):
        assert RATES[name].allreduce == sum(received) / (2 * (n - 1))


def bound(name: str, **fields: Any) -> Number | None:
    """The certified bound of cut generation (F3); its certificate is checked in exact numbers."""
    instance = library_instance(name, **fields)
    return cut_generation(instance, Limits(), trees=False).dual_bound


@pytest.mark.parametrize("name", RATES)
def test_cut_generation_certifies_the_rate(name: str) -> None:
    assert bound(name) == RATES[name].allreduce


@pytest.mark.parametrize(
    "name",
    [name if name in SMALL else pytest.param(name, marks=pytest.mark.slow) for name in RATES],
)
def test_cut_generation_certifies_every_mode(name: str) -> None:
    expected = RATES[name]
    assert bound(name, root_mode="uniform") == expected.allreduce
    assert bound(name, root_mode="fixed", root=0) == expected.allreduce
    assert bound(name, stage_mode="sequential") == (expected.sequential or expected.allreduce)
    assert bound(name, collective="allgather", root_mode="uniform") == expected.allgather
    assert bound(name, collective="broadcast", root_mode="fixed", root=0) == expected.broadcast


@pytest.mark.parametrize("name", SUBSETS)
def test_cut_generation_certifies_partial_allocations(name: str) -> None:
    assert bound(name) == SUBSETS[name]


@pytest.mark.parametrize("name", RATES)
def test_the_tightest_single_cut_is_that_of_the_allgather(name: str) -> None:
    instance = library_instance(name, collective="allgather", root_mode="uniform")
    outcome = forestcoll_bound(instance, Limits())
    assert outcome.dual_bound == RATES[name].allgather


@pytest.mark.parametrize("name", SMALL)
def test_trees_of_forestcoll_attain_the_rate(name: str) -> None:
    instance = library_instance(name)
    outcome = forestcoll(instance, Limits())
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    assert evaluation.objective == RATES[name].allreduce


@pytest.mark.parametrize(
    ("name", "boxes", "nvlink", "network"),
    [
        *((f"a100_x{b}", b, 300, 25) for b in (2, 3, 4, 8)),
        *((f"h100_x{b}", b, 450, 50) for b in (2, 4)),
    ],
)
def test_boxes_on_rails_have_the_closed_form(name, boxes, nvlink, network) -> None:
    share = min(Fraction(nvlink + network, 8 * boxes - 1), Fraction(network, boxes - 1))
    assert RATES[name].allreduce == 4 * boxes * share


@pytest.mark.parametrize("name", SUBSETS)
def test_the_partition_formula_gives_the_rate_of_a_partial_allocation(name: str) -> None:
    instance = library_instance(name)
    assert strength(instance) == SUBSETS[name]
    assert has_ring(instance) is (name not in WITHOUT_RING)


@pytest.mark.parametrize("k", SUBSET_COUNTS)
def test_all_partial_allocations_of_a_dgx1_by_rate(k: int) -> None:
    machine = dgx1_v100()
    found = Counter(
        strength(machine.subset(gpus).instance()) for gpus in itertools.combinations(range(8), k)
    )
    assert found == SUBSET_COUNTS[k]
    assert found.total() == math.comb(8, k)
    files = [SUBSETS[name] for name in SUBSETS if len(library_instance(name).workers) == k]
    assert set(files) == set(found)


def test_the_quickstart_instance_has_its_rate() -> None:
    path = LIBRARY / "quickstart" / "forest_packing.json"
    data = json.dumps(json.loads(path.read_text())["data"])
    assert strength(ForestPackingInstance.model_validate_json(data)) == QUICKSTART
