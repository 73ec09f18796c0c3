"""Formulations agree with brute force and with the hand-checked optima."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from calling import called
from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.formulations import (
    ddljs,
    embedding,
)
from gadgetopt.models.gadget.formulations.joint import SlotScope, _model, decode, mappings_of
from gadgetopt.models.gadget.proving.formulations import (
    circulation,
    tree,
)
from gadgetopt.models.gadget.proving.formulations.cp_circuit import (
    circuits,
    cp_circuit,
)
from gadgetopt.models.gadget.proving.formulations.cp_joint import mappings_of as cp_mappings_of
from gadgetopt.models.gadget.proving.formulations.cp_joint import (
    solve_embedding,
    solve_slot,
)
from gadgetopt.models.gadget.proving.formulations.cp_tree import (
    CP_TREE,
    add_slot,
    cp_tree,
)
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping, ring, slot_problem
from gadgetopt.models.gadget.terms import JobTerms, Terms
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.result import Limits, Status

from ..brute_force import brute_force
from ..tiny import OPTIMA, solution, tiny


def embedding_test(
    terms: Terms,
    sizes: Sequence[tuple[JobTerms, int]],
    limits: Limits | None = None,
    seed: int = 0,
) -> list[Mapping] | None:
    """Embed rings of given sizes in one slot, or prove that it is impossible.

    Parameters
    ----------
    terms : Terms
    sizes : sequence of (JobTerms, int)
        Each job at most once, with its ring size.
    limits : Limits, optional
    seed : int

    Returns
    -------
    list of Mapping or None
        None if CP-SAT says that the rings do not fit together.

    Raises
    ------
    TimeoutError
        If it is not decided in time.
    ModelRefused
        If the network is a graph.
    """
    if terms.tree is None:
        raise ModelRefused("the network is a graph, expected a two-tier cluster")
    wanted = {job.index: size for job, size in sizes if size > 0}
    if any(size > terms.jobs[i].per_server.sum() for i, size in wanted.items()):
        return None
    model = cp_model.CpModel()
    slot = add_slot(model, SlotScope(terms, wanted))
    for i, size in wanted.items():
        model.add(slot.size[i] == size)
    solved = solve_cp(model, limits or Limits(), seed)
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason)
    if solved.status is Status.INFEASIBLE:
        return None
    if solved.values is None:
        raise TimeoutError
    return cp_mappings_of(terms, slot, solved)


MODELS = (embedding, circulation, tree)
CP_METHODS = (cp_circuit, cp_tree, solve_embedding)
#: Made for two-tier clusters only.
FOR_TREES = (tree, cp_tree)
#: Slow, and the same model as another: on every fourth instance.
NOW_AND_THEN = (solve_embedding,)


def optimum_by(module, instance):
    """Solve a Pyomo model; return its optimum, checked against the decoded solution."""
    model = module.build(instance)
    found = solve_model(model)
    assert found.status is Status.OPTIMAL
    evaluation = evaluate(instance, decode(model, instance))
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == pytest.approx(found.objective, abs=1e-6)
    return found.objective


def optimum_by_cp(method, instance):
    """Run a CP-SAT method; return its objective, checked against its bound."""
    found = called(method, instance, Limits(), np.random.default_rng(0))
    evaluation = evaluate(instance, found.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective - 1e-9 <= found.dual_bound <= evaluation.objective + 1e-5
    return evaluation.objective


def optimum(route, instance):
    """Return the optimum by a Pyomo model or a method."""
    return (optimum_by if route in MODELS else optimum_by_cp)(route, instance)


def random_instance(seed):
    """Return a tree with one or two resources and slots; every third instance is a graph."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return generate.graph(rng, jobs=2, servers=3, switches=1, extra_links=4)
    return generate.tiny(
        rng, servers=3 + seed % 2, horizon_slots=1 + seed // 3 % 2, resources=1 + seed // 5 % 2
    )


@pytest.mark.parametrize("begin", range(0, 100, 10))
def test_all_models_agree_with_brute_force(begin):
    for seed in range(begin, begin + 10):
        instance = random_instance(seed)
        best, _ = brute_force(instance)
        for route in (*MODELS, *CP_METHODS):
            if route in FOR_TREES and instance.terms.tree is None:
                continue
            if route in NOW_AND_THEN and seed % 4:
                continue
            assert optimum(route, instance) == pytest.approx(best, abs=1e-6), (seed, route)


@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.parametrize(
    "route", [*MODELS, *CP_METHODS], ids=lambda route: route.__name__.rpartition(".")[2]
)
def test_hand_checked_optima_come_out(route, name):
    instance = tiny(name)
    if route in FOR_TREES and instance.terms.tree is None:
        with pytest.raises(ModelRefused, match="graph"):
            optimum(route, instance)
        return
    assert optimum(route, instance) == pytest.approx(OPTIMA[name], abs=1e-6)


