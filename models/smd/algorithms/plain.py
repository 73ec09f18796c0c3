r"""Algorithms 1, 2 and 3 of SMD, and SMD itself, step by step.

Nothing here is fast: Algorithm 1 goes through the whole grid, and Algorithm 3 through all sets of
at most k jobs. Repairs and choices that the print does not have are marked (reconstructed).

Letters, as in the paper: job i runs w workers and p servers, each demanding O^r and G^r of resource
r inside its reservation v^r; tau(w, p) is its completion time, the sum of ratios zeta_j and a
constant; mu_i its utility; C^r the capacities; epsilon_1 the step of the grid, nu_j its values,
F the attempts of the rounding, k the size of the sets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from gadgetopt.numbers.tolerance import Number, decimal_rational

from ..evaluate import utility
from ..instance import Allocation, Job, SmdInstance, SmdSolution

Point = tuple[float, float]
#: (alpha, beta, gamma) of a row alpha w + beta p <= gamma.
Row = tuple[float, float, float]

#: What floating point may leave of an equality. By definition.
EPS = 1e-9


@dataclass(frozen=True)
class Zeta:
    """A ratio (a w + b p + q) / (c w + d p + e), its numerator times a coefficient."""

    coefficient: float
    numerator: tuple[int, int, int]
    denominator: tuple[int, int, int]

    def at(self, x: Point) -> float:
        """Return the value of the ratio."""
        (a, b, q), (c, d, e) = self.numerator, self.denominator
        return self.coefficient * (a * x[0] + b * x[1] + q) / (c * x[0] + d * x[1] + e)

    def at_most(self, nu: float) -> Row:
        """Return zeta <= nu as a row: the numerator less nu times the denominator is <= 0."""
        (a, b, q), (c, d, e) = self.numerator, self.denominator
        theta = self.coefficient
        return theta * a - nu * c, theta * b - nu * d, nu * e - theta * q


def smd(
    instance: SmdInstance, seed: int, eps_1: float = 0.01, F: int = 20, k: int = 2
) -> SmdSolution:
    """SMD end to end: a pair (w, p) for every job, then who is admitted."""
    pairs: list[tuple[int, int] | None] = []
    u = []
    for i, job in enumerate(instance.jobs):
        found = alg1(job, eps_1)
        # one generator for each job, so that results do not depend on the others (reconstructed)
        pair = None if found is None else alg2(job, found[0], F, np.random.default_rng([seed, i]))
        pairs.append(pair)
        u.append(0.0 if pair is None else utility(job, job.completion_time.at(*pair)))
    # jobs of no utility are dropped before the knapsack
    served = [i for i in range(len(u)) if u[i] > 0]
    v = [[decimal_rational(x) for x in instance.jobs[i].reservation_limit] for i in served]
    C = [decimal_rational(x) for x in instance.capacity]
    x = alg3([u[i] for i in served], v, C, k)
    admitted = {served[n] for n in range(len(served)) if x[n]}
    jobs = []
    for i, pair in enumerate(pairs):
        if i in admitted and pair is not None:
            jobs.append(Allocation(admit=True, num_workers=pair[0], num_ps=pair[1]))
        else:
            jobs.append(Allocation(admit=False))
    return SmdSolution(jobs=tuple(jobs))


def alg1(job: Job, eps: float) -> tuple[Point, float] | None:
    """Algorithm 1: return x-bar of the least Psi, and Psi with the constant; None without a point.

    The grid is repaired (reconstructed): as printed it may end below phi_j and miss the optimum.
    """
    # 1: Omega, with w, p >= 1 (reconstructed; the print has x >= 0)
    omega: list[Row] = [(-1, 0, -1), (0, -1, -1)]
    demands = zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True)
    omega += [(O_r, G_r, v_r) for O_r, G_r, v_r in demands]
    if not inside((1.0, 1.0), omega):
        return None
    zeta = ratios(job)
    constant = job.completion_time.constant
    if not zeta:
        return (1.0, 1.0), constant
    # 2: the least and the greatest value of each ratio
    corners = list(vertices(omega))
    l = [min(z.at(x) for x in corners) for z in zeta]  # noqa: E741
    phi = [max(z.at(x) for x in corners) for z in zeta]
    # 3: J*, the ratio of the widest range, is left out of the grid; tie: that which joins w and p
    width = [phi[j] / l[j] for j in range(len(zeta))]
    widest = [j for j in range(len(zeta)) if width[j] >= max(width) * (1 - 1e-12)]
    J = next((j for j in widest if coupling(zeta[j])), widest[0])
    others = [j for j in range(len(zeta)) if j != J]
    # 4: the grid of the others
    Q = []
    for j in others:
        lam = math.floor(math.log(phi[j] / l[j]) / math.log(1 + eps) + 1e-12)
        Q_j = [l[j] * (1 + eps) ** n for n in range(lam + 1)]
        if Q_j[-1] < phi[j] * (1 - 1e-12):
            Q_j.append(phi[j])  # (reconstructed)
        Q.append(Q_j)
    # 5
    best, x_bar = math.inf, None
    # 6
    for nu in product(*Q):
        # 7: z = min zeta_J* over Omega with zeta_j <= nu_j. The paper solves a linear program in
        # the variables of Charnes and Cooper; in two variables its optimum is a vertex.
        cuts = [zeta[j].at_most(nu_j) for j, nu_j in zip(others, nu, strict=True)]
        points = list(vertices([*omega, *cuts]))
        if not points:
            continue
        x_nu = min(points, key=zeta[J].at)
        # 8
        Psi = sum(nu) + zeta[J].at(x_nu)
        # 9
        if Psi < best:
            best, x_bar = Psi, x_nu
    # 10
    return None if x_bar is None else (x_bar, best + constant)


def ratios(job: Job) -> list[Zeta]:
    """Return the ratios of a job's time that are not 0."""
    tau = job.completion_time
    every = [
        Zeta(tau.per_w, (1, 0, 0), (0, 0, 1)),
        Zeta(tau.per_p, (0, 1, 0), (0, 0, 1)),
        Zeta(tau.one_over_w, (0, 0, 1), (1, 0, 0)),
        Zeta(tau.one_over_p, (0, 0, 1), (0, 1, 0)),
        Zeta(tau.w_over_p, (1, 0, 0), (0, 1, 0)),
        Zeta(tau.p_over_w, (0, 1, 0), (1, 0, 0)),
    ]
    return [z for z in every if z.coefficient > 0]


