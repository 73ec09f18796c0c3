"""Copies of the pipeline: hand-checked instances, enumeration, two exact routes, certificates.

GADGETOPT_COPIES=200 in the environment tries more random instances (default 8).
"""

import itertools
import os
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.dapple.algorithms.slides_planner import hpgo
from gadgetopt.models.dapple.evaluate import evaluate, plan_times
from gadgetopt.models.dapple.formulations import bound
from gadgetopt.models.dapple.formulations.cp_copies import cp_copies
from gadgetopt.models.dapple.formulations.cp_joint import cp_joint
from gadgetopt.models.dapple.instance import Copy, DappleSolution
from gadgetopt.models.dapple.proving.bounds.least_bound import least_bound
from gadgetopt.models.dapple.proving.certificate.check import (
    CopiesProof,
    DappleCertificate,
    check_bound,
)
from gadgetopt.models.dapple.proving.exact.plans import exact_plans
from gadgetopt.models.dapple.subproblems.copies import shops_of_solution, solution_of_copies
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits, Status

from . import brute_force
from .chains import D1, instance_of

TRIES = int(os.environ.get("GADGETOPT_COPIES", "8"))
LIMITS = Limits(time_s=60)
CLUSTER = TwoLevelCluster(gpus_per_machine=(2, 2), intra_bytes_per_s=8.0, inter_bytes_per_s=1.0)
#: A pipeline on each of two machines: see the file's note.
TWO = instance_of([2, 2], [4, 4], [8, 8], [8, 0], 2, CLUSTER, comm_model="simple", max_copies=2)


def drawn(seed: int, **more):
    """Return a random instance of two or three layers on four GPUs, copies allowed."""
    rng = np.random.default_rng([44, seed])
    layers = int(rng.integers(2, 4))
    cluster = TwoLevelCluster(
        gpus_per_machine=((2, 2), (3, 1), (4,), (1, 1, 1, 1), (2, 1, 1))[int(rng.integers(5))],
        intra_bytes_per_s=float(rng.integers(4, 12)),
        inter_bytes_per_s=float(rng.integers(1, 5)),
        allreduce_intra_bytes_per_s=float(rng.integers(8, 20)),
        allreduce_inter_bytes_per_s=float(rng.integers(1, 9)),
        multi_inter_bytes_per_s=float(rng.integers(1, 5)),
    )
    columns = [rng.integers(0, high, layers) for high in (9, 15, 20, 12)]
    options = PipelineOptions(
        use_all_gpus=bool(rng.integers(2)),
        max_in_flight=(None, 1)[int(rng.integers(2))],
        memory_bytes=(None, float(rng.integers(60, 200)))[int(rng.integers(2))],
        recompute=bool(rng.integers(2)),
        overlap_allreduce=bool(rng.integers(2)),
        nvlink_rings=bool(rng.integers(2)),
        transfer_latency_s=float(rng.integers(2)),
        uniform_replicas=bool(rng.integers(3) == 0),
    )
    given = {
        "comm_model": ("planner_code", "simple")[int(rng.integers(2))],
        "duplex": ("half", "full")[int(rng.integers(4) == 0)],
        "options": options,
        "max_copies": int(rng.integers(2, 5)),
    }
    microbatches = 2 if layers == 3 else int(rng.choice([2, 4]))
    return instance_of(*columns, microbatches, cluster, **given | more)


