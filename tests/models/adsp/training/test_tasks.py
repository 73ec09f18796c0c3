"""Tasks: gradients and losses are what they are said to be; seeds are fixed."""

import numpy as np
import pytest

from gadgetopt.models.adsp.subproblems.workers import Worker
from gadgetopt.models.adsp.training import tasks
from gadgetopt.models.adsp.training.data.generate.presets import paper
from gadgetopt.models.adsp.training.evaluate import evaluate, loss_by_rows
from gadgetopt.models.adsp.training.instance import (
    AdspTrainingInstance,
    AdspTrainingSolution,
    Digits,
    FixedAdacomm,
    Rate,
    Ridge,
)
from gadgetopt.models.adsp.training.simulator import simulate
from gadgetopt.models.adsp.training.tasks import BatchOrders, RidgeTask, target_loss, task_of

WORKERS = (Worker(step_time_s=1.0, comm_time_s=0.5), Worker(step_time_s=3.0, comm_time_s=0.5))
RIDGE = AdspTrainingInstance(
    workers=WORKERS, task=Ridge(rows_per_worker=40, dimension=3), target_factor=1.1, horizon_s=500.0
)


def digits():
    pytest.importorskip("sklearn")
    return AdspTrainingInstance(
        workers=WORKERS, task=Digits(), target_loss=0.6, horizon_s=600.0, local_lr=0.2
    )


def test_the_least_loss_is_the_least():
    task = task_of(RIDGE)
    least = task.least_loss()
    assert target_loss(RIDGE) == 1.1 * least
    rng = np.random.default_rng(0)
    for _ in range(50):
        w = rng.standard_normal(3)
        assert task.loss(w) >= least
        assert task.loss(w) == pytest.approx(loss_by_rows(RIDGE, w))


def test_steps_by_one_product_are_steps_by_the_gradient(monkeypatch):
    quick = RidgeTask(RIDGE, RIDGE.task)
    monkeypatch.setattr(tasks, "_MOST_MAP_ENTRIES", 0)
    plain = RidgeTask(RIDGE, RIDGE.task)
    order = [0, 3, 1, 1, 4]
    first, second = np.ones(3), np.ones(3)
    quick.train(1, first, order)
    plain.train(1, second, order)
    assert first == pytest.approx(second, rel=1e-13)


def test_every_batch_comes_once_before_any_comes_again():
    orders = BatchOrders(RIDGE, 5)
    taken = orders.take(0, 3) + orders.take(0, 4) + orders.take(0, 8)
    assert [sorted(taken[k : k + 5]) for k in (0, 5, 10)] == [[0, 1, 2, 3, 4]] * 3
    assert BatchOrders(RIDGE, 5).take(0, 15) == taken


def test_digits_are_learned_and_the_run_adds_up():
    instance = digits()
    found = evaluate(instance, AdspTrainingSolution(policy=Rate(commits=4)))
    assert found.feasible
    assert found.components["last_loss"] <= 0.6
    run = simulate(instance, Rate(commits=4))
    assert run.losses[0][1] > 2  # ten classes: log 10 at first
    correct = (task_of(instance).x @ run.model).argmax(axis=1) == task_of(instance).hot.argmax(1)
    assert correct.mean() > 0.85


def test_the_same_seed_is_the_same_run():
    first, second = (simulate(RIDGE, Rate(commits=3)) for _ in range(2))
    assert first.losses == second.losses
    other = simulate(RIDGE.model_copy(update={"seed": 1}), Rate(commits=3))
    assert first.losses != other.losses


def test_a_large_testbed_has_batches_for_all():
    instance = paper(np.random.default_rng(0), workers=36)
    run = simulate(instance.model_copy(update={"horizon_s": 60.0}), FixedAdacomm(local_steps=5))
    assert min(run.commits) >= 1
