"""Free-share allgather bounds against the enumeration of families of disjoint sets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.proving.bounds.subpartition import (
    free_root_packing_number,
    subpartition,
)
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.system.result import Limits

from ...networks import (
    digraph,
    known,
)
from .test_partition import partitions

RNG = np.random.default_rng(0)


def ratio(matrix, family):
    n = len(matrix)
    entering = sum(
        int(matrix[u, v]) for part in family for v in part for u in range(n) if u not in part
    )
    return Fraction(entering, len(family) - 1)


def families(n):
    """Disjoint sets, two or more: a partition of the nodes and one that marks what is left out."""
    for parts in partitions(list(range(n + 1))):
        family = [part for part in parts if n not in part]
        if len(family) > 1:
            yield family


@st.composite
def matrices(draw):
    n = draw(st.integers(2, 5))
    unit = draw(st.sampled_from([1, 2**70]))
    cells = draw(st.lists(st.integers(0, 5), min_size=n * n, max_size=n * n))
    matrix = np.array(cells, dtype=object).reshape(n, n) * unit
    np.fill_diagonal(matrix, 0)
    return matrix


@given(matrices())
def test_free_root_packing_number_is_the_least_ratio_of_all_subpartitions(matrix):
    strength = free_root_packing_number(matrix)
    assert strength.value == min(ratio(matrix, family) for family in families(len(matrix)))
    assert ratio(matrix, strength.parts) == strength.value


# H2: (8 + 5 + 5)/2; H5: one arc into each, 3/2; H6: the three leaves without the centre, 3/2;
# H7: (4 + 3 + 3)/2.
@pytest.mark.parametrize(("name", "rate"), [("H2", "9"), ("H5", "3/2"), ("H6", "3/2"), ("H7", "5")])
def test_hand_checked_networks(name, rate):
    instance = known(name, collective="allgather")
    outcome = subpartition(instance, Limits())
    assert outcome.dual_bound == Fraction(rate)
    assert outcome.dual_bound == check_bound(instance, outcome.certificate)


def test_the_centre_of_a_star_is_left_out():
    outcome = subpartition(known("H6", collective="allgather"), Limits())
    assert [cut.nodes for cut in outcome.certificate.proof.cuts] == [(1,), (2,), (3,)]


@given(st.integers(0, 2**32))
def test_reduce_scatter_is_allgather_on_reversed_arcs(seed):
    instance = digraph(np.random.default_rng(seed), 4, collective="reduce_scatter")
    backwards = instance.model_copy(
        update={
            "collective": "allgather",
            "links": tuple(
                link.model_copy(update={"src": link.dst, "dst": link.src})
                for link in instance.links
            ),
        }
    )
    bounds = [subpartition(x, Limits()).dual_bound for x in (instance, backwards)]
    assert bounds[0] == bounds[1]


@pytest.mark.parametrize(
    "instance", [known("H2"), known("H4", collective="allgather")], ids=["two stages", "switch"]
)
def test_what_the_theorem_does_not_cover_is_refused(instance):
    with pytest.raises(ModelRefused):
        subpartition(instance, Limits())
