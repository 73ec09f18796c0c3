"""The linear relaxations: (2) and (3) are equally strong, the weak one is not."""

import numpy as np

from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.formulations import aggregated, pairwise, weak
from gadgetopt.models.oneflow_sbp.proving.exact.elimination import elimination
from gadgetopt.numbers.tolerance import agrees, exceeds
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ..brute_force import random_instance

RNG = np.random.default_rng(0)


def bounds(instance):
    models = (form.build_relaxation(instance) for form in (aggregated, pairwise, weak))
    return [solve_model(m).objective for m in models]


def test_pairs_of_labels_are_as_strong_as_pairs_of_signatures():
    for seed in range(12):
        by_label, by_signature, weakly = bounds(random_instance(seed))
        if by_signature is None or by_label is None:
            assert by_label is by_signature
            continue
        assert agrees(by_label, by_signature)
        assert weakly is None or not exceeds(weakly, by_label)


def test_the_weak_model_is_far_below_where_the_others_are_nearly_tight():
    instance = presets.paper(RNG, layers=4)
    optimum = float(evaluate(instance, elimination(instance, Limits()).solution).objective)
    by_label, _, weakly = bounds(instance)
    assert 0.98 * optimum < by_label <= optimum
    assert weakly < 0.85 * optimum
