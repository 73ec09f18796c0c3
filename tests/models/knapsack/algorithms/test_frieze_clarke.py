"""Frieze and Clarke's algorithm: its ratio, hand-checked instances, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.knapsack.algorithms.frieze_clarke import (
    frieze_clarke,
    frieze_clarke_literal,
    on_sets,
)
from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.guarantees.ratios import frieze_clarke_ratio
from gadgetopt.models.knapsack.heuristics.frieze_clarke_complete import frieze_clarke_complete
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem

from ..brute_force import optimum, small_instances
from ..outcomes import bound_of, run, value_of

TINY = library() / "knapsack" / "tiny"


@given(instance=small_instances(single_items=True), k=st.integers(0, 6), complete=st.booleans())
def test_frieze_and_clarke_keep_their_promise(instance, k, complete):
    best = optimum(instance)
    found = {}
    for how in ("literal", "pruned"):
        outcome = run(on_sets, instance, k=k, complete=complete, enumeration=how)
        found[how] = value_of(instance, outcome)
        assert bound_of(instance, outcome) >= best
        promised = frieze_clarke_ratio(instance, {"k": k})
        if promised is not None:
            assert best <= promised * found[how]


@pytest.mark.parametrize(
    ("name", "k", "profit"),
    [
        # k = 0 rounds (.7843, .7255, 1, 0, 0), {2} gives (0, 1, 1, .6667, 0), {1, 2} is optimal.
        ("e6_two_rows", 0, 11),
        ("e6_two_rows", 1, 24),
        ("e6_two_rows", 2, 27),
        ("e7_petersen1", 0, 3200),
        ("e7_petersen1", 1, 3200),
        ("e7_petersen1", 2, 3200),
        ("e7_petersen1", 3, 3800),
        ("e7_weing1", 1, 139508),
        ("e7_weing1", 2, 139508),
    ],
)
@pytest.mark.parametrize("method", [frieze_clarke_literal, frieze_clarke])
def test_frieze_and_clarke_on_hand_checked_instances(name, k, profit, method):
    instance = read_instance(TINY / f"{name}.json").data
    assert value_of(instance, run(method, instance, k=k)) == profit
    assert value_of(instance, run(frieze_clarke_complete, instance, k=k)) >= profit


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("frieze_clarke:complete=true", "frieze_clarke_complete"),
        ("frieze_clarke:k=1:enumeration=literal", "frieze_clarke_literal"),
    ],
)
def test_a_former_parameter_is_refused_with_the_method_that_it_became(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("knapsack"), former)
    assert find_method(problem("knapsack"), now).method.name == now


def test_frieze_and_clarke_refuse_groups_and_too_many_sets():
    khan = read_instance(TINY / "e8_khan_i01.json").data
    with pytest.raises(ModelRefused, match="single items that may be left out"):
        run(frieze_clarke, khan)
    with pytest.raises(ModelRefused, match=r"sets of at most 20 of 100 items, more than"):
        run(frieze_clarke, paper(np.random.default_rng(0)), k=20)
