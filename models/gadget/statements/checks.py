"""The statements of the paper, checked on small instances."""

from __future__ import annotations

import networkx as nx
import numpy as np

from gadgetopt.trust.statements import Finding, best_value, tested_ratio, witness

from ..baselines import METHODS as BASELINES
from ..evaluate import utility
from ..generate.presets import paper
from ..instance import GadgetInstance

Hop = tuple[int, int]


def _degrees(hops: list[Hop], servers: int) -> list[int]:
    """Return how many hops start or end at each server."""
    return [sum((s in hop) for hop in hops) for s in range(servers)]


def equation_9() -> Finding:
    """A ring over three of four servers, put into the equation."""
    instance: GadgetInstance = witness("gadget/tiny/h7_square.json")
    servers = len(instance.substrate.nodes)  # type: ignore[union-attr]
    ring: list[Hop] = [(0, 1), (1, 2), (2, 0)]
    violated = [s for s, degree in enumerate(_degrees(ring, servers)) if degree != 2]
    shown = f"a ring over servers 0, 1, 2 of {servers}: servers {violated} violate the equation"
    return Finding(not violated, shown)


def one_ring() -> Finding:
    """Two rings of three workers, which have degree two everywhere."""
    instance: GadgetInstance = witness("gadget/tiny/h6_two_triangles.json")
    hops: list[Hop] = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    servers = len(instance.substrate.nodes)  # type: ignore[union-attr]
    accepted = all(degree == 2 for degree in _degrees(hops, servers))
    links = instance.substrate.links  # type: ignore[union-attr]
    network = nx.Graph((link.source, link.target) for link in links)
    largest = max(len(part) for part in nx.connected_components(network))
    shown = f"degree two at {servers} servers: {accepted}; the largest ring has {largest} workers"
    return Finding(not (accepted and largest < servers), shown)


def equation_8() -> Finding:
    """Two paths that each fit the link they share."""
    capacity, hop = 1000, 600
    each, together = hop <= capacity, 2 * hop <= capacity
    shown = (
        f"two paths of {hop} Mbit/s over a link of {capacity}: each fits ({each}), "
        f"both together fit ({together})"
    )
    return Finding(each <= together, shown)


def sigmoid() -> Finding:
    """The gains of the first and the second worker-slot of a job."""
    instance: GadgetInstance = witness("gadget/tiny/h4_sigmoid_starvation.json")
    job = instance.jobs[0]
    first, second = np.diff([utility(job, count) for count in range(3)])
    shown = f"gain of the first worker-slot {first:.3g}, of the second {second:.3g}"
    return Finding(bool(second <= first), shown)


def energy() -> Finding:
    """The cost alone, of one and of two units."""
    one, two = -1.0, -4.0
    shown = f"-x^2 at 1 is {one:g}, at 2 it is {two:g}; to do nothing is worth 0"
    return Finding(two >= one, shown)


def largest_ring() -> Finding:
    """A ring of three workers on servers of one GPU each."""
    instance: GadgetInstance = witness("gadget/tiny/h6_two_triangles.json")
    job = instance.jobs[0]
    nodes = instance.substrate.nodes  # type: ignore[union-attr]
    rooms = [int(node.capacity[0]) for node in nodes if node.capacity]  # a worker takes one GPU
    bound = min(job.max_workers, *rooms)
    found = best_value("gadget/tiny/h6_two_triangles.json", "offline")
    assert found is not None
    shown = f"the formula gives {bound}, a feasible ring has {found:g} workers"
    return Finding(found <= bound, shown)


def baseline_workers() -> Finding:
    """The largest number of workers of a job, and of a baseline's draw."""
    jobs = paper(np.random.default_rng(0)).jobs
    largest = max(job.max_workers for job in jobs)
    drawn = max(int(method.parameters.get("most_workers", 0)) for method in BASELINES)
    shown = f"jobs have at most {largest} workers, the baselines draw from 1 to {drawn}"
    return Finding(drawn <= largest, shown)


def theorem_6() -> Finding:
    """Slot by slot against the optimum over both slots."""
    greedy = "gadget:slot_solver=exact"
    return tested_ratio("gadget/tiny/h3_greedy_concave.json", "Theorem 6", greedy, "offline")
