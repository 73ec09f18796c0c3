r"""Presets: the paper's experiments, contended clusters, narrow links, graphs.

The paper prints ranges; all draws are uniform. Our choices where it is silent (reconstructed): the
two-tier tree of racks and servers, with access links of 10-100 and uplinks of 200-3200 Gbit/s; the
arrivals, for which the paper uses a trace; the unit of the budgets (3), which the paper calls
iterations but compares with worker-slots; and reals with few digits.

With the printed ranges the cluster is not contended: nearly all policies reach the optimum.
`contended` has the same ranges on a small cluster with a short horizon.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.system.declaring import generator

from ...instance import (
    GadgetInstance,
    Graph,
    Link,
    Node,
)
from .random_jobs import (
    Arrivals,
    At,
    BudgetUnits,
    Kind,
    arrival_slots,
    cluster_of,
    gpus_in_all,
    in_a_hurry,
    paper_job,
    racks_of,
    resource_names,
    table_job,
    timed_job,
    tiny_jobs,
)

#: GPUs of a server.
GPUS = (1, 2, 4, 8)

#: Units of the resource sweeps: GPUs of the whole cluster, and Mbit/s of an uplink; access links
#: scale in proportion (reconstructed).
NODE_UNIT, UPLINK_UNIT, ACCESS_UNIT = 100, 200_000, 10_000


@generator()
def paper(
    rng: np.random.Generator,
    *,
    jobs: int = 100,
    servers: int = 50,
    racks: int = 0,
    horizon_slots: int = 200,
    arrivals: Arrivals = "uniform_first_half",
    budget_units: BudgetUnits = "iterations",
    utility: Kind = "sigmoid",
    node_factor: float = 0.0,
    edge_factor: float = 0.0,
) -> GadgetInstance:
    """The settings of the paper's experiments, with its sweeps.

    The sweeps of the paper: `jobs` 40 to 100 (Figure 4); the same with `node_factor` 1 to 4 (Figure
    5) and with `edge_factor` 0.5 to 4 (Figure 6); `jobs` 10 to 50 (Figure 7).

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, horizon_slots : int
    racks : int, default 0
        0 draws two to five.
    arrivals
        uniform_first_half: in any slot of the first half. poisson: one by one, at the rate that
        brings all jobs within half of the horizon. bursty: the same in batches of 3 1/3 jobs on
        average. all_at_start: in slot 1. (All reconstructed.)
    budget_units : "iterations" or "worker_slots"
        Unit of the limits of 1000 to 6000. As worker-slots they never bind.
    utility : "sigmoid", "sqrt" or "log"
        `sqrt` and `log` are scaled to the sigmoid's priority at its target (reconstructed).
    node_factor : float, default 0
        The cluster has 100 times this many GPUs; 0 keeps the GPUs drawn.
    edge_factor : float, default 0
        Uplinks have 200 Gbit/s times this, access links 10 Gbit/s times this; 0 keeps the links
        drawn.
    """
    gpus = rng.choice(GPUS, size=servers)
    if node_factor:
        gpus = gpus_in_all(rng, gpus, round(NODE_UNIT * node_factor))
    access = rng.integers(10_000, 100_001, size=servers)
    if edge_factor:
        access[:] = round(ACCESS_UNIT * edge_factor)
    rack = racks_of(rng, servers, racks or int(rng.integers(2, 6)))
    uplink = rng.integers(200_000, 3_200_001, size=rack.max() + 1)
    if edge_factor:
        uplink[:] = round(UPLINK_UNIT * edge_factor)
    slots = arrival_slots(rng, jobs, horizon_slots, arrivals)
    return GadgetInstance(
        horizon_slots=horizon_slots,
        substrate=cluster_of(rack, gpus, access, uplink),
        jobs=tuple(
            paper_job(rng, slot, int(rng.integers(1, 6)), budget_units, utility) for slot in slots
        ),
    )


@generator()
def contended(
    rng: np.random.Generator,
    *,
    jobs: int = 60,
    servers: int = 8,
    horizon_slots: int = 20,
    arrivals: Arrivals = "uniform_first_half",
    utility: Kind = "sigmoid",
) -> GadgetInstance:
    """The same on a small cluster, where policies differ.

    Return an instance of `paper` on a small cluster, where policies differ (reconstructed).

    Parameters are those of `paper`.
    """
    return paper(
        rng,
        jobs=jobs,
        servers=servers,
        horizon_slots=horizon_slots,
        arrivals=arrivals,
        utility=utility,
    )


@generator()
def timed(
    rng: np.random.Generator,
    *,
    jobs: int = 60,
    servers: int = 8,
    horizon_slots: int = 20,
    slot_s: float = 600.0,
    progress_at: At = "infinite",
) -> GadgetInstance:
    """The same with progress from the iteration time of a ring.

    Return a `contended` instance with progress from the iteration time (1) (reconstructed).

    Gradients are those of ResNet-50, BERT base or VGG-16; a hop has the bandwidth it reserves.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, horizon_slots : int
    slot_s : float, default 600
        Seconds of a slot.
    progress_at : "infinite" or "largest"
        Ring size at which the progress of all rings of a job is computed.
    """
    rack = racks_of(rng, servers, int(rng.integers(2, 6)))
    cluster = cluster_of(
        rack,
        rng.choice(GPUS, size=servers),
        rng.integers(10_000, 100_001, size=servers),
        rng.integers(200_000, 3_200_001, size=rack.max() + 1),
    )
    slots = arrival_slots(rng, jobs, horizon_slots, "uniform_first_half")
    return GadgetInstance(
        horizon_slots=horizon_slots,
        substrate=cluster,
        jobs=tuple(
            timed_job(rng, slot, int(rng.integers(1, 6)), slot_s, progress_at) for slot in slots
        ),
    )


@generator()
def tight(
    rng: np.random.Generator,
    *,
    jobs: int = 60,
    servers: int = 10,
    racks: int = 2,
    horizon_slots: int = 20,
    utility: Kind = "sigmoid",
    link_factor: float = 1.0,
    urgency: float = 0.0,
) -> GadgetInstance:
    """Few GPUs per server and links that bind.

    Return an instance whose links bind: servers have few GPUs and slow links (reconstructed).

    One or two GPUs a server, rings of two to five workers, access links of 3 to 8 and uplinks of 3
    to 12 Gbit/s for hops of 1 to 5 Gbit/s. The rest is as in `paper`.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, racks, horizon_slots : int
    utility
        As in `paper`.
    link_factor : float, default 1
        Factor on all link bandwidths; well below 1, many hops exceed some links.
    urgency : float, default 0
        If positive, there are no budgets, and the target of a job is half to all of this share of
        what its largest ring does in all slots from its arrival: near 1, small rings are useless.
    """
    rack = racks_of(rng, servers, racks)
    cluster = cluster_of(
        rack,
        rng.integers(1, 3, size=servers),
        (link_factor * rng.integers(3_000, 8_001, size=servers)).astype(np.int64),
        (link_factor * rng.integers(3_000, 12_001, size=rack.max() + 1)).astype(np.int64),
    )
    made = []
    for slot in arrival_slots(rng, jobs, horizon_slots, "uniform_first_half"):
        job = paper_job(rng, slot, int(rng.integers(2, 6)), "iterations", utility)
        job = job.model_copy(update={"ring_bandwidth_mbps": int(rng.integers(1_000, 5_001))})
        if urgency:
            most = job.max_workers * (horizon_slots - slot + 1)
            job = in_a_hurry(job, most, urgency * float(rng.uniform(0.5, 1)))
        made.append(job)
    return GadgetInstance(horizon_slots=horizon_slots, substrate=cluster, jobs=tuple(made))


@generator()
def slot(
    rng: np.random.Generator,
    *,
    jobs: int = 40,
    servers: int = 50,
    racks: int = 0,
    largest_ring: int = 5,
    scarce: bool = False,
) -> GadgetInstance:
    """One slot of jobs with decreasing marginal gains.

    Return an instance of one slot with decreasing marginal gains (reconstructed).

    The cluster and the bandwidths are those of `paper`; with `scarce`, servers, links and hops are
    those of `tight`.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers : int
    racks : int, default 0
        0 draws two to five.
    largest_ring : int, default 5
        N_i is drawn up to this.
    scarce : bool, default False
    """
    rack = racks_of(rng, servers, racks or int(rng.integers(2, 6)))
    ranges = ((3_000, 8_000), (3_000, 12_000), (1_000, 5_000))
    if not scarce:
        ranges = ((10_000, 100_000), (200_000, 3_200_000), (100, 5_000))
    access, uplink, hop = ranges
    cluster = cluster_of(
        rack,
        rng.integers(1, 3, size=servers) if scarce else rng.choice(GPUS, size=servers),
        rng.integers(access[0], access[1] + 1, size=servers),
        rng.integers(uplink[0], uplink[1] + 1, size=rack.max() + 1),
    )
    made = []
    for _ in range(jobs):
        N = int(rng.integers(min(2, largest_ring) if scarce else 1, largest_ring + 1))
        gains = np.sort(rng.uniform(1, 100, size=N))[::-1]
        made.append(table_job(np.cumsum(gains), int(rng.integers(hop[0], hop[1] + 1)), N))
    return GadgetInstance(horizon_slots=1, substrate=cluster, jobs=tuple(made))


@generator()
def rigid(rng: np.random.Generator, *, jobs: int = 8, servers: int = 8) -> GadgetInstance:
    """One slot of rings of exactly three workers; a link carries one ring.

    Return one slot with rings of exactly three workers on servers of two GPUs (reconstructed).

    A ring needs two servers, and a server's link carries only one ring, so bounds by GPUs alone are
    very weak.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers : int
    """
    none = np.zeros(servers, dtype=np.int64)
    cluster = cluster_of(none, none + 2, none + 3_000, none[:1] + 1_000_000)
    worth = rng.integers(10, 101, size=jobs).tolist()
    return GadgetInstance(
        horizon_slots=1,
        substrate=cluster,
        jobs=tuple(table_job([0, 0, v], 2_000, 3) for v in worth),
    )


@generator()
def graph(
    rng: np.random.Generator,
    *,
    jobs: int = 4,
    servers: int = 4,
    switches: int = 2,
    extra_links: int = 6,
    horizon_slots: int = 1,
    largest_ring: int = 3,
) -> GadgetInstance:
    """A random directed graph of servers and switches.

    Return an instance on a directed graph of servers and switches (reconstructed).

    All nodes lie on one directed cycle in random order; further links are random. Servers forward
    traffic of other servers.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, switches, horizon_slots : int
    extra_links : int, default 6
        Links besides the cycle, as far as there are pairs of nodes.
    largest_ring : int, default 3
        N_i is drawn up to this.
    """
    nodes = servers + switches
    order = rng.permutation(nodes)
    pairs = {(int(u), int(v)) for u, v in zip(order, np.roll(order, -1), strict=True) if u != v}
    others = [(u, v) for u in range(nodes) for v in range(nodes) if u != v and (u, v) not in pairs]
    drawn = rng.permutation(len(others))[:extra_links].tolist()
    links = [*sorted(pairs), *sorted(others[e] for e in drawn)]
    gpus = rng.integers(1, 4, size=servers).tolist()
    return GadgetInstance(
        horizon_slots=horizon_slots,
        substrate=Graph(
            nodes=tuple(
                Node(capacity=(float(gpus[v]),) if v < servers else None) for v in range(nodes)
            ),
            links=tuple(
                Link(source=u, target=v, mbps=int(rng.integers(1, 4)) * 1_000) for u, v in links
            ),
        ),
        jobs=tiny_jobs(rng, jobs, horizon_slots, largest_ring, 1),
    )


@generator()
def tiny(
    rng: np.random.Generator,
    *,
    jobs: int = 3,
    servers: int = 3,
    racks: int = 2,
    horizon_slots: int = 1,
    largest_ring: int = 3,
    resources: int = 1,
) -> GadgetInstance:
    """An instance small enough to enumerate.

    Return an instance that can be enumerated (reconstructed).

    Utilities are tables of integers, concave or not; links carry one to three hops.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, racks, horizon_slots, resources : int
    largest_ring : int, default 3
        N_i is drawn up to this.
    """
    rack = racks_of(rng, servers, racks)
    capacity = rng.integers(1, 4, size=(servers, resources))
    access = 1_000 * rng.integers(1, 4, size=servers)
    uplink = 1_000 * rng.integers(1, 4, size=rack.max() + 1)
    return GadgetInstance(
        horizon_slots=horizon_slots,
        resources=resource_names(resources),
        substrate=cluster_of(rack, capacity, access, uplink),
        jobs=tiny_jobs(rng, jobs, horizon_slots, largest_ring, resources),
    )


@generator()
def quickstart(rng: np.random.Generator, *, jobs: int = 6) -> GadgetInstance:
    """A few jobs on four servers with narrow links.

    Return a small contended instance (reconstructed).

    Four servers with one or two GPUs in two racks, eight slots, links that carry one or two rings.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs : int, default 6
    """
    return tight(rng, jobs=jobs, servers=4, racks=2, horizon_slots=8)
