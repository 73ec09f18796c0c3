"""What a certificate proves holds, and what does not fit is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.bgl.cache.instance import CacheInstance
from gadgetopt.models.bgl.cache.proving.certificate.check import (
    BothCaches,
    BoundaryPrices,
    CacheCertificate,
    Compulsory,
    NoOrderWithin,
    check_bound,
)

from ...brute_force import optimum, small_instance, small_instances

GIVEN = CacheInstance(requests=((0, 1), (2,), (0, 1)), capacity=1, order="given")
NOTHING = (Fraction(0), Fraction(0))
FREE = GIVEN.model_copy(update={"order": "free"})


def proved(instance, proof):
    return check_bound(instance, CacheCertificate(proof=proof))


@given(small_instances("given"), st.integers(0, 2**32 - 1))
def test_no_prices_prove_more_than_the_optimum(instance, seed):
    rng = np.random.default_rng(seed)
    prices = rng.integers(0, 5, size=(2, instance.num_batches - 1)).tolist()
    device, host = (tuple(Fraction(x, 2) for x in row) for row in prices)
    proof = BoundaryPrices(device=device, host=host if instance.host_capacity else ())
    assert proved(instance, proof) <= optimum(instance)


@pytest.mark.parametrize("kind", ["sizes", "host", "weights"])
@pytest.mark.parametrize("seed", range(15))
def test_no_prices_prove_more_than_the_optimum_of_other_kinds(kind, seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, kind).model_copy(update={"order": "given"})
    prices = rng.integers(0, 9, size=(2, instance.num_batches - 1)).tolist()
    device, host = (tuple(map(Fraction, row)) for row in prices)
    proof = BoundaryPrices(device=device, host=host if instance.host_capacity else ())
    assert proved(instance, proof) <= optimum(instance)


@given(small_instances("free"), st.integers(0, 12))
def test_reloads_are_excluded_exactly_up_to_the_optimum(instance, reloads):
    best = optimum(instance)
    bound = proved(instance, NoOrderWithin(reloads=reloads))
    if instance.compulsory_cost + reloads < best:
        assert bound == instance.compulsory_cost + reloads + 1
    else:
        assert bound is None


@given(small_instances())
def test_the_compulsory_bound_holds(instance):
    assert proved(instance, Compulsory()) <= optimum(instance)


def test_prices_of_a_boundary_prove_the_optimum_by_hand():
    # Uses cost 5; one of the two intervals over the boundaries fits: price 1 proves 5 - 1 = 4.
    assert proved(GIVEN, BoundaryPrices(device=(Fraction(1), Fraction(0)))) == 4


@pytest.mark.parametrize(
    ("instance", "proof", "line"),
    [
        (
            FREE,
            BoundaryPrices(device=NOTHING),
            "proof.kind: prices of boundaries need a given",
        ),
        (GIVEN, BoundaryPrices(device=(Fraction(0),)), "proof.device: 1 for 2 boundaries"),
        (
            GIVEN,
            BoundaryPrices(device=(Fraction(0), Fraction(-1))),
            r"proof.device\[1\]: -1 is negative",
        ),
        (
            GIVEN,
            BoundaryPrices(device=NOTHING, host=NOTHING),
            "proof.host: 2 for 0",
        ),
        (GIVEN, NoOrderWithin(reloads=0), "proof.kind: counting reloads needs a free order"),
    ],
)
def test_what_does_not_fit_is_refused(instance, proof, line):
    with pytest.raises(ValueError, match=line):
        proved(instance, proof)


@pytest.mark.parametrize("seed", range(30))
def test_reloads_of_both_caches_prove_no_more_than_the_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, "host").model_copy(update={"order": "free"})
    best = optimum(instance)
    for device in range(8):
        for both in range(device + 1):
            bound = proved(instance, BothCaches(device_reloads=device, both_reloads=both))
            assert bound is None or bound <= best


def test_reloads_of_both_caches_need_equal_misses():
    host = {"host_capacity": 1, "remote_cost": 2, "host_cost": 1, "weights": (1, 2, 3)}
    instance = CacheInstance(**FREE.model_dump() | host)
    with pytest.raises(ValueError, match="misses of one cost"):
        proved(instance, BothCaches(device_reloads=1, both_reloads=0))
