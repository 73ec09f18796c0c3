"""The models: their sizes, their linear relaxations, and the instances that they refuse."""

import pyomo.environ as pyo
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.parallel_machines.formulations import (
    arc_flow,
    assignment,
    ordered_assignment,
    patterns,
)
from gadgetopt.solvers import solve_model

from ..brute_force import instance_of, run

FIVE_JOBS = instance_of(2, 3, 3, 2, 2, 2)


def relaxed(model):
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    return solve_model(model).objective


def test_the_ladder_of_linear_relaxations():
    # Three machines, jobs of 7, 7, 7, 3, 3, 3, 3: the optimum is 13, the mean load 33 / 3 = 11.
    instance = instance_of(3, 7, 7, 7, 3, 3, 3, 3)
    weak = relaxed(assignment.build(instance))
    counted = relaxed(ordered_assignment.build(instance))
    flow = relaxed(arc_flow.build(instance))
    strong = relaxed(patterns.build(instance))
    assert weak == pytest.approx(11)
    assert weak <= counted + 1e-6
    assert counted <= flow + 1e-6
    assert flow <= strong + 1e-6
    assert strong <= 13 + 1e-6
    assert counted < strong - 0.1


def test_paths_have_the_longest_job_first():
    # U = 7 of LPT. 3s leave 0 and 3; 2s leave what 3s reach and what 2s do, up to 7.
    net = arc_flow.network(FIVE_JOBS, 7)
    assert net.nodes == (0, 2, 3, 4, 5, 6, 7)
    assert set(net.arcs) == {(0, 3), (3, 3), (0, 2), (2, 2), (4, 2), (3, 2), (5, 2)}


def test_patterns_are_the_multisets_that_fit():
    # Up to 7: none to two 3s, up to three 2s. 3 + 3 alone, 3 with up to two 2s, up to three 2s.
    found = patterns.enumerate_patterns(FIVE_JOBS, 7)
    assert set(found) == {(2, 0), (1, 0), (1, 1), (1, 2), (0, 0), (0, 1), (0, 2), (0, 3)}


def test_models_refuse_what_is_too_large(monkeypatch):
    huge = instance_of(2, 2**52, 2**52, 1)
    for build in (assignment.build, arc_flow.build, patterns.build):
        with pytest.raises(ModelRefused, match="too many digits"):
            build(huge)
    assert run(huge, "cp_cumulative").refused
    monkeypatch.setattr(patterns, "MOST_PATTERNS", 3)
    with pytest.raises(ModelRefused, match="more than 3 patterns"):
        patterns.build(FIVE_JOBS)
    monkeypatch.setattr(arc_flow, "MOST_ARCS", 3)
    with pytest.raises(ModelRefused, match="more than 3 arcs"):
        arc_flow.build(FIVE_JOBS)
