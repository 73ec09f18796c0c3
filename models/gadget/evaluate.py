r"""Exact evaluation of a solution: total utility and violations of (2)-(9) and (19).

The evaluator follows the problem statement and works from the raw data: it shares no code with the
derived constants, the models or the algorithms of this folder. The workers of a job in a slot form
one directed ring, in the order listed. A hop between workers on one server is free. Every other hop
is routed and loads each link of its route with :math:`b_i`, once per pass. The objective is

.. math:: \sum_i \mu_i \Big( \zeta_i \sum_t \kappa_i[t] \Big),

with :math:`\kappa_i[t]` the workers of job i in slot t; jobs that never run count with
:math:`\mu_i(0)`. Amounts are compared as the decimals that are written, without a tolerance.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.pieces.utility import NEGLIGIBLE
from gadgetopt.system.result import Evaluation, Violation

from .instance import GadgetInstance, GadgetSolution, Job, Ring, TwoTier

#: A directed link, given by its two nodes.
Arc = tuple[int, int]


def evaluate(instance: GadgetInstance, solution: GadgetSolution) -> Evaluation:
    """Recompute the total utility of `solution` and list all violations.

    Returns
    -------
    Evaluation
        Objective: the utility of all jobs; None if a ring names an unknown job, slot or server, or
        if a job has two rings in a slot. Components: `gain`, the utility beyond that of doing
        nothing; `rings`; `worker_slots`; `embedded_ratio`, the share of the active jobs that have a
        ring, as the mean over slots with active jobs; `factor_...` of every resource, and
        `factor_links`: the largest ratio of load to capacity of a server or link. A solution with a
        factor above 1 needs augmented capacities. Factors ignore elements without capacity.

    Notes
    -----
    Constraints: `unknown_job`, `unknown_slot`, `unknown_server`, `repeated`; `ring_size` (2),
    `budget` (3), `worker_slots` (3 where given as such), `capacity` (4), `arrival` (6), `route`
    (a wrong end, link or whole route), `bandwidth` (19). Amounts are exact.
    """
    network = _Network(instance)
    broken = tuple(_shape_violations(instance, solution, network))
    if broken:
        return Evaluation(None, broken)
    violations = list(_ring_violations(instance, solution, network))
    done = worker_slots(instance, solution)
    violations += _budget_violations(instance, done)
    use = _Use(instance, solution)
    violations += use.violations()
    loads = link_loads(instance, solution)
    violations += [
        Violation("bandwidth", f"slot {t}, link {u} to {v}", load - network.mbps[u, v])
        for (t, (u, v)), load in sorted(loads.items())
        if load > network.mbps[u, v]
    ]
    total = math.fsum(utility(job, z) for job, z in zip(instance.jobs, done, strict=True))
    components: dict[str, Number] = {
        "gain": total - math.fsum(utility(job, 0) for job in instance.jobs),
        "rings": len(solution.rings),
        "worker_slots": sum(done),
        "embedded_ratio": _embedded_ratio(instance, solution),
        **use.factors(),
        "factor_links": max(
            (load / network.mbps[e] for (_, e), load in loads.items() if network.mbps[e]),
            default=0.0,
        ),
    }
    return Evaluation(total, tuple(violations), components)


def utility(job: Job, worker_slots: int) -> float:
    """Return mu_i of z worker-slots, without overflow; 0 where a sigmoid is negligible."""
    mu = job.utility
    if mu.kind == "table":
        return mu.values[min(worker_slots, len(mu.values) - 1)]
    x = job.iterations_per_worker_slot * worker_slots
    if mu.kind == "sqrt":
        return mu.scale * math.sqrt(x)
    if mu.kind == "log":
        return mu.scale * math.log1p(x)
    if mu.kind == "linear":
        return mu.slope * x
    if mu.kind == "energy":
        return mu.gain * x - mu.cost * x * x
    z = mu.sensitivity * (x - mu.target_iterations)
    # exp of a negative argument only: it may underflow but not overflow.
    small = math.exp(-abs(z))
    part = (1.0 if z > 0 else small) / (1.0 + small)
    return mu.priority * part if part >= NEGLIGIBLE else 0.0


def worker_slots(instance: GadgetInstance, solution: GadgetSolution) -> list[int]:
    """Return z_i at the end of the horizon: the workers of every job, summed over the slots."""
    done = [0] * len(instance.jobs)
    for ring in solution.rings:
        done[ring.job] += len(ring.servers)
    return done


def link_loads(instance: GadgetInstance, solution: GadgetSolution) -> dict[tuple[int, Arc], int]:
    """Return the load of every used link in Mbit/s, by slot and link."""
    network = _Network(instance)
    loads: defaultdict[tuple[int, Arc], int] = defaultdict(int)
    for ring in solution.rings:
        b = instance.jobs[ring.job].ring_bandwidth_mbps
        for route in network.routes(ring):
            for arc in itertools.pairwise(route):
                if arc in network.mbps:
                    loads[ring.slot, arc] += b
    return dict(loads)


class _Network:
    """Servers with their capacities, and the bandwidth of every directed link."""

    def __init__(self, instance: GadgetInstance):
        self.capacity: dict[int, tuple[float, ...]] = {}
        self.mbps: dict[Arc, int] = {}
        self.up: dict[int, int] = {}
        cluster = instance.substrate
        if isinstance(cluster, TwoTier):
            servers, racks = len(cluster.servers), len(cluster.racks)
            for s, server in enumerate(cluster.servers):
                self.capacity[s] = server.capacity
                self._wire(s, servers + server.rack, server.access_mbps)
            for k, rack in enumerate(cluster.racks):
                self._wire(servers + k, servers + racks, rack.uplink_mbps)
        else:
            for v, node in enumerate(cluster.nodes):
                if node.capacity is not None:
                    self.capacity[v] = node.capacity
            for link in cluster.links:
                self.mbps[link.source, link.target] = link.mbps

    def _wire(self, node: int, parent: int, mbps: int) -> None:
        """Connect a node of the tree to its parent, in both directions."""
        self.up[node] = parent
        self.mbps[node, parent] = self.mbps[parent, node] = mbps

    def routes(self, ring: Ring) -> list[tuple[int, ...]]:
        """Return the nodes of every hop's route; on trees, missing routes are the unique paths."""
        if ring.routes is not None:
            return list(ring.routes)
        if not self.up:
            return [() for _ in ring.servers]
        return [self._path(u, v) for u, v in _hops(ring)]

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        """Return the path between two servers of a two-tier cluster."""
        if source == target:
            return ()
        first, last = self.up[source], self.up[target]
        if first == last:
            return (source, first, target)
        return (source, first, self.up[first], last, target)


