"""The check's largest ring of a job alone is that of the search, which computes it otherwise."""

import numpy as np
import pytest

from gadgetopt.models.gadget.instance import (
    GadgetInstance,
    Graph,
    Job,
    Link,
    Node,
    Rack,
    Server,
    TwoTier,
)
from gadgetopt.models.gadget.proving.certificate.largest_ring import largest_alone
from gadgetopt.models.gadget.subproblems.max_ring import largest_rings
from gadgetopt.models.gadget.utility import Linear


def two_tier(rng):
    racks = int(rng.integers(1, 4))
    servers = tuple(
        Server(
            rack=int(rng.integers(racks)),
            capacity=(float(rng.integers(4)),),
            access_mbps=int(rng.integers(5)),
        )
        for _ in range(rng.integers(1, 7))
    )
    uplinks = rng.integers(5, size=racks).tolist()
    return TwoTier(servers=servers, racks=tuple(Rack(uplink_mbps=b) for b in uplinks))


def directed(rng):
    count = int(rng.integers(1, 8))
    nodes = [None, *(rng.integers(4, size=count) + 0.0).tolist()]
    pairs = [(u, v) for u in range(count + 1) for v in range(count + 1) if u != v]
    links = [
        Link(source=u, target=v, mbps=int(rng.integers(5))) for u, v in pairs if rng.random() < 0.4
    ]
    return Graph(
        nodes=tuple(Node(capacity=None if n is None else (n,)) for n in nodes), links=tuple(links)
    )


@pytest.mark.parametrize("network", [two_tier, directed])
@pytest.mark.parametrize("seed", range(60))
def test_the_check_and_the_search_find_the_same_largest_rings(network, seed):
    rng = np.random.default_rng(seed)
    jobs = tuple(
        Job(
            arrival_slot=1,
            max_workers=int(rng.integers(1, 12)),
            worker_demand=(float(rng.integers(1, 3)),),
            ring_bandwidth_mbps=int(rng.integers(5)),
            utility=Linear(slope=1.0),
        )
        for _ in range(4)
    )
    terms = GadgetInstance(horizon_slots=1, substrate=network(rng), jobs=jobs).terms
    assert largest_alone(terms) == largest_rings(terms)


def test_a_ring_over_racks_needs_the_uplinks_of_its_racks():
    # Two servers of two GPUs in rack 0, three GPUs in rack 1, whose uplink is too narrow.
    cluster = TwoTier(
        servers=(
            Server(rack=0, capacity=(2.0,), access_mbps=10),
            Server(rack=0, capacity=(2.0,), access_mbps=10),
            Server(rack=1, capacity=(3.0,), access_mbps=10),
        ),
        racks=(Rack(uplink_mbps=10), Rack(uplink_mbps=5)),
    )
    jobs = tuple(
        Job(
            arrival_slot=1,
            max_workers=9,
            worker_demand=(1.0,),
            ring_bandwidth_mbps=b,
            utility=Linear(slope=1.0),
        )
        for b in (5, 6, 11)
    )
    terms = GadgetInstance(horizon_slots=1, substrate=cluster, jobs=jobs).terms
    assert largest_alone(terms) == [7, 4, 3]
