"""Certificates of the offline bound: prices of capacity between arrivals."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.data.generate.presets import (
    contended,
    graph,
    paper,
    tiny,
)
from gadgetopt.models.gadget.proving.certificate.check import (
    GadgetCertificate,
    check_bound,
)
from gadgetopt.models.gadget.proving.certificate.epochs import epochs_of
from gadgetopt.models.gadget.proving.exact.offline import offline
from gadgetopt.system.result import Limits
from gadgetopt.trust.certificate import certified_bound

from ...tiny import tiny as hand_checked


def solved(instance):
    return offline(instance, Limits(), np.random.default_rng(0), restarts=3, search_s=5.0)


PRESETS = {
    "tiny": lambda rng: tiny(rng, horizon_slots=3, jobs=4),
    "two resources": lambda rng: tiny(rng, horizon_slots=3, resources=2),
    "graph": lambda rng: graph(rng, horizon_slots=2),
    "contended": lambda rng: contended(rng, jobs=15),
    "sqrt": lambda rng: contended(rng, jobs=15, servers=2, utility="sqrt"),
    "paper": lambda rng: paper(rng, jobs=10),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("preset", PRESETS)
def test_any_prices_bound_the_optimum_and_a_certificate_meets_the_bound(preset, seed):
    instance = PRESETS[preset](np.random.default_rng(seed))
    found = solved(instance)
    if found.certificate is not None:
        proved = certified_bound(PROBLEM, instance, found.certificate)
        assert proved == pytest.approx(found.dual_bound, rel=2e-6)
    rng = np.random.default_rng(seed)
    shape = len(epochs_of(instance.terms).begin), instance.terms.capacity.shape[1]
    for _ in range(5):
        prices = rng.integers(0, 5, shape).tolist()
        rows = tuple(tuple(Fraction(x) for x in row) for row in prices)
        assert check_bound(instance, GadgetCertificate(epochs=rows)) >= found.claimed_objective


def test_the_bound_is_certified_where_no_gpu_is_scarce_and_where_utilities_are_concave():
    for preset in ("paper", "sqrt"):
        assert solved(PRESETS[preset](np.random.default_rng(0))).certificate is not None


def test_prices_by_hand():
    # Two slots of one server of 2 GPUs; 20 for two worker-slots of A and 18 for two of B. At 9 a
    # GPU-slot all 4 of them cost 36, and A keeps 2.
    instance = hand_checked("h3_greedy_concave")
    epochs = ((Fraction(9),),)
    assert check_bound(instance, GadgetCertificate(epochs=epochs)) == 38
    assert check_bound(instance, GadgetCertificate(epochs=((Fraction(0),),))) == 38


def test_prices_that_do_not_fit_are_told():
    for epochs in ((), ((),), ((Fraction(1),), (Fraction(1),))):
        with pytest.raises(ValueError, match="epoch"):
            check_bound(hand_checked("h3_greedy_concave"), GadgetCertificate(epochs=epochs))
