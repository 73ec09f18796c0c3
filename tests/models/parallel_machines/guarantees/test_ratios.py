"""Graham's worst cases meet his theorems to the digit, and no small instance exceeds any."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.parallel_machines.data.generate.presets import graham_list, graham_lpt
from gadgetopt.models.parallel_machines.guarantees.ratios import (
    list_scheduling_ratio,
    lpt_ratio,
    multifit_first_ratio,
    multifit_ratio,
)

from ..brute_force import optimum, run, small_instances

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("machines", [*range(1, 13), 50])
def test_lpt_is_as_bad_as_its_theorem_on_grahams_instance(machines):
    # LPT pairs 2m - 1 with m, 2m - 2 with m + 1, ..., 3m - 1 on every machine, and the last m comes
    # on top. In the optimum the three of m share a machine, and 2m - 1 with m + 1, ... fill 3m.
    instance = graham_lpt(RNG, machines=machines)
    assert len(instance.processing_s) == 2 * machines + 1
    worst, best = run(instance, "lpt"), run(instance, "bin_search")
    assert (worst.objective, best.objective) == (4 * machines - 1, 3 * machines)
    assert best.bound == 3 * machines
    assert best.bound_voucher == "verified"
    ratio = Fraction(worst.objective, best.objective)
    assert ratio == lpt_ratio(instance, {}) == Fraction(4, 3) - Fraction(1, 3 * machines)


@pytest.mark.parametrize("machines", [*range(1, 13), 50])
def test_list_scheduling_is_as_bad_as_its_theorem_on_grahams_instance(machines):
    # m - 1 jobs of 1 on every machine, then the one of m on top; the optimum gives it its own.
    instance = graham_list(RNG, machines=machines)
    worst, best = run(instance, "list_scheduling"), run(instance, "bin_search")
    assert (worst.objective, best.objective) == (2 * machines - 1, machines)
    assert best.bound == machines
    ratio = Fraction(worst.objective, best.objective)
    assert ratio == list_scheduling_ratio(instance, {}) == 2 - Fraction(1, machines)


@given(instance=small_instances(), steps=st.integers(0, 12))
def test_no_small_instance_exceeds_a_theorem(instance, steps):
    best = optimum(instance)
    promised = {
        "list_scheduling": list_scheduling_ratio(instance, {}),
        "lpt": lpt_ratio(instance, {}),
        "differencing": lpt_ratio(instance, {}),
        f"multifit:steps={steps}" if steps else "multifit": multifit_ratio(
            instance, {"steps": steps or 10}
        ),
    }
    for method, ratio in promised.items():
        assert best <= run(instance, method).objective <= ratio * best


def test_of_more_steps_than_digits_no_more_is_promised():
    assert multifit_ratio(None, {"steps": 2}) == Fraction(13, 11) + Fraction(1, 4)
    assert multifit_first_ratio(None, {"steps": 0}) == Fraction(61, 50) + 1
    assert multifit_ratio(None, {"steps": 10**9}) == multifit_ratio(None, {"steps": 60})
