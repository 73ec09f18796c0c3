"""The first witness: every sequence, and random prices to try it on."""

from __future__ import annotations

import itertools
import math
import os
from fractions import Fraction

import numpy as np

from gadgetopt.models.adversarial_online.sequence.evaluate import evaluate
from gadgetopt.models.adversarial_online.sequence.instance import (
    AdversarialOnlineSequenceInstance,
    AdversarialOnlineSequenceSolution,
    RequestType,
)
from gadgetopt.models.adversarial_online.subproblems.prices import PostedPrices, of_table
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

#: Random tables on which the integer programs are solved too; the issue's 500 take five minutes.
GAMES = int(os.environ.get("GADGETOPT_GAMES", "25"))


def optimum(instance: AdversarialOnlineSequenceInstance) -> Fraction | None:
    """The largest ratio or regret of all sequences; None if a ratio is infinite.

    Of one resource the sequences are walked through depth first; of several, the evaluator judges
    every one. The evaluator judges the worst in both cases.
    """
    longest = instance.horizon
    kinds = range(len(instance.types))
    if instance.unit_demand:
        worst = _worst(instance)
    else:
        every = (
            arrivals
            for n in range(1, longest + 1)
            for arrivals in itertools.product(kinds, repeat=n)
        )
        worst = max(every, key=lambda arrivals: judged(instance, arrivals) or 0)
    return judged(instance, worst)


def judged(instance, arrivals) -> Fraction | None:
    """What the evaluator says of a sequence."""
    return evaluate(instance, AdversarialOnlineSequenceSolution(arrivals=arrivals)).objective


def _worst(instance: AdversarialOnlineSequenceInstance) -> tuple[int, ...]:
    k = instance.capacity[0]
    chance = [posted.probability for posted in instance.policy]
    whole = math.lcm(*(p.denominator for p in chance))
    weights = [int(p * whole) for p in chance]
    values = [kind.value for kind in instance.types]
    money = math.lcm(*(v.denominator for v in values))
    amounts = [int(v * money) for v in values]
    tables = [[*posted.prices[0], None] for posted in instance.policy]
    ratio = instance.payoff == "ratio"
    worst, worst_harm = (), (-1, 1)
    stack = [((), (0,) * len(tables), 0, ())]
    while stack:
        arrivals, sold, online, top = stack.pop()
        for j, value in enumerate(values):
            after, earned = [], online
            for table, weight, u in zip(tables, weights, sold, strict=True):
                buys = table[u] is not None and value >= table[u]
                after.append(u + buys)
                earned += weight * amounts[j] * buys
            best = sorted((*top, amounts[j]))[-k:]
            offline = whole * sum(best)
            harm = (offline, earned) if ratio else (offline - earned, 1)
            longer = (*arrivals, j)
            if harm[1] == 0:
                return longer
            if harm[0] * worst_harm[1] > worst_harm[0] * harm[1]:
                worst, worst_harm = longer, harm
            if len(longer) < instance.horizon:
                stack.append((longer, tuple(after), earned, tuple(best)))
    return worst


def prices(levels, *tables, horizon, payoff="ratio") -> AdversarialOnlineSequenceInstance:
    """Tables of one resource, drawn with equal chances; numbers or decimals as text."""
    exact = [[Fraction(x) for x in table] for table in tables]
    return AdversarialOnlineSequenceInstance(
        capacity=(len(exact[0]),),
        types=tuple(RequestType(value=Fraction(x)) for x in levels),
        horizon=horizon,
        policy=tuple(of_table(table, Fraction(1, len(exact))) for table in exact),
        payoff=payoff,
    )


def random_prices(
    rng: np.random.Generator, *, monotone: bool, tables: int = 1
) -> AdversarialOnlineSequenceInstance:
    """Small grids and tables, both payoffs; the first price lets the least level in."""
    units = int(rng.integers(1, 3))
    levels = sorted((rng.choice(15, size=int(rng.integers(1, 4)), replace=False) + 1).tolist())
    drawn = []
    for _ in range(tables):
        table = [levels[0], *rng.integers(1, 17, size=units - 1).tolist()]
        drawn.append(sorted(table) if monotone else table)
    shortest = 2 * units if monotone else 1
    horizon = int(rng.integers(shortest, max(shortest, 4) + 1))
    payoff = str(rng.choice(["ratio", "regret"]))
    return prices(levels, *drawn, horizon=horizon, payoff=payoff)


def bundles() -> AdversarialOnlineSequenceInstance:
    """Two resources of two units; the first sale blocks the bundle worth 4."""
    kinds = [(1, (1, 0)), (1, (0, 1)), (3, (1, 1)), (4, (2, 1))]
    table = (Fraction(1, 2), Fraction(3, 2))
    return AdversarialOnlineSequenceInstance(
        capacity=(2, 2),
        types=tuple(RequestType(value=Fraction(v), demand=d) for v, d in kinds),
        horizon=4,
        policy=(PostedPrices(prices=(table, table)),),
    )


def run(
    instance: AdversarialOnlineSequenceInstance, method: str = "dynamic_program", time_s: float = 60
) -> Result:
    """What the toolkit makes of a method on an instance."""
    document = Document(problem("adversarial_online_sequence"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s))
