"""Every topology has the nodes, degrees and capacities of its table."""

from __future__ import annotations

from collections import Counter

import pytest

from gadgetopt.models.forest_packing.data.generate import topologies
from gadgetopt.models.forest_packing.data.generate.topologies import (
    DGX1_LISTING,
    Topology,
)
from gadgetopt.models.forest_packing.network import Network


def network(topology: Topology) -> Network:
    return topology.instance().network


def capacities_out(topology: Topology) -> list[Counter[float]]:
    """How many workers, and how many switches, have which capacity out."""
    net = network(topology)
    out = [sum(float(net.capacity[a]) for a in net.out_arcs[v]) for v in range(net.num_nodes)]
    return [Counter(out[: net.num_workers]), Counter(out[net.num_workers :])]


#: Topology, workers, switches, arcs, capacity out of workers, capacity out of switches.
TABLE = {
    "dgx1_v100": (topologies.dgx1_v100(), 8, 0, 32, {150: 8}, {}),
    "dgx1_p100": (topologies.dgx1_p100(), 8, 0, 32, {80: 8}, {}),
    "ndv2": (topologies.ndv2(1), 8, 0, 32, {150: 8}, {}),
    "ndv2_x2": (topologies.ndv2(2), 16, 0, 66, {150: 14, 162.5: 2}, {}),
    "ndv2_x3": (topologies.ndv2(3), 24, 1, 102, {150: 21, 162.5: 3}, {37.5: 1}),
    "dgx2": (topologies.dgx2(), 16, 1, 32, {150: 16}, {2400: 1}),
    "dgx2_x2": (topologies.dgx2(2), 32, 2, 80, {150: 16, 162.5: 16}, {2400: 2}),
    "dgx2_x3": (topologies.dgx2(3), 48, 11, 144, {150: 24, 162.5: 24}, {2400: 3, 37.5: 8}),
    "a100": (topologies.dgx_a100(), 8, 1, 16, {300: 8}, {2400: 1}),
    "a100_x4": (topologies.dgx_a100(4), 32, 6, 128, {325: 32}, {2400: 4, 400: 2}),
    "h100_x2": (topologies.dgx_h100(2), 16, 10, 64, {500: 16}, {3600: 2, 100: 8}),
    "mi250": (topologies.mi250(), 16, 0, 56, {350: 16}, {}),
    "mi250_x2": (topologies.mi250(2), 32, 1, 176, {366: 32}, {512: 1}),
    "amd8": (topologies.amd8(), 8, 0, 56, {38: 8}, {}),
    "star": (topologies.star(5, 2.0), 5, 1, 10, {2: 5}, {10: 1}),
    "fat_tree_4": (topologies.fat_tree(4), 16, 20, 96, {1: 16}, {4: 20}),
    "fat_tree_6": (topologies.fat_tree(6), 54, 45, 324, {1: 54}, {6: 45}),
    "fat_tree_hosts": (topologies.fat_tree(4, host=2), 16, 20, 96, {2: 16}, {6: 8, 4: 12}),
    "bcube": (topologies.bcube(4), 16, 8, 64, {2: 16}, {4: 8}),
    "dcell": (topologies.dcell(4), 20, 5, 60, {2: 20}, {4: 5}),
    "torus_4x4": (topologies.torus((4, 4)), 16, 0, 64, {4: 16}, {}),
    "torus_2x3x4": (topologies.torus((2, 3, 4)), 24, 0, 120, {5: 24}, {}),
    "hypercube": (topologies.hypercube(4), 16, 0, 64, {4: 16}, {}),
    "ring": (topologies.torus((8,), 1.0), 8, 0, 16, {2: 8}, {}),
    "ring_2": (topologies.torus((2,), 1.0), 2, 0, 2, {1: 2}, {}),
    "complete": (topologies.complete(8), 8, 0, 56, {7: 8}, {}),
}
ONE_WAY = {"ndv2_x2", "ndv2_x3", "dgx2_x2", "dgx2_x3"}


@pytest.mark.parametrize("name", TABLE)
def test_counts_and_capacities(name: str) -> None:
    topology, workers, switches, arcs, of_workers, of_switches = TABLE[name]
    net = network(topology)
    assert topology.workers == tuple(range(workers))
    assert topology.switches == tuple(range(workers, workers + switches))
    assert (net.num_workers, len(net.switches), len(net.arcs)) == (workers, switches, arcs)
    assert capacities_out(topology) == [of_workers, of_switches]
    assert net.symmetric is (name not in ONE_WAY)


