"""The check's tables say what the evaluator says, of every plan."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpSolution
from gadgetopt.models.oneflow_sbp.proving.certificate.cost_tables import FORBIDDEN, cost_tables
from gadgetopt.models.oneflow_sbp.proving.certificate.least_cost import least_cost

from ...brute_force import listed_instance, random_instance
from .plain import cost_of, random_tables

#: Makes whole numbers of all costs of the random instances.
SCALE = Fraction(math.lcm(*range(1, 17)) * 7 * 1000 * 300)


def cost(tables, plan):
    """Return the cost of a plan with the best labels of further nodes, which are 0 or 1."""
    chosen = list(plan)
    for z in range(len(plan), len(tables.own)):
        wanted = any(
            tables.arrays[p.table][tables.arrays[p.rows][chosen[p.u]], 0] >= FORBIDDEN
            for p in tables.pairs
            if p.v == z
        )
        chosen.append(int(wanted))
    return cost_of(tables, chosen)


@pytest.mark.parametrize("drawn", [random_instance, listed_instance])
@pytest.mark.parametrize("seed", range(150))
def test_a_plan_costs_what_the_evaluator_says(seed, drawn):
    rng = random.Random(seed)
    instance = drawn(seed)
    tables = cost_tables(instance, SCALE)
    for _ in range(30):
        plan = tuple(rng.randrange(len(s)) for s in instance.tables.signatures)
        judged = evaluate(instance, OneFlowSbpSolution(signature=plan))
        broken = {v.constraint for v in judged.violations} - {"memory"}
        pinned = all(k in tables.allowed[o] for o, k in enumerate(plan))
        assert pinned == ("pin" not in broken)
        if not pinned:
            continue
        if broken:
            assert cost(tables, plan) >= FORBIDDEN
        else:
            assert cost(tables, plan) == judged.objective * SCALE


@pytest.mark.parametrize("seed", range(0, 150, 5))
def test_a_coarser_scale_rounds_down(seed):
    rng = random.Random(seed)
    instance = random_instance(seed)
    fine, coarse = cost_tables(instance, SCALE), cost_tables(instance, Fraction(1, 3))
    for _ in range(10):
        plan = tuple(rng.choice(allowed) for allowed in fine.allowed[: len(instance.operators)])
        if cost(fine, plan) < FORBIDDEN:
            assert cost(coarse, plan) <= cost(fine, plan) / SCALE / 3


def test_a_scale_of_sums_beyond_64_bits_is_refused():
    with pytest.raises(ValueError, match="scale: costs times this are too large for 64 bits"):
        cost_tables(random_instance(0), Fraction(10**18))


def test_a_cost_that_would_read_as_forbidden_is_refused():
    instance = random_instance(0)
    dearest = max(c for made in instance.tables.classes for c in made.compute)
    with pytest.raises(ValueError, match="scale: costs times this are too large for 64 bits"):
        cost_tables(instance, FORBIDDEN / dearest)


def test_a_price_that_would_make_a_label_read_as_forbidden_is_refused():
    tables = random_tables(1, nodes=1)
    own = tables.arrays.number(np.array([3, 0]))
    memory = tables.arrays.number(np.array([1, 0]))
    costs = replace(tables, own=[own], memory=[memory], pairs=[], allowed=[(0, 1)], groups=[0])
    assert least_cost(costs.priced([FORBIDDEN - 4]), [(0,)], [0], (), 10) == FORBIDDEN - 1
    with pytest.raises(ValueError, match="multipliers: too large for 64 bits"):
        costs.priced([FORBIDDEN - 3])


@pytest.mark.parametrize("seed", range(40))
def test_prices_and_memory_are_added(seed):
    rng = random.Random(seed)
    instance = random_instance(seed, memory=True)
    tables, limit = cost_tables(instance, Fraction(1)), instance.memory_limit_bytes
    prices = [rng.randint(0, 5) for _ in instance.placements]
    priced, crowds = tables.priced(prices), [tables.memory_of(g) for g in range(len(prices))]
    for _ in range(10):
        plan = [rng.choice(allowed) for allowed in tables.allowed]
        used = [0] * len(prices)
        for o, k in enumerate(plan[: len(instance.operators)]):
            made = instance.tables.classes[instance.tables.class_of[o]]
            used[made.group] += min(made.memory_bytes[k], limit + 1)
        whole = cost_of(tables, plan)
        if whole < FORBIDDEN:
            assert cost_of(priced, plan) == whole + sum(
                p * u for p, u in zip(prices, used, strict=True)
            )
            assert [cost_of(crowd, plan) for crowd in crowds] == used
        else:
            assert cost_of(priced, plan) >= FORBIDDEN
            assert all(cost_of(crowd, plan) >= FORBIDDEN for crowd in crowds)
