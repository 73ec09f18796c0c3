"""Dual feasible functions of a server: no parts that fit on it take up more than all of it."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.proving.bounds.dual_feasible import shares
from gadgetopt.models.a_srpt.proving.server_costs import collected


@pytest.mark.parametrize("capacity", range(1, 17))
def test_what_fits_on_a_server_takes_up_no_more_than_all_of_it(capacity):
    functions = shares(capacity, set(range(1, capacity + 1)))
    assert (functions >= 0).all()
    for function in functions:
        assert collected(capacity, function[:, None])[-1][0] == pytest.approx(1)
    assert functions[0] == pytest.approx(np.arange(1, capacity + 1) / capacity)


def test_sizes_that_divide_the_server_need_no_more_than_their_share():
    assert len(shares(8, {1, 2, 4, 8})) == 1


def test_five_of_eight_take_up_a_whole_server():
    assert shares(8, {5, 8})[:, 4].max() == 1
