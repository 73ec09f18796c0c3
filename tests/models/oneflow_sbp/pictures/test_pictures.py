"""Pictures say what the evaluator says."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from calling import called

from gadgetopt.models.oneflow_sbp.algorithms.inference import compiler_greedy
from gadgetopt.models.oneflow_sbp.baselines.strategies import megatron
from gadgetopt.models.oneflow_sbp.data.generate import (
    networks,
    presets,
)
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpSolution
from gadgetopt.models.oneflow_sbp.pictures import edge, pareto, phases, plan
from gadgetopt.models.oneflow_sbp.proving.exact.elimination import elimination
from gadgetopt.system.result import Limits

RNG = np.random.default_rng(0)
H1 = presets.mlp_train(RNG, widths="4,8,4", batch=8, devices=2, compute_ratio=0.2)


def solved(method, instance):
    return called(method, instance, Limits(), RNG).solution


def test_h1_the_plan_of_megatron_shows_its_one_all_reduce():
    figure = plan.draw(H1, solved(megatron, H1))
    assert figure.layout.title.text.startswith("Cost 537.6 ")
    assert "13 operators, 1 conversions of 256 bytes" in figure.layout.title.subtitle.text
    (diamonds,) = [t for t in figure.data if t.name == "collective"]
    assert diamonds.text == ("all-reduce",)
    assert "mm1 to d_mm1" in diamonds.hovertext[0]
    operators = [t for t in figure.data if t.name in ("S0", "S1", "B", "P")]
    assert sum(len(t.x) for t in operators) == 13


def test_operators_are_under_those_whose_gradients_they_are():
    places = dict(zip((o.name for o in H1.operators), plan.positions(H1), strict=True))
    assert places["w0"][0] == places["mm0"][0]
    assert places["d_w1"][0] == places["w1"][0]
    assert places["update_w1"][1] < places["d_w1"][1] < places["d_relu0"][1] < places["relu0"][1]
    assert len(set(places.values())) == len(H1.operators)


def test_a_large_graph_is_drawn_in_part():
    instance = presets.paper(RNG, layers=60)
    figure = plan.draw(instance, solved(compiler_greedy, instance))
    assert "the first 240 operators" in figure.layout.title.subtitle.text


@pytest.mark.parametrize("method", [compiler_greedy, megatron, elimination])
def test_cells_of_an_edge_are_the_change_of_the_evaluators_cost(method):
    solution = solved(method, H1)
    base = evaluate(H1, solution).objective
    for chosen in H1.tables.edges:
        changes = edge.explained(H1, solution, chosen)
        best: dict = {}
        own, other = chosen.source, chosen.target
        tied = [e.source for e in H1.tables.edges if e.tied and e.target in (own, other)]
        moving = list(dict.fromkeys((own, other, *tied)))
        for picked in product(*(range(len(H1.tables.signatures[o])) for o in moving)):
            labels = list(solution.signature)
            for o, k in zip(moving, picked, strict=True):
                labels[o] = k
            first = H1.tables.signatures[own][labels[own]]
            second = H1.tables.signatures[other][labels[other]]
            pair = first.output, second.inputs[chosen.slot]
            cost = evaluate(H1, OneFlowSbpSolution(signature=tuple(labels))).objective
            best.setdefault(pair, None)
            if cost is not None and (best[pair] is None or cost < best[pair]):
                best[pair] = cost
        assert changes == {p: None if x is None else Fraction(x - base) for p, x in best.items()}


def test_at_the_optimum_no_cell_of_the_dearest_edge_is_negative():
    figure = edge.draw(H1, solved(elimination, H1))
    assert figure.layout.title.text == "mm1 to d_mm1: P to B"
    cells = [x for row in figure.data[0].z for x in row if x is not None]
    assert min(cells) == 0


def test_a_front_falls_and_starts_at_the_optimum():
    instance = presets.paper(RNG, layers=4)
    front = pareto.pareto(instance)
    assert front[0].cost == pytest.approx(float(elimination(instance, Limits()).dual_bound))
    assert len(front) > 2
    for first, second in pairwise(front):
        assert first.cost < second.cost
        assert first.memory_bytes > second.memory_bytes
    for hand in pareto.by_hand(instance).values():
        assert hand.cost >= front[0].cost
    figure = pareto.draw(instance.model_copy(update={"memory_limit_bytes": 10**8}))
    assert figure.layout.shapes[0].x0 == 0.1


def test_small_batches_of_wide_networks_are_model_parallel_and_the_reverse_is_not():
    assert phases.phase(H1, 32, 2048).name == "model parallel"
    assert phases.phase(H1, 8192, 128).name == "data parallel"


def test_the_diagram_of_phases_has_a_hybrid_between(monkeypatch):
    monkeypatch.setattr(phases, "SIZES", (64, 256, 1024, 4096))
    instance = presets.paper(RNG)
    figure = phases.draw(instance)
    codes = np.array(figure.data[0].z)
    names = {phases.PHASES[k] for k in codes.ravel()}
    assert {"data parallel", "hybrid", "model parallel"} <= names
    assert "on 8 devices" in figure.layout.title.text


@pytest.mark.parametrize(
    ("method", "name"), [(compiler_greedy, "data parallel"), (megatron, "model parallel")]
)
def test_strategies_have_the_phases_of_their_names(method, name):
    assert phases.phase_of(H1, solved(method, H1)) == name


def test_a_network_alone_is_drawn_without_gradients():
    graph = networks.perceptron([4, 8, 4], 8)
    forward = [o for o in graph.operators.values() if o.name in ("x", "w0", "mm0", "relu0")]
    instance = H1.model_copy(update={"operators": tuple(forward)})
    figure = plan.draw(instance, solved(compiler_greedy, instance))
    assert "4 operators, 0 conversions" in figure.layout.title.subtitle.text
