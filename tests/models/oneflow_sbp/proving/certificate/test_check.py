"""Certificates: whatever is taken away before the cases, the bound is true."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.oneflow_sbp.proving import reweighted
from gadgetopt.models.oneflow_sbp.proving.bounds.relaxations import mini_buckets, reparametrisation
from gadgetopt.models.oneflow_sbp.proving.certificate.check import check_bound
from gadgetopt.models.oneflow_sbp.proving.certificate.records import (
    Fixing,
    Leaf,
    OneFlowSbpCertificate,
)
from gadgetopt.models.oneflow_sbp.proving.exact import branch_and_bound as module
from gadgetopt.models.oneflow_sbp.proving.exact.branch_and_bound import branch_and_bound
from gadgetopt.models.oneflow_sbp.proving.proof import ProofWriter
from gadgetopt.models.oneflow_sbp.proving.reweighted import Reweighter
from gadgetopt.models.oneflow_sbp.subproblems.graph import FORBIDDEN
from gadgetopt.models.oneflow_sbp.subproblems.label_graph import label_graph
from gadgetopt.system.files import validate
from gadgetopt.system.result import Limits

from ....certificate_mutations import mutated
from ...brute_force import brute_force, listed_instance, random_instance

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    """Leave enough open on small instances for proofs of every kind."""
    monkeypatch.setattr(reweighted, "_BETWEEN", 5)
    monkeypatch.setattr(reweighted, "_FIRST", 5)


@pytest.mark.parametrize("seed", range(150))
def test_no_fixing_proves_more_than_the_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = random_instance(seed)
    optimum = brute_force(instance)
    scale = float(optimum or 1000)
    capped = instance.memory_limit_bytes is not None

    def prices():
        groups = len(instance.placements) if capped else 0
        return tuple(Fraction(rng.uniform(0, 10)).limit_denominator(8) for _ in range(groups))

    fixings = tuple(
        Fixing(
            multipliers=prices(),
            cutoff=Fraction(scale * rng.uniform(0.5, 1.3)).limit_denominator(6),
        )
        for _ in range(1 + seed % 3)
    )
    leaf = Leaf(multipliers=prices())
    certificate = OneFlowSbpCertificate(fixings=fixings, tree=(leaf,), most_cells=2**20)
    proved = check_bound(instance, certificate)
    assert proved is not None
    assert proved <= min(fixing.cutoff for fixing in fixings)
    if optimum is not None:
        assert proved <= optimum


def test_fixings_of_a_search_are_part_of_its_proof(monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", math.inf)  # a slow machine would ask CP-SAT
    with_fixings = 0
    for seed in range(80):
        outcome = branch_and_bound(random_instance(seed), Limits(time_s=30))
        if outcome.certificate is not None and outcome.certificate.fixings:
            with_fixings += 1
            assert check_bound(random_instance(seed), outcome.certificate) == outcome.dual_bound
    assert with_fixings >= 3


def test_a_fixing_needs_a_price_for_every_placement():
    instance = next(
        drawn for seed in range(50) if (drawn := random_instance(seed)).memory_limit_bytes
    )
    few = Fixing(multipliers=(1,) * (len(instance.placements) + 1), cutoff=5)
    certificate = OneFlowSbpCertificate(fixings=(few,), tree=(Leaf(),), most_cells=10)
    with pytest.raises(ValueError, match=r"fixings\[0\]\.multipliers: "):
        check_bound(instance, certificate)


def proofs_of(instance):
    """Return certificates of every kind: elimination, splits, messages, cutoffs, fixings, cases."""
    limits = Limits(time_s=30)
    proofs = [rounds_of(instance)]
    outcomes = [
        mini_buckets(instance, limits, most_cells=4),
        reparametrisation(instance, limits, sweeps=3),
        branch_and_bound(instance, limits, most_sums=1),
        branch_and_bound(instance, limits),
    ]
    proofs += [o.certificate for o in outcomes]
    return [proof.model_dump(mode="json") for proof in proofs if proof is not None]


class Patient(Reweighter):
    """Takes labels away twice before it eliminates the others."""

    def _solve(self, left, kept, more):
        wait = more >= 1 and len(self.before) < 2
        return None if wait else super()._solve(left, kept, more)


def rounds_of(instance):
    """Return a proof with rounds of messages."""
    graph = label_graph(instance)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("_FIRST", 1), ("_BETWEEN", 1), ("_WORTH_IT", -1)):
            patch.setattr(reweighted, name, value)
        found = Patient(graph, FORBIDDEN, 10**6, lambda: False).run(60, 0.0)
    if found.bound >= FORBIDDEN:
        return None
    writer = ProofWriter(graph)
    return writer.certificate((writer.moved(found.proof),))


@pytest.mark.parametrize("seed", range(100))
def test_rounds_prove_what_the_search_says_and_no_more_than_the_optimum(seed):
    instance = random_instance(seed)
    proof = rounds_of(instance)
    if proof is not None:
        proved, optimum = check_bound(instance, proof), brute_force(instance)
        assert proved is not None
        assert optimum is None or proved <= optimum
        if instance.memory_limit_bytes is None:
            assert float(proved) == pytest.approx(float(optimum), rel=1e-9)


@pytest.mark.parametrize(
    ("drawn", "first"),
    [*((random_instance, first) for first in range(0, 60, 10)), (listed_instance, 0)],
)
def test_no_forged_proof_of_a_search_proves_more_than_the_optimum(drawn, first, monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", math.inf)
    monkeypatch.setattr(module, "ALONE_S", math.inf)
    refused = 0
    for seed in range(first, first + 10):
        rng = random.Random(seed)
        instance = drawn(seed)
        optimum = brute_force(instance)
        proofs = proofs_of(instance)
        for _ in range(40):
            data = mutated(rng.choice(proofs), proofs, rng) if proofs else {}
            try:
                forged = validate(OneFlowSbpCertificate, data, "proof.json")
                proved = check_bound(instance, forged)
            except (InputError, ValueError):
                refused += 1
                continue
            assert proved is None or optimum is None or proved <= optimum, (seed, data)
            assert proved is not None or optimum is None, (seed, data)
    assert refused > 20


def test_searches_prove_in_every_way(monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", math.inf)
    monkeypatch.setattr(module, "ALONE_S", math.inf)
    proofs = [str(proof) for seed in range(60) for proof in proofs_of(random_instance(seed))]
    for part in (
        "'shifts': [[",
        "'replaced': [{",
        "'replaced_then': [{",
        "'cutoff': '",
        "'rounds': [{",
        "'branch'",
    ):
        assert any(part in proof for proof in proofs), part
