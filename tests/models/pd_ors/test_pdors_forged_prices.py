"""Prices made to pass: of machines without capacity, and near the largest double."""

from __future__ import annotations

from fractions import Fraction

import pytest
from gadgetopt.models.pd_ors.certificate import PdOrsCertificate, check_bound
from gadgetopt.models.pd_ors.instance import Machine, PdOrsInstance, TableUtility

from .pdors_jobs import job

DOUBLE = Fraction(1.7e308)


def worth_10(*capacity):
    """One slot, one job worth 10 that fits machine 0."""
    only = job(
        epochs=1,
        samples=1,
        global_batch=1,
        sample_time_slots=0.1,
        utility=TableUtility(values=(10.0,)),
        worker_demand=(2.0,),
        ps_demand=(2.0,),
    )
    return PdOrsInstance(
        horizon_slots=1,
        resources=("gpu",),
        machines=tuple(Machine(capacity=(float(c),)) for c in capacity),
        jobs=(only,),
    )


@pytest.mark.parametrize(
    "price", [DOUBLE, Fraction(10**300), Fraction(2**53), Fraction(1, 10**308)]
)
@pytest.mark.parametrize("machines", [(7, 0), (0, 7), (0, 7, 0)])
def test_the_price_of_a_machine_without_capacity_proves_nothing(machines, price):
    instance = worth_10(*machines)
    of_machine = tuple((Fraction(0) if c else price,) for c in machines)
    certificate = PdOrsCertificate(row=tuple(range(len(machines))), prices=(of_machine,))
    assert 10 <= check_bound(instance, certificate) <= 10 * (1 + 1e-9)


def test_a_bound_beyond_all_doubles_is_refused():
    certificate = PdOrsCertificate(row=(0,), prices=(((DOUBLE,),),))
    with pytest.raises(ValueError, match="larger than any double"):
        check_bound(worth_10(7), certificate)


def test_rows_of_prices_that_are_not_there_take_no_memory():
    certificate = PdOrsCertificate(row=(10**15,), prices=(((Fraction(1),),),))
    with pytest.raises(ValueError, match="expected 1000000000000001"):
        check_bound(worth_10(7), certificate)
