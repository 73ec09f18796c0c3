"""Row duals prove bounds only if doubles hold the numbers; no exhaustion proves too much."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from gadgetopt.models.knapsack import multipliers
from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.instance import Item, KnapsackInstance
from gadgetopt.models.knapsack.multipliers import FurtherMultipliers, KnapsackCertificate
from gadgetopt.models.knapsack.proving.certificate import (
    check_bound,
    exhaustion_bound,
    lagrangian_bound,
)
from gadgetopt.models.knapsack.proving.exact import proof
from gadgetopt.models.knapsack.proving.exact.methods import cg_core
from gadgetopt.models.knapsack.proving.exact.proof import add_exhaustion
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.models.knapsack.subproblems.outcome import outcome_of
from gadgetopt.pieces.knapsack import core
from gadgetopt.search.clock import Clock
from gadgetopt.system.data import LpDuals
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.certificate import certified_bound
from gadgetopt.trust.run import solve

from ..brute_force import optimum, small_instance, small_instances
from ..outcomes import run

SYSTEM = problem("knapsack")
DUALS = LpDuals(formulation="direct", row_duals=(Fraction(0),))


def one_item(profit):
    item = Item(profit=Fraction(profit), weights=(Fraction(1),))
    return KnapsackInstance(capacities=(Fraction(2),), groups=((item,),))


@pytest.mark.parametrize(
    "profit", [2**53 + 1, Fraction(10**20 + 3, 3 * 10**20), Fraction(123456789123, 10**6 + 3)]
)
def test_duals_of_rounded_numbers_are_refused(profit):
    with pytest.raises(
        ValueError, match=r"groups\[0\]\[0\]\.profit: .* is changed by rounding to a double"
    ):
        certified_bound(SYSTEM, one_item(profit), DUALS)


@pytest.mark.parametrize("profit", [7, Fraction(1, 3), Fraction(1, 10)])
def test_duals_of_numbers_that_doubles_hold_prove_the_bound(profit):
    assert certified_bound(SYSTEM, one_item(profit), DUALS) == profit


@pytest.mark.parametrize("seed", range(150))
def test_the_check_and_the_search_compute_the_same_lagrangian_bound(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    best = optimum(instance)
    for _ in range(3):
        prices = [Fraction(int(rng.integers(20)), 7) for _ in instance.capacities]
        bound = lagrangian_bound(instance, prices)
        assert bound == multipliers.lagrangian_bound(instance, prices)
        assert best is None or bound >= best


def test_the_systems_own_certificates_take_any_exact_number():
    certificate = KnapsackCertificate(multipliers=(Fraction(0),))
    for profit in (2**53 + 1, Fraction(10**20 + 3, 3 * 10**20)):
        assert certified_bound(SYSTEM, one_item(profit), certificate) == profit


def test_a_method_whose_duals_prove_nothing_is_no_error():
    instance = one_item(Fraction(10**20 + 3, 3 * 10**20))
    result = solve(Document(SYSTEM, "instance", "x", instance), "lp_relaxation@highs")
    assert result.status is not Status.ERROR
    assert result.bound_voucher != "verified"


# -- exhaustion --------------------------------------------------------------------------------


def exhausted(instance) -> KnapsackCertificate:
    """The certificate of a run that the prices alone do not close."""
    outcome = run(cg_core, instance)
    assert outcome.certificate is not None
    return outcome.certificate


@given(instance=small_instances())
def test_what_enumeration_closes_is_verified(instance):
    best = optimum(instance)
    if best is not None:
        result = solve(Document(SYSTEM, "instance", "x", instance), "cg_core")
        assert (result.objective, result.bound, result.bound_voucher) == (best, best, "verified")


def forged(rng: np.random.Generator, certificate: KnapsackCertificate) -> KnapsackCertificate:
    """A certificate of exhaustion with some of its numbers changed."""

    def changed(y: Fraction) -> Fraction:
        kind = rng.integers(5)
        return [y, y * 2, y / 3, Fraction(0), y + Fraction(int(rng.integers(9)), 4)][kind]

    def vector(multipliers):
        return tuple(map(changed, multipliers))

    more = [
        FurtherMultipliers(groups_left=int(rng.integers(1, 9)), multipliers=vector(f.multipliers))
        for f in certificate.further
        if rng.integers(4)
    ]
    rows = len(certificate.multipliers)
    for _ in range(int(rng.integers(3))):
        drawn = tuple(Fraction(int(x), 4) for x in rng.integers(0, 20, rows))
        more.append(FurtherMultipliers(groups_left=int(rng.integers(1, 9)), multipliers=drawn))
    at_most = certificate.at_most if certificate.at_most is not None else Fraction(0)
    return KnapsackCertificate(
        multipliers=vector(certificate.multipliers),
        bound="exhaustion",
        at_most=changed(at_most),
        further=tuple(more),
    )


@pytest.mark.parametrize("seed", range(150))
def test_no_change_proves_more_than_the_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    best = optimum(instance)
    if best is None:
        return
    certificate = exhausted(instance)
    assert check_bound(instance, certificate) == best
    for _ in range(20):
        assert check_bound(instance, forged(rng, certificate)) >= best


def test_a_forged_proof_of_a_large_core_proves_less_or_is_refused():
    instance = paper(np.random.default_rng(2), items=60)
    certificate = exhausted(instance)
    best = check_bound(instance, certificate)
    assert certificate.bound == "exhaustion"
    assert best == certificate.at_most
    refused = 0
    for seed in range(30):
        try:
            assert (
                exhaustion_bound(
                    instance, forged(np.random.default_rng(seed), certificate), 30_000_000
                )
                >= best
            )
        except ValueError:
            refused += 1
    assert refused < 30


def test_an_optimum_of_exhaustion_survives_its_file():
    instance = paper(np.random.default_rng(2), items=60)
    certificate = exhausted(instance)
    copy = KnapsackCertificate.model_validate_json(certificate.model_dump_json())
    assert copy == certificate


def test_ctrl_c_while_a_proof_is_sought_keeps_the_optimum(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(proof, "prices_of_proof", interrupted)
    result = solve(
        Document(SYSTEM, "instance", "x", paper(np.random.default_rng(2), items=60)), "cg_core"
    )
    assert (result.status, result.bound_voucher) == (Status.OPTIMAL, "solver")


def test_a_search_out_of_time_writes_no_proof():
    instance = paper(np.random.default_rng(0))
    whole = scaled(instance)
    found = core.cg_core(whole.knapsack)
    outcome = outcome_of(instance, whole, found)
    add_exhaustion(instance, whole, found, outcome, Clock(Limits(time_s=0.0)))
    assert found.optimal
    assert outcome.certificate is None
