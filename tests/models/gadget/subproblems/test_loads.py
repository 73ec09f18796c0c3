"""Loads of one mapping where it has some, held against counts written out."""

import numpy as np

from gadgetopt.models.gadget.data.generate.presets import graph, paper
from gadgetopt.models.gadget.subproblems.loads import loads_of, mapping_loads, no_loads
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping


def test_a_ring_over_servers_of_two_racks_loads_access_links_and_uplinks_once():
    terms = paper(np.random.default_rng(0), jobs=3, servers=6, racks=2).terms
    job = terms.jobs[0]
    first, second = 0, next(s for s in range(6) if terms.tree.rack[s] != terms.tree.rack[0])
    loads = loads_of(terms, job, Mapping(0, ((first, 2), (second, 1))))
    ends = (first, second, 6 + terms.tree.rack[first], 6 + terms.tree.rack[second])
    expected = np.zeros_like(terms.link_mbps)
    for v in ends:
        expected[[2 * v, 2 * v + 1]] = job.bandwidth
    assert loads.link.tolist() == expected.tolist()
    assert (loads.server[first] == 2 * job.demand).all()
    assert loads.server.sum() == 3 * job.demand.sum()
    alone = mapping_loads(terms, job, Mapping(0, ((second, 4),)))
    assert len(alone.links) == 0


def test_a_link_that_two_hops_pass_is_loaded_twice():
    terms = graph(np.random.default_rng(1)).terms
    job, number = terms.jobs[0], {tuple(pair): e for e, pair in enumerate(terms.links.tolist())}
    u, v = terms.links[0].tolist()
    mapping = Mapping(0, ((0, 1), (1, 1)), ((u, v), (u, v)))
    loads = mapping_loads(terms, job, mapping)
    assert loads.links.tolist() == [number[u, v]]
    assert loads.mbps.tolist() == [2 * job.bandwidth]
    total = no_loads(terms)
    total.put(loads)
    total.put(loads, -1)
    assert not total.link.any()
    assert not total.server.any()
