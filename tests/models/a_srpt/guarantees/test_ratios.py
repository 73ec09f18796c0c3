"""Lemma 1 and Theorem 1 against measured ratios, and the reading that rounding refutes."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.baselines.scattered import MOST_JOBS, scattered
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.guarantees.ratios import (
    lemma_1_ratio,
    lemma_1_unrounded_ratio,
    theorem_1_ratio,
    theorem_1_weighted_ratio,
)
from gadgetopt.models.a_srpt.heuristics.a_srpt_weighted import a_srpt_weighted
from gadgetopt.models.a_srpt.instance import ASrptInstance
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits

from ..rigid_jobs import H3, cluster_optimum, instance_of, pool_optimum, random_jobs
from .test_guide import DEFAULTS


def value(instance: ASrptInstance, method, **parameters):
    outcome = called(method, instance, Limits(), np.random.default_rng(0), **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return evaluation.objective


def test_the_rounding_trap_refutes_lemma_1_without_rounding():
    # Apart: 2 + 2 + 5 = 9; together on the large server 0-1, 1-2, apart on the others 0-3: 6.
    trap = read_instance(library() / "a_srpt" / "tiny" / "rounding_trap.json").data
    assert trap.min_ticks.tolist() == [1, 1, 2]
    assert trap.max_ticks.tolist() == [2, 2, 3]
    ratio = Fraction(value(trap, scattered), cluster_optimum(trap))
    assert ratio == Fraction(9, 6)
    assert lemma_1_unrounded_ratio(trap) == Fraction(347, 250) < ratio
    assert ratio <= lemma_1_ratio(trap) == 2


def test_trap_3_of_the_pool():
    # Real durations 0.95, 0.95 and 1.6 ticks of all GPUs, and 1.388 times that: optima 7 and 13.
    shortest = instance_of((2,), [(0, 1, 1, 1), (0, 2, 1, 1), (0, 2, 2, 1)])
    longest = instance_of((2,), [(0, 1, 2, 1), (0, 2, 2, 1), (0, 2, 3, 1)])
    assert (pool_optimum(shortest), pool_optimum(longest)) == (7, 13)
    assert Fraction(1388, 1000) * 7 < 13 <= 2 * 7


@pytest.mark.parametrize("seed", range(8))
def test_lemma_1_holds_in_ticks(seed):
    rng = np.random.default_rng(seed)
    instance = instance_of((2, 1, 1), random_jobs(rng, 4, 3), Fraction(1, 2))
    assert value(instance, scattered) <= lemma_1_ratio(instance) * cluster_optimum(instance)


@pytest.mark.parametrize("seed", range(8))
def test_theorem_1_holds(seed):
    rng = np.random.default_rng(seed)
    equal = instance_of((2, 2), random_jobs(rng, 4, 3, (1,)), Fraction(1, 2))
    optimum = cluster_optimum(equal)
    for tau in (0.0, 1.0):
        parameters = DEFAULTS | {"delay_factor": tau}
        ratio = theorem_1_ratio(equal, parameters)
        assert value(equal, a_srpt, delay_factor=tau) <= ratio * optimum
    weighted = instance_of((2, 2), random_jobs(rng, 4, 3), Fraction(1, 2))
    ratio = theorem_1_weighted_ratio(weighted, DEFAULTS | {"guide": "wspt"})
    assert value(weighted, a_srpt_weighted) <= ratio * cluster_optimum(weighted)


def test_constants_of_h3():
    # sigma = eta = rho = 1 and G' = 4 / (4 - 4 + 1): 1 + 4 + 1.
    assert theorem_1_ratio(H3, DEFAULTS) == 6
    assert lemma_1_ratio(H3) == lemma_1_unrounded_ratio(H3) == 1


def test_constant_of_h4():
    # sigma = rho = 5, eta = 1, G' = 4 / 3 and no delay: 1 + 5 * 4/3 + 5.
    h4 = read_instance(library() / "a_srpt" / "tiny" / "h4_delay_for_consolidation.json").data
    parameters = DEFAULTS | {"virtual_alpha": "min", "delay_factor": 0.0}
    assert theorem_1_ratio(h4, parameters) == 1 + Fraction(20, 3) + 5


def test_many_jobs_are_refused():
    with pytest.raises(ModelRefused, match="expected at most 8"):
        value(instance_of((2,), [(0, 1, 1, 1)] * (MOST_JOBS + 1)), scattered)