def _hops(ring: Ring) -> list[Arc]:
    """Return the two ends of every hop: each worker to the next, the last to the first."""
    return list(zip(ring.servers, (*ring.servers[1:], ring.servers[0]), strict=True))


def _shape_violations(
    instance: GadgetInstance, solution: GadgetSolution, network: _Network
) -> Iterator[Violation]:
    jobs, T = len(instance.jobs), instance.horizon_slots
    for (t, i), times in Counter((ring.slot, ring.job) for ring in solution.rings).items():
        where = f"job {i}, slot {t}"
        if times > 1:
            yield Violation("repeated", where, times - 1)
        if i >= jobs:
            yield Violation("unknown_job", where, i - jobs + 1)
        if t > T:
            yield Violation("unknown_slot", where, t - T)
    for ring in solution.rings:
        for v, times in Counter(ring.servers).items():
            if v not in network.capacity:
                where = f"job {ring.job}, slot {ring.slot}, node {v}"
                yield Violation("unknown_server", where, times)


def _ring_violations(
    instance: GadgetInstance, solution: GadgetSolution, network: _Network
) -> Iterator[Violation]:
    """Yield the violations of single rings."""
    for ring in solution.rings:
        job = instance.jobs[ring.job]
        where = f"job {ring.job}, slot {ring.slot}"
        if ring.slot < job.arrival_slot:
            yield Violation("arrival", where, job.arrival_slot - ring.slot)
        if len(ring.servers) > job.max_workers:
            yield Violation("ring_size", where, len(ring.servers) - job.max_workers)
        routes = network.routes(ring)
        if len(routes) != len(ring.servers):
            yield Violation("route", where, abs(len(routes) - len(ring.servers)))
            continue
        for a, ((u, v), route) in enumerate(zip(_hops(ring), routes, strict=True)):
            wrong = _faults(network, u, v, route)
            if wrong:
                yield Violation("route", f"{where}, hop {a} from {u} to {v}", wrong)


