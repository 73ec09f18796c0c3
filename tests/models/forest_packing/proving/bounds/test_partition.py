"""Tree-packing numbers against the enumeration of partitions, and the bounds they prove."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.proving.bounds.partition import partition
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.models.forest_packing.subproblems.strength import tree_packing_number
from gadgetopt.system.result import Limits

from ...expected import (
    SUBSETS,
    library_instance,
)
from ...networks import (
    known,
    symmetric,
)

RNG = np.random.default_rng(0)


def partitions(nodes):
    if not nodes:
        yield []
        return
    for rest in partitions(nodes[1:]):
        yield [[nodes[0]], *rest]
        for i, part in enumerate(rest):
            yield [*rest[:i], [nodes[0], *part], *rest[i + 1 :]]


def ratio(capacity, parts):
    n = len(capacity)
    where = {v: i for i, part in enumerate(parts) for v in part}
    cross = sum(capacity[u][v] for u in range(n) for v in range(u) if where[u] != where[v])
    return Fraction(int(cross), len(parts) - 1)


@st.composite
def symmetric_matrices(draw):
    n = draw(st.integers(2, 6))
    unit = draw(st.sampled_from([1, 2**40, 2**70]))
    matrix = np.zeros((n, n), dtype=object)
    for u in range(n):
        for v in range(u):
            matrix[u, v] = matrix[v, u] = draw(st.integers(0, 5)) * unit + draw(st.integers(0, 1))
    return matrix


@given(symmetric_matrices())
def test_tree_packing_number_is_the_least_ratio_of_all_partitions(matrix):
    strength = tree_packing_number(matrix)
    n = len(matrix)
    assert strength.proved
    assert strength.value == min(
        ratio(matrix, parts) for parts in partitions(list(range(n))) if len(parts) > 1
    )
    assert sorted(v for part in strength.parts for v in part) == list(range(n))
    assert ratio(matrix, strength.parts) == strength.value


@pytest.mark.parametrize("name", SUBSETS)
def test_partial_allocations_have_their_known_rates(name):
    instance = library_instance(name)
    outcome = partition(instance, Limits())
    assert outcome.dual_bound == SUBSETS[name]
    assert outcome.dual_bound == check_bound(instance, outcome.certificate)


# H2: all single workers, (4 + 4 + 1) / 2. H3: the two fast pairs, 3 / 1. H6: a tree.
@pytest.mark.parametrize(("name", "rate"), [("H2", "9/2"), ("H3", "3"), ("H6", "1")])
@pytest.mark.parametrize("stage_mode", ["overlap", "sequential"])
def test_hand_checked_networks(name, rate, stage_mode):
    instance = known(name, stage_mode=stage_mode)
    assert partition(instance, Limits()).dual_bound == Fraction(rate)


def test_half_duplex_cables_halve_the_rate():
    full = symmetric(np.random.default_rng(3), 5)
    half = full.model_copy(update={"duplex": "half"})
    bounds = [partition(x, Limits()).dual_bound for x in (full, half)]
    assert bounds[0] == 2 * bounds[1]


def test_components_prove_that_a_disconnected_network_has_rate_zero():
    outcome = partition(library_instance("dgx1_v100_0_1_2_7"), Limits())
    assert outcome.dual_bound == 0
    assert outcome.certificate.proof.parts == ((0, 1, 2), (7,))


def test_a_bound_is_left_when_time_is_up():
    instance = known("H3")
    outcome = partition(instance, Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
    assert outcome.dual_bound >= 3


@pytest.mark.parametrize(
    "instance", [known("H4"), known("H5"), known("H2", nic_in_gbyte_per_s={0: 1.0})]
)
def test_networks_outside_the_theorem_are_refused(instance):
    with pytest.raises(ModelRefused):
        partition(instance, Limits())


def test_clusters_are_found_as_parts():
    rng = np.random.default_rng(1)
    box = np.arange(24) // 6
    same = box[:, None] == box[None, :]
    matrix = np.where(same, rng.integers(50, 100, (24, 24)), rng.integers(0, 2, (24, 24)))
    matrix = np.triu(matrix, 1)
    strength = tree_packing_number(matrix + matrix.T)
    assert sorted(strength.parts) == [list(range(6 * b, 6 * b + 6)) for b in range(4)]
