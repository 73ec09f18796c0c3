"""A table of sale probabilities against every sequence, and tables that are none."""

import itertools
from fractions import Fraction

import numpy as np

from gadgetopt.models.adversarial_online.policy.evaluate import evaluate, welfare_on
from gadgetopt.models.adversarial_online.policy.instance import (
    AdversarialOnlinePolicySolution,
    SaleTable,
)

from .brute_force import game, worst


def table(parts_per_unit, parts):
    rows = tuple(tuple(map(tuple, row)) for row in parts)
    return AdversarialOnlinePolicySolution(
        sale_table=SaleTable(parts_per_unit=parts_per_unit, parts=rows)
    )


def test_the_worst_sequence_of_random_tables_is_that_of_brute_force():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        J, k, m = (int(rng.integers(1, 4)) for _ in range(3))
        levels = sorted((rng.choice(11, size=J, replace=False) + 1).tolist())
        instance = game(levels, k, int(rng.integers(1, 5)), str(rng.choice(["ratio", "regret"])))
        drawn = rng.integers(0, m + 1, size=(k * m + 1, J + 1, J))
        drawn[0] = np.maximum(drawn[0], 1)
        left = np.arange(k * m, -1, -1)[:, None, None]
        policy = table(m, np.minimum(drawn, left).tolist())

        def harm(history, instance=instance, policy=policy):
            earned = welfare_on(instance, policy, history)
            values = sorted(instance.values(history), reverse=True)
            optimum = sum(values[: instance.capacity_units], Fraction(0))
            return optimum / earned if instance.payoff == "ratio" else optimum - earned

        lengths = range(1, instance.horizon + 1)
        found = max(harm(h) for n in lengths for h in itertools.product(range(J), repeat=n))
        assert worst(instance, policy) == found, (instance, policy)


def test_half_of_a_unit_each_time():
    # One unit in two parts, one part a buyer: on 1, 2, 4 that is 1/2 + 2/2 of 4.
    policy = table(2, [[[1] * 3] * 4, [[1] * 3] * 4, [[0] * 3] * 4])
    assert worst(game([1, 2, 4], 1, 3), policy) == 4  # on 1, 1, 4: 1/2 + 1/2 of 4
    assert welfare_on(game([1, 2, 4], 1, 3), policy, (0, 1, 2)) == Fraction(3, 2)


def test_more_than_there_is_is_rejected():
    instance = game([1, 2], 1, 2)
    for parts, name in [
        ([[[2, 1]] * 3, [[0, 0]] * 3], "one_unit"),
        ([[[1, 1]] * 3, [[0, 1]] * 3], "capacity"),
        ([[[1, 1]] * 3], "shape"),
        ([[[1]] * 3, [[0]] * 3], "shape"),
    ]:
        found = evaluate(instance, table(1, parts))
        assert name in {v.constraint for v in found.violations}
