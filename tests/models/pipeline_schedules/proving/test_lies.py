"""Certificates that are changed at random prove nothing that is not so."""

import os
from operator import itemgetter

import numpy as np
import pytest
from pydantic import ValidationError

from gadgetopt.errors import ModelRefused
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.proving.bounds.formulas import (
    all_bounds,
    contradictions,
    machine_bounds,
)
from gadgetopt.models.pipeline_schedules.proving.certificate import (
    PipelineSchedulesCertificate,
    check_bound,
)
from gadgetopt.models.pipeline_schedules.proving.exact.close_gap import PUBLISHED
from gadgetopt.models.pipeline_schedules.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Status

from ..conftest import solved
from ..random_cases import drawn, random_instance

#: Changes of each certificate, and random instances whose certificates are changed;
#: GADGETOPT_MUTATIONS=300 makes more.
COUNT = int(os.environ.get("GADGETOPT_MUTATIONS", "10"))
VALUES = (0, 1, 2, 3, 4, 7, 31, 10**6, 10**18, 10**40, -1, True, None, "1", 1.5, [], {})
#: A number becomes another that is so far from it: a lie that is nearly true.
NEAR = (-2, -1, 1, 2, 5)
KINDS = ("load", "warm_up", "windows", "chain", "rounds", "machine", "contradiction", "optimum", 3)

#: Where each kind of formula is the best, or memory is tight.
INSTANCES = {
    "load": {"devices": 2, "microbatches": 4, "objective": "period", "in_flight": 3},
    "windows": {"devices": 3, "microbatches": 4, "in_flight": 3, "weight_grad_us": 700_000},
    "chain": {"devices": 4, "microbatches": 6, "in_flight": 8, "transfer_us": 50_000},
    "rounds": {"devices": 2, "microbatches": 3, "in_flight": 1},
    "chunks": {"devices": 2, "microbatches": 3, "chunks": 2, "placement": "v", "in_flight": 3},
    "contradiction": {
        "devices": 2, "microbatches": 4, "chunks": 2, "in_flight": 5, "forward_us": 149,
        "input_grad_us": 147, "weight_grad_us": 100, "transfer_us": 5,
    },
}  # fmt: skip


def changed_at_random(document, rng):
    """Return a certificate's proof with some fields changed, left out or added."""
    proof = dict(document)
    for _ in range(int(rng.integers(1, 4))):
        name = str(
            rng.choice([*proof, "device", "stage", "to_stage", "rounds", "begin", "ticks", "kind"])
        )
        if rng.random() < 0.1:
            proof.pop(name, None)
        else:
            values = KINDS if name == "kind" else VALUES
            if isinstance(proof.get(name), int) and rng.random() < 0.5:
                values = tuple(proof[name] + step for step in NEAR)
            proof[name] = values[int(rng.integers(len(values)))]
    return proof


def judged(instance, proof, optimum, rng, count=COUNT):
    """Return how many changed copies of a proof still prove something, none of them a lie."""
    found = 0
    for _ in range(count):
        document = {"proof": changed_at_random(proof.model_dump(), rng)}
        try:
            certificate = PipelineSchedulesCertificate.model_validate(document)
            bound = check_bound(instance, certificate)
        except (ValidationError, ValueError):
            continue
        found += bound is not None
        assert bound is None or bound <= optimum, document
    return found


def optimum_and_proofs(name):
    """Return an instance with its optimum and the proofs of all formulas, the weakest first."""
    instance = equal(None, **INSTANCES[name])
    result = solved(instance)
    assert result.status is Status.OPTIMAL
    shop = shop_of(instance)
    refuted = contradictions(shop, 1, shop.horizon, Clock())
    proofs = sorted([*all_bounds(shop), *machine_bounds(shop), *refuted], key=itemgetter(0))
    return instance, result.objective, [proof for _, proof in proofs]


@pytest.mark.parametrize("name", INSTANCES)
def test_no_changed_certificate_proves_more_than_the_optimum(name):
    instance, optimum, proofs = optimum_and_proofs(name)
    rng = np.random.default_rng(9)
    assert sum(judged(instance, proof, optimum, rng) for proof in proofs)


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTANCES)
def test_three_hundred_changes_of_the_best_certificate_of_each_kind(name):
    instance, optimum, proofs = optimum_and_proofs(name)
    best = {proof.kind: proof for proof in proofs}
    assert best.keys() >= {"load", "warm_up", "windows", "chain", "machine", "contradiction"}
    for proof in best.values():
        assert judged(instance, proof, optimum, np.random.default_rng(10), 300), proof


@pytest.mark.parametrize("seed", range(COUNT))
def test_no_changed_certificate_of_the_default_is_a_lie(seed):
    instance, rng = drawn(seed), np.random.default_rng([9, seed])
    result = solved(instance)
    if result.certificate is not None:  # else infeasible, or the bound is CP-SAT's word
        assert result.status is Status.OPTIMAL
        judged(instance, result.certificate.proof, result.objective, rng)


def test_bounds_are_below_and_published_schedules_above_the_optimum():
    rng, compared = np.random.default_rng(10), 0
    for _ in range(max(6, COUNT // 2)):
        instance = random_instance(rng, sizes=((2, 2), (3, 2)))
        result = solved(instance)
        if result.status is not Status.OPTIMAL:  # infeasible, or time is up
            continue
        shop = shop_of(instance)
        refuted = contradictions(shop, 1, shop.horizon, Clock())
        for ticks, proof in (*all_bounds(shop), *machine_bounds(shop), *refuted):
            assert ticks <= result.objective * instance.ticks_per_s, proof
        for schedule in PUBLISHED:
            try:
                value = evaluate(instance, schedule(instance).solution)
            except ModelRefused:
                continue
            assert not value.feasible or value.objective >= result.objective, schedule
            compared += value.feasible
    assert compared > 10
