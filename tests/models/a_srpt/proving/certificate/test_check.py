"""Certificates say what they prove, and are refused where they do not fit the instance."""

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gadgetopt.models.a_srpt.proving.certificate.check import (
    ASrptCertificate,
    ClusterStates,
    Formula,
    PartPrices,
    PoolStates,
    PreemptivePrices,
    Prices,
    check_bound,
)

from ...rigid_jobs import (
    H3,
    cluster_optimum,
    fragmented,
    instance_of,
    pool_optimum,
)

#: Some with a larger optimum on the servers than in the pool.
SMALL = [fragmented(seed) for seed in range(12)]
OPTIMUM = {PoolStates: pool_optimum, ClusterStates: cluster_optimum}


@cache
def optima(kind):
    """Return what a kind of proof is about, of each of the instances."""
    return [OPTIMUM[kind](instance) for instance in SMALL]


def bound(instance, proof, **more):
    return check_bound(instance, ASrptCertificate(proof=proof, **more))


def test_formulas_of_h3():
    values = [bound(H3, Formula(formula=name)) for name in ("release", "srpt", "busy_time")]
    assert values == [10, Fraction(19, 2), Fraction(83, 8)]
    raised = [
        bound(H3, Formula(formula=name), attainable=True)
        for name in ("release", "srpt", "busy_time")
    ]
    assert raised == [10, 10, 11]


def test_a_certificate_survives_its_file():
    proof = Prices(times=(0, 2, 3), denominator=4, prices=(0, 3))
    certificate = ASrptCertificate(proof=proof)
    again = ASrptCertificate.model_validate_json(certificate.model_dump_json())
    assert again == certificate
    assert check_bound(H3, again) == Fraction(49, 4)


def test_the_same_prices_prove_no_more_for_jobs_that_may_be_interrupted():
    given = {"times": (0, 2, 3), "denominator": 4, "prices": (0, 3)}
    assert bound(H3, PreemptivePrices(**given)) <= bound(H3, Prices(**given))


def test_prices_in_proportion_are_prices_of_gpu_time():
    rows = tuple((0, 3 * q) for q in (1, 2))
    proof = PartPrices(times=(0, 2, 3), denominator=4, prices=(rows,))
    assert bound(H3, proof) == Fraction(49, 4)


@pytest.mark.parametrize(
    ("kind", "given", "line"),
    [
        (Prices, {"times": (0, 2, 2), "prices": (1, 1)}, r"times\[2\]: 2, expected more than"),
        (Prices, {"times": (0, 2, 3), "prices": (1,)}, "prices: 1 prices, expected one for each"),
        (Prices, {"times": (0, 2), "prices": (-1,)}, "greater than or equal to 0"),
        (PartPrices, {"times": (0, 2), "prices": (((1, 2),),)}, r"prices\[0\]\[0\]: 2 prices"),
    ],
)
def test_malformed_prices_are_refused(kind, given, line):
    with pytest.raises(ValidationError, match=line):
        kind(denominator=1, **given)


def test_prices_of_parts_are_those_of_the_servers():
    two_classes = instance_of((1, 2), [(0, 1, 1, 1)])
    row = ((1,),)
    with pytest.raises(ValueError, match="1 tables, expected one for each of the 2 classes"):
        bound(two_classes, PartPrices(times=(0, 1), denominator=1, prices=(row,)))
    with pytest.raises(ValueError, match=r"prices\[1\]: 1 rows, expected 2"):
        bound(two_classes, PartPrices(times=(0, 1), denominator=1, prices=(row, row)))


@st.composite
def claims(draw):
    """A claim about states with any numbers that its file may hold."""
    number = st.integers(0, 40) | st.sampled_from([10**6, 2**53, 10**19, 10**40])
    times = draw(st.lists(number.filter(lambda t: t <= 2**53), min_size=2, max_size=6, unique=True))
    prices = draw(st.lists(number, min_size=len(times) - 1, max_size=len(times) - 1))
    claim = draw(st.fractions(0, 80) | number)
    kind = draw(st.sampled_from([PoolStates, ClusterStates]))
    denominator = draw(number.filter(bool))
    return kind(
        times=tuple(sorted(times)), prices=tuple(prices), denominator=denominator, bound=claim
    )


@settings(max_examples=120, deadline=None)
@given(k=st.integers(0, 11), proof=claims(), attainable=st.booleans())
def test_no_claim_about_states_proves_more_than_the_optimum(k, proof, attainable):
    proved = bound(SMALL[k], proof, attainable=attainable)
    assert proved <= optima(type(proof))[k]
    if not attainable and proved > 0:
        prices = {name: getattr(proof, name) for name in ("times", "prices", "denominator")}
        assert proved <= max(proof.bound, bound(SMALL[k], Prices(**prices)))


@pytest.mark.parametrize("kind", [PoolStates, ClusterStates])
def test_the_optimum_is_proved_and_no_more(kind):
    for instance, optimum in zip(SMALL, optima(kind), strict=True):
        nothing = {"times": (0, 1), "prices": (0,), "denominator": 1}
        assert bound(instance, kind(**nothing, bound=optimum)) == optimum
        above = kind(**nothing, bound=optimum + Fraction(1, 10**9))
        assert bound(instance, above) == bound(instance, Formula(formula="release"))


@pytest.mark.parametrize("kind", [PoolStates, ClusterStates])
@pytest.mark.parametrize("denominator", [2**53, 2**63, 10**40])
def test_prices_of_nothing_have_any_denominator(kind, denominator):
    for instance, optimum in zip(SMALL, optima(kind), strict=True):
        nothing = {"times": (0, 1), "prices": (0,), "denominator": denominator}
        assert bound(instance, kind(**nothing, bound=optimum)) == optimum


def test_states_of_the_pool_are_not_taken_for_those_of_the_servers():
    both = zip(SMALL, optima(PoolStates), optima(ClusterStates), strict=True)
    apart = [(instance, on_servers) for instance, pool, on_servers in both if pool < on_servers]
    assert apart
    for instance, on_servers in apart:
        proof = PoolStates(times=(0, 1), prices=(0,), denominator=1, bound=on_servers)
        assert bound(instance, proof) < on_servers