def test_a_v100_has_six_nvlinks_and_the_double_ones_form_a_cycle() -> None:
    net = network(topologies.dgx1_v100())
    assert [sum(net.capacity[a] for a in out) / 25 for out in net.out_arcs] == [6] * 8
    around = (0, 1, 3, 2, 6, 7, 5, 4)
    double = {arc for arc, c in zip(net.arcs, net.capacity, strict=True) if c == 50}
    assert double == {
        arc for u, v in zip(around, (*around[1:], 0), strict=True) for arc in ((u, v), (v, u))
    }


def test_the_listing_numbers_the_same_machine_otherwise() -> None:
    doubles = {(0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7)}
    listed = {tuple(sorted((DGX1_LISTING[u], DGX1_LISTING[v]))) for u, v in topologies.DGX1_DOUBLE}
    assert listed == doubles


def test_a_die_of_an_mi250_box_has_seven_links() -> None:
    links = Counter[int]()
    for multiplicity, pairs in topologies.MI250_PAIRS.items():
        for pair in pairs:
            links.update(dict.fromkeys(pair, multiplicity))
    assert links == dict.fromkeys(range(16), 7)


def test_boxes_are_joined_as_sketched() -> None:
    ndv2 = {(x.src, x.dst) for x in topologies.ndv2(2).links if not x.both}
    assert ndv2 == {(0, 9), (8, 1)}
    dgx2 = {(x.src, x.dst) for x in topologies.dgx2(2).links if not x.both}
    assert dgx2 == {(2 * i + 1, 16 + 2 * i) for i in range(8)} | {
        (16 + 2 * i + 1, 2 * i) for i in range(8)
    }
    a100 = network(topologies.dgx_a100(2))
    assert {arc for arc in a100.arcs if arc[1] == 18} == {(g, 18) for g in range(0, 16, 2)}
    h100 = network(topologies.dgx_h100(2))
    assert {arc for arc in h100.arcs if arc[1] == 18} == {(0, 18), (8, 18)}


def test_servers_of_a_dcell_have_one_cable_to_another_cell() -> None:
    between = [x for x in topologies.dcell(4).links if x.dst < 20]
    ends = Counter(v for x in between for v in (x.src, x.dst))
    assert ends == dict.fromkeys(range(20), 1)
    cells = {(x.src // 4, x.dst // 4) for x in between}
    assert len(cells) == 10
    assert (0, 4) in {(x.src, x.dst) for x in between}  # (0, 0) to (1, 0)


def test_hypercube_of_dimension_four_is_the_torus_4x4_renumbered() -> None:
    gray = [0, 1, 3, 2]
    torus = {
        tuple(sorted(4 * gray[v // 4] + gray[v % 4] for v in arc))
        for arc in network(topologies.torus((4, 4))).arcs
    }
    assert torus == {tuple(sorted(arc)) for arc in network(topologies.hypercube(4)).arcs}


def test_a_job_on_some_gpus_keeps_their_numbers_and_the_links_among_them() -> None:
    part = topologies.dgx1_v100().subset((4, 0, 1))
    assert part.workers == (0, 1, 4)
    assert {(x.src, x.dst, x.bandwidth_gbyte_per_s) for x in part.links} == {
        (0, 1, 50.0),
        (0, 4, 50.0),
    }
    boxes = topologies.dgx_a100(2).subset((0, 9))
    assert network(boxes).num_workers == 2
    # Two NVSwitches, and both InfiniBand switches, one at each GPU.
    assert len(boxes.links) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topologies.fat_tree(3), "k: 3, expected an even number, 2 or more"),
        (lambda: topologies.torus((4, 1)), r"dims: \(4, 1\), expected sizes of 2 or more"),
        (lambda: topologies.torus(()), r"dims: \(\), expected sizes"),
        (lambda: topologies.dgx_a100(0), "boxes: 0, expected 1 or more"),
        (lambda: topologies.bcube(1), "n: 1, expected 2 or more"),
        (lambda: topologies.hypercube(0), "dimension: 0, expected 1 or more"),
        (lambda: topologies.star(1), "workers: 1, expected 2 or more"),
        (lambda: topologies.dgx1_v100().subset((0, 8)), "gpus: 8 is not a GPU"),
        (lambda: topologies.dgx1_v100().subset((0, 0)), "gpus: 0 is given twice"),
        (lambda: topologies.dgx1_v100().subset((0,)), "gpus: 1 given, expected two or more"),
    ],
)
def test_a_size_without_sense_is_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
