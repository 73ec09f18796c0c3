"""Constraints and algorithms of the paper, checked on counterexamples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import networkx as nx
import numpy as np

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, objective, run, tested_ratio

from ..evaluate import evaluate, utility
from ..instance import GadgetInstance, GadgetSolution, Graph, Ring, TwoTier

Hop = tuple[int, int]

BY_SLOTS = "gadget_exact"


def _hops(ring: Ring) -> list[Hop]:
    """Return the hops of a ring between different servers."""
    ends = zip(ring.servers, (*ring.servers[1:], ring.servers[0]), strict=True)
    return [(u, v) for u, v in ends if u != v]


def _degrees(hops: Sequence[Hop]) -> Counter[int]:
    """Return how many hops start or end at each server."""
    return Counter(server for hop in hops for server in hop)


def _network(instance: GadgetInstance) -> nx.DiGraph:
    """Return the links of a general network with their Mbit/s."""
    if not isinstance(instance.substrate, Graph):
        raise TypeError("expected a general network")
    links = instance.substrate.links
    return nx.DiGraph([(link.source, link.target, {"mbps": link.mbps}) for link in links])


@statement(
    source="(9)",
    statement="if a job uses several servers, its ring has degree two at every server",
    grade="refuted",
    repair="degree 2 x_is: a server without a worker of the job has degree 0",
    proof="the hops of a ring enter and leave the servers of its workers, and no others",
    command="solve {} --method circulation@highs",
)
def equation_9(document: Document) -> Finding:
    """The degrees of an optimal ring, at all servers."""
    instance: GadgetInstance = document.data
    if not isinstance(instance.substrate, TwoTier):
        raise TypeError("expected a two-tier cluster")
    result = run(document, "circulation@highs")
    (ring,) = result.solution.rings  # type: ignore[union-attr]
    degrees = _degrees(_hops(ring))
    servers = range(len(instance.substrate.servers))
    violated = sum(degrees[s] != 2 for s in servers)
    # Which servers depends on the solver: all rings of two are optimal.
    shown = (
        f"an optimal ring has workers on {len(set(ring.servers))} of {len(servers)} servers; "
        f"the equation is violated at {violated}"
    )
    return Finding(violated == 0, shown)


@statement(
    source="the remark on (9)",
    statement="degree two at every used server makes the workers one ring",
    grade="refuted",
    repair=("circulations with connectivity, as in `circulation`, or circuits of the CP model"),
    proof=(
        "P1: a balanced and connected multigraph has an Eulerian circuit; "
        "models/gadget/README.md, formulations"
    ),
    command="compare {} --methods circulation@highs,offline",
)
def equation_9_one_ring(document: Document) -> Finding:
    """All workers on two disjoint cycles of links, and the largest ring there is."""
    instance: GadgetInstance = document.data
    parts = nx.strongly_connected_components(_network(instance))
    cycles = [sorted(part) for part in parts]
    hops = [hop for cycle in cycles for hop in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
    network = _network(instance)
    accepted = all(network.has_edge(*hop) for hop in hops) and set(_degrees(hops).values()) == {2}
    workers, best = sum(map(len, cycles)), objective(document, "circulation@highs")
    shown = (
        f"hops over links {'have' if accepted else 'lack'} degree two at all {workers} servers, "
        f"but the largest ring has {best:g} workers"
    )
    return Finding(not (accepted and best < workers), shown)


@statement(
    source="(8) beside (19)",
    statement="if no path carries more than its narrowest link, no link is overloaded",
    grade="refuted",
    repair="(19), which adds up all paths over a link; it is the one that is solved",
    proof="a link carries the sum of all paths over it, by definition",
    command="compare {} --methods circulation@highs,offline",
)
def equation_8(document: Document) -> Finding:
    """Two rings over four paths that share every link."""
    instance: GadgetInstance = document.data
    solution = GadgetSolution(
        rings=(
            Ring(slot=1, job=0, servers=(0, 2), routes=((0, 1, 2), (2, 3, 0))),
            Ring(slot=1, job=1, servers=(1, 3), routes=((1, 2, 3), (3, 0, 1))),
        )
    )
    network = _network(instance)
    on_path: Counter[tuple[int, ...]] = Counter()
    for ring in solution.rings:
        for route in ring.routes or ():
            on_path[route] += instance.jobs[ring.job].ring_bandwidth_mbps
    fits = all(
        load <= min(network.edges[link]["mbps"] for link in nx.utils.pairwise(path))
        for path, load in on_path.items()
    )
    judged = evaluate(instance, solution)
    overloaded = [v for v in judged.violations if v.constraint == "bandwidth"]
    best = objective(document, "circulation@highs")
    shown = (
        f"{len(on_path)} paths are {'' if fits else 'not '}each within their links, and "
        f"{len(overloaded)} links are overloaded by {max(int(v.amount) for v in overloaded)} "
        f"Mbit/s; the total is {judged.objective:g} where the optimum is {best:g}"
    )
    return Finding(not (fits and overloaded and len(overloaded) == len(judged.violations)), shown)


@statement(
    source="Lemma 5, Theorem 6 and the utilities of the experiments",
    statement=(
        "with the sigmoids of the experiments gains diminish, so that choosing slot by "
        "slot has at least half the optimum"
    ),
    grade="contradiction",
    repair="the least concave majorant, for guarantees on the surrogate only",
    proof="Theorem 6 for the majorant, which is nowhere below the utility",
    command="compare {} --methods offline,gadget_exact:envelopes=false",
)
def sigmoid(document: Document) -> Finding:
    """The gains of the first two worker-slots, and what choosing slot by slot makes of them."""
    instance: GadgetInstance = document.data
    first, second = np.diff([utility(instance.jobs[0], count) for count in range(3)])
    by_slots = objective(document, f"{BY_SLOTS}:envelopes=false")
    best = objective(document, "offline")
    shown = (
        f"gain of the first worker-slot {first:.3g}, of the second {second:.3g}; slot by slot "
        f"{by_slots:.6g}, optimum {best:.6g}: ratio {best / by_slots:.3g}, 2 if gains diminished"
    )
    return Finding(bool(second <= first) or best <= 2 * by_slots, shown)


@statement(
    source="Pi_i = min(N_i, C_s/l_i, F_i/l_i)",
    statement="no ring is larger than the least capacity of a server allows",
    grade="refuted",
    repair="the sum over servers; a ring may span them",
    proof="a ring of k workers puts k_s on server s, and each k_s is bounded by C_s/l_i",
    command="solve {} --method offline",
)
def largest_ring(document: Document) -> Finding:
    """The workers of the largest ring beside the formula."""
    instance: GadgetInstance = document.data
    if not isinstance(instance.substrate, TwoTier):
        raise TypeError("expected a two-tier cluster")
    (job,) = instance.jobs
    rooms = [int(s.capacity[0] // job.worker_demand[0]) for s in instance.substrate.servers]
    bound = min(job.max_workers, *rooms)
    found = objective(document, "offline")
    shown = f"the formula gives {bound}, a feasible ring has {found:g} workers"
    return Finding(found <= bound, shown)


@statement(
    source="q_i[t] from the continuous relaxation",
    statement=("a job's allocation in the relaxation, rounded up, bounds its ring in an optimum"),
    grade="refuted",
    repair="q_i[t] = min(N_i, K_i - z_i, what all servers hold)",
    proof="each of the three terms bounds every feasible ring: (2), (3), (4)",
    command="compare {} --methods offline,gadget_relaxed_rings",
)
def relaxed_ring_size(document: Document) -> Finding:
    """The best slot with rings as large as the relaxation says, and the best slot."""
    limited = objective(document, "gadget_relaxed_rings")
    best = objective(document, "offline")
    shown = f"with rings up to the rounded allocations {limited:g}, optimum {best:g}"
    return Finding(limited >= best, shown)


@statement(
    source="the proof of Theorem 6",
    statement="feasible schedules are the independent sets of a partition matroid",
    grade="refuted",
    repair=("Theorem 6 holds nevertheless: cap every utility at K_i worker-slots and drop (3)"),
    proof=(
        "capped utilities stay concave, and surplus workers can be taken away (P4), so "
        "both optima are equal; models/gadget/guarantees/ratios.py"
    ),
)
def partition_matroid(document: Document) -> Finding:
    """Two choices of different slots, each alone and together."""
    rings = [Ring(slot=t, job=0, servers=(0, 0)) for t in (1, 2)]
    alone = [evaluate(document.data, GadgetSolution(rings=(ring,))).feasible for ring in rings]
    together = evaluate(document.data, GadgetSolution(rings=tuple(rings)))
    broken = ", ".join(sorted({v.constraint for v in together.violations}))
    able = "is" if all(alone) else "is not"
    shown = f"each slot's choice {able} feasible alone; both together violate: {broken}"
    return Finding(together.feasible or not all(alone), shown)


@statement(
    source="Theorem 6",
    statement=(
        "with concave utilities, choosing in every slot the best slot has at least half the optimum"
    ),
    proof=(
        "models/gadget/guarantees/ratios.py; the paper's proof has a gap, see "
        "gadget/partition-matroid"
    ),
    command="compare {} --methods gadget_exact,offline",
)
def theorem_6(document: Document) -> Finding:
    """Slot by slot against the optimum over both slots."""
    return tested_ratio(document, "Theorem 6", BY_SLOTS, "offline")
