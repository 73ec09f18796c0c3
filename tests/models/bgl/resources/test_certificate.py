"""No threshold above the optimum is proved, and the optimum is."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.bgl.resources.proving.certificate import (
    Continuous,
    ResourcesCertificate,
    Threshold,
    check_bound,
)

from .brute_force import optimum, small_instances
from .test_evaluate import H3


def proved(instance, proof):
    return check_bound(instance, ResourcesCertificate(proof=proof))


@given(small_instances(), st.fractions(0, 20, max_denominator=50))
def test_thresholds_are_proved_exactly_up_to_the_optimum(instance, theta):
    best = optimum(instance)
    if best is None:
        return
    assert (proved(instance, Threshold(theta_s=theta)) is not None) == (theta <= best)
    assert proved(instance, Threshold(theta_s=best)) == best
    assert proved(instance, Threshold(theta_s=best + Fraction(1, 10**30))) is None


@given(small_instances(), st.fractions(0, 20, max_denominator=50))
def test_what_holds_for_all_shares_holds_for_whole_ones(instance, theta):
    best = optimum(instance)
    if best is not None and proved(instance, Continuous(theta_s=theta)) is not None:
        assert theta <= best


def test_extreme_thresholds_are_read():
    for theta in (Fraction(-1), Fraction(0), Fraction(1, 10**300)):
        assert proved(H3, Threshold(theta_s=theta)) == theta
    assert proved(H3, Threshold(theta_s=Fraction(10**300))) is None
