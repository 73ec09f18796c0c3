"""F3 agrees with the enumeration of all plans, by both solvers."""

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.marl.queueing.data.generate.presets import poisson
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.formulations.time_slotted import (
    build,
    build_relaxation,
    decode,
)
from gadgetopt.models.marl.queueing.proving.certificate.check import (
    alone_bound,
    srpt_bound,
)
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..brute_force import best_plan, small_instance

LIMITS = Limits(time_s=60)


def by_model(instance, backend):
    model = build(instance)
    solved = solve_model(model, backend, LIMITS)
    if solved.status is Status.INFEASIBLE:
        return None
    assert solved.status is Status.OPTIMAL
    evaluation = evaluate(instance, decode(model, instance))
    assert evaluation.feasible
    assert float(evaluation.objective) == pytest.approx(float(solved.objective), rel=1e-6)
    return evaluation.objective


@pytest.mark.parametrize("seed", range(20))
def test_f3_has_the_optimum_of_all_plans(seed):
    rng = np.random.default_rng(seed)
    for k in range(5):
        instance = small_instance(rng)
        best = best_plan(instance)
        found = by_model(instance, "cpsat" if k % 2 else "highs")
        assert (found is None) == (best is None)
        if best is not None:
            assert found == best[0]
            assert alone_bound(instance) <= best[0]
            for resource in ("gpus", "cpus"):
                assert srpt_bound(instance, resource) <= best[0]
            relaxed = solve_model(build_relaxation(instance), "highs", LIMITS)
            assert float(relaxed.objective) <= float(best[0]) * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_racks_matter_in_every_slot(seed):
    instance = poisson(
        np.random.default_rng(seed), jobs=3, racks=2, servers_per_rack=1, gpus=2, slots=5
    )
    best = best_plan(instance)
    assert by_model(instance, "highs") == (None if best is None else best[0])


def test_too_many_contents_are_refused():
    instance = poisson(np.random.default_rng(0), jobs=40, slots=40, servers_per_rack=20)
    with pytest.raises(ModelRefused, match="a server has more than"):
        build(instance)
