"""Trainings: the same policy from the same seed, stopped or not; lessons that are optimal."""

import numpy as np
import pytest

from gadgetopt.models.marl.placement.algorithms.learned import learned
from gadgetopt.models.marl.placement.data.learning.actor_critic import actor_critic
from gadgetopt.models.marl.placement.data.learning.examples import (
    Lessons,
    draw,
    optimum,
    replayed,
)
from gadgetopt.models.marl.placement.data.learning.linear import linear
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.models.marl.subproblems.occupancy import Occupancy
from gadgetopt.runs.training import train
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

FEW = {
    "servers_per_rack": 2, "example_servers_per_rack": 1, "examples": 6, "examples_per_round": 3,
    "epochs": 2, "held_out": 3, "check_every": 2,
}  # fmt: skip
MORE = {
    "rollouts": {"updates": 2, "batches": 2, "decisions": 2},
    "actor_critic": {"updates": 2, "episodes": 2},
}


@pytest.mark.parametrize("trainer", problem("marl_placement").trainers, ids=lambda t: t.name)
def test_stopped_after_every_round_it_ends_with_the_same_policy(trainer, tmp_path):
    if trainer.name != "linear":
        pytest.importorskip("torch")
    parameters = {**trainer.parameters, **FEW, **MORE.get(trainer.name, {})}
    declared = problem("marl_placement")
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    train(declared, trainer, parameters, 3, whole)
    while not train(declared, trainer, parameters, 3, parts, Limits(time_s=1e-9)).finished:
        pass
    assert whole.read_bytes() == parts.read_bytes()
    instance = draw(np.random.default_rng(0), 2, 2)
    placed = learned(instance, Limits(), policy=str(whole))
    assert placed.solution is not None


@pytest.mark.parametrize("order", ["fifo", "big"])
@pytest.mark.parametrize("agents", [1, 2])
def test_what_is_right_leads_to_the_optimum(agents, order):
    for seed in range(4):
        instance = draw(np.random.default_rng(seed), 2, 2)
        tasks = optimum(instance)
        lesson = replayed(instance, tasks, Team(agents, order))
        assert (lesson.right <= lesson.allowed).all()
        assert lesson.right.any(axis=1).all()
        assert len(lesson) >= instance.num_tasks
        document = Document(problem("marl_placement"), "instance", "drawn", instance)
        result = solve(document, "price_and_close")
        assert result.status == "optimal"
        cost = Occupancy.of(instance, [list(on.items()) for on in tasks]).total()
        assert cost / len(instance.jobs) == pytest.approx(float(result.objective))


def test_lessons_are_the_same_after_a_stop():
    whole, parts = (Lessons(5, Team(2, "big"), 2, 1, 4) for _ in range(2))
    whole.solve(4)
    parts.solve(2)
    again = Lessons(5, Team(2, "big"), 2, 1, 4)
    again.restore(parts.state())
    again.solve(2)
    for name, array in vars(whole.decisions).items():
        assert (array == getattr(again.decisions, name)).all()


def test_a_linear_score_learns():
    training = linear(
        0, servers_per_rack=2, example_servers_per_rack=2, examples=20, epochs=3, held_out=20,
        check_every=1,
    )  # fmt: skip
    rows = [training.round(k, np.random.default_rng(k)) for k in range(training.rounds)]
    losses = [row["loss"] for row in rows if "loss" in row]
    assert losses[-1] < losses[0]
    assert rows[-1]["held_out_excess"] < 0.6 * rows[0]["held_out_excess"]


def test_an_actor_critic_from_scratch_learns_from_its_rewards_alone():
    pytest.importorskip("torch")
    training = actor_critic(
        0, servers_per_rack=1, epochs=0, updates=12, episodes=8, held_out=20, check_every=3,
        explore=0.1,
    )  # fmt: skip
    rows = [training.round(k, np.random.default_rng([0, k])) for k in range(training.rounds)]
    first, *later = (row["held_out_excess"] for row in rows if "held_out_excess" in row)
    assert min(later) < first
    assert training.best_excess == min(first, *later)
