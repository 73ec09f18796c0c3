"""Forged prices prove nothing: machines without capacity, and prices near the largest double."""

from __future__ import annotations

import contextlib
import os
import random
from fractions import Fraction

import pytest

from gadgetopt.models.pd_ors.instance import Machine, PdOrsInstance
from gadgetopt.models.pd_ors.proving.certificate.check import (
    PdOrsCertificate,
    check_bound,
)

from ...brute_force import optimum
from ...kernel_instances import job
from ...tiny_instances import tiny_instance

#: Certificates of each instance; see `tests/models/test_certificate_fuzz.py`.
TRIES = int(os.environ.get("GADGETOPT_FUZZ", "40"))

DOUBLE = Fraction(1.7e308)


def worth_10(*capacity):
    """One slot, and one job worth 10 that fits with one worker inside one machine only."""
    only = job(
        samples=7,
        global_batch=3,
        sample_time_slots=0.1,
        gradient_gbit=0.2,
        worker_ps_ratio=1,
        worker_demand=(2.0,),
        ps_demand=(2.0,),
    )
    return PdOrsInstance(
        horizon_slots=1,
        slot_s=1,
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


NUMBERS = (0, 0, 0, "1e-308", "1e-6", "0.1", 1, 3, 2**53, 2**53 + 1, "1e30", "1e307", DOUBLE)


@pytest.mark.parametrize("seed", range(12))
def test_no_prices_of_a_cluster_with_idle_machines_prove_too_much(seed):
    instance = tiny_instance(seed)
    best = optimum(instance)
    resources = len(instance.resources)
    idle = Machine(capacity=(0.0,) * resources)
    instance = instance.model_copy(update={"machines": (*instance.machines, idle, idle)})
    rng = random.Random(seed)
    rows = len(instance.machines)
    for _ in range(TRIES):
        dear = rng.choices(NUMBERS, k=3)

        def price(machine, rng=rng, dear=dear):
            return Fraction(rng.choice(dear) if machine >= rows - 2 or rng.random() < 0.1 else 0)

        prices = tuple(
            tuple(tuple(price(k) for _ in range(resources)) for k in range(rows))
            for _ in range(instance.horizon_slots)
        )
        certificate = PdOrsCertificate(row=tuple(range(rows)), prices=prices)
        with contextlib.suppress(ValueError):  # larger than any double
            assert check_bound(instance, certificate) >= best
