r"""The evaluator: seconds until a policy has trained the model, and an audit of that run.

The policy is simulated as `simulator` describes. Then its log is checked by what has nothing to do
with the simulator: from the commits alone, in the order of their arrival, the audit

- adds up the times of each worker: no commit begins before the last one is answered, the steps take
  :math:`k\,t_i`, and waiting is what is left, none under ADSP;
- makes all steps again, from the rows and the definition of the gradient, and applies the updates;
- takes the last loss row by row, and compares it with the target.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.result import Evaluation, Violation

from .instance import (
    Adsp,
    AdspTrainingInstance,
    AdspTrainingSolution,
    Digits,
    Policy,
    Rate,
    all_policies,
)
from .simulator import Commit, Run, simulate
from .tasks import DigitsTask, RidgeTask, target_loss, task_of
from .ticks import Ticks

#: Relative difference of two losses by rounding; runs that diverge are compared no closer.
#: By definition.
_ROUNDING = 1e-7


def evaluate(instance: AdspTrainingInstance, solution: AdspTrainingSolution) -> Evaluation:
    """Return the seconds until training has converged, and what a policy violates.

    Returns
    -------
    Evaluation
        The objective is None if the policy is not offered or has not converged at the horizon.
        Components: the last loss, steps and commits of all workers, shares of the time that the
        workers waited and communicated, and the largest difference of two workers' commits.
    """
    policy = solution.policy
    if policy not in all_policies(instance):
        return Evaluation(None, (Violation("policy_not_offered", f"policy {policy.kind}", 1),))
    run = simulate(instance, policy, keep_log=True)
    wrong = tuple(audit(instance, policy, run))
    last = run.losses[-1][1] if run.losses else task_of(instance).loss(task_of(instance).start)
    if not run.converged and not wrong:
        excess = last - target_loss(instance)
        amount = excess if math.isfinite(excess) and excess > 0 else 1.0
        wrong = (Violation("not_converged", f"horizon of {instance.horizon_s:g} s", amount),)
    return Evaluation(None if wrong else run.time_s, wrong, components(instance, run, last))


def components(instance: AdspTrainingInstance, run: Run, last: float) -> dict[str, float | int]:
    """Return what is told of a run beside its time."""
    ticks, all_of_it = Ticks.of(instance), max(1, run.ticks * len(instance.workers))
    comm = sum(2 * half * n for half, n in zip(ticks.half, run.commits, strict=True))
    return {
        "last_loss": last,
        "steps": sum(run.steps),
        "commits": sum(run.commits),
        "waiting_share": sum(run.waited) / all_of_it,
        "communication_share": min(1.0, comm / all_of_it),
        "max_spread": run.max_spread,
    }


def audit(instance: AdspTrainingInstance, policy: Policy, run: Run) -> Iterator[Violation]:
    """Check a run by its log."""
    yield from _times(instance, policy, run.log)
    model = _replayed(instance, policy, run)
    loss = loss_by_rows(instance, model)
    logged = run.losses[-1][1] if run.losses else loss
    if math.isfinite(loss) and math.isfinite(logged):
        apart = abs(loss - logged)
        if apart > _ROUNDING * max(abs(loss), abs(logged)):
            yield Violation("loss_differs", "last application", apart)
    target = target_loss(instance)
    if run.converged and loss > target and not agrees(loss, target):
        yield Violation("target_missed", "last application", loss - target)


def _times(
    instance: AdspTrainingInstance, policy: Policy, log: list[Commit]
) -> Iterator[Violation]:
    """Yield where a worker's steps, commits and waiting do not add up."""
    ticks = Ticks.of(instance)
    free = [0] * len(instance.workers)
    last = 0
    waits = not isinstance(policy, Rate | Adsp)
    for k, commit in enumerate(log):
        i = commit.worker
        ends = commit.begin + commit.steps * ticks.step[i] + ticks.half[i]
        if commit.steps < 1 or commit.begin < free[i] or commit.arrive != ends:
            yield Violation("times_do_not_add_up", f"commit {k} of worker {i}", 1)
        if not waits and commit.begin != free[i]:
            yield Violation("waits", f"commit {k} of worker {i}", commit.begin - free[i])
        if commit.arrive < last:
            yield Violation("out_of_order", f"commit {k} of worker {i}", last - commit.arrive)
        last, free[i] = commit.arrive, commit.arrive + ticks.half[i]


# -- replay ------------------------------------------------------------------------------------


def _replayed(instance: AdspTrainingInstance, policy: Policy, run: Run) -> Floats:
    """Return the model after all applications, every step made again."""
    task: Any = task_of(instance)
    m = len(instance.workers)
    lr = 1 / m if instance.global_lr is None else instance.global_lr
    momentum = 0.0
    if isinstance(policy, Rate):
        lr, momentum = lr * policy.lr_factor, policy.momentum
    W: Floats = task.start.copy()
    V = np.zeros_like(W)
    pulled = [W] * m
    orders = [_order(instance, task.batches, i) for i in range(m)]
    log = iter(run.log)
    with np.errstate(all="ignore"):
        for count in run.applied:
            total, movers = np.zeros_like(W), []
            for _ in range(count):
                commit = next(log)
                i = commit.worker
                w = pulled[i].copy()
                for _ in range(commit.steps):
                    w -= instance.local_lr * gradient(instance, task, i, next(orders[i]), w)
                total += pulled[i] - w
                movers.append(i)
            V = momentum * V - lr * total
            W = W + V
            for i in movers:
                pulled[i] = W
    return W


def _order(instance: AdspTrainingInstance, batches: int, worker: int) -> Iterator[int]:
    """Yield the batches of a worker: all of them, in an order drawn anew every time."""
    rng = np.random.default_rng([instance.seed, worker])
    while True:
        yield from rng.permutation(batches).tolist()


def gradient(
    instance: AdspTrainingInstance, task: Any, worker: int, batch: int, w: Floats
) -> Floats:
    """Return the gradient of the loss on one batch of a worker, from its rows."""
    if isinstance(instance.task, Digits):
        size = min((instance.batch_size, *map(len, task.rows)))
        rows = task.rows[worker][batch * size : (batch + 1) * size]
        x, hot = task.x[rows], task.hot[rows]
        z = np.exp(x @ w - (x @ w).max(axis=1, keepdims=True))
        gradient: Floats = x.T @ (z / z.sum(axis=1, keepdims=True) - hot) / len(rows)
    else:
        size = min(instance.batch_size, instance.task.rows_per_worker)
        rows = slice(batch * size, (batch + 1) * size)
        x, y = task.x[worker, rows], task.y[worker, rows]
        gradient = x.T @ (x @ w - y) / size
    return gradient + instance.task.l2 * w


def loss_by_rows(instance: AdspTrainingInstance, w: Floats) -> float:
    """Return the loss as it is defined, a mean over all rows."""
    task = task_of(instance)
    norm = 0.5 * instance.task.l2 * float((w * w).sum())
    with np.errstate(all="ignore"):
        if isinstance(task, RidgeTask):
            return 0.5 * float(np.mean((task.x @ w - task.y) ** 2)) + norm
        assert isinstance(task, DigitsTask), "there is no other task"
        z = task.x @ w
        z = z - z.max(axis=1, keepdims=True)
        chances = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        return -float(np.mean(np.log((chances * task.hot).sum(axis=1)))) + norm