def enumerated(instance) -> Fraction | None:
    """Return the least iteration time of two and more copies by the evaluator alone."""
    L, G, best = instance.num_layers, instance.num_gpus, None
    for R in range(2, min(instance.max_copies, G) + 1):
        if instance.num_microbatches % R:
            continue
        kinds = brute_force.interleavings(instance.num_microbatches // R)
        for S in range(1, min(instance.most_stages, G // R) + 1):
            for owner in itertools.product(range(-1, R * S), repeat=G):
                sets = [
                    tuple(tuple(v for v in range(G) if owner[v] == c * S + n) for n in range(S))
                    for c in range(R)
                ]
                if not all(_alike(own, sets[0]) for own in sets):
                    continue
                if instance.options.use_all_gpus and -1 in owner:
                    continue
                if sets != sorted(sets):  # copies are alike
                    continue
                for cuts in itertools.combinations(range(1, L), S - 1):
                    layers = tuple(itertools.pairwise((0, *cuts, L)))
                    value = best_of(instance, layers, sets, kinds)
                    if value is not None and (best is None or value < best):
                        best = value
    return best


def _alike(own, first) -> bool:
    return all(a and len(a) == len(b) for a, b in zip(own, first, strict=True))


def best_of(instance, layers, sets, kinds) -> Fraction | None:
    """Return the least time of a plan: copies do not wait for each other, so one by one."""
    ways = list(itertools.product(kinds, repeat=2 * len(layers) - 1))
    best = None
    for way in ways:  # equal orders, then each copy alone
        best = _better(best, time_of(instance, layers, sets, [way] * len(sets)))
    if len(ways) > 1 and len(sets) == 2:
        for one, other in itertools.permutations(ways, 2):
            best = _better(best, time_of(instance, layers, sets, [one, other]))
    return best


def _better(best, value):
    return value if best is None or (value is not None and value < best) else best


def time_of(instance, layers, sets, orders):
    copies = [Copy(stage_devices=s, orders=o) for s, o in zip(sets, orders, strict=True)]
    evaluation = evaluate(instance, solution_of_copies(layers, copies))
    return evaluation.objective if evaluation.feasible else None


@cache
def optimum(seed: int) -> Fraction | None:
    """Return the least iteration time of any number of copies of a random instance."""
    instance = drawn(seed)
    one = instance.model_copy(update={"max_copies": 1})
    if instance.num_microbatches > 2:  # too many orders for enumeration
        alone = cp_joint(one, LIMITS).claimed_objective
    else:
        alone = brute_force.optimum(one)
    found = [enumerated(instance), alone]
    return min((value for value in found if value is not None), default=None)


def exact(instance):
    return exact_plans(instance, LIMITS, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(TRIES))
def test_enumeration_and_two_exact_routes_agree(seed):
    instance = drawn(seed)
    best = optimum(seed)
    by_outlines, together = exact(instance), cp_copies(instance, LIMITS)
    if best is None:
        assert by_outlines.proved is together.proved is Status.INFEASIBLE
        return
    for found in (by_outlines, together):
        evaluation = evaluate(instance, found.solution)
        assert evaluation.feasible
        assert evaluation.objective == best
        assert float(found.dual_bound) == pytest.approx(float(best), rel=1e-9)
    assert check_bound(instance, DappleCertificate(makespan_s=10 * best + 1)) <= best


def test_two_machines_with_a_pipeline_each():
    # The copies have one microbatch: 2 + 1 + (2 + 4) + 1 + 4 = 14, and AllReduce over both
    # machines 2 * 1/2 * 8/1 = 8. One pipeline: data parallel 2 * 12/4 + 2 * 3/4 * 16 = 30.
    found = exact(TWO)
    assert found.claimed_objective == found.dual_bound == 22
    assert check_bound(TWO, found.certificate) == 22
    assert exact(TWO.model_copy(update={"max_copies": 1})).claimed_objective == 30
    assert cp_copies(TWO, LIMITS).claimed_objective == 22


def test_copies_that_cross_share_the_network():
    layers, orders = ((0, 1), (1, 2)), ((1, -1),) * 3
    across = [
        Copy(stage_devices=((0,), (2,)), orders=orders),
        Copy(stage_devices=((1,), (3,)), orders=orders),
    ]
    solution = solution_of_copies(layers, across)
    for c in range(2):  # 8 bytes, two copies on a network of 1 byte a second
        assert plan_times(TWO, solution, c).forward == [2, 16, 2]
    assert evaluate(TWO, solution).objective == 2 + 16 + 6 + 16 + 4 + 1  # AllReduce inside: 8/8
    one = [across[0], Copy(stage_devices=((1,), (3,)), orders=orders)]
    mixed = TWO.model_copy(
        update={"cluster": CLUSTER.model_copy(update={"gpus_per_machine": (3, 1)})}
    )
    one[1] = Copy(stage_devices=((1,), (2,)), orders=orders)
    one[0] = Copy(stage_devices=((0,), (3,)), orders=orders)
    # only the first copy crosses
    assert plan_times(mixed, solution_of_copies(layers, one), 0).forward == [2, 8, 2]
    assert plan_times(mixed, solution_of_copies(layers, one), 1).forward == [2, 1, 2]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 400))
def test_the_evaluator_agrees_with_the_shops_of_the_toolkit(seed):
    instance = drawn(seed, max_copies=2, options=PipelineOptions(use_all_gpus=False))
    rng = np.random.default_rng(seed)
    gpus = [int(v) for v in rng.permutation(4)]
    M = instance.num_microbatches // 2
    kinds = brute_force.interleavings(M)
    layers = ((0, 1), (1, instance.num_layers))
    copies = [
        Copy(
            stage_devices=((gpus[2 * c],), (gpus[2 * c + 1],)),
            orders=tuple(kinds[int(rng.integers(len(kinds)))] for _ in range(3)),
        )
        for c in range(2)
    ]
    solution = solution_of_copies(layers, copies)
    evaluation = evaluate(instance, solution)
    if evaluation.objective is None:
        return
    shops = shops_of_solution(instance, solution)
    schedules = [simulate(s, c.orders) for s, c in zip(shops, copies, strict=True)]
    assert evaluation.objective == max(s.makespan_s for s in schedules)
    assert evaluation.components["lower_bound_s"] <= evaluation.objective


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 11), claim=st.fractions(0, 400))
def test_no_claim_proves_more_than_the_optimum(seed, claim):
    instance = drawn(seed)
    best = optimum(seed)
    zero = OrderProof(fwd_s=(0,), bwd_s=(0,), allreduce_s=(0,), in_flight=(4,))
    forged = (CopiesProof(copies=2, orders=(zero,)),)
    proved = check_bound(instance, DappleCertificate(makespan_s=claim, of_copies=forged))
    assert 0 <= proved <= claim
    assert best is None or proved <= best


