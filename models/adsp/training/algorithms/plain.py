r"""ADSP of the paper, step by step: workers with timers, a server, and the search of Algorithm 1.

Nothing here is fast: each worker is a little machine that is asked what it does next, and times are
rationals. How steps and commits are spread over time is the simulator's, which is (reconstructed).

Letters, as in the paper: worker i takes t_i seconds a step and O_i a commit (half of it to send,
half to receive); Gamma is the check period, C the commits of a worker in a period, Delta C^i those
that worker i has to make in the period to come, c_i those it has made; eta' is the local learning
rate, eta the server's; W is the server's model, w a worker's, U_i what a worker has added up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats

from ..evaluate import gradient, loss_by_rows
from ..instance import AdspTrainingInstance, Settled
from ..tasks import target_loss, task_of


@dataclass
class Outcome:
    """When training met the target, None if it did not; the rates evaluated, and the commits."""

    time_s: Fraction | None
    rates: list[int]
    c: list[int]


def adsp(instance: AdspTrainingInstance) -> Outcome:
    """Train with ADSP until the loss has met its target or the horizon is reached."""
    server = Server(instance)
    m = len(instance.workers)
    t = [decimal(worker.step_time_s) for worker in instance.workers]
    O = [decimal(worker.comm_time_s) for worker in instance.workers]  # noqa: E741
    Gamma, horizon = decimal(instance.check_period_s), decimal(instance.horizon_s)
    c, losses = [0] * m, list[float]()
    search = Scheduler(instance, server.loss())
    Delta_C = search.increments(c)

    # Worker i: what it does next, and when.
    doing, at = ["restart timer"] * m, [Fraction(0)] * m
    w, steps = [server.W] * m, [0] * m
    half = 1  # halves of a period until the scheduler looks next
    while True:
        for i in range(m):
            if doing[i] == "restart timer":
                # The timer is set to max(min_interval, Gamma / Delta C^i - O_i); the step that is
                # running when it fires is finished. Then U_i is sent.
                timer = max(decimal(instance.min_interval_s), Gamma / Delta_C[i] - O[i])
                steps[i] = max(1, math.ceil(timer / t[i]))
                doing[i], at[i] = "arrive", at[i] + steps[i] * t[i] + O[i] / 2
        # The next event; of one time, arrivals come first, then the scheduler, then answers.
        arrivals = [(at[i], 0, i) for i in range(m) if doing[i] == "arrive"]
        answers = [(at[i], 2, i) for i in range(m) if doing[i] == "receive"]
        now, kind, i = min([(half * Gamma / 2, 1, 0), *arrivals, *answers])
        if now > horizon:
            return Outcome(None, search.rates, c)
        if kind == 0:
            # The server, on arrival of U_i: W <- W - eta U_i, c_i <- c_i + 1, and replies with W.
            U_i = w[i] - server.steps(i, w[i], steps[i])
            server.take(U_i)
            c[i] += 1
            losses.append(server.loss())
            if done(instance, losses):
                return Outcome(now, search.rates, c)
            w[i], doing[i], at[i] = server.W, "receive", now + O[i] / 2
        elif kind == 1:
            search.sample(server.loss())
            if half % 2 == 0:  # the end of a period
                search.checkpoint(half // 2)
                Delta_C = search.increments(c)
            half += 1
        else:
            doing[i] = "restart timer"


class Scheduler:
    """Algorithm 1: C climbs by one as long as the reward of the period that used it grows."""

    def __init__(self, instance: AdspTrainingInstance, loss: float):
        self.instance: AdspTrainingInstance = instance
        #: C <- initial; no worker is asked for more than `max_commits` (reconstructed)
        self.C: int = min(instance.initial_commits, instance.choices.max_commits)
        self.samples: list[float] = [loss]
        self.searching: bool = True
        self.epoch_start: int = 0
        #: The rate and the reward of EVAL before this one; none at the begin of a search.
        self.r1: tuple[int, float] | None = None
        self.rates: list[int] = []
        self.target: int = 0

    def sample(self, loss: float) -> None:
        """Take the loss at the end of half a period."""
        self.samples.append(loss)

    def checkpoint(self, period: int) -> None:
        """Decide on C at the end of a period: one step of the search, or whether to search."""
        if not self.searching:
            epoch = math.ceil(
                decimal(self.instance.epoch_s) / decimal(self.instance.check_period_s)
            )
            # the authors' code: a loss that rose by 30 % forces a new search
            rose = self.samples[2 * period] >= 1.3 * self.samples[2 * period - 2]
            if rose or period - self.epoch_start >= epoch:
                # r1 <- EVAL(C), in the period to come
                self.searching, self.epoch_start, self.r1 = True, period, None
            return
        # The period that ends was EVAL(C): (time, loss) at its start, middle and end.
        r2 = self.reward(period)
        self.rates.append(self.C)
        if self.r1 is None or r2 > self.r1[1]:
            self.r1 = self.C, r2
            if self.instance.choices.max_commits > self.C:
                self.C += 1  # r2 <- EVAL(C + 1), in the period to come
                return
        # use C for the rest of the epoch
        self.C, self.searching = self.r1[0], False

    def increments(self, c: list[int]) -> list[int]:
        """Return Delta C^i of the period to come: what is missing to the total, or C."""
        self.target += self.C
        if not self.instance.catch_up:  # the authors' code
            return [self.C] * len(c)
        return [max(1, self.target - c_i) for c_i in c]

    def reward(self, period: int) -> float:
        """REWARD: fit loss = 1/(a1^2 t + a2) + a3; return 1 / predicted time to the target."""
        h = float(decimal(self.instance.check_period_s) / 2)
        t0 = (2 * period - 2) * h
        l0, l1, l2 = self.samples[2 * period - 2 : 2 * period + 1]
        d1, d2 = l0 - l1, l1 - l2
        if not (d1 > d2 > 0) or not math.isfinite(d1):
            return self.fallback(l0 - l2, h)
        # the curve through three points (reconstructed; the paper fits by least squares)
        r = d1 / d2
        X = (r - 1) / (d1 * (r + 1))
        if not (0 < X < math.inf):
            return self.fallback(l0 - l2, h)
        a1_squared = X * (r - 1) / (2 * h)
        a2 = X - a1_squared * t0
        a3 = l0 - 1 / X
        target = target_loss(self.instance)
        if target <= a3:
            return 0.0  # this curve never gets there
        missing = 1 / (target - a3) - a2
        return a1_squared / missing if missing > 0 else math.inf

    def fallback(self, drop: float, h: float) -> float:
        """Return the reward where no curve fits (reconstructed): a tiny multiple of the slope."""
        return 1e-12 * drop / (2 * h) if drop >= 0 else -math.inf


class Server:
    """The parameter server's model W with its loss, and the batches of all workers."""

    def __init__(self, instance: AdspTrainingInstance):
        self.instance: AdspTrainingInstance = instance
        m = len(instance.workers)
        self.eta: float = 1 / m if instance.global_lr is None else instance.global_lr
        self.W: Floats = task_of(instance).start.copy()
        self.orders: list[list[int]] = [[] for _ in range(m)]
        self.rngs = [np.random.default_rng([instance.seed, i]) for i in range(m)]

    def steps(self, i: int, w: Floats, k: int) -> Floats:
        """Make k steps w <- w - eta' g from w, on the next batches of worker i."""
        w = w.copy()
        task = task_of(self.instance)
        for _ in range(k):
            if not self.orders[i]:
                self.orders[i] = self.rngs[i].permutation(task.batches).tolist()
            g = gradient(self.instance, task, i, self.orders[i].pop(0), w)
            w -= self.instance.local_lr * g
        return w

    def take(self, U: Floats) -> None:
        """Apply an update: W <- W - eta U."""
        self.W = self.W - self.eta * U

    def loss(self) -> float:
        """Return the loss of W."""
        return loss_by_rows(self.instance, self.W)


def done(instance: AdspTrainingInstance, losses: list[float]) -> bool:
    """Return True once the last losses have converged."""
    last = losses[-instance.convergence.evaluations :]
    if len(last) < instance.convergence.evaluations or max(last) > target_loss(instance):
        return False
    rule = instance.convergence
    return not isinstance(rule, Settled) or bool(np.var(last) < rule.variance)


def decimal(x: float) -> Fraction:
    """Return the rational that a number of the instance means: 0.1 is 1/10."""
    return Fraction(str(x))
