"""Even splits of SPP run 1F1B on a grid, and no uniform plan is better than the optimum."""

import pytest

from gadgetopt.system.result import Status

from ..brute_force import e2, run
from ..test_uniform_replicas import drawn, uniform

METHODS = ("even_layers", "even_decoder_layers", "even_parameters")


@pytest.mark.parametrize("seed", range(6))
def test_even_splits_are_uniform_and_not_better_than_the_uniform_optimum(seed):
    instance = drawn(2 * seed + 1)
    best = run(instance, "exact_spp").objective
    for method in METHODS:
        result = run(instance, method)
        if result.status is Status.NOT_APPLICABLE:
            continue
        assert result.status is Status.FEASIBLE, result.reason
        assert result.objective >= best
        assert len(set(map(len, result.solution.stage_devices))) == 1


def test_the_stages_asked_for_are_taken():
    result = run(uniform(e2()), "even_layers:stages=2")
    assert result.solution.stage_layers == ((0, 2), (2, 4))
    assert result.solution.stage_devices == ((0, 1), (2, 3))
    assert run(uniform(e2()), "even_layers:stages=3").status is Status.NOT_APPLICABLE
