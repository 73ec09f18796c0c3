"""Presets: the paper's experiment, small contended instances, and instances that grow.

The paper gives ranges (sizes, iterations F_j, iteration times tau_j, estimates rho_j) but not the
bandwidths, gradient sizes and compute times behind them. `calibrated_instance` chooses these so
that all ranges hold at once (reconstructed); it is deterministic, the presets draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.system.declaring import generator

from ...instance import (
    Job,
    SjfBcoInstance,
)

#: Number of jobs of each size in the paper's experiment (160 jobs, scaled from a published trace).
PAPER_MIX = {1: 80, 2: 14, 4: 26, 8: 30, 16: 8, 32: 2}
#: GPUs of a server in the paper's experiment.
PAPER_CAPACITIES = (4, 8, 16, 32)

# tau_j in [0.01, 0.05], F_j in [1000, 6000] and rho_j in [50, 300], as the paper states.
_TAU_MIN, _TAU_MAX = 0.01, 0.05
_F_MIN, _F_MAX = 1000, 6000
_RHO_MIN, _RHO_MAX = 50.0, 300.0

# Not in the paper.
_INTER_BW, _INTRA_BW, _REDUCE, _XI, _ALPHA = 1.0, 20.0, 100.0, 0.5, 0.2
_MINIBATCH = 32.0


@generator()
def paper(
    rng: np.random.Generator,
    *,
    servers: int = 20,
    jobs: int = 160,
    horizon_slots: int = 1200,
    extra: float = 0.15,
    p_cal: int | None = None,
    server_spread_factor: float = 1.0,
) -> SjfBcoInstance:
    """The paper's 160 jobs on 20 servers.

    Parameters
    ----------
    rng : numpy.random.Generator
    servers : int, default 20
        Number of servers; capacities are drawn from {4, 8, 16, 32}.
    jobs : int, default 160
        Number of jobs; the paper's mix of sizes is scaled to it by largest remainders.
    horizon_slots : int, default 1200
        T; 1500 for the paper's Figure 6.
    extra : float, default 0.15
        Largest share of an iteration spent on contention and overhead.
    p_cal : int, optional
        Contention level at which that share is reached, by default the size of the largest server.
        With 3 or 4 contention is strong, with 32 almost invisible (reconstructed).
    server_spread_factor : float, default 1
        lambda_j of LBSGF.
    """
    capacities = [int(c) for c in rng.choice(PAPER_CAPACITIES, size=servers)]
    sizes = [int(g) for g in rng.permutation(job_sizes(jobs))]
    rhos = rng.uniform(_RHO_MIN, _RHO_MAX, size=jobs)
    iterations = [int(rng.integers(low, high + 1)) for low, high in map(iteration_range, rhos)]
    return calibrated_instance(
        capacities,
        sizes,
        [float(rho) for rho in rhos],
        iterations,
        horizon_slots=horizon_slots,
        extra=extra,
        p_cal=p_cal,
        server_spread_factor=server_spread_factor,
    )


@generator()
def scale(
    rng: np.random.Generator,
    *,
    jobs: int = 1000,
    jobs_per_server: int = 8,
    p_cal: int | None = None,
) -> SjfBcoInstance:
    """The paper's mix on a cluster that grows with the jobs.

    With 8 jobs per server the load is that of the paper's 160 jobs on 20 servers. Estimates are
    rounded to thousandths of a slot, which is realistic and keeps exact loads small.
    """
    instance = paper(rng, servers=max(2, jobs // jobs_per_server), jobs=jobs, p_cal=p_cal)
    return instance.model_copy(
        update={
            "jobs": tuple(
                job.model_copy(update={"est_slots": round(job.est_slots or 0.0, 3)})
                for job in instance.jobs
            )
        }
    )


@generator()
def contended_small(
    rng: np.random.Generator, *, jobs: int = 5, servers: int = 3, horizon_slots: int = 200
) -> SjfBcoInstance:
    """Gangs with unavoidable contention on servers of three GPUs."""
    return _small(rng, [3] * servers, rng.choice([4, 4, 2, 1, 3, 5], jobs), 80, horizon_slots)


@generator()
def mini_paper(
    rng: np.random.Generator, *, jobs: int = 8, servers: int = 4, horizon_slots: int = 600
) -> SjfBcoInstance:
    """A small instance of the paper's kind, sizes in powers of two."""
    capacities = [int(c) for c in rng.choice([2, 4, 8], size=servers)]
    sizes = rng.choice([1, 2, 4, 8], size=jobs, p=[8 / 16, 2 / 16, 3 / 16, 3 / 16])
    # A gang of 8 needs a cluster of 8 GPUs.
    return _small(rng, capacities, np.minimum(sizes, sum(capacities)), 120, horizon_slots)


@generator()
def quickstart(rng: np.random.Generator, *, jobs: int = 4) -> SjfBcoInstance:
    """Four jobs on three servers, with contention.

    Return an instance with contention that is small enough for every exact method.
    """
    return _small(rng, [2, 2, 2], rng.choice([3, 2, 1, 3], jobs), 16, 20, shortest_work=8)


