"""Certificates of optima: what a search closes is verified, and no change proves too much."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.smd.data.generate.presets import (
    independent_limits,
    paper,
)
from gadgetopt.models.smd.instance import Job, SmdInstance
from gadgetopt.models.smd.iteration_time import Layer
from gadgetopt.models.smd.proving.certificate.best_gain import (
    gain_above,
    pairs_above,
)
from gadgetopt.models.smd.proving.certificate.check import (
    FurtherPrices,
    SmdCertificate,
    check_bound,
)
from gadgetopt.models.smd.proving.exact import optimum as exact_optimum
from gadgetopt.models.smd.proving.exact.optimum import columns_of, exact
from gadgetopt.models.smd.proving.exact.proof import exhaustion_certificate
from gadgetopt.numbers.tolerance import TOLERANCE
from gadgetopt.pieces.utility import SigmoidUtility
from gadgetopt.search.clock import Clock
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

from ...brute_force import optimum, small_instance, small_job

#: Of utilities that are listed.
UNIT = Fraction(1, 2**30)


def solved(instance):
    return solve(Document(problem("smd"), "instance", "x", instance), "cg_core")


@pytest.mark.parametrize("seed", range(60))
def test_what_is_closed_is_verified(seed):
    instance = small_instance(np.random.default_rng(seed))
    result = solved(instance)
    assert (result.status, result.bound_voucher) == ("optimal", "verified")
    assert result.objective == pytest.approx(optimum(instance), rel=1e-9)


@pytest.mark.parametrize("charging", ["reserved", "used"])
@pytest.mark.parametrize("preset", [paper, independent_limits])
def test_presets_are_closed_and_verified(preset, charging):
    result = solved(preset(np.random.default_rng(0), charging=charging))
    assert (result.status, result.bound_voucher) == ("optimal", "verified")


def test_ctrl_c_while_a_proof_is_sought_keeps_the_optimum(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(exact_optimum, "_certificate", interrupted)
    result = solved(paper(np.random.default_rng(0)))
    assert (result.status, result.bound_voucher) == ("optimal", "solver")


def test_a_job_that_takes_no_time_is_worth_its_utility_at_once():
    # Only the first layer is on the critical path, and its backward pass is said to take nothing.
    layers = (Layer(bp_s=10.0, fp_s=0.0, comm_s=0.0), Layer(bp_s=0.0, fp_s=0.0, comm_s=1.0))
    job = Job(
        sgd_mode="sync",
        iterations=1.0,
        model_size_mb=1.0,
        ps_bandwidth_gbps=1.0,
        global_batch_size=1.0,
        bp_time_s=0.0,
        layers=layers,
        overlap="wait_free",
        worker_demand=(1.0,),
        ps_demand=(1.0,),
        reservation_limit=(2.0,),
        utility=SigmoidUtility(gamma1=8.0, gamma2=1.0, gamma3=2.0),
    )
    instance = SmdInstance(resources=("gpu",), capacity=(2.0,), jobs=(job,))
    result = solved(instance)
    assert (result.status, result.bound_voucher) == ("optimal", "verified")
    assert result.objective == pytest.approx(8 / (1 + math.exp(-2)))


def changed(rng: np.random.Generator, y: Fraction) -> Fraction:
    kind = rng.integers(5)
    return [y, y * 2, y / 3, Fraction(0), y + Fraction(int(rng.integers(9)), 4)][kind]


def forged(rng: np.random.Generator, certificate: SmdCertificate) -> SmdCertificate:
    """The certificate with some of its numbers changed, and further prices."""
    resources = len(certificate.prices)
    drawn = rng.integers(0, 40, (int(rng.integers(4)), resources)).tolist()
    return SmdCertificate(
        prices=tuple(changed(rng, y) for y in certificate.prices),
        at_most=changed(rng, certificate.at_most or Fraction(1)),
        further=tuple(
            FurtherPrices(jobs_left=1 + k, prices=tuple(Fraction(y, 4) for y in prices))
            for k, prices in enumerate(drawn)
        ),
    )


@pytest.mark.parametrize("seed", range(60))
def test_no_change_proves_more_than_the_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    best = optimum(instance)
    columns = columns_of(instance)
    if not columns.knapsack.num_items:
        return
    certificate = exhaustion_certificate(instance, columns, None, best, Clock())
    assert certificate is not None
    assert best <= check_bound(instance, certificate) <= best * (1 + TOLERANCE)
    for _ in range(15):
        assert check_bound(instance, forged(rng, certificate)) >= best * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_all_pairs_that_gain_enough_are_listed(seed):
    rng = np.random.default_rng(seed)
    job = small_job(rng, 2, 1.0)
    prices = tuple(Fraction(float(rng.uniform(0, 5))) for _ in range(2))
    best = gain_above(job, prices, used=True)
    everything = pairs_above(job, prices, Fraction(-(10**9)), UNIT)
    for spare in (Fraction(0), Fraction(1), Fraction(20)):
        listed = {(w, p) for w, p, _ in pairs_above(job, prices, best - spare, UNIT)}
        for w, p, utility in everything:
            rows = zip(prices, job.worker_demand, job.ps_demand, strict=True)
            paid = sum(y * (int(a) * w + int(b) * p) for y, a, b in rows)
            if (utility - 1) * UNIT - paid >= best - spare:
                assert (w, p) in listed
            # Nor is there one of less: it matters for jobs whose best pair costs more than it is
            # worth.
            if utility * UNIT - paid < best - spare:
                assert (w, p) not in listed


def test_1600_jobs_that_pay_for_what_they_use_have_a_certificate():
    # Nearly all pairs belong to jobs that are not worth their prices at all.
    instance = paper(np.random.default_rng(0), jobs=1600, charging="used", sgd_mode="mixed")
    found = exact(instance, Limits())
    assert found.certificate is not None
    bound = check_bound(instance, found.certificate)
    assert bound == pytest.approx(found.claimed_objective, rel=1e-8)
    assert bound >= found.claimed_objective


def test_a_search_out_of_time_writes_no_proof():
    instance = paper(np.random.default_rng(0))
    clock = Clock(Limits(time_s=0.0))
    columns = columns_of(instance)
    duals = np.zeros(len(instance.capacity))
    assert exhaustion_certificate(instance, columns, duals, 1.0, clock) is None