def coupling(z: Zeta) -> bool:
    """Return True for w/p and p/w."""
    return z.numerator[2] == 0 and z.denominator[2] == 0


def vertices(rows: list[Row]) -> Iterator[Point]:
    """Yield the corners of a polygon: where two rows meet and the others hold."""
    for (a, b, c), (d, e, f) in combinations(rows, 2):
        det = a * e - b * d
        if abs(det) > EPS * max(abs(a), abs(b)) * max(abs(d), abs(e)):
            x = (c * e - b * f) / det, (a * f - c * d) / det
            if inside(x, rows):
                yield x


def inside(x: Point, rows: list[Row]) -> bool:
    """Return True if a point satisfies all rows."""
    return all(
        a * x[0] + b * x[1] <= c + EPS * max(abs(a * x[0]), abs(b * x[1]), abs(c))
        for a, b, c in rows
    )


def alg2(job: Job, x_bar: Point, F: int, rng: np.random.Generator) -> tuple[int, int]:
    """Algorithm 2: the best of F random roundings that fit; M = 1, as in the paper's runs.

    As printed the loop may never end and returns the last sample; the proof uses F independent
    attempts. If none fits the point is rounded down; the print leaves this open (reconstructed).
    """
    M = 1.0
    x = [M * x_bar[0], M * x_bar[1]]
    best: tuple[int, int] | None = None
    for _ in range(F):
        xh = []
        for x_j in x:
            down = math.floor(x_j + EPS)  # an integer stays
            up = rng.random() < x_j - down
            xh.append(max(1, down + up))  # a number rounded to 0 becomes 1
        w, p = xh
        if fits(job, w, p) and (best is None or tau(job, (w, p)) < tau(job, best)):
            best = w, p
    if best is not None:
        return best
    return max(1, math.floor(x_bar[0] + EPS)), max(1, math.floor(x_bar[1] + EPS))


def fits(job: Job, w: int, p: int) -> bool:
    """Return True if O^r w + G^r p <= v^r for every r."""
    rows = zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True)
    return all(
        decimal_rational(O_r) * w + decimal_rational(G_r) * p <= decimal_rational(v_r)
        for O_r, G_r, v_r in rows
    )


def tau(job: Job, pair: tuple[int, int]) -> float:
    """Return the completion time of a pair."""
    return float(job.completion_time.at(*pair))


def alg3(
    u: Sequence[float], v: Sequence[Sequence[Number]], C: Sequence[Number], k: int
) -> list[bool]:
    """Algorithm 3, Frieze and Clarke: the best rounded linear program over all sets S.

    LP(S) has x = 1 on S and x = 0 on T(S), the jobs of more utility than the least of S.
    """
    jobs = range(len(u))
    z_best, x_best = 0.0, [False for _ in jobs]
    for size in range(min(k, len(u)) + 1):
        for S in combinations(jobs, size):
            room = [C[r] - sum(v[i][r] for i in S) for r in range(len(C))]
            if any(left < 0 for left in room):
                continue  # printed "return infeasible" (reconstructed)
            T = [t for t in jobs if S and t not in S and u[t] > min(u[i] for i in S)]
            # an optimal BASIC solution of LP(S): the simplex method ends at a vertex
            bounds = [(1, 1) if i in S else (0, 0) if i in T else (0, 1) for i in jobs]
            x_B = vertex(u, v, C, bounds)
            x_I = [math.floor(x_i + 1e-7) >= 1 for x_i in x_B]
            z = sum(u[i] for i in jobs if x_I[i])
            if z > z_best:
                z_best, x_best = z, x_I
    return x_best


def vertex(
    u: Sequence[float],
    v: Sequence[Sequence[Number]],
    C: Sequence[Number],
    bounds: list[tuple[int, int]],
) -> list[float]:
    """Return a vertex of most utility within the capacities."""
    if not u:
        return []
    rows = [[float(v_i[r]) for v_i in v] for r in range(len(C))]
    found = linprog(
        [-u_i for u_i in u], rows, [float(c) for c in C], bounds=bounds, method="highs-ds"
    )
    return [float(x_i) for x_i in found.x]