def _small(
    rng: np.random.Generator,
    capacities: list[int],
    sizes: np.ndarray,
    most_work: int,
    horizon_slots: int,
    *,
    shortest_work: int = 20,
) -> SjfBcoInstance:
    """Draw the jobs of a small instance, with rates of about 5 to 20 iterations per slot."""
    return SjfBcoInstance(
        server_gpus=tuple(capacities),
        horizon_slots=horizon_slots,
        inter_bw_mb_per_slot=20.0,
        intra_bw_mb_per_slot=200.0,
        gpu_reduce_mb_per_slot=100.0,
        contention_coeff=1.0,
        overhead_coeff=1.0,
        overhead_unit_slots=0.01,
        degradation_alpha=0.2,
        jobs=tuple(
            Job(
                gpus=int(g),
                iterations=int(rng.integers(shortest_work, most_work + 1)),
                grad_size_mb=float(rng.choice([1.0, 2.0])),
                bwd_slots=float(rng.choice([0.05, 0.07, 0.1])),
            )
            for g in sizes
        ),
    )


def job_sizes(jobs: int) -> list[int]:
    """Return the paper's mix of sizes scaled to a number of jobs, in ascending order."""
    total = sum(PAPER_MIX.values())
    share = {g: jobs * count / total for g, count in PAPER_MIX.items()}
    count = {g: math.floor(x) for g, x in share.items()}
    by_remainder = sorted(share, key=lambda g: (count[g] - share[g], g))
    for g in by_remainder[: jobs - sum(count.values())]:
        count[g] += 1
    return [g for g, k in count.items() for _ in range(k)]


def iteration_range(rho: float) -> tuple[int, int]:
    """Return the smallest and largest F_j for which rho_j / F_j is in the paper's range of tau_j.

    The upper end leaves room for a local iteration to take 0.85 of it and stay in the range.
    """
    return (
        max(_F_MIN, math.ceil(rho / _TAU_MAX)),
        min(_F_MAX, math.floor(rho * 0.85 / _TAU_MIN)),
    )


def calibrated_instance(
    capacities: Sequence[int],
    sizes: Sequence[int],
    rhos: Sequence[float],
    iterations: Sequence[int],
    *,
    horizon_slots: int = 1200,
    extra: float = 0.15,
    p_cal: int | None = None,
    server_spread_factor: float = 1.0,
) -> SjfBcoInstance:
    """Return the instance in which tau_j = rho_j / F_j is the worst-case iteration time of job j.

    A single GPU takes exactly tau_j. A larger gang takes (1 - extra) tau_j on one server. Half of
    the rest is overhead on the largest number of servers, half is contention at level `p_cal`.
    Compute time fills the remainder, two thirds of it forward. Parameters are rounded down to 10
    decimals so that no iteration takes longer than planned (reconstructed).
    """
    p_cal = max(capacities) if p_cal is None else p_cal
    half = extra / 2
    tau = [rho / f for rho, f in zip(rhos, iterations, strict=True)]
    gangs = [(t, g) for t, g in zip(tau, sizes, strict=True) if g >= 2]
    spread_limits = [
        half * t / (min(g, len(capacities)) - 1) for t, g in gangs if len(capacities) > 1
    ]
    # If no job can be spread, overhead cannot be calibrated; any small value will do.
    overhead_unit = _rounded_down(min(spread_limits, default=half * min(tau)) / _XI)
    overhead = _XI * overhead_unit
    k = max(1.0, _XI * p_cal)
    slowdown = (k + _ALPHA * (k - 1)) / _INTER_BW - 1 / _INTRA_BW
    jobs = []
    for g, rho, f, t in zip(sizes, rhos, iterations, tau, strict=True):
        exchanged = half * t / slowdown if g >= 2 else 0.0  # e_j = 2 m_j (G_j - 1) / G_j
        local = (1 - extra) * t if g >= 2 else t
        compute = local - exchanged / _INTRA_BW - exchanged / (2 * _REDUCE) - overhead
        jobs.append(
            Job(
                gpus=g,
                iterations=f,
                grad_size_mb=_rounded_down(exchanged * g / (2 * (g - 1))) if g >= 2 else 0.0,
                minibatch_samples=_MINIBATCH,
                fwd_slots_per_sample=_rounded_down(compute * 2 / 3 / _MINIBATCH),
                bwd_slots=_rounded_down(compute / 3),
                server_spread_factor=server_spread_factor,
                est_slots=rho,
            )
        )
    return SjfBcoInstance(
        server_gpus=tuple(capacities),
        horizon_slots=horizon_slots,
        inter_bw_mb_per_slot=_INTER_BW,
        intra_bw_mb_per_slot=_INTRA_BW,
        gpu_reduce_mb_per_slot=_REDUCE,
        contention_coeff=_XI,
        overhead_coeff=_XI,
        overhead_unit_slots=overhead_unit,
        degradation_alpha=_ALPHA,
        jobs=tuple(jobs),
    )


def _rounded_down(x: float) -> float:
    return math.floor(x * 1e10) / 1e10
