"""Elimination in the check: plain Python and enumeration say the same."""

import random

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.proving.certificate import least_cost as module
from gadgetopt.models.oneflow_sbp.proving.certificate.cost_tables import FORBIDDEN
from gadgetopt.models.oneflow_sbp.proving.certificate.least_cost import least_cost
from gadgetopt.models.oneflow_sbp.proving.certificate.records import Split

from .plain import eliminated, enumerated, random_tables, some_labels


def shuffled(costs, rng):
    return rng.sample(range(len(costs.own)), len(costs.own))


@pytest.mark.parametrize("seed", range(300))
def test_it_is_the_least_cost_in_any_order(seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(module, "_AT_ONCE", 1)  # a label at a time
    rng = random.Random(seed)
    costs = random_tables(seed)
    domains, order = some_labels(costs, rng), shuffled(costs, rng)
    found = least_cost(costs, domains, order, (), 10**6)
    assert found == enumerated(costs, domains) == eliminated(costs, domains, order)


def parts_of(rng, node, nodes):
    """Return a node's neighbours in two parts, the last of which has all of them."""
    others = [v for v in range(nodes) if v != node]
    return tuple(sorted(rng.sample(others, rng.randint(0, len(others))))), tuple(others)


@pytest.mark.parametrize("seed", range(300))
def test_split_nodes_prove_what_plain_python_says_and_no_more_than_the_least_cost(seed):
    rng = random.Random(seed)
    costs = random_tables(seed, nodes=rng.randint(2, 6))
    domains, order = some_labels(costs, rng), shuffled(costs, rng)
    splits = []
    for o in rng.sample(order, rng.randint(1, len(order))):
        moved = [rng.choice([0, 0, rng.randint(-3, 3)]) for _ in domains[o]]
        lost = [rng.choice([0, 0, 2]) for _ in domains[o]]
        shifts = (tuple(moved), tuple(-m - x for m, x in zip(moved, lost, strict=True)))
        splits.append(Split(node=o, parts=parts_of(rng, o, len(order)), shifts=shifts))
    try:
        found = least_cost(costs, domains, order, splits, 10**6)
    except ValueError:  # shifts may make a cost negative
        return
    plain = [(s.node, s.parts, s.shifts) for s in splits]
    assert found == eliminated(costs, domains, order, plain)
    assert found <= enumerated(costs, domains)


def test_layers_of_equal_tables_are_looked_up_and_cost_the_same():
    layer = random_tables(4, nodes=4, forbidden=0.0)
    nodes, copies = len(layer.own), 6
    costs = layer.__class__(
        layer.arrays,
        layer.allowed * copies,
        layer.own * copies,
        [
            p._replace(u=p.u + at * nodes, v=p.v + at * nodes)
            for at in range(copies)
            for p in layer.pairs
        ],
        layer.memory * copies,
        layer.groups * copies,
        None,
    )
    order = list(range(len(costs.own)))
    one = least_cost(layer, layer.allowed, order[:nodes], (), 10**6)
    assert least_cost(costs, costs.allowed, order, (), 10**6) == copies * one


@pytest.mark.parametrize(
    ("parts", "shifts", "line"),
    [
        (((1, 2), (1, 2)), ((0, 0), (0, 1)), "shifts of a label add up to more than 0"),
        (((1, 2), (1, 2)), ((0, 0), (0, -99)), "shifts make a cost negative"),
        (((1,),), ((0, 0),), r"no part has all of \[2\]"),
        (((1, 2),), ((0,),), "expected 2 shifts for each of 1"),
        (((1, 2),), ((-(10**30), 0),), "shifts are too large for 64 bits"),
    ],
)
def test_a_split_that_does_not_fit_is_refused(parts, shifts, line):
    costs = random_tables(0, nodes=3)
    arrays = costs.arrays
    table = arrays.number(np.array([[1, 2], [3, 4]]))
    own, rows = arrays.number(np.array([0, 0])), arrays.number(np.array([0, 1]))
    costs = costs.__class__(
        arrays,
        [(0, 1)] * 3,
        [own] * 3,
        [costs.pairs[0].__class__(0, v, table, rows, rows) for v in (1, 2)],
        [own] * 3,
        [0] * 3,
        None,
    )
    split = Split(node=0, parts=parts, shifts=shifts)
    with pytest.raises(ValueError, match=line):
        least_cost(costs, costs.allowed, [0, 1, 2], [split], 100)


def test_an_order_of_too_many_sums_is_refused():
    costs = random_tables(3, nodes=6, most_labels=4)
    with pytest.raises(ValueError, match="order: elimination is too wide"):
        least_cost(costs, costs.allowed, list(range(6)), (), 3)


def test_nothing_allowed_is_said():
    seen = set()
    for seed in range(40):
        costs = random_tables(seed, nodes=3, forbidden=0.7)
        found = least_cost(costs, costs.allowed, [2, 0, 1], (), 10**6)
        assert (found >= FORBIDDEN) == (enumerated(costs, costs.allowed) >= FORBIDDEN)
        seen.add(found >= FORBIDDEN)
    assert seen == {True, False}
