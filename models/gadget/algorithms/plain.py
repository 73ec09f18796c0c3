r"""Algorithms 1 and 2 of GADGET, step by step.

Nothing here is fast. Two subroutines are called as in the paper: the relaxation of step 2, and the
augmented program of step 4, which HiGHS solves. Both have many optimal points; what follows depends
on the one that is returned.

Letters, as in the paper: job i arrives at a_i and has done z_i worker-slots, at most K_i; N_i is
its largest ring, l_i^r what a worker needs of resource r, b_i what a hop needs of a link, mu_i its
utility, tabulated as u_i by worker-slots, so that pi_ik = u_i(z_i + k) - u_i(z_i); chi is the
relaxation's share of each ring size, kappa_i the size chosen, X_i^w the mass of rings of job i that
begin at server w, rho and theta their places and flows, phi the weight of a mapping omega; u_b is
the number of roundings.

Printed step for step, rings may exceed capacities (by beta and gamma), and a job of a sigmoid
utility may never start. What the paper leaves open is marked (reconstructed).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.highs import solve_form
from gadgetopt.system.result import Limits

from ..instance import GadgetInstance, GadgetSolution
from ..subproblems.augmented_lp import RingCopies, augmented_lp
from ..subproblems.loads import loads_of, no_loads
from ..subproblems.ring_selection import select_rings
from ..subproblems.slot_problem import Mapping, SlotJob, SlotProblem, ring
from ..terms import Terms

#: Variables of a linear program below this are zero. By definition.
TOL = 1e-9

#: A mapping with its weight phi.
Weighted = list[tuple[float, Mapping]]


def gadget(instance: GadgetInstance, rng: np.random.Generator, u_b: int = 100) -> GadgetSolution:
    """Algorithm 1, temporal greedy: one slot after the other, with what has arrived."""
    terms = instance.terms
    z = [0 for _ in terms.jobs]
    rings = []
    for t in range(1, terms.horizon + 1):
        # A: the jobs that are there, with room for one whole worker; gains pi
        A = []
        for job in terms.jobs:
            if job.arrival > t or z[job.index] >= job.max_total:
                continue
            # D9 (reconstructed): q_i = min(N_i, K_i - z_i, what fits on all servers)
            q = min(job.max_ring, job.max_total - z[job.index])
            u = job.utility
            pi = [float(u[z[job.index] + k] - u[z[job.index]]) for k in range(q + 1)]
            A.append(SlotJob(job, np.array(pi)))
        if not A:
            continue  # an empty slot
        for omega in lp_rs_mde(SlotProblem(terms, t, tuple(A)), u_b, rng):
            rings.append(ring(terms, t, omega))
            z[omega.job] += omega.size
    return GadgetSolution(rings=tuple(rings))


def lp_rs_mde(problem: SlotProblem, u_b: int, rng: np.random.Generator) -> list[Mapping]:
    """Algorithm 2: one slot by ring selection, augmented program, decomposition and rounding."""
    terms, A = problem.terms, problem.jobs
    # 1
    alpha = 1 / 3
    # 2: the LP relaxation of (12)-(19)
    chi = select_rings(problem, Limits()).shares
    # 3: the ring size of the largest pi chi; ties go to the smallest (reconstructed)
    kappa = []
    for i, x in enumerate(A):
        worth = {k: float(x.gain[k]) * share for k, share in chi[i].items()}
        kappa.append(min(worth, key=lambda k: (-worth[k], k)) if worth else 0)
    beta, gamma = factors(problem, kappa)
    if not any(kappa):
        return []
    # 4: the augmented LP with kappa_i only: its value L, copies X_i^w, places and flows
    lp = augmented_lp(problem, [[k] if k else [] for k in kappa])
    solved = solve_form(lp.form, Limits())
    assert solved.values is not None
    assert solved.objective is not None
    L = float(solved.objective)
    # 5: a convex combination of mappings of each job
    M: list[Weighted] = [[] for _ in A]
    for copies in lp.copies:
        M[copies.job] = decompose(problem, copies, solved.values)
    # 6: u_b samples; the first that is good enough
    samples = [[pick(M[i], float(rng.random())) for i in range(len(A))] for _ in range(u_b)]
    best, best_key = None, (math.inf, math.inf)
    for sample in samples:
        picked = [omega for omega in sample if omega is not None]
        gain = {x.job.index: x.gain for x in A}
        P = sum(float(gain[omega.job][omega.size]) for omega in picked)
        node, link = ratios(terms, picked)
        if (
            alpha * L <= P
            and all(n <= b for n, b in zip(node, beta, strict=True))
            and link <= gamma
        ):
            return picked
        # none: the one of the smallest overload, then of the largest P (reconstructed)
        key = max(1.0, *node, link), -P
        if key < best_key:
            best, best_key = picked, key
    return best or []


def factors(problem: SlotProblem, kappa: list[int]) -> tuple[list[float], float]:
    """D13: beta^r and gamma, by which an accepted sample may exceed capacities.

    A ring of kappa workers puts at most kappa of them on a server, and kappa hops on a link.
    Servers and links that a job cannot use do not count; fewer than three count as three.
    """
    terms = problem.terms
    chosen = [(x.job, k) for x, k in zip(problem.jobs, kappa, strict=True) if k]
    V, E = max(3, len(terms.servers)), max(3, len(terms.links))
    beta = []
    for r in range(terms.capacity.shape[1]):
        Delta, epsilon = 0, 0.0
        for u in range(len(terms.servers)):
            there = [(i, k) for i, k in chosen if i.demand[r] > 0 and i.per_server[u] > 0]
            Delta = max(Delta, sum(k**2 for _, k in there))
            for i, _ in there:
                epsilon = max(epsilon, int(i.demand[r]) / int(terms.capacity[u, r]))
        beta.append(1 + epsilon * math.sqrt(2 * Delta * math.log(V)))
    Delta, epsilon = 0, 0.0
    for e in terms.link_mbps.tolist():
        there = [(i, k) for i, k in chosen if k > 1 and 0 < i.bandwidth <= e]
        Delta = max(Delta, sum(k**2 for _, k in there))
        epsilon = max([epsilon, *(i.bandwidth / e for i, _ in there)])
    return beta, 1 + epsilon * math.sqrt(2 * Delta * math.log(E))


def decompose(problem: SlotProblem, copies: RingCopies, values: Floats) -> Weighted:
    """Section 5.4 (reconstructed): take mappings off the point until no mass is left.

    Layer a carries the hop from worker a to worker a + 1; the last one returns to w.
    """
    terms, kappa = problem.terms, copies.size
    job = problem.jobs[copies.job].job.index
    servers = [terms.servers[s] for s in copies.server.tolist()]
    links = [(int(u), int(v)) for u, v in terms.links[copies.link]]
    found: dict[Mapping, float] = {}
    for c, w in enumerate(servers):
        X = positive(values[copies.mass[c]])
        rho = [
            {u: positive(x) for u, x in zip(servers, row, strict=True)}
            for row in values[copies.place[c]].tolist()
        ]
        theta = [
            {e: positive(x) for e, x in zip(links, row, strict=True)}
            for row in values[copies.flow[c]].tolist()
        ]
        while X > TOL:
            used = [X]
            nodes, routes = [w], []
            for a in range(kappa if kappa > 1 else 0):
                last = a == kappa - 1
                targets = [w] if last else [v for v in servers if rho[a][v] > TOL]
                route = search(theta[a], nodes[-1], targets)
                if route is None:
                    break
                used += [theta[a][e] for e in pairwise(route)]
                if not last:
                    used.append(rho[a][route[-1]])
                    nodes.append(route[-1])
                routes.append(route)
            if len(routes) < kappa and kappa > 1:
                break  # tolerance trouble: the rest of X is lost
            phi = min(used)
            X -= phi
            for a, route in enumerate(routes):
                for e in pairwise(route):
                    theta[a][e] = positive(theta[a][e] - phi)
                if a < kappa - 1:
                    rho[a][nodes[a + 1]] = positive(rho[a][nodes[a + 1]] - phi)
            omega = mapping(terms, job, nodes, routes)
            found[omega] = found.get(omega, 0.0) + phi  # equal mappings are merged
    return [(phi, omega) for omega, phi in found.items()]


def positive(x: float) -> float:
    """Return a variable of the program, 0 if it is no more than the tolerance."""
    return float(x) if x > TOL else 0.0


def search(
    theta: dict[tuple[int, int], float], start: int, targets: list[int]
) -> tuple[int, ...] | None:
    """Return the breadth-first path over positive flow to a target; the start itself is allowed."""
    paths: list[tuple[int, ...]] = [(start,)]
    seen = {start}
    for path in paths:
        u = path[-1]
        if u in targets:
            return path
        for (tail, head), x in theta.items():
            if tail == u and x > TOL and head not in seen:
                seen.add(head)
                paths.append((*path, head))
    return None


def mapping(terms: Terms, job: int, nodes: list[int], routes: list[tuple[int, ...]]) -> Mapping:
    """Return servers with their workers, and the routes; on two-tier clusters these are implied."""
    if terms.tree is not None:
        rack = terms.tree.rack
        there = sorted({terms.servers.index(v) for v in nodes}, key=lambda s: (rack[s], s))
        return Mapping(job, tuple((s, nodes.count(terms.servers[s])) for s in there))
    workers: list[tuple[int, int]] = []
    for v in nodes:
        s = terms.servers.index(v)
        if workers and workers[-1][0] == s:
            workers[-1] = s, workers[-1][1] + 1
        else:
            workers.append((s, 1))
    hops = tuple(route if len(route) > 1 else () for route in routes)
    return Mapping(job, tuple(workers), hops if len(nodes) > 1 else ((),))


def pick(M: Weighted, drawn: float) -> Mapping | None:
    """Return omega^k with probability phi^k, and nothing with what is left of 1."""
    total = max(1.0, sum_of(M, len(M)))
    for k, (_, omega) in enumerate(M):
        if drawn < sum_of(M, k + 1) / total:
            return omega
    return None


def sum_of(M: Weighted, k: int) -> float:
    """Return the weight of the first k mappings."""
    total = 0.0
    for phi, _ in M[:k]:
        total += phi
    return total


def ratios(terms: Terms, picked: list[Mapping]) -> tuple[list[float], float]:
    """Return the largest ratios of load to capacity: of servers by resource, and of links."""
    loads = no_loads(terms)
    for omega in picked:
        loads.add(loads_of(terms, terms.jobs[omega.job], omega))

    def worst(load: list[int], capacity: list[int]) -> float:
        both = zip(load, capacity, strict=True)
        return max((a / g if g else math.inf for a, g in both if a > 0), default=0.0)

    node = [
        worst(loads.server[:, r].tolist(), terms.capacity[:, r].tolist())
        for r in range(terms.capacity.shape[1])
    ]
    return node, worst(loads.link.tolist(), terms.link_mbps.tolist())
