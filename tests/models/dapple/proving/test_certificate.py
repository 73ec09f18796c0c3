"""Certificates: the claim or less is proved, whoever wrote it."""

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.dapple.proving.certificate.check import (
    DappleCertificate,
    check_bound,
)
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof

from .. import brute_force
from ..chains import D1, D2, drawn


@settings(max_examples=60)
@given(seed=st.integers(0, 30), claim=st.fractions(0, 1000) | st.sampled_from([Fraction(10**9)]))
def test_whatever_is_claimed_no_more_than_the_optimum_is_proved(seed, claim):
    instance = drawn(seed)
    proved = check_bound(instance, DappleCertificate(makespan_s=claim))
    assert 0 <= proved <= min(claim, optimum_of(seed))


@cache
def optimum_of(seed):
    return brute_force.optimum(drawn(seed))


@pytest.mark.parametrize(("instance", "optimum"), [(D1, Fraction("37.2")), (D2, Fraction(49))])
def test_the_optimum_is_proved_of_the_hand_checked_instances(instance, optimum):
    for claim in (optimum, 10 * optimum):
        proved = check_bound(instance, DappleCertificate(makespan_s=claim))
        assert proved <= optimum
        assert float(proved) == pytest.approx(float(optimum), rel=1e-9)
    small = optimum / 3
    assert check_bound(instance, DappleCertificate(makespan_s=small)) == small


def test_a_negative_claim_is_refused():
    with pytest.raises(ValueError, match="makespan_s: -1 is negative"):
        check_bound(D1, DappleCertificate(makespan_s=-1))


def test_proofs_about_orders_are_no_belief():
    for time_s in (0, 1000):
        forged = OrderProof(
            fwd_s=(time_s, 0, time_s),
            bwd_s=(time_s, 0, time_s),
            allreduce_s=(0, 0, 0),
            in_flight=(4, 4),
        )
        proved = check_bound(D2, DappleCertificate(makespan_s=100, orders=(forged,)))
        assert float(proved) == pytest.approx(49, rel=1e-9)
        assert proved <= 49
