"""The picture of prices shows the GPUs in use, and never more than there are."""

import numpy as np

from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.pictures.prices import draw, usage
from gadgetopt.system.result import Limits

from ..rigid_jobs import H3


def test_usage_of_h3():
    # A-SRPT: J2 runs 1.5-3.5, J3 2.5-4.5, J1 5.5-9.5.
    solution = a_srpt(H3, Limits(), np.random.default_rng(0)).solution
    at, used = usage(H3, solution)
    assert at.tolist() == [0, 1.5, 2.5, 3.5, 4.5, 5.5, 9.5]
    assert used.tolist() == [0, 1, 3, 2, 0, 4, 0]


def test_the_title_has_the_part_that_is_proved():
    solution = a_srpt(H3, Limits(), np.random.default_rng(0)).solution
    figure = draw(H3, solution)
    assert f"{12.25 / 17.5:.1%}" in figure.layout.title.text
    assert max(figure.data[0].y) == 4
