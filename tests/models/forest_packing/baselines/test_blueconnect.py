"""Rings along the axes of a grid: rates by hand, feasible plans, default factors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.forest_packing.baselines.blueconnect import blueconnect, boxes
from gadgetopt.models.forest_packing.data.generate import topologies
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.system.result import MethodOutcome

from ..networks import cables, known, symmetric

RNG = np.random.default_rng(0)


def run(instance: ForestPackingInstance, *factors: int) -> MethodOutcome:
    """BlueConnect with these factors."""
    return blueconnect(instance, factors=factors)


def rate(instance: ForestPackingInstance, outcome: MethodOutcome) -> Fraction:
    """The rate, after checking that the plan is feasible and has the claimed rate."""
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.violations == ()
    assert evaluation.objective == outcome.claimed_objective
    return Fraction(evaluation.objective)


def test_hierarchical_ring_of_two_a100_boxes() -> None:
    # A stage: 7/8 GB over 300 GB/s in the boxes, then 1/16 GB over each GPU's own 25 GB/s.
    instance = topologies.dgx_a100(2).instance()
    outcome = run(instance)
    assert outcome.notes["factors"] == [8, 2]
    assert rate(instance, outcome) == 1 / (2 * (Fraction(7, 2400) + Fraction(1, 400)))
    assert float(Fraction(520, 3) / rate(instance, outcome)) == pytest.approx(1.88, abs=0.005)


def test_two_dimensional_ring_of_a_torus_is_four_times_slower_than_the_optimum() -> None:
    # Rows: 3/4 GB a stage, columns: 3/16 GB, one of the four directions at work: R = 8/15.
    instance = topologies.torus((4, 4)).instance()
    assert rate(instance, run(instance)) == Fraction(32, 15) / 4


def test_a_single_factor_is_the_ring() -> None:
    # H2: 2 * 2/3 GB over the slowest cable of 1 GB/s, each direction of a cable once: T = 4/3.
    assert rate(known("H2"), run(known("H2"))) == Fraction(3, 4)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    factors=st.sampled_from([(2, 2), (2, 3), (3, 2), (6,), (2, 2, 2), (2,)]),
    collective=st.sampled_from(["allreduce", "allgather", "reduce_scatter"]),
    fields=st.sampled_from([{}, {"duplex": "half"}, {"stage_mode": "sequential"}]),
    root_mode=st.sampled_from(["free", "uniform"]),
)
def test_plans_fit_any_network(
    seed: int, factors: tuple[int, ...], collective: str, fields: dict[str, str], root_mode: str
) -> None:
    rng = np.random.default_rng(seed)
    workers = int(np.prod(factors))
    instance = symmetric(
        rng, workers, int(rng.integers(3)), collective=collective, root_mode=root_mode, **fields
    )
    assert rate(instance, run(instance, *factors)) > 0


def test_boxes_are_the_pieces_that_slow_links_join() -> None:
    assert boxes(topologies.ndv2(2).instance().network) == [list(range(8)), list(range(8, 16))]
    assert boxes(known("H3").network) == [[0, 1], [2, 3]]
    assert boxes(known("H2").network) is None
    assert boxes(topologies.torus((4, 4)).instance().network) is None


def test_ranks_run_through_one_box_after_the_other() -> None:
    # Boxes {0, 2} and {1, 3}: 1/2 GB over 10 GB/s, then 1/4 GB over 1 GB/s, twice.
    pairs = cables((0, 2, 10), (1, 3, 10), (0, 1, 1), (2, 3, 1))
    instance = ForestPackingInstance(workers=(0, 1, 2, 3), links=pairs)
    assert rate(instance, run(instance)) == 1 / (2 * (Fraction(1, 20) + Fraction(1, 4)))


def test_a_disconnected_network_has_rate_0() -> None:
    instance = ForestPackingInstance(workers=(0, 1, 2, 3), links=cables((0, 1, 1), (2, 3, 1)))
    assert run(instance).claimed_objective == 0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="product 8"):
        run(known("DGX-1V"), 3, 2)
    with pytest.raises(ModelRefused, match="root_mode: fixed"):
        run(known("DGX-1V", root_mode="fixed", root=0))
