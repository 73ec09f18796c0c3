"""The offline optimum: all routes agree with brute force, and every proof is one."""

from fractions import Fraction

from gadgetopt.models.adversarial_online.run.certificate import (
    AdversarialOnlineRunCertificate,
    Recursion,
    check_bound,
)
from gadgetopt.models.adversarial_online.subproblems.offline import offline_optimum
from hypothesis import given, settings
from hypothesis import strategies as st

from ..brute_force import optimum, run, small_instances, values_of


@given(instance=small_instances())
@settings(max_examples=60)
def test_all_routes_agree_with_brute_force(instance):
    best = optimum(instance)
    assert offline_optimum(instance.capacity, values_of(instance), instance.demands) == best
    found = run(instance, "offline")
    assert (found.status, found.objective, found.bound) == ("optimal", best, best)
    assert found.bound_voucher == "verified"
    for method in ("packing@highs", "packing@cpsat"):
        assert run(instance, method).objective == best
    recursion = AdversarialOnlineRunCertificate(proof=Recursion())
    assert check_bound(instance, recursion) == best


@given(instance=small_instances(), data=st.data())
def test_any_prices_prove_a_bound_that_holds(instance, data):
    price = [data.draw(st.fractions(0, 12, max_denominator=60)) for _ in instance.capacity]
    assert check_bound(instance, AdversarialOnlineRunCertificate.of(price)) >= optimum(instance)


@given(instance=small_instances())
@settings(max_examples=40)
def test_hindsight_prices_prove_what_the_linear_program_proves(instance):
    by_prices, by_program = run(instance, "hindsight_prices"), run(instance, "packing_lp@highs")
    assert abs(float(by_prices.bound) - float(by_program.bound)) <= 1e-6 * float(by_program.bound)
    assert by_prices.bound >= optimum(instance) - Fraction(1, 10**9)
