"""A second simulator of the baselines, slow and written from the policies alone.

Each worker is a little machine that is asked what it does next; times are rationals. Server, steps
and convergence are those of the printed ADSP.
"""

import math
from fractions import Fraction

import numpy as np

from gadgetopt.models.adsp.training.algorithms.plain import Server, decimal, done

F = Fraction


class Policed(Server):
    """A server with momentum, and with a learning rate of the policy's."""

    def __init__(self, instance, policy):
        super().__init__(instance)
        self.eta *= getattr(policy, "lr_factor", 1.0)
        self.beta = getattr(policy, "momentum", 0.0)
        self.V = np.zeros_like(self.W)

    def take(self, updates):
        self.V = self.beta * self.V - self.eta * sum(updates)
        self.W = self.W + self.V


def barrier_time(instance, policy, first=1):
    """Return the time of BSP or Fixed ADACOMM; of ADACOMM with its first number of steps."""
    server = Policed(instance, policy)
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
    """Return the time of a fixed rate or of SSP."""
    server, m = Policed(instance, policy), len(instance.workers)
    times = [(decimal(w.step_time_s), decimal(w.comm_time_s)) for w in instance.workers]
    period, commits, losses = decimal(instance.check_period_s), [0] * m, []
    rate = getattr(policy, "commits", None)
    target, increments = rate, [rate] * m
    state = ["ready"] * m
    at = [F(0)] * m
    pulled, planned = [server.W] * m, [0] * m
    half = 1
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
            if half % 2 == 0:
                target += rate
                missing = [max(1, target - n) for n in commits]
                increments = missing if instance.catch_up else [rate] * m
            half += 1
