"""The training: stopped or not the same policy; rewards that are the objective; plans to clone."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.marl.queueing.data.learning.lessons import best_plan, replayed, starts_of
from gadgetopt.models.marl.queueing.data.learning.worlds import World
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.subproblems.policy_queue import SHAPES, PolicyQueue
from gadgetopt.models.marl.queueing.subproblems.slots import plan
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.runs.training import train
from gadgetopt.search.clock import Clock
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.system.training import find_trainer

TEAM = Team(2, "srpt")
WORLD = World(cluster=0, jobs=5, servers=2, gpus=2, slots=10, slots_between=0.4)
FEW = {
    "jobs": 3, "gpus": 2, "examples": 4, "examples_per_round": 2, "epochs": 2, "updates": 2,
    "episodes": 2, "held_out": 2, "check_every": 2,
}  # fmt: skip


def random_weights(seed):
    weights = network.start(np.random.default_rng(seed), SHAPES)
    return {name: 3 * array for name, array in weights.items()}


@pytest.mark.parametrize("knows", ["table", "ridge", "network", "none"])
def test_stopped_after_every_round_it_ends_with_the_same_policy(knows, tmp_path):
    pytest.importorskip("torch")
    declared = problem("marl_queueing")
    trainer = find_trainer(declared, "actor_critic")
    parameters = {**trainer.parameters, **FEW, "knows": knows}
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    train(declared, trainer, parameters, 3, whole)
    while not train(declared, trainer, parameters, 3, parts, Limits(time_s=1e-9)).finished:
        pass
    assert whole.read_bytes() == parts.read_bytes()


def test_rewards_sum_to_the_mean_completion_time():
    pytest.importorskip("torch")
    from gadgetopt.models.marl.queueing.data.learning.actor_critic import returns_of, unfinished

    for seed in range(300):
        instance = WORLD.draw(np.random.default_rng(seed))
        told = []
        team = Team((1, 2, 4)[seed % 3], TEAM.order)
        queue = PolicyQueue(instance, random_weights(seed), team, tell=told.append)
        solution = plan(instance, queue, Clock())
        there = unfinished(instance, solution)
        waited = sum(
            first * instance.slot_s - job.arrival_s
            for first, job in zip(instance.first_slots, instance.jobs, strict=True)
        )
        mean = (instance.slot_s * int(there.sum()) + waited) / Fraction(len(instance.jobs))
        assert mean == evaluate(instance, solution).objective
        # Of one agent without cooperation, the first decision's return is the whole.
        alone = np.zeros(len(instance.jobs), dtype=np.int64)
        first = returns_of(instance, solution, told[:1], alone, 1, 0.0)[0]
        assert first == pytest.approx(-there[told[0].slot :].sum() / len(instance.jobs))
        # Rewards of agents that share nothing sum to the reward of the whole.
        own = {
            a: returns_of(
                instance, solution, [replace(told[0], job=j)], queue.owners, queue.agents, 0.0
            )[0]
            for j, a in enumerate(queue.owners.tolist())
        }
        assert sum(own.values()) == pytest.approx(first)


def test_what_is_replayed_is_the_plan():
    for seed in range(6):
        instance = WORLD.draw(np.random.default_rng(seed))
        found = best_plan(instance)
        starts = starts_of(found)
        lessons = replayed(instance, starts, TEAM)
        assert sum(not c.allowed[-1] or c.chosen < len(c.allowed) - 1 for c, _ in lessons)
        for choice, right in lessons:
            assert (right <= choice.allowed).all()
            waits = choice.slot < starts[choice.job][0]
            assert right[-1] == waits
            assert right[choice.chosen]


def test_a_model_of_interference_is_near_the_truth():
    pytest.importorskip("torch")
    truth = WORLD.table()
    exact = WORLD.known("ridge", 4000, 0.0)["interference"]
    for row, fitted in zip(truth, exact, strict=True):
        assert [float(a) for a in fitted] == pytest.approx([float(a) for a in row], abs=1e-3)
    by_network = WORLD.known("network", 400, 0.0)
    for m in by_network["measured"]:
        if sum(m.neighbours) == 1:  # the table is the network's, too
            assert by_network["interference"][m.victim][m.neighbours.index(1)] == m.slowdown
        right = sum(a * n for a, n in zip(truth[m.victim], m.neighbours, strict=True))
        assert abs(float(m.slowdown) - float(right)) < 0.15
    assert WORLD.known("table", 10, 0.1) == {}
    assert not any(a for row in WORLD.known("none", 10, 0.1)["interference"] for a in row)
    with pytest.raises(InputError, match="expected one of table, ridge, network, none"):
        WORLD.known("oracle", 10, 0.1)


def test_slowdowns_that_saturate_are_those_of_the_law():
    world = replace(WORLD, gpus=3, law="saturates")
    instance = world.draw(np.random.default_rng(0))
    assert {(m.victim, m.neighbours) for m in instance.measured} == {
        (victim, around) for victim in range(4) for around in world.neighbourhoods()
    }
    for m in instance.measured:
        total = sum(a * n for a, n in zip(world.table()[m.victim], m.neighbours, strict=True))
        assert abs(m.slowdown - total / (1 + total / Fraction(8, 10))) <= Fraction(1, 10**4)
    assert world.known("none", 10, 0.1)["measured"] == world.known("ridge", 10, 0.1)["measured"]


@pytest.mark.parametrize("topology", ["rack", "fat_tree", "vl2", "bcube"])
def test_a_training_on_boards_and_topologies_stops_and_goes_on(topology, tmp_path):
    pytest.importorskip("torch")
    declared = problem("marl_queueing")
    trainer = find_trainer(declared, "actor_critic")
    given = {**trainer.parameters, **FEW, "topology": topology}
    given |= {"servers": 4} if topology != "rack" else {"board": "nvlink_pairs", "gpus": 4}
    given |= {"law": "saturates"} if topology == "vl2" else {}
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    train(declared, trainer, given, 3, whole)
    while not train(declared, trainer, given, 3, parts, Limits(time_s=1e-9)).finished:
        pass
    assert whole.read_bytes() == parts.read_bytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"law": "linear"}, "law: 'linear', expected one of sum, saturates"),
        (
            {"topology": "ring"},
            "topology: 'ring', expected one of rack, racks, fat_tree, vl2, bcube",
        ),
        ({"topology": "vl2"}, "servers: 2, expected 4 with a topology"),
        ({"board": "cube_mesh"}, "gpus: 2, expected 8 as the board has"),
    ],
)
def test_a_world_whose_parts_do_not_fit_is_refused(changed, message):
    with pytest.raises(InputError, match=message):
        replace(WORLD, **changed)
