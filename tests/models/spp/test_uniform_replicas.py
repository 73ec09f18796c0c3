"""`options.uniform_replicas`: all stages have equally many GPUs, by every route.

GADGETOPT_UNIFORM=300 in the environment tries more random instances (default 12).
"""

import json
import os
from fractions import Fraction

import numpy as np
import pytest

import gadgetopt
from gadgetopt.models.spp.algorithms import plain
from gadgetopt.models.spp.algorithms.spp import spp
from gadgetopt.models.spp.evaluate import evaluate
from gadgetopt.models.spp.instance import SppInstance, SppSolution
from gadgetopt.system.files import Document, document_text, library, read_instance
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status

from .algorithms.test_plain import drawn as different_numbers
from .brute_force import (
    e2,
    instance_of,
    optimum,
    run,
    small_instance,
    two_level_instance,
    varied,
)

TRIES = int(os.environ.get("GADGETOPT_UNIFORM", "12"))
EXACT = ("exact_spp", "cp_joint", "joint@highs", "joint_disaggregated@highs")
BOUNDS = ("plan_bound", "least_load", "bound@highs", "load@highs", "even_work")
PLANNERS = ("spp", "spp_by_bound", "spp_order", "gpipe", "hetpipe", "pipedream", "dapple")


def uniform(instance: SppInstance) -> SppInstance:
    options = instance.options.model_copy(update={"uniform_replicas": True})
    return instance.model_copy(update={"options": options})


def drawn(seed: int) -> SppInstance:
    rng = np.random.default_rng([42, seed])
    if seed % 2:
        made = small_instance(rng, most_layers=4, most_gpus=4)
    else:
        sizes = ((2, 1), (2, 2), (1, 1, 1), (4,))[seed // 2 % 4]
        made = two_level_instance(rng, L=4, sizes=sizes)
    return uniform(varied(made, rng) if seed % 3 == 0 else made)


def replicas(solution: SppSolution) -> set[int]:
    return set(map(len, solution.stage_devices))


@pytest.mark.parametrize("seed", range(TRIES))
def test_all_routes_agree_with_all_uniform_plans(seed):
    instance = drawn(seed)
    best = optimum(instance)
    for method in (*EXACT, *BOUNDS, *PLANNERS):
        result = run(instance, method)
        if result.status is Status.NOT_APPLICABLE:  # this model is not made for the instance
            assert method not in ("exact_spp", "plan_bound", "least_load", "even_work")
            continue
        assert result.status is not Status.ERROR, (method, result.reason)
        if method in EXACT:
            wanted = Status.INFEASIBLE if best is None else Status.OPTIMAL
            assert result.status is wanted, method
        if result.objective is not None:
            assert replicas(result.solution) == {len(result.solution.stage_devices[0])}
            assert float(result.objective) >= float(best) * (1 - 1e-9), method
        if method in EXACT and best is not None:
            assert float(result.objective) == pytest.approx(float(best), rel=1e-6), method
        if best is not None and result.bound is not None:
            assert float(result.bound) <= float(best) * (1 + 1e-6), method


def three_gpus(param_bytes=0) -> SppInstance:
    """Two layers, the first twice as long, on three equal GPUs, of which some may be idle."""
    b = [[0, 100, 100], [100, 0, 100], [100, 100, 0]]
    return instance_of([2, 1], [4, 2], [param_bytes] * 2, [0], 4, b, {"use_all_gpus": False})


def test_what_uneven_replication_gains_is_the_difference_of_two_optima():
    # Without parameters one stage on all GPUs takes 4 * 9 / 3 = 12 s, which is all work, evenly.
    free, even = three_gpus(), uniform(three_gpus())
    assert run(free, "exact_spp").objective == run(even, "exact_spp").objective == 12
    # With 2400 bytes a layer that one stage pays an AllReduce of 4/3 * 4800 / 100 = 64 s. Two GPUs
    # for the long layer and one for the other pay 2400 / 100 = 24 s; one GPU each pays nothing:
    # its first stage works 4 * 6 = 24 s, and of 3 s each on the second those of microbatch 1 wait.
    free, even = three_gpus(2400), uniform(three_gpus(2400))
    one_each = run(even, "exact_spp")
    assert one_each.objective == optimum(even) == optimum(free)
    assert replicas(one_each.solution) == {1}
    # With 60 bytes: 12 + 4/3 * 120 / 100 = 13.6 s on all; uneven 2 + 1 pays 0.6 s.
    light, best = uniform(three_gpus(60)), run(three_gpus(60), "exact_spp")
    assert run(light, "exact_spp").objective == Fraction(68, 5)
    assert best.objective == optimum(three_gpus(60))


def test_the_evaluator_rejects_uneven_plans():
    instance = three_gpus()
    turn = tuple(code for m in range(1, 5) for code in (m, -m))
    solution = SppSolution(
        stage_layers=((0, 1), (1, 2)),
        stage_devices=((0, 1), (2,)),
        orders=((1, 2, -1, 3, -2, 4, -3, -4), (1, 2, -1, 3, -2, 4, -3, -4), turn),
    )
    assert evaluate(instance, solution).feasible
    (violation,) = evaluate(uniform(instance), solution).violations
    assert (violation.constraint, violation.amount) == ("uneven_replicas", 1)
    even = solution.model_copy(update={"stage_devices": ((0,), (2,))})
    assert evaluate(uniform(instance), even).feasible


@pytest.mark.parametrize("seed", range(8))
def test_uniform_plans_take_no_less_and_their_bounds_are_proved(seed):
    even = drawn(4 * seed + 2)
    options = even.options.model_copy(update={"uniform_replicas": False})
    free = run(even.model_copy(update={"options": options}), "exact_spp")
    result = run(even, "exact_spp")
    assert result.objective >= free.objective
    assert result.bound_voucher.value == "verified"


@pytest.mark.parametrize("block", range(6))
def test_the_fast_algorithm_is_the_printed_one_on_uniform_instances(block):
    for seed in range(6 * block, 6 * (block + 1)):
        instance = uniform(different_numbers(seed))
        assert spp(instance, Limits()).claimed_objective == plain.spp(instance)[0]


def test_files_from_before_the_option_say_the_same():
    instance = Document(problem("spp"), "instance", "e2", e2())
    assert "uniform_replicas" not in document_text(instance)
    assert b"uniform_replicas" not in e2().identity()
    assert json.loads(uniform(e2()).identity())["options"]["uniform_replicas"] is True
    again = SppInstance.model_validate_json(uniform(e2()).model_dump_json())
    assert again == uniform(e2())


@pytest.mark.parametrize(
    ("path", "fingerprint"),
    [
        ("quickstart/spp.json", "5df07ef62b72a085"),
        ("spp/paper/arbitrary_s0_0.json", "4fd37e3664239a64"),
        ("spp/paper/paper_s0_1.json", "ca036205332175d5"),
    ],
)
def test_fingerprints_are_those_from_before_the_option(path, fingerprint):
    assert read_instance(library() / path).fingerprint.startswith(fingerprint)


def test_the_option_is_one_of_the_importer_of_configurations(root):
    config = root / "docs" / "configs" / "gpt2.json"
    given = {"seq": 1024, "cluster": "dgx-h100"}
    (free,) = gadgetopt.import_("hf-config", config, "spp", **given)
    (even,) = gadgetopt.import_("hf-config", config, "spp", uniform_replicas=True, **given)
    assert even.data == uniform(free.data)
    assert even.name != free.name
    best = run(even.data, "exact_spp")
    assert best.status is Status.OPTIMAL
    assert best.objective >= run(free.data, "exact_spp").objective