@pytest.mark.parametrize("name", ["h1_bandwidth_blind", "h2_chain_of_bounds", "h5_slot"])
def test_brute_force_agrees_by_hand(name):
    assert brute_force(tiny(name))[0] == OPTIMA[name]


def slot_model(problem, way):
    """The model of one slot, (10)-(12); the objective is the total gain."""
    scope = SlotScope(problem.terms, {x.job.index: x.most for x in problem.jobs if x.most > 0})
    jobs = [replace(x.job, utility=x.gain, max_total=x.most) for x in problem.jobs]
    return _model(way, {problem.slot: scope} if scope.largest else {}, jobs)


@pytest.mark.parametrize(
    "way", [embedding.EMBEDDING, circulation.CIRCULATION, tree.TREE], ids=lambda way: way.name
)
def test_a_slot_alone_is_worth_what_its_rings_gain(way):
    instance = generate.tiny(np.random.default_rng(5), horizon_slots=3, servers=4)
    terms = instance.terms
    slot = slot_problem(terms, 3, [1, 0, 2])
    model = slot_model(slot, way)
    found = solve_model(model)
    mappings = mappings_of(model.slot[3], terms)
    gain = {x.job.index: x.gain for x in slot.jobs}
    assert sum(gain[m.job][m.size] for m in mappings) == pytest.approx(found.objective)
    assert evaluate(instance, solution(*(ring(terms, 3, m) for m in mappings))).feasible
    for cp_way in (circuits(), CP_TREE):
        again = solve_slot(slot, cp_way, Limits(), known=mappings, cap=found.objective)
        assert sum(gain[m.job][m.size] for m in again.mappings) == pytest.approx(found.objective)
        assert again.bound == pytest.approx(found.objective)


def test_a_model_too_large_for_the_memory_is_refused():
    instance = generate.paper(np.random.default_rng(0))
    for module in MODELS:
        with pytest.raises(ModelRefused, match="variables"):
            module.build(instance)
    for method in CP_METHODS:
        with pytest.raises(ModelRefused, match="variables"):
            called(method, instance, Limits(), np.random.default_rng(0))


@pytest.mark.parametrize("method", CP_METHODS)
def test_the_bound_of_rounded_utilities_holds(method):
    # Utilities in whole units only: decisions are worth more than the model says.
    instance = generate.quickstart(np.random.default_rng(1), jobs=3)
    exact = optimum_by(tree, instance)
    found = called(method, instance, Limits(time_s=20), np.random.default_rng(0), scale=1)
    assert exact <= found.dual_bound + 1e-9
    assert found.notes["rounding_of_the_bound"] > 0


def test_utilities_too_large_for_the_scale_are_refused():
    with pytest.raises(ModelRefused, match="smaller scale"):
        cp_tree(tiny("h1_bandwidth_blind"), Limits(), scale=10**15)


def test_ring_sizes_of_the_optimum_can_be_embedded_and_no_more():
    terms = tiny("h2_chain_of_bounds").terms
    a, b = terms.jobs
    (mapping,) = embedding_test(terms, [(a, 3)])
    assert mapping.size == 3
    # Both fit the GPUs, but a server's link carries one of them.
    assert embedding_test(terms, [(a, 3), (b, 3)]) is None
    assert embedding_test(terms, [(a, 7)]) is None


#: Optima of (2)-(9) with (9) corrected and as printed, by hand.
PROGRAM_AS_WRITTEN = {
    "h1_bandwidth_blind": (6, 6),
    # Paths that share a link do not add up in (8).
    "h2_chain_of_bounds": (50, 30),
    # As printed only rings of one server: 2, 1, 2 workers.
    "h5_slot": (47, 41),
    # Two triangles are no ring.
    "h6_two_triangles": (6, 6),
    # The ring around the square does not use server 0.
    "h7_square": (9, 5),
}


@pytest.mark.parametrize("name", PROGRAM_AS_WRITTEN)
def test_degrees_as_printed_and_corrected(name):
    instance = tiny(name)
    corrected, printed = PROGRAM_AS_WRITTEN[name]
    assert solve_model(ddljs.build(instance)).objective == pytest.approx(corrected)
    assert solve_model(ddljs.build_as_printed(instance)).objective == pytest.approx(printed)


def test_degrees_as_printed_leave_no_ring_over_servers_if_one_is_not_used():
    # Three of six servers, as the job may use: printed, the others need two paths each as well.
    instance = tiny("h6_two_triangles")
    job = instance.jobs[0].model_copy(update={"max_workers": 3})
    instance = instance.model_copy(update={"jobs": (job,)})
    assert optimum_by(circulation, instance) == pytest.approx(3)
    assert solve_model(ddljs.build(instance)).objective == pytest.approx(3)
    assert solve_model(ddljs.build_as_printed(instance)).objective == pytest.approx(1)


def test_corrected_degrees_are_a_relaxation():
    for seed in range(20):
        instance = random_instance(seed)
        bound = solve_model(ddljs.build(instance)).objective
        assert bound >= brute_force(instance)[0] - 1e-6
