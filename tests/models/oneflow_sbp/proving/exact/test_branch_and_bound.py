"""Branch and bound where elimination is too wide or memory leaves a gap."""

import math
from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.formulations.cp import cp_labels
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpInstance
from gadgetopt.models.oneflow_sbp.proving.certificate.check import check_bound
from gadgetopt.models.oneflow_sbp.proving.certificate.records import (
    Branch,
    Leaf,
    OneFlowSbpCertificate,
)
from gadgetopt.models.oneflow_sbp.proving.exact import branch_and_bound as module
from gadgetopt.models.oneflow_sbp.proving.exact.branch_and_bound import branch_and_bound
from gadgetopt.models.oneflow_sbp.proving.exact.elimination import elimination
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.files import library, read_instance, validate
from gadgetopt.system.result import Limits, Status

from ...brute_force import (
    brute_force,
    random_instance,
)

RNG = np.random.default_rng(0)


def test_messages_in_place_of_elimination_find_the_same_optimum(monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", math.inf)  # a slow machine would ask CP-SAT
    monkeypatch.setattr(module, "ALONE_S", math.inf)
    for seed in range(60):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        outcome = branch_and_bound(instance, Limits(time_s=30), most_sums=1)
        if optimum is None:
            assert outcome.proved is Status.INFEASIBLE
            continue
        assert evaluate(instance, outcome.solution).objective == optimum
        proved = check_bound(instance, outcome.certificate)
        assert proved <= optimum
        assert agrees(float(proved), float(optimum))


def test_a_hierarchy_too_wide_for_elimination_is_closed_by_messages():
    instance = presets.transformer(RNG, layers=1, devices="2x4", words=64)
    outcome = branch_and_bound(instance, Limits(time_s=60), most_sums=2**22)
    value = evaluate(instance, outcome.solution).objective
    assert outcome.certificate.tree[0].messages is not None
    assert agrees(float(value), float(outcome.dual_bound))
    assert check_bound(instance, outcome.certificate) == outcome.dual_bound <= value


def test_cases_close_what_the_lagrangian_leaves(monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", math.inf)  # a slow machine would ask CP-SAT
    instance = read_instance(library() / "oneflow_sbp" / "tiny" / "h1_memory.json").data
    outcome = branch_and_bound(instance, Limits())
    assert outcome.notes["first_gap"] > 0.1
    assert outcome.notes["cases"] > 1
    assert outcome.dual_bound == evaluate(instance, outcome.solution).objective
    assert check_bound(instance, outcome.certificate) == Fraction(5232, 5)


def test_a_search_without_time_claims_nothing_wrong():
    instance = presets.paper(RNG, layers=20, memory_limit_gb=0.2)
    outcome = branch_and_bound(instance, Limits(time_s=0.0))
    assert outcome.solution is None or evaluate(instance, outcome.solution).feasible
    assert outcome.limit_hit == "time_s"


def test_elimination_refuses_what_it_cannot_do():
    instance = presets.paper(RNG, layers=2)
    with pytest.raises(ModelRefused, match="most_sums"):
        elimination(instance, Limits(), most_sums=10)
    with pytest.raises(ModelRefused, match="memory_limit_bytes"):
        elimination(instance.model_copy(update={"memory_limit_bytes": 10}), Limits())


def test_a_leaf_that_is_said_to_be_crowded_must_be():
    instance = read_instance(library() / "oneflow_sbp" / "tiny" / "h1_memory.json").data
    roomy = OneFlowSbpCertificate(tree=(Leaf(crowded=0),), most_cells=10**6)
    with pytest.raises(ValueError, match="bytes fit the limit"):
        check_bound(instance, roomy)


def test_every_branch_is_at_least_as_tight_as_its_parent():
    instance = read_instance(library() / "oneflow_sbp" / "tiny" / "h1_megatron.json").data
    whole = OneFlowSbpCertificate(tree=(Leaf(),), most_cells=10**6)
    for operator in range(3):
        branch = Branch(operator=operator, signatures=(0,))
        parts = OneFlowSbpCertificate(tree=(branch, Leaf(), Leaf()), most_cells=10**6)
        assert check_bound(instance, parts) == check_bound(instance, whole)


def petabytes(limit_bytes):
    """Return an instance of a variable of 4e23 bytes, with gradient and state, and a reader."""
    held = [{"inputs": [], "output": label, "memory_bytes": most} for label, most in MEMORY]
    reads = [{"inputs": [label], "output": "B"} for label in ("B", "S0")]
    variable = {"name": "v", "kind": "variable", "shape": [10**9, 10**8], "placement": "g"}
    custom = {"kind": "custom", "shape": [10**9, 10**8], "placement": "g"}
    data = {
        "placements": [{"name": "g", "hierarchy": [2]}],
        "operators": [
            {"name": "o", "signatures": held, **custom},
            {"name": "r", "inputs": ["o"], "signatures": reads, **custom},
            *([variable] if limit_bytes is None else []),
        ],
        "variable_memory_factor": 10**6,
        "memory_limit_bytes": limit_bytes,
    }
    return validate(OneFlowSbpInstance, data, "petabytes")


MEMORY = (("B", 10**18), ("S0", 10**15))


@pytest.mark.parametrize("method", [branch_and_bound, cp_labels])
def test_memory_beyond_64_bits_is_a_number_like_any_other(method):
    rng = np.random.default_rng(0)
    fits = called(method, petabytes(10**15), Limits(), rng)
    assert fits.solution.signature[0] == 1
    assert called(method, petabytes(10**15 - 1), Limits(), rng).proved is Status.INFEASIBLE
    assert called(method, petabytes(None), Limits(), rng).dual_bound == 0


def test_a_memory_limit_above_a_petabyte_is_refused():
    with pytest.raises(InputError, match=r"memory_limit_bytes: 10{15}1 is above"):
        petabytes(10**16 + 1)
