"""Brute force over all rings of tiny instances, hop by hop."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import networkx as nx

from gadgetopt.models.gadget.evaluate import evaluate, utility
from gadgetopt.models.gadget.instance import GadgetInstance, GadgetSolution, Ring, TwoTier


def network(instance: GadgetInstance):
    """Return capacities of servers and bandwidths of links, by node."""
    cluster = instance.substrate
    if not isinstance(cluster, TwoTier):
        capacity = {v: n.capacity for v, n in enumerate(cluster.nodes) if n.capacity is not None}
        return capacity, {(e.source, e.target): e.mbps for e in cluster.links}
    servers, racks = len(cluster.servers), len(cluster.racks)
    mbps = {}
    for s, server in enumerate(cluster.servers):
        mbps[s, servers + server.rack] = mbps[servers + server.rack, s] = server.access_mbps
    for k, rack in enumerate(cluster.racks):
        mbps[servers + k, servers + racks] = mbps[servers + racks, servers + k] = rack.uplink_mbps
    return {s: server.capacity for s, server in enumerate(cluster.servers)}, mbps


def rings_of(instance: GadgetInstance, i: int):
    """Return (size, use, ring) of a job's rings that fit alone, and the limits of what they use.

    Every sequence of servers, up to rotation, with every choice of simple routes.
    """
    job = instance.jobs[i]
    capacity, mbps = network(instance)
    b = job.ring_bandwidth_mbps
    wide = nx.DiGraph([arc for arc, there in mbps.items() if there >= b])
    wide.add_nodes_from(capacity)
    paths = {
        (u, v): [tuple(p) for p in nx.all_simple_paths(wide, u, v)] if u != v else [()]
        for u, v in itertools.product(capacity, repeat=2)
    }
    found = {}
    for size in range(1, job.max_workers + 1):
        for servers in itertools.product(capacity, repeat=size):
            if servers[0] != min(servers):
                continue
            hops = zip(servers, (*servers[1:], servers[0]), strict=True)
            for routes in itertools.product(*(paths[hop] for hop in hops)):
                use = Counter()
                for u in servers:
                    for r, each in enumerate(job.worker_demand):
                        use[u, "r", r] += each
                for route in routes:
                    for arc in itertools.pairwise(route):
                        use[arc] += b
                key = frozenset((k, x) for k, x in use.items() if x)
                found.setdefault((size, key), Ring(slot=1, job=i, servers=servers, routes=routes))
    limit = {(u, "r", r): c for u, row in capacity.items() for r, c in enumerate(row)} | mbps
    fits = [
        (size, dict(key), ring)
        for (size, key), ring in found.items()
        if all(x <= limit[k] + 1e-9 for k, x in key)
    ]
    return _smallest(fits), limit


def _smallest(rings):
    """Remove rings dominated by another ring of the same size."""
    kept = []
    for size, use, ring in sorted(rings, key=lambda x: (x[0], sum(x[1].values()))):
        if not any(
            size == other and all(use.get(k, 0) >= x for k, x in less.items())
            for other, less, _ in kept
        ):
            kept.append((size, use, ring))
    return kept


def slot_patterns(instance: GadgetInstance, present):
    """Return the sizes of rings that fit together in a slot, with the rings of each."""
    patterns = {}

    def extend(left, sizes, rings, used):
        if not left:
            patterns.setdefault(sizes, rings)
            return
        i = left[0]
        extend(left[1:], (*sizes, 0), rings, used)
        if i not in present:
            return
        for size, use, ring in options[i]:
            after = used.copy()
            for k, x in use.items():
                after[k] += x
            if all(after[k] <= limit[k] + 1e-9 for k in use):
                extend(left[1:], (*sizes, size), (*rings, ring), after)

    options, limit = {}, {}
    for i in range(len(instance.jobs)):
        options[i], limit = rings_of(instance, i)
    extend(tuple(range(len(instance.jobs))), (), (), defaultdict(float))
    return patterns


def brute_force(instance: GadgetInstance) -> tuple[float, GadgetSolution]:
    """Return the optimum and a solution that the evaluator confirms."""
    reached = {(0,) * len(instance.jobs): ()}
    patterns, before = {}, None
    for t in range(1, instance.horizon_slots + 1):
        present = frozenset(i for i, job in enumerate(instance.jobs) if job.arrival_slot <= t)
        if present != before:
            patterns, before = slot_patterns(instance, present), present
        after = {}
        for totals, rings in reached.items():
            for sizes, more in patterns.items():
                key = tuple(a + b for a, b in zip(totals, sizes, strict=True))
                if key not in after:
                    added = tuple(r.model_copy(update={"slot": t}) for r in more)
                    after[key] = (*rings, *added)
        reached = after
    ranked = sorted(
        reached,
        key=lambda z: -sum(utility(job, k) for job, k in zip(instance.jobs, z, strict=True)),
    )
    for totals in ranked:
        solution = GadgetSolution(rings=reached[totals])
        found = evaluate(instance, solution)
        if found.feasible:
            return found.objective, solution
        # Sizes and capacities are respected; only budgets can be exceeded.
        assert {v.constraint for v in found.violations} <= {"budget", "worker_slots"}
    raise AssertionError("doing nothing is feasible")
