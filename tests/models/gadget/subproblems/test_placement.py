"""Greedy placement of rings, upper hulls and knapsack bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.gadget.instance import GadgetInstance, Job, Rack, Server, TwoTier
from gadgetopt.models.gadget.proving.knapsack_bound import (
    choose_sizes,
    knapsack_bound,
)
from gadgetopt.models.gadget.subproblems.hull import envelope, fractional_choice, upper_hull
from gadgetopt.models.gadget.subproblems.max_ring import largest_rings
from gadgetopt.models.gadget.subproblems.placement import Room, embed, place
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping, slot_problem
from gadgetopt.models.gadget.utility import Linear, Table


def slot_instance(servers, uplinks, jobs) -> GadgetInstance:
    """Return a one-slot instance: servers (rack, GPUs, access), jobs (bandwidth, values)."""
    return GadgetInstance(
        horizon_slots=1,
        substrate=TwoTier(
            servers=tuple(
                Server(rack=rack, capacity=(float(gpus),), access_mbps=access)
                for rack, gpus, access in servers
            ),
            racks=tuple(Rack(uplink_mbps=mbps) for mbps in uplinks),
        ),
        jobs=tuple(
            Job(
                arrival_slot=1,
                max_workers=len(values) - 1,
                worker_demand=(1.0,),
                ring_bandwidth_mbps=bandwidth,
                utility=Table(values=tuple(map(float, values))),
            )
            for bandwidth, values in jobs
        ),
    )


#: H5: six GPUs in two racks; sizes 3, 2 and 1 are worth 47 and can be embedded.
H5 = slot_instance(
    [(0, 2, 5000), (0, 2, 5000), (1, 1, 5000), (1, 1, 5000)],
    [3000, 3000],
    [(2000, (0, 10, 18, 24)), (2000, (0, 9, 15)), (2000, (0, 8, 14, 17))],
)


def test_sizes_by_capacity_that_can_be_embedded_are_optimal():
    terms = H5.terms
    problem = slot_problem(terms, 1, [0, 0, 0])
    assert knapsack_bound(problem).bound == 47
    gains = [x.gain for x in problem.jobs]
    relaxed = fractional_choice(gains, [1, 1, 1], 6)
    assert relaxed.value == 47
    assert relaxed.shares == ({3: 1.0}, {2: 1.0}, {1: 1.0})
    mappings = embed(Room(terms), zip(terms.jobs, (3, 2, 1), strict=True))
    assert mappings == [
        Mapping(0, ((0, 2), (1, 1))),
        Mapping(1, ((2, 1), (3, 1))),
        Mapping(2, ((1, 1),)),
    ]


def test_a_ring_over_racks_loads_access_links_and_uplinks():
    terms = slot_instance([(0, 1, 9), (1, 1, 7)], [8, 6], [(5, (0, 1, 3))]).terms
    room = Room(terms)
    mapping = place(room, terms.jobs[0], 2)
    assert mapping == Mapping(0, ((0, 1), (1, 1)))
    room.take(terms.jobs[0], mapping)
    assert room.access.tolist() == [4, 2]
    assert room.uplink.tolist() == [3, 1]
    assert room.free.tolist() == [[0], [0]]
    room.take(terms.jobs[0], mapping, sign=-1)
    assert room.fits(terms.jobs[0], mapping)


def test_a_ring_alone_is_no_larger_than_bandwidth_allows():
    servers = [(0, 2, 10), (0, 1, 4), (1, 3, 10)]
    jobs = [(b, (0, 1, 2, 3, 4, 5, 6)) for b in (4, 5, 9, 11)]
    terms = slot_instance(servers, [8, 8], jobs).terms
    assert largest_rings(terms) == [6, 5, 3, 3]


tables = st.lists(st.floats(0, 100), min_size=1, max_size=6).map(
    lambda steps: np.cumsum([0.0, *steps])
)


@given(tables)
def test_the_envelope_is_concave_and_above(table):
    above = envelope(table)
    slack = 1e-9 * (1 + above.max())
    assert (above >= table).all()
    assert (np.diff(above, 2) <= slack).all()
    hull = upper_hull(table)
    assert above[hull] == pytest.approx(table[hull])


@given(st.lists(st.tuples(tables, st.integers(1, 3)), max_size=5), st.integers(0, 20))
def test_the_dynamic_program_is_the_best_choice_and_the_relaxation_above(jobs, capacity):
    gains = [gain for gain, _ in jobs]
    demands = [demand for _, demand in jobs]
    choice = choose_sizes(gains, demands, capacity)
    best = {0: 0.0}
    for gain, demand in jobs:
        grown: dict[int, float] = {}
        for used, value in best.items():
            for k, more in enumerate(gain):
                load = used + k * demand
                if load <= capacity:
                    grown[load] = max(grown.get(load, 0.0), value + more)
        best = grown
    assert choice.bound == pytest.approx(max(best.values()))
    assert sum(k * d for k, d in zip(choice.sizes, demands, strict=True)) <= capacity
    relaxed = fractional_choice(gains, demands, capacity)
    assert relaxed.value >= choice.bound - 1e-9 * (1 + choice.bound)
    used = sum(
        k * x * d
        for share, d in zip(relaxed.shares, demands, strict=True)
        for k, x in share.items()
    )
    assert used <= capacity + 1e-9


def test_servers_of_any_size_have_room():
    # A billion workers would fit; heaps by their number would not.
    cluster = TwoTier(
        servers=(Server(rack=0, capacity=(1e7,), access_mbps=1),), racks=(Rack(uplink_mbps=1),)
    )
    job = Job(
        arrival_slot=1,
        max_workers=5,
        worker_demand=(0.01,),
        ring_bandwidth_mbps=1,
        utility=Linear(slope=1.0),
    )
    instance = GadgetInstance(horizon_slots=1, substrate=cluster, jobs=(job,))
    mapping = place(Room(instance.terms), instance.terms.jobs[0], 5)
    assert mapping.workers == ((0, 5),)
