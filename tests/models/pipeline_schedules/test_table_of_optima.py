"""Optima that can be checked by hand: all times 1, no transfers, one byte a microbatch."""

from fractions import Fraction

import pytest

from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.system.result import Status, Voucher

from .conftest import solved

#: Makespan with memory for P and 2P - 1 microbatches, period with memory for P and 2P - 1.
#: The makespan is 3M + P - 1; so is the period with memory for P, and 3M with memory for
#: 2P - 1 <= M.
OPTIMA = {
    (2, 2): (7, 7, 7, 7),
    (2, 3): (10, 10, 10, 9),
    (2, 4): (13, 13, 13, 12),
    (3, 3): (11, 11, 11, 11),
    (3, 4): (14, 14, 14, 13),
    (3, 6): (20, 20, 20, 18),
    (4, 4): (15, 15, 15, 15),
    (4, 6): (21, 21, 21, 19),
}


@pytest.mark.parametrize(("devices", "microbatches"), OPTIMA)
def test_bounds_and_schedules_meet_at_the_optimum(devices, microbatches):
    found = []
    for objective in ("makespan", "period"):
        for in_flight in (devices, 2 * devices - 1):
            instance = equal(
                None,
                devices=devices,
                microbatches=microbatches,
                in_flight=in_flight,
                objective=objective,
            )
            result = solved(instance)
            assert result.status is Status.OPTIMAL
            assert result.bound_voucher is Voucher.VERIFIED
            found.append(result.objective)
    assert tuple(found) == OPTIMA[devices, microbatches]


def optimum(**options):
    """Return the optimum that is proved, in seconds."""
    result = solved(equal(None, **options))
    assert result.status is Status.OPTIMAL
    return result.objective


def test_two_chunks_of_unit_times():
    for placement in ("loop", "v"):
        folded = {"devices": 2, "chunks": 2, "placement": placement, "in_flight": 4}
        assert optimum(**folded, microbatches=4) == 25
        assert optimum(**folded, microbatches=6) == 37
    period = {"devices": 2, "chunks": 2, "microbatches": 4, "objective": "period"}
    assert optimum(**period, placement="v", in_flight=4) == 24
    assert optimum(**period, placement="loop", in_flight=4) == 25
    assert optimum(**period, placement="loop", in_flight=5) == 24


def test_unequal_times_of_a_loop():
    instance = {
        "devices": 2, "microbatches": 4, "chunks": 2, "forward_us": 149, "input_grad_us": 147,
        "weight_grad_us": 100, "transfer_us": 5, "in_flight": 5,
    }  # fmt: skip
    assert optimum(**instance) == Fraction(3325, 10**6)
