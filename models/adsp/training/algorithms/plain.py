"""A second simulator, slow and written from the policies alone: the worker whose turn is next.

Each worker is a little machine that is asked what it does next; times are rationals. It shares no
code with the simulator but the data of the task and the reward.
"""

import math
from fractions import Fraction

import numpy as np

from gadgetopt.models.adsp.training.reward import reward
from gadgetopt.models.adsp.training.tasks import target_loss, task_of

F = Fraction


def decimal(x):
    return F(str(x))


class Server:
    """The model, its loss, and the batches of all workers."""

    def __init__(self, instance, policy):
        self.instance, self.task = instance, task_of(instance)
        m = len(instance.workers)
        eta = 1 / m if instance.global_lr is None else instance.global_lr
        self.eta = eta * getattr(policy, "lr_factor", 1.0)
        self.beta = getattr(policy, "momentum", 0.0)
        self.W, self.V = self.task.start.copy(), np.zeros_like(self.task.start)
        self.orders = [[] for _ in range(m)]
        self.rngs = [np.random.default_rng([instance.seed, i]) for i in range(m)]

    def steps(self, i, w, k):
        """Make k steps from w on the next batches of worker i, from the rows."""
        w, task, ridge = w.copy(), self.task, self.instance.task
        size = min(self.instance.batch_size, ridge.rows_per_worker)
        for _ in range(k):
            if not self.orders[i]:
                self.orders[i] = self.rngs[i].permutation(task.batches).tolist()
            b = self.orders[i].pop(0)
            x, y = task.x[i, b * size : (b + 1) * size], task.y[i, b * size : (b + 1) * size]
            w -= self.instance.local_lr * (x.T @ (x @ w - y) / size + ridge.l2 * w)
        return w

    def take(self, updates):
        """Apply updates U."""
        self.V = self.beta * self.V - self.eta * sum(updates)
        self.W = self.W + self.V

    def loss(self):
        w = self.W
        square = np.mean((self.task.x @ w - self.task.y) ** 2)
        return 0.5 * float(square) + 0.5 * self.instance.task.l2 * float(w @ w)


def done(instance, losses):
    """Return True once the last losses have converged."""
    k = instance.convergence.evaluations
    last, target = losses[-k:], target_loss(instance)
    if len(last) < k or max(last) > target:
        return False
    settled = instance.convergence.kind == "settled"
    return not settled or np.var(last) < instance.convergence.variance


def barrier_time(instance, policy, first=1):
    """Return the time of BSP or Fixed ADACOMM; of ADACOMM with its first number of steps."""
    server = Server(instance, policy)
    times = [(decimal(w.step_time_s), decimal(w.comm_time_s)) for w in instance.workers]
    period, workers = decimal(instance.check_period_s), range(len(instance.workers))
    tau = getattr(policy, "local_steps", first)
    begins, losses, initial, checks = [F(0)] * len(times), [], server.loss(), 1
    planned = [tau] * len(times)
    while True:
        # Steps are planned when they begin, and the number of steps may change in between.
        events = sorted((begins[i], i) for i in workers)
        for begin, i in events:
            while policy.kind == "adacomm" and checks * period <= begin:
                tau, checks = adapted(tau, first, server.loss() / initial), checks + 1
            planned[i] = tau
        pairs = zip(begins, planned, times, strict=True)
        last = max(begin + k * t + o / 2 for begin, k, (t, o) in pairs)
        while policy.kind == "adacomm" and checks * period < last:
            tau, checks = adapted(tau, first, server.loss() / initial), checks + 1
        server.take([server.W - server.steps(i, server.W, planned[i]) for i in workers])
        losses.append(server.loss())
        if last > decimal(instance.horizon_s):
            return None
        if done(instance, losses):
            return last
        begins = [last + o / 2 for _, o in times]


def adapted(tau, first, ratio):
    """Return ADACOMM's number of steps after a period."""
    wanted = math.sqrt(ratio) * first
    return max(1, math.ceil(wanted) if wanted < tau else -(-tau // 2))


def free_running_time(instance, policy):
    """Return the time of a fixed rate, of ADSP or of SSP."""
    server, m = Server(instance, policy), len(instance.workers)
    times = [(decimal(w.step_time_s), decimal(w.comm_time_s)) for w in instance.workers]
    period, commits, losses = decimal(instance.check_period_s), [0] * m, []
    adsp = policy.kind == "adsp"
    rate = instance.initial_commits if adsp else getattr(policy, "commits", None)
    target, increments = rate, [rate] * m
    state = ["ready"] * m
    at = [F(0)] * m
    pulled, planned = [server.W] * m, [0] * m
    half, samples, evaluated = 1, [server.loss()], []
    searching, epoch_start = True, 0
    while True:
        # Start whoever may.
        for i in range(m):
            if state[i] != "ready":
                continue
            if policy.kind == "ssp" and commits[i] - min(commits) > policy.slack:
                continue
            steps = 1
            if policy.kind != "ssp":
                increment = increments[i]
                room = max(decimal(instance.min_interval_s), period / increment - times[i][1])
                steps = max(1, math.ceil(room / times[i][0]))
            planned[i], state[i] = steps, "working"
            at[i] = at[i] + steps * times[i][0] + times[i][1] / 2
        control = (half * period / 2, 1, 0) if policy.kind != "ssp" else (F(10**12), 1, 0)
        arrivals = [(at[i], 0, i) for i in range(m) if state[i] == "working"]
        answers = [(at[i], 2, i) for i in range(m) if state[i] == "answered"]
        now, kind, i = min([control, *arrivals, *answers])
        if now > decimal(instance.horizon_s):
            return None
        if kind == 2:
            state[i] = "ready"
        elif kind == 0:
            update = pulled[i] - server.steps(i, pulled[i], planned[i])
            server.take([update])
            commits[i] += 1
            losses.append(server.loss())
            if done(instance, losses):
                return now
            pulled[i], state[i], at[i] = server.W, "answered", now + times[i][1] / 2
            for j in range(m):  # who was blocked is let go now
                if state[j] == "ready":
                    at[j] = now
        else:
            samples.append(server.loss())
            if half % 2 == 0:
                if adsp and searching:
                    value = reward(
                        float((half - 2) * period / 2),
                        float(period / 2),
                        tuple(samples[half - 2 : half + 1]),
                        target_loss(instance),
                    )
                    better = not evaluated or value > evaluated[-1][1]
                    if better:
                        evaluated.append((rate, value))
                    if better and rate < instance.choices.max_commits:
                        rate += 1
                    else:
                        rate, searching, evaluated = evaluated[-1][0], False, []
                elif adsp:
                    length = math.ceil(decimal(instance.epoch_s) / period)
                    rose = samples[half] >= 1.3 * samples[half - 2]
                    if rose or half // 2 - epoch_start >= length:
                        searching, epoch_start = True, half // 2
                target += rate
                missing = [max(1, target - n) for n in commits]
                increments = missing if instance.catch_up else [rate] * m
            half += 1
