"""Whatever a certificate claims, what its check proves is true."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.spp.data.generate.presets import arbitrary
from gadgetopt.models.spp.proving.certificate import (
    EvenWork,
    Plans,
    SppCertificate,
    check_bound,
)
from gadgetopt.models.spp.work import even_work_s
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof

from ..brute_force import e1, e2, optimum, run, small_instance, varied_instances

SMALL = [small_instance(np.random.default_rng(seed)) for seed in range(12)]
OPTIMA = [optimum(instance) for instance in SMALL]


@settings(max_examples=60)
@given(k=st.integers(0, 11), bound=st.fractions(0, 10**6) | st.integers(0, 10**30))
def test_no_claim_proves_more_than_the_optimum(k, bound):
    certificate = SppCertificate(proof=Plans(bound_s=Fraction(bound)))
    assert check_bound(SMALL[k], certificate) <= min(OPTIMA[k], bound)


@settings(max_examples=40)
@given(instance=varied_instances())
def test_even_work_is_below_every_iteration(instance):
    bound = check_bound(instance, SppCertificate(proof=EvenWork()))
    assert bound <= run(instance, "spp").objective


def test_the_optimum_of_e1_and_e2_is_proved():
    # e1: the one-machine bound of the only other plans is 44, of the optimal one 38.
    assert check_bound(e1(), SppCertificate(proof=Plans(bound_s=Fraction(100)))) == 38
    proved = check_bound(e2(), SppCertificate(proof=Plans(bound_s=Fraction(100))))
    assert 35 + Fraction(1, 6) - proved < Fraction(1, 10**9)


def test_proofs_about_orders_are_no_belief():
    """Times shorter than any plan's prove nothing of it; longer ones are no plan's."""
    for time_s in (100, 0):
        forged = OrderProof(
            fwd_s=(time_s, 0, time_s),
            bwd_s=(time_s, 0, time_s),
            allreduce_s=(0, 0, 0),
            in_flight=(2, 2),
        )
        certificate = SppCertificate(proof=Plans(bound_s=Fraction(100), orders=(forged,)))
        assert check_bound(e1(), certificate) == 38
    shapeless = OrderProof(fwd_s=(1,), bwd_s=(1, 1), allreduce_s=(0,), in_flight=(2,))
    with pytest.raises(ValueError, match="orders: times of different numbers"):
        check_bound(e1(), SppCertificate(proof=Plans(bound_s=Fraction(100), orders=(shapeless,))))


def test_the_check_of_even_work_is_what_the_run_says():
    for instance in SMALL:
        assert check_bound(instance, SppCertificate(proof=EvenWork())) == even_work_s(instance)


def test_a_certified_optimum_is_verified():
    result = run(e1(), "exact_spp")
    assert result.bound_voucher == "verified"
    assert check_bound(e1(), result.certificate) == result.bound == 38


def test_what_cannot_be_checked_is_said():
    with pytest.raises(ValueError, match=r"proof.bound_s: -1 is negative"):
        check_bound(e1(), SppCertificate(proof=Plans(bound_s=Fraction(-1))))
    many = arbitrary(np.random.default_rng(0), gpus=24)
    with pytest.raises(ValueError, match=r"proof.bound_s: cannot be checked"):
        check_bound(many, SppCertificate(proof=Plans(bound_s=Fraction(1))))