def test_the_evaluator_rejects_copies_that_do_not_fit():
    solution = exact(TWO).solution
    one = TWO.model_copy(update={"max_copies": 1})
    (violation,) = evaluate(one, solution).violations
    assert (violation.constraint, violation.amount) == ("too_many_copies", 1)
    odd = TWO.model_copy(update={"num_microbatches": 3})
    assert "microbatches_left_over" in {v.constraint for v in evaluate(odd, solution).violations}
    copy = solution.copies[0]
    wide = copy.model_copy(update={"stage_devices": ((2,), (3, 0))})
    broken = solution.model_copy(update={"copies": (wide,)})
    names = {v.constraint for v in evaluate(TWO, broken).violations}
    assert {"copies_differ", "gpu_used_twice"} <= names
    with pytest.raises(InputError, match="copies: 2 pipelines, expected one"):
        _ = solution.plan


def test_what_knows_one_pipeline_refuses_several():
    for refused in (
        lambda: bound.build(TWO),
        lambda: cp_joint(TWO, LIMITS),
        lambda: least_bound(TWO, LIMITS),
    ):
        with pytest.raises(ModelRefused, match="max_copies"):
            refused()


def test_the_slides_planner_tries_copies():
    found = hpgo(TWO, LIMITS)
    assert evaluate(TWO, found.solution).objective == 22
    assert found.notes["copies"] == 2


def test_files_from_before_copies_stay_the_same():
    found = read_instance(library() / "quickstart" / "dapple.json")
    assert found.fingerprint.startswith("97c36fa07bd8a308")
    assert "max_copies" not in D1.model_dump(mode="json")
    plain = DappleSolution(stage_layers=((0, 1),), stage_devices=((0,),), warmup=(1,))
    assert "copies" not in plain.model_dump(mode="json")
