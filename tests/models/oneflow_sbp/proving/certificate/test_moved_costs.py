"""Moved costs bound the optimum, and labels that others replace are not missed."""

import itertools
import random
from collections import defaultdict

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.proving.certificate.cost_tables import (
    FORBIDDEN,
    Arrays,
    CostTables,
    Pair,
)
from gadgetopt.models.oneflow_sbp.proving.certificate.moved_costs import MovedCosts
from gadgetopt.models.oneflow_sbp.proving.certificate.records import Replacement

from .plain import cost_of, enumerated, random_tables, some_labels


def messages_of(costs, domains, rng):
    pairs = sorted({(p.u, p.v) for p in costs.pairs})
    return [tuple(tuple(rng.randint(-9, 9) for _ in domains[o]) for o in pair) for pair in pairs]


def plain_bound(costs, domains, messages):
    """Return the bound, and for each node and label the same with that label."""
    pairs = defaultdict(list)
    for pair in costs.pairs:
        pairs[pair.u, pair.v].append(pair)
    own = [
        {k: int(costs.arrays[t][k]) for k in domain}
        for t, domain in zip(costs.own, domains, strict=True)
    ]
    tables = []
    for (u, v), (first, second) in zip(sorted(pairs), messages, strict=True):
        to = dict(zip(domains[u], first, strict=True)), dict(zip(domains[v], second, strict=True))
        entries = {}
        for k, j in itertools.product(domains[u], domains[v]):
            cost = sum(
                int(costs.arrays[p.table][costs.arrays[p.rows][k], costs.arrays[p.columns][j]])
                for p in pairs[u, v]
            )
            entries[k, j] = 4 * FORBIDDEN if cost >= FORBIDDEN else cost - to[0][k] - to[1][j]
        for k in domains[u]:
            own[u][k] += to[0][k]
        for j in domains[v]:
            own[v][j] += to[1][j]
        tables.append((u, v, entries))
    bound = sum(min(t.values()) for t in own) + sum(min(t.values()) for *_, t in tables)
    with_label = {}
    for o, domain in enumerate(domains):
        for k in domain:
            more = own[o][k] - min(own[o].values())
            for u, v, entries in tables:
                if o in (u, v):
                    at = 0 if o == u else 1
                    more += min(c for x, c in entries.items() if x[at] == k) - min(entries.values())
            with_label[o, k] = bound + min(more, FORBIDDEN)
    return bound, with_label


@pytest.mark.parametrize("seed", range(200))
def test_any_messages_prove_what_plain_python_says_and_no_more_than_the_least_cost(seed):
    rng = random.Random(seed)
    costs = random_tables(seed)
    domains = some_labels(costs, rng)
    messages = messages_of(costs, domains, rng)
    moved = MovedCosts(costs, domains)
    bound, with_label = plain_bound(costs, domains, messages)
    assert moved.move(messages) == bound
    assert min(bound, FORBIDDEN) <= enumerated(costs, domains)
    for room in (1, 5, 30):
        most = bound + room
        left = [tuple(k for k in d if with_label[o, k] < most) for o, d in enumerate(domains)]
        assert moved.below(room) == left
    for chosen in itertools.product(*domains):
        cost = cost_of(costs, chosen)
        if cost < FORBIDDEN:
            assert all(with_label[o, k] <= cost for o, k in enumerate(chosen))


def test_a_label_that_hundreds_of_neighbours_forbid_stays_within_64_bits():
    """So many forbidden entries would not fit; equal pairs are taken a few dozen at once."""
    arrays, nodes = Arrays(), 301
    labels = arrays.number(np.arange(2))
    table = arrays.number(np.array([[FORBIDDEN, FORBIDDEN], [3, 5]]))
    own = [arrays.number(np.array([0, 1]))] * nodes
    for hub, pairs in (
        (0, [Pair(0, v, table, labels, labels) for v in range(1, nodes)]),
        (nodes - 1, [Pair(v, nodes - 1, table, labels, labels) for v in range(nodes - 1)]),
    ):
        costs = CostTables(arrays, [(0, 1)] * nodes, own, pairs, own, [-1] * nodes, None)
        tables = MovedCosts(costs, costs.allowed)
        assert tables.move([((0, 0), (0, 0))] * (nodes - 1)) == 3 * (nodes - 1)
        around = [e.tolist() for o, e in enumerate(tables.excess) if o != hub]
        if hub == 0:
            assert tables.excess[0].tolist() == [FORBIDDEN, 1]
            assert around == [[0, 3]] * (nodes - 1)
        else:
            assert tables.excess[hub].tolist() == [0, 2 * (nodes - 1) + 1]
            assert around == [[FORBIDDEN, 1]] * (nodes - 1)


@pytest.mark.parametrize("seed", range(200))
def test_a_replaced_label_is_not_missed(seed):
    rng = random.Random(seed)
    costs = random_tables(seed, nodes=rng.randint(1, 4), forbidden=rng.choice([0.0, 0.2]))
    domains = some_labels(costs, rng)
    optimum = enumerated(costs, domains)
    moved = MovedCosts(costs, domains)
    for _ in range(40):
        o = rng.randrange(len(domains))
        count = rng.randint(1, 2)
        labels = tuple(rng.choice(moved.domains[o]) for _ in range(count))
        by = tuple(rng.choice(moved.domains[o]) for _ in range(count))
        before = list(moved.domains)
        try:
            moved.replace([Replacement(node=o, labels=labels, by=by)], "replaced")
        except ValueError:
            assert moved.domains == before
        else:
            assert enumerated(costs, moved.domains) == optimum


def test_some_random_labels_are_replaced():
    taken = 0
    for seed in range(60):
        costs = random_tables(seed, nodes=3)
        for o, k, other in itertools.product(range(3), range(4), range(4)):
            moved = MovedCosts(costs, costs.allowed)
            try:
                moved.replace([Replacement(node=o, labels=(k,), by=(other,))], "replaced")
                taken += 1
            except ValueError:
                continue
    assert taken > 50


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({"node": 9, "labels": (0,), "by": (1,)}, r"replaced\[0\].node: 9, but there are 3"),
        ({"node": 0, "labels": (0,), "by": ()}, r"replaced\[0\].by: 0 for 1 labels"),
        ({"node": 0, "labels": (0,), "by": (0,)}, r"replaced\[0\]: label 0 by 0 of the labels"),
        ({"node": 0, "labels": (7,), "by": (0,)}, r"replaced\[0\]: label 7 by 0 of the labels"),
        ({"node": 0, "labels": (0, 1), "by": (1, 0)}, r"replaced\[0\]: label 1 by 0 of"),
    ],
)
def test_a_replacement_that_does_not_fit_is_refused(said, line):
    costs = next(c for s in range(99) if len((c := random_tables(s, nodes=3)).allowed[0]) == 4)
    with pytest.raises(ValueError, match=line):
        MovedCosts(costs, costs.allowed).replace([Replacement(**said)], "replaced")


def test_messages_that_do_not_fit_are_refused():
    costs = next(c for s in range(99) if (c := random_tables(s, nodes=2)).pairs)
    labels = [len(d) for d in costs.allowed]
    right = ((0,) * labels[0], (0,) * labels[1])
    for messages, line in (
        ([], "messages: 0 for 1 pairs"),
        ([((0,) * 9, right[1])], r"messages\[0\]: 9 for"),
        ([((2**60,) * labels[0], right[1])], "messages: too large for 64 bits"),
    ):
        with pytest.raises(ValueError, match=line):
            MovedCosts(costs, costs.allowed).move(messages)
