"""Plans and bounds of the formulations are equal as fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gadgetopt
from gadgetopt.models.forest_packing.data.generate import (
    presets,
    topologies,
)
from gadgetopt.models.forest_packing.proving.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.subproblems.arc_loads import exact_decomposition
from gadgetopt.system.files import Document
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.run import solve

from ..networks import asked, known, random_instance, widened

PROBLEM = gadgetopt.problem("forest_packing")
FORMULATIONS = ("flow", "cuts", "tree_pairs", "spanning_trees", "orientation", "logical_links")


def ends(instance, names=FORMULATIONS):
    """Rate and bound of every formulation that takes the instance."""
    document = Document(problem=PROBLEM, kind="instance", name="test", data=instance)
    results = [solve(document, f"{name}@highs") for name in names]
    taken = [r for r in results if not r.refused]
    for result in taken:
        assert result.status is Status.OPTIMAL, result.reason
        assert result.bound_voucher is Voucher.VERIFIED
        assert result.objective == result.bound
    return {Fraction(r.bound) for r in taken}


def wide(seed):
    return widened(random_instance(seed, max_workers=4, max_switches=2), seed)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_all_formulations_end_in_one_fraction(seed):
    assert len(ends(random_instance(seed, max_workers=4, max_switches=2))) == 1


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_all_formulations_end_in_the_fraction_of_columns_where_capacities_are_far_apart(seed):
    # Parallel links may add up to more digits than doubles hold.
    instance = wide(seed)
    outcome = column_generation(instance, Limits())
    assert ends(instance) == {Fraction(outcome.dual_bound)}


def test_thirds_of_an_allgather_on_two_boxes():
    instance = asked(topologies.dgx_a100(2).instance(), "allgather", "free")
    assert ends(instance, ["flow"]) == {Fraction(1040, 3)}  # 346 2/3, not 346.6666667


def test_dense_networks():
    rng = np.random.default_rng(0)
    cables = presets.paper(rng, workers=12, distribution="lognormal", model="unit")
    assert ends(cables, ["orientation"]) == {Fraction(41903, 220)}
    digraph = presets.paper(rng, workers=8, distribution="lognormal", symmetric=False, model="unit")
    assert len(ends(digraph, ["flow", "cuts"])) == 1


@pytest.mark.parametrize("name", ["H4", "H6", "H7", "DGX-1V"])
@pytest.mark.parametrize("collective", ["allreduce", "sequential", "allgather", "reduce_scatter"])
def test_columns_take_over_where_loads_are_not_peeled(name, collective, monkeypatch):
    monkeypatch.setattr(exact_decomposition, "pack_stage_exactly", lambda *_: None)
    assert len(ends(asked(known(name), collective, "uniform"), ["flow"])) == 1


def test_without_links_all_end_at_zero():
    pieces = known("H3").model_copy(update={"links": known("H3").links[:2]})
    assert ends(pieces) == {0}


def test_capacities_that_doubles_do_not_hold_are_held():
    link = known("H2").links[0]
    small = link.model_copy(update={"bandwidth_gbyte_per_s": 1.00000123})
    large = link.model_copy(update={"bandwidth_gbyte_per_s": 123456789.25})
    tiny = link.model_copy(update={"bandwidth_gbyte_per_s": 1.23456789e-9})
    instance = known("H2").model_copy(
        update={"links": (small, large, tiny, *known("H2").links[1:])}
    )
    outcome = column_generation(instance, Limits())
    assert ends(instance, ["flow", "cuts"]) == {Fraction(outcome.dual_bound)}
