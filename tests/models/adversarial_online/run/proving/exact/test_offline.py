"""The offline optimum: all routes agree with brute force, and every proof is one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.adversarial_online.run.data.generate.presets import bid_trace
from gadgetopt.models.adversarial_online.run.instance import (
    AdversarialOnlineRunCertificate,
    NearPrices,
    Recursion,
)
from gadgetopt.models.adversarial_online.run.proving.certificate.check import check_bound
from gadgetopt.models.adversarial_online.run.proving.exact.core_search import CoreSearch
from gadgetopt.models.adversarial_online.subproblems.offline import offline_optimum

from ...brute_force import (
    optimum,
    run,
    small_instances,
    values_of,
)


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


@given(instance=small_instances(), data=st.data())
def test_the_search_near_any_prices_finds_the_optimum_and_proves_any_welfare(instance, data):
    best = optimum(instance)
    price = [data.draw(st.fractions(0, 12, max_denominator=60)) for _ in instance.capacity]
    core = CoreSearch.at(instance, price)
    found = core.search(core.loss(Fraction(-1)))
    assert found.complete
    assert core.welfare(found.loss) == best
    # The check goes through the states by itself.
    assert core.least_loss(core.loss(Fraction(-1))) == found.loss
    values = values_of(instance)
    assert sum((values[t] for t in found.accepted), Fraction(0)) == best
    # Stated too low, the check finds what is better; stated at or above the optimum, it stands.
    welfare = data.draw(st.fractions(0, 40, max_denominator=9))
    proof = NearPrices(price=tuple(price), welfare=welfare)
    assert check_bound(instance, AdversarialOnlineRunCertificate(proof=proof)) == max(best, welfare)


def bundles(seed: int, **parameters):
    return bid_trace(np.random.default_rng(seed), **parameters)


def test_bundles_of_four_resources_are_closed_near_the_best_prices():
    # 301 ** 4 states of units used; the core has some twenty requests.
    found = run(bundles(4, requests=2000, units=300, resources=4, types=30), "offline")
    assert (found.status, found.bound_voucher) == ("optimal", "verified")
    assert found.certificate.proof.kind == "near_prices"
    assert float(found.objective) == pytest.approx(11504.263)


def test_a_beam_proves_nothing_unless_it_dropped_no_state():
    instance = bundles(3, requests=300, units=40, types=10)
    core = CoreSearch.at(instance, [Fraction(4)] * 3)
    known = core.loss(Fraction(0))
    narrow, all_states = core.search(known, beam=2), core.search(known, beam=10**6)
    assert not narrow.complete
    assert narrow.loss >= all_states.loss


def test_where_all_bundles_gain_the_same_the_other_methods_take_over():
    # A unit of every resource has nearly one price: no request is far from the best prices.
    instance = bundles(0, requests=1500, units=60, resources=3, types=30, spread=1.0)
    found = run(instance, "offline")
    assert found.status == "optimal"
    assert found.objective == 180


def test_a_search_that_would_be_too_long_is_no_proof():
    instance = bundles(0, requests=1500, units=60, resources=3, types=30, spread=1.0)
    proof = NearPrices(price=(Fraction(1),) * 3, welfare=Fraction(100))
    with pytest.raises(ValueError, match="too many requests of small gain"):
        check_bound(instance, AdversarialOnlineRunCertificate(proof=proof))
