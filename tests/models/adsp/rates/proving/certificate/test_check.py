"""Whatever a certificate claims, what its check proves is true."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.adsp.rates.data.generate.presets import uniform
from gadgetopt.models.adsp.rates.evaluate import evaluate
from gadgetopt.models.adsp.rates.proving.certificate import staircase
from gadgetopt.models.adsp.rates.proving.certificate.check import (
    AdspRatesCertificate,
    Labels,
    Multipliers,
    Stairs,
    check_bound,
)
from gadgetopt.models.adsp.rates.proving.exact.sweep import sweep
from gadgetopt.models.adsp.rates.tables import solution_of
from gadgetopt.search.clock import Clock

from ...brute_force import (
    optimum,
    random_instance,
    tiny,
)

THRESHOLDS = [random_instance(s, k) for k in ("error_bound", "time_to_accuracy") for s in range(15)]
MOMENTUM = [random_instance(s, "momentum_cap") for s in range(25)]
KNOWN = [(x, optimum(x)) for x in (*THRESHOLDS, *MOMENTUM)]
SOLVED = [pair for pair in KNOWN if not math.isinf(pair[1])]


def proved(instance, proof):
    return check_bound(instance, AdspRatesCertificate(proof=proof))


def exhaustive(instance, bound):
    kind = Labels if instance.model.kind == "momentum_cap" else Stairs
    return proved(instance, kind(bound=bound))


@settings(max_examples=150, deadline=None)
@given(k=st.integers(0, len(SOLVED) - 1), factor=st.fractions(0, 3))
def test_no_claim_above_the_optimum_is_proved_and_every_one_below_is(k, factor):
    instance, best = SOLVED[k]
    bound = factor * best
    if factor < 1 - Fraction(1, 10**9):
        assert exhaustive(instance, bound) == bound
    elif factor > 1 + Fraction(1, 10**9) and best:
        assert exhaustive(instance, bound) is None


@settings(max_examples=100, deadline=None)
@given(
    k=st.integers(0, len(MOMENTUM) - 1),
    momentum=st.floats(0, 1e18),
    cap=st.floats(0, 1e18) | st.floats(0, 1),
)
def test_any_multipliers_bound_the_optimum(k, momentum, cap):
    instance = MOMENTUM[k]
    if instance.last_window_start:
        assert proved(instance, Multipliers(momentum=momentum, cap=cap)) <= optimum(instance)


def test_sixty_four_bits_prove_as_much_as_integers_of_any_size(monkeypatch):
    instance = uniform(np.random.default_rng(3), workers=40, max_commits=12, cap_per_worker=8)
    best = evaluate(instance, solution_of(sweep(instance, Clock()).commits)).objective
    near = best * (1 - Fraction(1, 10**9))
    assert exhaustive(instance, near) == near
    monkeypatch.setattr(staircase, "MOST_EXACT", 0)
    assert exhaustive(instance, near) == near
    assert exhaustive(instance, best * (1 + Fraction(1, 10**9))) is None


def test_a_certificate_of_another_model_is_refused():
    with pytest.raises(ValueError, match="proves nothing about momentum_cap"):
        proved(tiny("momentum_cap"), Stairs(bound=Fraction(1)))
    with pytest.raises(ValueError, match="proves nothing about error_bound"):
        proved(tiny("a1_equal_rates"), Labels(bound=Fraction(1)))


def test_nothing_is_proved_where_no_decision_is_feasible():
    with pytest.raises(ValueError, match="one cannot commit"):
        proved(tiny("no_worker_may_wait"), Stairs(bound=Fraction(1)))


def test_stairs_by_hand():
    # free_commits: S is 60 whatever the rates, and theta 5 at 12 commits: 60/60 + 0.02 * 4.
    instance = tiny("free_commits")
    assert exhaustive(instance, Fraction(107999, 100000)) is not None
    assert exhaustive(instance, Fraction(108001, 100000)) is None