def _faults(network: _Network, source: int, target: int, route: tuple[int, ...]) -> int:
    """Return the number of wrong ends and links of a route."""
    if source == target:
        return len(route)
    if not route:
        return 1
    ends = (route[0] != source) + (route[-1] != target)
    return ends + sum(arc not in network.mbps for arc in itertools.pairwise(route))


def _budget_violations(instance: GadgetInstance, done: list[int]) -> Iterator[Violation]:
    for i, (job, z) in enumerate(zip(instance.jobs, done, strict=True)):
        if job.max_worker_slots is not None and z > job.max_worker_slots:
            yield Violation("worker_slots", f"job {i}", z - job.max_worker_slots)
        for name, each, budget in zip(
            instance.resources, job.worker_demand, job.budget or (), strict=job.budget is not None
        ):
            if budget is not None:
                excess = z * decimal_rational(each) - decimal_rational(budget)
                if excess > 0:
                    yield Violation("budget", f"job {i}, {name}", excess)


class _Use:
    """Load of every server by slot, in multiples of a common unit of each resource."""

    def __init__(self, instance: GadgetInstance, solution: GadgetSolution):
        self.names = instance.resources
        capacity = _Network(instance).capacity
        rows = [*capacity.values(), *(job.worker_demand for job in instance.jobs)]
        exact = [[decimal_rational(x) for x in row] for row in rows]
        # Fractions of small units would make large solutions slow.
        self.per_one = [
            math.lcm(*(x.denominator for x in column)) for column in zip(*exact, strict=True)
        ]
        whole = [[int(x * d) for x, d in zip(row, self.per_one, strict=True)] for row in exact]
        self.capacity = dict(zip(capacity, whole[: len(capacity)], strict=True))
        demand = whole[len(capacity) :]
        self.load: defaultdict[tuple[int, int], list[int]] = defaultdict(
            lambda: [0] * len(self.names)
        )
        for ring in solution.rings:
            for v, workers in Counter(ring.servers).items():
                row = self.load[ring.slot, v]
                for r, each in enumerate(demand[ring.job]):
                    row[r] += each * workers

    def violations(self) -> Iterator[Violation]:
        """Yield every server overload (4), with its amount."""
        for (t, v), row in sorted(self.load.items()):
            for name, load, there, d in zip(
                self.names, row, self.capacity[v], self.per_one, strict=True
            ):
                if load > there:
                    where = f"slot {t}, server {v}, {name}"
                    yield Violation("capacity", where, Fraction(load - there, d))

    def factors(self) -> dict[str, Number]:
        """Return the largest ratio of load to capacity of each resource."""
        out: dict[str, Number] = {}
        for r, name in enumerate(self.names):
            there = ((row[r], self.capacity[v][r]) for (_, v), row in self.load.items())
            out[f"factor_{name}"] = max((load / c for load, c in there if c), default=0.0)
        return out


def _embedded_ratio(instance: GadgetInstance, solution: GadgetSolution) -> float:
    """Return the share of active jobs that have a ring, as the mean over slots."""
    rings: defaultdict[int, list[Ring]] = defaultdict(list)
    for ring in solution.rings:
        rings[ring.slot].append(ring)
    left = [_most_worker_slots(job) for job in instance.jobs]
    ratios = []
    for t in range(1, instance.horizon_slots + 1):
        active = sum(
            job.arrival_slot <= t and rest > 0
            for job, rest in zip(instance.jobs, left, strict=True)
        )
        if active:
            ratios.append(len(rings[t]) / active)
        for ring in rings[t]:
            left[ring.job] -= len(ring.servers)
    return math.fsum(ratios) / len(ratios) if ratios else 0.0


def _most_worker_slots(job: Job) -> float:
    """Return K_i, the worker-slots that the budgets allow."""
    limits = [math.inf if job.max_worker_slots is None else job.max_worker_slots]
    for each, budget in zip(job.worker_demand, job.budget or (), strict=False):
        if budget is not None and each > 0:
            limits.append(math.floor(decimal_rational(budget) / decimal_rational(each)))
    return min(limits)
