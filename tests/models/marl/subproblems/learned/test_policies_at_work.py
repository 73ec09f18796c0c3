"""Policies at work: what they see, what agents may do, the same numbers with arrays and tensors."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gadgetopt.models.marl.placement.data.generate.presets import leaf_spine
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.instance import PlacementSolution
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.fabric import fabric_of
from gadgetopt.models.marl.subproblems.learned.placer import LearnedPlacer, likeliest_of, sampled
from gadgetopt.models.marl.subproblems.learned.policies import Linear, Network
from gadgetopt.models.marl.subproblems.learned.sight import SERVER_FEATURES
from gadgetopt.models.marl.subproblems.occupancy import Occupancy

RNG = np.random.default_rng
NETWORK = Network(network.start(RNG(0)))


def run(instance, agents, scorer=NETWORK, seed=0):
    occupancy, decisions = Occupancy(instance), []
    placer = LearnedPlacer(
        occupancy, fabric_of(instance, agents), scorer, sampled(RNG(seed), 0.2), decisions.append
    )
    assert all(placer.place(j) for j in range(len(instance.jobs)))
    return occupancy, decisions


@pytest.mark.parametrize("agents", [1, 2, 3])
@pytest.mark.parametrize("per_task", [False, True])
def test_every_placement_is_feasible_and_forwarded_tasks_are_not_forwarded_again(agents, per_task):
    for seed in range(5):
        instance = leaf_spine(RNG(seed)).model_copy(update={"per_task": per_task})
        occupancy, decisions = run(instance, agents, seed=seed)
        evaluation = evaluate(instance, PlacementSolution.of(occupancy.servers_of))
        assert evaluation.feasible
        total = float(evaluation.objective) * len(instance.jobs)
        assert occupancy.total() == pytest.approx(total)
        servers = len(instance.servers)
        forwards = [d for d in decisions if d.chosen >= servers]
        assert bool(forwards) == (agents > 1)
        assert len(decisions) == instance.num_tasks + len(forwards)
        for d, after in pairwise(decisions):
            assert d.allowed[d.chosen]
            if d.chosen < servers:
                assert fabric_of(instance, agents).agent[d.chosen] == d.agent
            else:
                assert (after.job, after.agent) == (d.job, d.chosen - servers)
                assert not after.allowed[servers:].any()


def test_servers_that_look_alike_score_the_same_whatever_their_number():
    instance = leaf_spine(RNG(1))
    _, decisions = run(instance, 1)
    fabric = fabric_of(instance, 1)
    order = np.array([2, 0, 1, 4, 5, 3])  # within the racks of three servers
    for decision in decisions[::5]:
        sight = decision.sight
        moved = replace(
            sight, nodes=sight.nodes[order], servers=sight.servers[order], fit=sight.fit[order]
        )
        for scorer in (NETWORK, Linear(RNG(2).normal(size=SERVER_FEATURES + 1))):
            plain, forward = scorer.scores(fabric, sight)
            permuted, same = scorer.scores(fabric, moved)
            assert permuted == pytest.approx(plain[order])
            assert same == pytest.approx(forward)


def test_arrays_and_tensors_give_the_same_logits():
    torch = pytest.importorskip("torch")
    instance = leaf_spine(RNG(3))
    _, decisions = run(instance, 2)
    fabric = fabric_of(instance, 2)

    def tensor(array):
        return torch.from_numpy(np.ascontiguousarray(array))

    arrays = {k: tensor(v) for k, v in vars(fabric).items()}
    weights = {k: tensor(v) for k, v in NETWORK.weights.items()}
    sights = [d.sight for d in decisions]
    batch = (tensor(np.stack([getattr(s, n) for s in sights])) for n in ("nodes", "servers", "job"))
    found = network.logits(weights, replace(fabric, **arrays), *batch)
    for k, sight in enumerate(sights):
        of_servers, of_agents = NETWORK.scores(fabric, sight)
        assert found[0][k].numpy() == pytest.approx(of_servers)
        assert found[1][k].numpy() == pytest.approx(of_agents)


def test_what_is_seen_of_costs_is_what_the_objective_says():
    instance = leaf_spine(RNG(4), jobs=8, racks=1, servers_per_rack=4)
    occupancy, decisions = Occupancy(instance), []
    fabric = fabric_of(instance, 1)
    placer = LearnedPlacer(occupancy, fabric, NETWORK, sampled(RNG(0)), decisions.append)
    *first, last = range(len(instance.jobs))
    for j in first:
        placer.place(j)
    sight = placer.see(last)
    for s in np.flatnonzero(sight.fit):
        before = occupancy.total()
        occupancy.put(last, int(s))
        more = occupancy.total() - before - occupancy.iterations[last] * occupancy.base_s[last]
        occupancy.put(last, int(s), -1)
        assert sight.servers[s, 3] + sight.servers[s, 4] == pytest.approx(more / placer.mean_s)


def test_of_choices_that_score_the_same_one_is_tried():
    logits = np.array([1.0, 3.0, 3.0, -np.inf, 2.0])
    assert likeliest_of(logits, 2) == [1, 4]
    assert likeliest_of(logits, 9) == [1, 4, 0]
