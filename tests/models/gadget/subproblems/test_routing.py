"""Decoding of rings from link uses by Eulerian circuits (proposition P1)."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.evaluate import evaluate, link_loads
from gadgetopt.models.gadget.subproblems.routing import mapping_of, without_loops
from gadgetopt.models.gadget.subproblems.slot_problem import ring

from ..tiny import solution, tiny


def closed_walk(rng, links, steps):
    """Walk along links at random until back at the start; return the nodes and uses of links."""
    number = {arc: e for e, arc in enumerate(links)}
    onward = {u: [v for w, v in links if w == u] for u, _ in links}
    walk = [links[0][0]]
    while len(walk) <= steps or walk[-1] != walk[0]:
        walk.append(int(rng.choice(onward[walk[-1]])))
    return walk, Counter(number[arc] for arc in itertools.pairwise(walk))


@given(st.integers(0, 10**6))
def test_a_closed_walk_carries_a_ring_over_any_of_its_servers(seed):
    rng = np.random.default_rng(seed)
    instance = generate.graph(rng, jobs=1, servers=4, switches=2)
    terms = instance.terms
    links = [tuple(pair) for pair in terms.links.tolist()]
    walk, uses = closed_walk(rng, links, int(rng.integers(1, 12)))
    workers = {s: int(rng.integers(3)) for s, v in enumerate(terms.servers) if v in walk}
    mapping = mapping_of(terms, 0, workers, uses)
    if mapping is None:
        assert not any(workers.values())
        return
    assert dict(mapping.workers) == {s: count for s, count in workers.items() if count}
    made = solution(ring(terms, 1, mapping))
    assert not any(v.constraint == "route" for v in evaluate(instance, made).violations)
    b = instance.jobs[0].ring_bandwidth_mbps
    for (_, arc), load in link_loads(instance, made).items():
        assert load <= b * uses[links.index(arc)]


def test_other_circuits_and_unused_servers_are_left_out():
    # Two triangles: the circuit of the second is not needed, server 1 is passed through.
    terms = tiny("h6_two_triangles").terms
    number = {tuple(arc): e for e, arc in enumerate(terms.links.tolist())}
    arcs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    mapping = mapping_of(terms, 0, {0: 1, 1: 0, 2: 2}, {number[arc]: 1 for arc in arcs})
    assert mapping.workers == ((0, 1), (2, 2))
    assert mapping.routes == ((0, 1, 2), (), (2, 0))


def test_links_that_do_not_make_a_ring_are_refused():
    terms = tiny("h6_two_triangles").terms
    number = {tuple(arc): e for e, arc in enumerate(terms.links.tolist())}
    with pytest.raises(ValueError, match="do not connect"):
        mapping_of(terms, 0, {0: 1, 3: 1}, {number[0, 1]: 1, number[1, 0]: 1})
    with pytest.raises(ValueError, match="not balanced"):
        mapping_of(terms, 0, {0: 1, 1: 1}, {number[0, 1]: 1})


def test_detours_are_left_out_of_routes():
    assert without_loops([1, 2, 3, 2, 4, 5, 4, 6]) == (1, 2, 4, 6)
