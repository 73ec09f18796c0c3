"""The models of rings: they agree with brute force, and the hand-checked instances come out."""

import numpy as np
import pytest
from gadgetopt.models.gadget import circulation, embedding, generate, tree
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.joint import mappings_of, slot_model
from gadgetopt.models.gadget.slot_problem import ring, slot_problem

from gadgetopt.errors import ModelRefused
from gadgetopt.result import Status
from gadgetopt.solvers import solve_model

from .gadget_brute_force import brute_force
from .gadget_tiny import OPTIMA, solution, tiny

MODELS = (embedding, circulation, tree)


def optimum_by(module, instance):
    """Solve a Pyomo model; return its optimum, which its decision has too."""
    model = module.build(instance)
    found = solve_model(model)
    assert found.status is Status.OPTIMAL
    evaluation = evaluate(instance, module.decode(model, instance))
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == pytest.approx(found.objective, abs=1e-6)
    return found.objective


def random_instance(seed):
    """Trees with one or two resources over one or two slots, every third a graph."""
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
        optimum, _ = brute_force(instance)
        for module in MODELS:
            if module is tree and instance.terms.tree is None:
                continue
            assert optimum_by(module, instance) == pytest.approx(optimum, abs=1e-6), seed


@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.parametrize("module", MODELS, ids=lambda m: m.__name__.rpartition(".")[2])
def test_hand_checked_optima_come_out(module, name):
    instance = tiny(name)
    if module is tree and instance.terms.tree is None:
        with pytest.raises(ModelRefused):
            module.build(instance)
        return
    assert optimum_by(module, instance) == pytest.approx(OPTIMA[name], abs=1e-7)


@pytest.mark.parametrize("name", ["h1_bandwidth_blind", "h2_chain_of_bounds", "h5_slot"])
def test_brute_force_agrees_by_hand(name):
    assert brute_force(tiny(name))[0] == OPTIMA[name]


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


def test_a_model_too_large_for_the_memory_is_refused():
    instance = generate.paper(np.random.default_rng(0))
    for module in MODELS:
        with pytest.raises(ModelRefused, match="variables"):
            module.build(instance)
