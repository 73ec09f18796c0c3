"""Pictures show what the evaluator counts."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.bgl.cache.data.generate.presets import paper, quickstart
from gadgetopt.models.bgl.cache.pictures.curves import misses_by_capacity, misses_by_sequences
from gadgetopt.models.bgl.cache.pictures.retention import draw

from ..brute_force import run


def test_every_load_is_drawn():
    instance = quickstart(np.random.default_rng(0), batches=5)
    result = run(instance, "order_search")
    figure = draw(instance, result.solution)
    loads = sum(state == 4 for row in figure.data[0].z for state in row)
    assert loads == result.evaluation.components["misses"]


def test_no_policy_is_below_the_envelope():
    figure = misses_by_capacity(quickstart(np.random.default_rng(0)))
    curves = {trace.name: trace.y for trace in figure.data}
    best = curves.pop("Belady, optimal")
    for misses in curves.values():
        assert all(a >= b for a, b in zip(misses, best, strict=True))


def test_misses_grow_with_the_number_of_sequences():
    figure = misses_by_sequences(paper(np.random.default_rng(0), caves=40))
    curves = {trace.name: trace.y for trace in figure.data}
    assert curves["FIFO"][0] < curves["FIFO"][-1]
    assert all(a >= b for a, b in zip(curves["FIFO"], curves["Belady"], strict=True))


def test_sequences_need_a_graph():
    with pytest.raises(InputError, match="graph: missing"):
        misses_by_sequences(quickstart(np.random.default_rng(0)))
