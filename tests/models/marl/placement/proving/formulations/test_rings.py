"""Boards: hand-checked rings, and F1, F2 and the default method against all GPUs of all jobs."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.marl.placement.data.generate.presets import boards
from gadgetopt.models.marl.placement.evaluate import evaluate, job_times, seats_of
from gadgetopt.models.marl.placement.formulations import assignment
from gadgetopt.models.marl.placement.heuristics.lns import lns
from gadgetopt.models.marl.placement.instance import PlacementInstance, PlacementSolution
from gadgetopt.models.marl.placement.proving.certificate.check import alone_bound
from gadgetopt.models.marl.placement.proving.exact.price_and_close import (
    branch_and_price,
    price_and_close,
)
from gadgetopt.models.marl.placement.proving.formulations import (
    assignment_cp,
    class_patterns,
    patterns,
    ring_assignment,
)
from gadgetopt.models.marl.subproblems.cluster import Job, Server
from gadgetopt.pieces.server_boards import board_of
from gadgetopt.solvers import solve_model
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ...brute_force import boarded, optimum, seated_optimum, small_instance
from ...test_evaluate import tiny

LIMITS = Limits(time_s=60)
RNG = np.random.default_rng


def by_model(module, instance):
    """The evaluated optimum of a model, None if it has no solution."""
    model = module.build(instance)
    solved = solve_model(model, "highs", LIMITS)
    if solved.status is Status.INFEASIBLE:
        return None
    assert solved.status is Status.OPTIMAL
    evaluation = evaluate(instance, module.decode(model, instance))
    assert evaluation.feasible
    assert float(evaluation.objective) == pytest.approx(solved.objective, rel=1e-6)
    return evaluation.objective


@pytest.mark.parametrize("part", range(10))
def test_f1_f2_the_default_and_all_seatings_agree(part):
    for seed in range(10 * part, 10 * part + 10):
        instance = boarded(RNG(seed))
        best = seated_optimum(instance)
        assert by_model(ring_assignment, instance) == best
        assert by_model(patterns, instance) == best
        outcome = called(price_and_close, instance, LIMITS, RNG(0))
        if best is None:
            assert outcome.proved is Status.INFEASIBLE
        else:
            assert evaluate(instance, outcome.solution).objective == best
            assert alone_bound(instance) <= best


def test_the_default_closes_instances_with_boards_and_claims_no_more():
    system = problem("marl_placement")
    for seed in range(20):
        instance = boarded(RNG(1000 + seed))
        result = solve(
            Document(system, "instance", "boarded", instance, {}), "price_and_close", LIMITS
        )
        best = seated_optimum(instance)
        if best is not None:
            assert result.status is Status.OPTIMAL
            assert result.bound_voucher in ("verified", "solver")
            assert float(result.bound) <= float(best) * (1 + 1e-9)


def test_without_gradients_boards_change_nothing():
    for seed in range(30):
        with_boards = boarded(RNG(seed))
        still = tuple(
            job.model_copy(update={"gradient_gbytes": Fraction(0)}) for job in with_boards.jobs
        )
        servers = tuple(s.model_copy(update={"board": 0}) for s in with_boards.servers)
        plain = PlacementInstance(
            servers=servers, jobs=still, interference=with_boards.interference
        )
        boards_left = PlacementInstance(
            servers=with_boards.servers,
            jobs=still,
            interference=with_boards.interference,
            boards=with_boards.boards,
        )
        assert optimum(boards_left) == optimum(plain)
        assert by_model(patterns, boards_left) == by_model(patterns, plain)


def test_without_boards_f1_with_rings_is_f1():
    for seed in range(10):
        instance = small_instance(RNG(seed), additive=True)
        assert by_model(ring_assignment, instance) == by_model(assignment, instance)


def one_server(gpus, *jobs, board="sockets"):
    """An instance of one server and jobs of (GPUs, gradients in GBytes), 1 s an iteration alone."""
    return PlacementInstance(
        servers=(Server(gpus=gpus, cpus=64),),
        jobs=tuple(
            Job(
                type=0, num_tasks=n, gpus_per_task=1, cpus_per_task=1, iterations=1,
                base_iteration_s=Fraction(1), gradient_gbytes=Fraction(h),
            )
            for n, h in jobs
        ),
        interference=((Fraction(0),),),
        boards=(board_of(board),),
    )  # fmt: skip


def paid(instance, *gpus):
    """What an iteration of the first job pays on some GPUs."""
    solution = PlacementSolution(tasks=(((0, len(gpus)),),), gpus=((gpus,),))
    return job_times(instance, solution)[0].iteration_s - 1


def test_rings_are_as_fast_as_the_hand_says():
    pair = one_server(4, (2, "6/5"))  # V = 2 * 1/2 * 1.2 = 1.2 GBytes
    assert paid(pair, 0, 1) == Fraction(1, 10)
    assert paid(pair, 0, 2) == Fraction(1, 5)
    triple = one_server(4, (3, "9/10"))  # V = 2 * 2/3 * 0.9 = 1.2, any three cross the sockets
    assert paid(triple, 0, 1, 2) == paid(triple, 1, 2, 3) == Fraction(1, 5)
    linked = one_server(4, (2, "6/5"), board="nvlink_pairs")
    assert paid(linked, 0, 1) == Fraction(12, 250)
    four = one_server(4, (4, "4/5"), board="nvlink_pairs")  # V = 2 * 3/4 * 0.8 = 1.2
    assert paid(four, 0, 1, 2, 3) == Fraction(1, 5)
    eight = one_server(8, (8, "1"), board="cube_mesh")  # V = 7/4 at 50 GBytes/s
    assert paid(eight, *range(8)) == Fraction(7, 200)


def test_what_is_left_between_the_sockets_is_slow():
    # The first job takes GPUs 0 and 2 by name; 1 and 3 are left for the other.
    instance = one_server(4, (2, "6/5"), (2, "6/5"))
    apart = PlacementSolution(tasks=(((0, 2),), ((0, 2),)), gpus=(((0, 2),), ((1, 3),)))
    assert [time.iteration_s for time in job_times(instance, apart)] == [Fraction(6, 5)] * 2
    unnamed = PlacementSolution(tasks=apart.tasks)
    assert seats_of(instance, unnamed) == [{0: (0, 1)}, {0: (2, 3)}]
    assert evaluate(instance, unnamed).objective == Fraction(11, 10)


@pytest.mark.parametrize(
    ("gpus", "constraint"),
    [
        ((((0, 1),),), "gpu_sets"),
        ((((0, 1),), ()), "gpu_sets"),
        ((((0, 1),), ((2,),)), "gpu_set"),
        ((((0, 1),), ((2, 4),)), "gpu_set"),
        ((((0, 1),), ((1, 2),)), "shared_gpu"),
    ],
)
def test_gpus_that_a_job_cannot_have_are_named(gpus, constraint):
    instance = one_server(4, (2, "6/5"), (2, "6/5"))
    found = evaluate(instance, PlacementSolution(tasks=(((0, 2),), ((0, 2),)), gpus=gpus))
    assert [v.constraint for v in found.violations] == [constraint]
    assert found.objective is None
    without = tiny("a_together")
    named = PlacementSolution(
        tasks=(((0, 2),), ((1, 1),), ((1, 1),)), gpus=(((0, 1),), ((0,),), ((1,),))
    )
    assert {v.constraint for v in evaluate(without, named).violations} == {"gpu_sets"}


def test_models_that_know_no_rings_refuse_boards():
    instance = boarded(RNG(0))
    for build in (assignment.build, assignment.build_big_m, class_patterns.build):
        with pytest.raises(ModelRefused, match="boards"):
            build(instance)
    for method in (assignment_cp.assignment_cp, branch_and_price):
        with pytest.raises(ModelRefused, match="boards"):
            called(method, instance, LIMITS, RNG(0))


def test_searches_are_no_better_than_the_optimum_on_boards():
    for seed in range(5):
        instance = boards(RNG(seed), jobs=5, servers=2)
        best = by_model(patterns, instance)
        found = called(lns, instance, LIMITS, RNG(0), rounds=5)
        assert evaluate(instance, found.solution).objective >= best
        result = solve(
            Document(problem("marl_placement"), "instance", "b", instance, {}), "lns", LIMITS
        )
        assert result.status is Status.FEASIBLE


def test_a_file_keeps_its_gpus():
    written = tiny("scattered").model_dump_json()
    assert PlacementInstance.model_validate_json(written) == tiny("scattered")
    assert "boards" not in tiny("racks").model_dump(mode="json")
    assert "gpus" not in PlacementSolution(tasks=()).model_dump(mode="json")
