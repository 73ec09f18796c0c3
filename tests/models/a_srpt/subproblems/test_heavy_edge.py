"""Heavy-edge mappings: H1 and H2 to the digit, and against a second implementation."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.algorithms.plain import heavy_edge as plain_heavy_edge
from gadgetopt.models.a_srpt.data.generate.random_jobs import random_type
from gadgetopt.models.a_srpt.mapping import sparse
from gadgetopt.models.a_srpt.subproblems.heavy_edge import heavy_edge, heavy_edge_contract
from gadgetopt.models.a_srpt.subproblems.mapper import Mapper, graph_of

from ..hand_checked import H1, H2, alpha_max_s


def seconds(instance, placement):
    times = instance.times[0]
    return times.seconds(times.units(sparse(placement)))


def cut_gbytes(instance, placement):
    graph = graph_of(instance.job_types[0])
    return graph.cut(placement) * graph.unit_gbytes


def test_h1_weights_and_mappings():
    graph = graph_of(H1.job_types[0])
    assert [w * graph.unit_gbytes for w in graph.inside] == [Fraction(2, 5), Fraction(2, 5)]
    assert graph.between[0] * graph.unit_gbytes == Fraction(1, 20)
    for mapping in (heavy_edge, heavy_edge_contract):
        placement = mapping(graph, (2, 2))
        assert seconds(H1, placement) == Fraction("0.17")
        assert cut_gbytes(H1, placement) == Fraction("0.2")
    mixed = ((1, 1), (1, 1))
    assert seconds(H1, mixed) == Fraction("0.3275")
    assert cut_gbytes(H1, mixed) == Fraction("0.9")
    assert alpha_max_s(H1) == (Fraction("0.35"),)


def test_h2_the_vertex_form_is_not_optimal_and_contraction_is():
    graph = graph_of(H2.job_types[0])
    vertex = heavy_edge(graph, (3, 2))
    assert vertex == ((2, 0), (1, 0), (0, 2))
    assert seconds(H2, vertex) == Fraction("0.531")
    assert cut_gbytes(H2, vertex) == Fraction("0.8")
    contracted = heavy_edge_contract(graph, (3, 2))
    assert seconds(H2, contracted) == Fraction("0.261")
    assert cut_gbytes(H2, contracted) == Fraction("0.2")
    assert alpha_max_s(H2) == (Fraction("0.81"),)
    assert H2.alpha_min_s == (Fraction("0.261"),)


def test_h2_the_vertex_form_is_not_monotone_in_the_free_gpus():
    """On the empty cluster it is faster than on [3, 2], and still far from the optimum."""
    times = H2.times[0]
    alone = times.seconds(Mapper(H2, "heavy_edge").on_empty_cluster(0))
    assert alone == Fraction("0.52")


def capacities_for(rng, gpus):
    capacities = []
    while sum(capacities) < gpus:
        capacities.append(int(rng.integers(1, 6)))
    return tuple(capacities)


@pytest.mark.parametrize("seed", range(60))
def test_both_forms_place_every_replica_within_the_capacities(seed):
    rng = np.random.default_rng(seed)
    job_type = random_type(rng, 12)
    graph = graph_of(job_type)
    capacities = capacities_for(rng, graph.room)
    for mapping in (heavy_edge, heavy_edge_contract):
        placement = mapping(graph, capacities)
        assert tuple(map(sum, placement)) == job_type.replicas
        used = [sum(column) for column in zip(*placement, strict=True)]
        assert all(u <= c for u, c in zip(used, capacities, strict=True))
    assert [list(row) for row in heavy_edge(graph, capacities)] == plain_heavy_edge(
        job_type, capacities
    )
