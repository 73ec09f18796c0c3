"""Local search and the rules of mappings: each is at least as good as what it begins with."""

from typing import get_args

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.random_jobs import random_type
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.models.a_srpt.mapping import fastest_mapping, sparse
from gadgetopt.models.a_srpt.subproblems.heavy_edge import heavy_edge, heavy_edge_contract
from gadgetopt.models.a_srpt.subproblems.mapper import MAPPINGS, graph_of
from gadgetopt.models.a_srpt.subproblems.mapping_search import best_of, local_search
from gadgetopt.models.a_srpt.subproblems.names import MappingRule

from ..hand_checked import H2
from .test_heavy_edge import capacities_for


@pytest.mark.parametrize("seed", range(40))
def test_fastest_is_at_most_searched_is_at_most_best_of_is_at_most_each(seed):
    rng = np.random.default_rng(seed)
    job_type = random_type(rng, 8)
    graph = graph_of(job_type)
    times = mapping_times(
        job_type, H2.intra_bandwidth_gbytes_per_s, H2.inter_bandwidth_gbytes_per_s
    )
    capacities = capacities_for(rng, graph.room)

    def units(placement):
        return times.units(sparse(placement))

    best = best_of(graph, times, capacities)
    searched = local_search(graph, times, capacities, best)
    assert tuple(map(sum, searched)) == job_type.replicas
    assert all(
        sum(column) <= c for column, c in zip(zip(*searched, strict=True), capacities, strict=True)
    )
    assert fastest_mapping(times, capacities).bound <= units(searched) <= units(best)
    assert units(best) == min(
        units(heavy_edge(graph, capacities)), units(heavy_edge_contract(graph, capacities))
    )
    assert times.together <= units(searched) <= times.longest


def test_local_search_mends_the_vertex_form_on_h2():
    graph, times = graph_of(H2.job_types[0]), H2.times[0]
    searched = local_search(graph, times, (3, 2), heavy_edge(graph, (3, 2)))
    assert times.units(sparse(searched)) == fastest_mapping(times, (3, 2)).units


def test_the_names_of_mappings_are_those_of_the_rules():
    assert tuple(MAPPINGS) == get_args(MappingRule)
