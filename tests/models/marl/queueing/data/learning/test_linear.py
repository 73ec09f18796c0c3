"""The linear score: the network that carries it scores as it does; stopped or not the same."""

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.data.learning.linear import PARTS, as_network, choices
from gadgetopt.models.marl.queueing.data.learning.worlds import World
from gadgetopt.models.marl.queueing.subproblems.graphs import graphs_of
from gadgetopt.models.marl.queueing.subproblems.policy_queue import PolicyQueue, logits
from gadgetopt.models.marl.queueing.subproblems.slots import plan
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.runs.training import train
from gadgetopt.search.clock import Clock
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.system.training import find_trainer
from gadgetopt.trust.run import solve

SYSTEM = problem("marl_queueing")
FEW = {
    "jobs": 3, "gpus": 2, "examples": 4, "examples_per_round": 2, "epochs": 3, "steps": 10,
    "held_out": 2, "check_every": 2,
}  # fmt: skip


@pytest.mark.parametrize("topology", ["racks", "fat_tree", "bcube"])
def test_the_network_scores_as_the_regression_does(topology):
    world = World(0, jobs=5, servers=4, gpus=2, slots=10, slots_between=0.4, topology=topology)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=sum(PARTS))
        instance = world.draw(rng)
        graphs, told = graphs_of(instance, 2), []
        network = as_network(weights)
        plan(instance, PolicyQueue(instance, network, Team(2, "srpt"), tell=told.append), Clock())
        assert told
        seen, _, _ = choices([(c, c.allowed) for c in told], graphs.fabric.member)
        for choice, row in zip(told, seen, strict=True):
            view = choice.view
            found = logits(network, graphs, view.sight, view.ends, view.queue, view.who)
            assert np.concatenate(found[:3]) == pytest.approx(row @ weights)


def test_stopped_after_every_round_it_ends_with_the_same_policy_that_is_used(tmp_path):
    trainer = find_trainer(SYSTEM, "linear")
    parameters = {**trainer.parameters, **FEW}
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    curve = train(SYSTEM, trainer, parameters, 3, whole).curve
    while not train(SYSTEM, trainer, parameters, 3, parts, Limits(time_s=1e-9)).finished:
        pass
    assert whole.read_bytes() == parts.read_bytes()
    losses = [row["loss"] for row in curve if "loss" in row]
    assert losses[-1] < losses[0] < np.log(6)
    world = World(0, jobs=3, servers=2, gpus=2, slots=12, slots_between=0.4)
    document = Document(SYSTEM, "instance", "drawn", world.draw(np.random.default_rng(0)), {})
    assert solve(document, f"learned:policy={whole}", Limits()).objective is not None
