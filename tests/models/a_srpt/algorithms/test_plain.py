"""The fast A-SRPT is the printed one."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.algorithms import plain
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.system.result import Limits

from ..hand_checked import H3, H4, small


@pytest.mark.parametrize("seed", range(120))
def test_the_fast_algorithm_takes_the_same_schedule_as_the_printed_one(seed):
    rng = np.random.default_rng(seed)
    instance = small(rng)
    delay = (0, 1, 3)[seed % 3]
    slack = (Fraction(0), Fraction(1, 10))[seed % 2]
    printed = plain.a_srpt(instance, delay_factor=Fraction(delay), consolidation_slack=slack)
    fast = a_srpt(
        instance, Limits(), rng, delay_factor=float(delay), consolidation_slack=float(slack)
    ).solution
    assert sorted(fast.jobs, key=lambda s: s.job) == list(printed.jobs)


def test_the_printed_algorithm_gives_the_hand_checked_schedules():
    for instance, total in ((H3, "17.5"), (H4, "48.5")):
        assert evaluate(instance, plain.a_srpt(instance)).objective == Fraction(total)
