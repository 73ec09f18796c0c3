"""The ladder of bounds of H3, as parts of the value of A-SRPT's schedule."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.pictures.ladder import draw, rungs
from gadgetopt.system.result import Limits

from ..rigid_jobs import H3

BOUNDS = [10, 9.5, 10.375, 11.0625, 12.25, 12.25, 12.25]


def test_rungs_of_h3():
    assert list(rungs(H3).values()) == pytest.approx(BOUNDS)


def test_bars_are_parts_of_the_value():
    solution = a_srpt(H3, Limits(), np.random.default_rng(0)).solution
    completion, flow = draw(H3, solution).data
    assert completion.x == pytest.approx([b / 17.5 for b in BOUNDS])
    assert flow.x == pytest.approx([(b - 2) / 15.5 for b in BOUNDS])
