"""The typed graphs of clusters, the network on them, and what agents see of boards and networks."""

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.data.generate.presets import poisson
from gadgetopt.models.marl.queueing.data.generate.topologies import bcube, boards, fat_tree, vl2
from gadgetopt.models.marl.queueing.evaluate import seats_of
from gadgetopt.models.marl.queueing.subproblems import typed_network
from gadgetopt.models.marl.queueing.subproblems.graphs import EDGES, graphs_of
from gadgetopt.models.marl.queueing.subproblems.policy_queue import SHAPES, PolicyQueue
from gadgetopt.models.marl.queueing.subproblems.slots import plan
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.fabric import BOARD
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.models.marl.subproblems.learned.sight import (
    JOB_FEATURES,
    NODE_FEATURES,
    SERVER_FEATURES,
)
from gadgetopt.search.clock import Clock

RNG = np.random.default_rng
WEIGHTS = network.start(RNG(0), SHAPES)


def every_kind():
    return [
        poisson(RNG(0), racks=2, servers_per_rack=2),
        fat_tree(RNG(1), ports=4),
        vl2(RNG(2), servers_per_rack=3),
        bcube(RNG(3), ports=3),
        boards(RNG(4), board="nvlink_pairs"),
        boards(RNG(5), board="cube_mesh"),
    ]


def seen(graphs, rng):
    servers, nodes = graphs.fabric.gpu_nodes.shape
    return (
        rng.random((servers, nodes, NODE_FEATURES)),
        rng.random((servers, SERVER_FEATURES)),
        rng.random(JOB_FEATURES),
    )


def test_switches_are_those_of_the_topology():
    def switches(instance):
        graphs = graphs_of(instance, 1)
        return dict(zip(graphs.levels, (len(h) for h in graphs.hears), strict=True)), graphs

    tree, of_tree = switches(fat_tree(RNG(0), ports=4))
    assert tree == {"rack": 8, "pod": 4, "core": 1}
    # A pod hears its two racks, and the core the four pods.
    assert sorted(of_tree.hears[1].sum(0)) == [0.5] * 8
    assert of_tree.hears[2].tolist() == [[0.25] * 4]
    assert switches(vl2(RNG(0)))[0] == {"rack": 4, "core": 1}
    cube, of_cube = switches(bcube(RNG(0), ports=4))
    assert cube == {"rack": 4, "core": 4}
    assert (of_cube.hears[0] > 0).sum() == (of_cube.hears[1] > 0).sum() == 16
    # Two servers share at most one switch.
    shared = sum(under @ under.T for under in of_cube.under)
    assert shared[~np.eye(16, dtype=bool)].max() == 1


def test_edges_of_a_board_weigh_their_bandwidth():
    instance = boards(RNG(0), board="nvlink_pairs")
    graphs = graphs_of(instance, 1)
    by_kind = {kind: e[0] for kind, e in zip(EDGES, graphs.edges, strict=True)}
    # GPU 0 has an NVLink of 25 GB/s to GPU 1, and 12 GB/s to its switch.
    assert by_kind["nvlink"][BOARD, BOARD + 1] == pytest.approx(25 / 37)
    assert by_kind["pcie"][BOARD].max() == pytest.approx(12 / 37)
    for instance in every_kind():
        total = sum(e.sum(-1) for e in graphs_of(instance, 2).edges)
        assert np.all(np.isclose(total, 1) | (total == 0))
        assert np.all(total[graphs_of(instance, 2).fabric.gpu_nodes] > 0)


def test_arrays_and_tensors_give_the_same_logits():
    torch = pytest.importorskip("torch")

    def tensor(array):
        return torch.from_numpy(np.ascontiguousarray(array))

    weights = {name: tensor(array) for name, array in WEIGHTS.items()}
    for instance in every_kind():
        graphs = graphs_of(instance, 2)
        sight = seen(graphs, RNG(7))
        plain = typed_network.logits(WEIGHTS, graphs, *sight)
        batch = [tensor(np.stack([part, part])) for part in sight]
        turned = typed_network.logits(weights, graphs.turned(tensor), *batch)
        for a, b in zip(plain, turned, strict=True):
            assert b[1].numpy() == pytest.approx(a)


def test_an_nvlink_and_the_topology_change_what_a_server_scores():
    sockets, links = (boards(RNG(0), board=b) for b in ("sockets", "nvlink_pairs"))
    sight = seen(graphs_of(sockets, 1), RNG(1))
    plain, linked = (
        typed_network.logits(WEIGHTS, graphs_of(i, 1), *sight)[0] for i in (sockets, links)
    )
    assert not np.allclose(plain, linked)
    cube = bcube(RNG(0), ports=4)
    sight = seen(graphs_of(cube, 1), RNG(1))
    tree = fat_tree(RNG(0), ports=4)
    scores = [typed_network.logits(WEIGHTS, graphs_of(i, 1), *sight)[0] for i in (cube, tree)]
    assert not np.allclose(*scores)


def test_servers_that_look_alike_score_the_same_whatever_their_number():
    graphs = graphs_of(vl2(RNG(0), servers_per_rack=3), 1)
    nodes, servers, job = seen(graphs, RNG(3))
    order = np.arange(len(servers))
    order[:6] = [2, 0, 1, 4, 5, 3]  # within the first two racks
    plain = typed_network.logits(WEIGHTS, graphs, nodes, servers, job)[0]
    moved = typed_network.logits(WEIGHTS, graphs, nodes[order], servers[order], job)[0]
    assert moved == pytest.approx(plain[order])


@pytest.mark.parametrize("board", ["sockets", "nvlink_pairs", "cube_mesh"])
def test_agents_see_jobs_on_the_gpus_that_the_evaluator_gives_them(board):
    class Told(PolicyQueue):
        def admit(self):
            changed = super().admit()
            agents = self._at_work
            told.append({j: seats for j, (_, seats) in agents.before.items()})
            for j, seats in told[-1].items():
                paid = max(instance.inside_s(j, seats), instance.span_s(j, instance.span(seats)))
                there = self.occupancy.servers_of[j]
                agents._nodes(j)  # looks up who has which GPUs
                assert agents._rings_s(j, there) <= float(paid) + 1e-12  # it may choose anew
            return changed

    for seed in range(4):
        told = []
        instance = boards(RNG(seed), jobs=7, slots=60, board=board, migration=False)
        weights = {name: 3 * array for name, array in network.start(RNG(seed), SHAPES).items()}
        solution = plan(instance, Told(instance, weights, Team(2, "srpt")), Clock())
        assert told == seats_of(instance, solution)
