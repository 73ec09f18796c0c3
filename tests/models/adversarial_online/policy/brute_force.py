"""The first witness: the linear program (2) on all histories, written anew; and random games."""

from __future__ import annotations

import itertools
import os
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from gadgetopt.models.adversarial_online.policy.evaluate import evaluate
from gadgetopt.models.adversarial_online.policy.instance import (
    AdversarialOnlinePolicyInstance,
    AdversarialOnlinePolicySolution,
)
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

#: Random games that all routes play; the issue's 500 take some minutes.
GAMES = int(os.environ.get("GADGETOPT_GAMES", "60"))


def game(levels, units, horizon, payoff="ratio", **more) -> AdversarialOnlinePolicyInstance:
    return AdversarialOnlinePolicyInstance(
        levels=tuple(map(Fraction, levels)),
        capacity_units=units,
        horizon=horizon,
        payoff=payoff,
        **more,
    )


def random_game(
    rng: np.random.Generator, *, long: bool = False, payoff: str = "ratio"
) -> AdversarialOnlinePolicyInstance:
    """At most some hundred histories; `long` games have N >= kJ."""
    while True:
        J, k = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        N = k * J + int(rng.integers(0, 2)) if long else int(rng.integers(1, 6))
        if J**N <= 1100:
            break
    levels = sorted((rng.choice(20, size=J, replace=False) + 1).tolist())
    return game(levels, k, N, payoff)


def value(instance: AdversarialOnlinePolicyInstance) -> float:
    """The game's value by scipy: the ratio or the regret."""
    J, k = range(len(instance.levels)), instance.capacity_units
    levels = [float(x) for x in instance.levels]
    histories = [h for t in range(1, instance.horizon + 1) for h in itertools.product(J, repeat=t)]
    number = {h: i for i, h in enumerate(histories)}
    n = len(histories)
    ratio = instance.payoff == "ratio"
    entries: list[tuple[int, int, float]] = []
    sides: list[float] = []
    for h in histories:
        row = len(sides)
        optimum = sum(sorted((levels[j] for j in h), reverse=True)[:k])
        entries += [(row, number[h[:s]], -levels[h[s - 1]]) for s in range(1, len(h) + 1)]
        entries.append((row, n, optimum if ratio else -1.0))
        sides.append(0.0 if ratio else -optimum)
        if len(h) == instance.horizon:
            entries += [(row + 1, number[h[:s]], 1.0) for s in range(1, len(h) + 1)]
            sides.append(float(k))
    rows, columns, values = zip(*entries, strict=True)
    A = coo_array((values, (rows, columns)), shape=(len(sides), n + 1))
    cost = np.zeros(n + 1)
    cost[n] = -1.0 if ratio else 1.0
    found = linprog(cost, A_ub=A, b_ub=sides, bounds=[(0, 1)] * n + [(0, None)], method="highs")
    return 1 / float(found.x[n]) if ratio else float(found.x[n])


def worst(instance, solution) -> Fraction:
    """The evaluator's worst case of a feasible policy."""
    found = evaluate(instance, solution)
    assert found.feasible, found.violations
    return found.objective


def kept(share) -> AdversarialOnlinePolicySolution:
    return AdversarialOnlinePolicySolution(kept_share=Fraction(share))


def run(
    instance: AdversarialOnlinePolicyInstance, method: str = "minimax", time_s: float = 60, **limits
) -> Result:
    """What the toolkit makes of a method on an instance."""
    document = Document(problem("adversarial_online_policy"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s, **limits))
