r"""Table of integer rates: iterations per slot by number of servers and contention level.

The iteration time (8) depends on the decision only by (r, p), and so does all nonlinearity. With r
the number of servers a job uses and p its contention level (0 on one server),

.. math::
    \phi_j(r, p) = \Big\lfloor \Big(e_j\,\beta(r, p) + \frac{e_j}{2C} + \xi_2\omega r
        + \Delta^f_j M_j + \Delta^b_j\Big)^{-1} \Big\rfloor, \qquad e_j = \frac{2 m_j (G_j-1)}{G_j},

with beta(1, 0) = 1/b^i and beta(r, p) = f(alpha, k)/b^e, f = k + alpha (k - 1),
k = max(1, xi_1 p). Formulations, algorithms and bounds use only these integers. The floor is exact:
if a float is close to an integer, rational arithmetic decides.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import decimal_rational

if TYPE_CHECKING:
    from .instance import SjfBcoInstance

#: A rate at a larger relative distance from an integer is floored in floating point. Floats are
#: accurate to about 1e-15, so the margin is wide. By definition.
_FLOAT_MARGIN = 1e-9


class RateTable:
    """Rates phi_j(r, p), durations d_j(r, p) and derived values of an instance.

    Values are computed on demand and cached. Infinite durations (rate 0) are None.
    """

    def __init__(self, instance: SjfBcoInstance):
        self.instance = instance
        jobs = instance.jobs
        self.gpus: list[int] = [job.gpus for job in jobs]
        self.iterations: list[int] = [job.iterations for job in jobs]
        self.servers: int = len(instance.server_gpus)
        #: P, the highest level: a spread job holds at least one GPU on each of its servers.
        self.max_level: int = min(max(instance.server_gpus), sum(g >= 2 for g in self.gpus))
        self.rate: Callable[[int, int, int], int] = cache(self._rate)
        self._factors = cache(self._float_factors)
        self.min_servers: Callable[[int], int] = cache(self._min_servers)

    def table(self) -> Ints:
        """Return phi_j(r, p), shape (jobs, servers + 1, levels + 1); 0 where there is no mode."""
        phi = np.zeros((len(self.gpus), self.servers + 1, self.max_level + 1), dtype=np.int64)
        for j in range(len(self.gpus)):
            for r in self.server_counts(j):
                for p in self.levels(r):
                    phi[j, r, p] = self.rate(j, r, p)
        return phi

    # -- the formula -------------------------------------------------------------------------

    def degradation(self, p: int) -> Fraction:
        """Return f(alpha, k) at level p, with k = xi_1 p clamped to at least 1 by default."""
        k = decimal_rational(self.instance.contention_coeff) * p
        if self.instance.clamp_contention:
            k = max(k, Fraction(1))
        return k + decimal_rational(self.instance.degradation_alpha) * (k - 1)

    def iteration_slots(self, j: int, r: int, p: int) -> Fraction:
        """Return tau_j at (r, p) exactly, in slots per iteration (8)."""
        i, job = self.instance, self.instance.jobs[j]
        e = 2 * decimal_rational(job.grad_size_mb) * (job.gpus - 1) / job.gpus
        beta = (
            1 / decimal_rational(i.intra_bw_mb_per_slot)
            if r == 1
            else self.degradation(p) / decimal_rational(i.inter_bw_mb_per_slot)
        )
        overhead = decimal_rational(i.overhead_coeff) * decimal_rational(i.overhead_unit_slots) * r
        if r == 1 and i.overhead_free_local:
            overhead = Fraction(0)
        compute = decimal_rational(job.fwd_slots_per_sample) * decimal_rational(
            job.minibatch_samples
        ) + decimal_rational(job.bwd_slots)
        return e * beta + e / (2 * decimal_rational(i.gpu_reduce_mb_per_slot)) + overhead + compute

    def _rate(self, j: int, r: int, p: int) -> int:
        e, own = self._float_lists
        beta, overhead = self._factors(r, p)
        x = 1.0 / (e[j] * beta + own[j] + overhead)
        near = abs(x - round(x)) <= _FLOAT_MARGIN * max(1.0, x)
        return self._floor_exactly(j, r, p) if near else int(x)

    def _floor_exactly(self, j: int, r: int, p: int) -> int:
        tau = self.iteration_slots(j, r, p)
        return tau.denominator // tau.numerator

    # -- the domain of (r, p) ----------------------------------------------------------------

    def _min_servers(self, gpus: int) -> int:
        """Return the least number of servers that together hold `gpus`."""
        held = 0
        for r, capacity in enumerate(self._capacities_descending, start=1):
            held += capacity
            if held >= gpus:
                return r
        raise ValueError(f"{gpus} GPUs exceed the cluster")

    @cached_property
    def _capacities_descending(self) -> list[int]:
        return sorted(self.instance.server_gpus, reverse=True)

    def server_counts(self, j: int) -> range:
        """Return R_j, the numbers of servers that job j can use."""
        g = self.gpus[j]
        return range(self.min_servers(g), min(g, self.servers) + 1)

    def levels(self, r: int) -> range:
        """Return P_r: level 0 on one server, else 1..P."""
        return range(1) if r == 1 else range(1, self.max_level + 1)

    # -- durations ---------------------------------------------------------------------------

    def duration(self, j: int, r: int, p: int) -> int | None:
        """Return d_j(r, p), the slots to finish job j at constant level p; None if infinite."""
        phi = self.rate(j, r, p)
        return -(-self.iterations[j] // phi) if phi else None

    @cached_property
    def local_slots(self) -> list[int | None]:
        """Return d_j(1, 0) of each job; None if infinite or no server is large enough."""
        work = np.array(self.iterations, dtype=np.int64)
        rate = self._best_rates(1)
        slots = -(-work // np.maximum(rate, 1))
        return [d if phi else None for d, phi in zip(slots.tolist(), rate.tolist(), strict=True)]

    @cached_property
    def spread_slots(self) -> list[int | None]:
        """Return min_{r >= 2} d_j(r, 1) of each job; None if it cannot run on several servers."""
        work = np.array(self.iterations, dtype=np.int64)
        rate = np.zeros(len(work), dtype=np.int64)
        for r in self._all_counts[1:]:
            rate = np.maximum(rate, self._best_rates(r))
        slots = -(-work // np.maximum(rate, 1))
        return [d if phi else None for d, phi in zip(slots.tolist(), rate.tolist(), strict=True)]

    @cached_property
    def exec_min(self) -> Ints:
        """Return rho_j^min, the shortest duration over the reachable (r, p), shape (jobs,)."""
        best = np.max(np.stack([self._best_rates(r) for r in self._all_counts]), axis=0)
        work = np.array(self.iterations, dtype=np.int64)
        return -(-work // np.maximum(best, 1))

    @cached_property
    def exec_max(self) -> Floats:
        """Return rho_j^max, the longest duration over the reachable (r, p); infinite at rate 0."""
        worst = np.min(np.stack([self._worst_rates(r) for r in self._all_counts]), axis=0)
        work = np.array(self.iterations, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.ceil(work / worst)

    def jobs_faster_than(self, slots: float) -> list[int]:
        """Return the jobs with an iteration time below `slots` on some placement."""
        low, high = self._reachable
        e, own = self._float_parts
        fast = np.zeros(len(low), dtype=bool)
        for r in self._all_counts:
            j = np.flatnonzero((low <= r) & (r <= high))
            beta, overhead = self._factors(r, self.levels(r)[0])
            fast[j] |= e[j] * beta + own[j] + overhead < slots
        return [int(j) for j in np.flatnonzero(fast)]

    def best_iteration_slots(self, j: int) -> Fraction:
        """Return the shortest tau_j over the reachable (r, p)."""
        counts = self.server_counts(j)
        return min(self.iteration_slots(j, r, self.levels(r)[0]) for r in counts)

    def jobs_slower_than_a_slot(self) -> list[int]:
        """Return the jobs with rate 0 on every placement."""
        best = np.max(np.stack([self._best_rates(r) for r in self._all_counts]), axis=0)
        return [int(j) for j in np.flatnonzero(best == 0)]

    # -- vectorised over jobs, for instances with many of them ---------------------------------

    @property
    def _all_counts(self) -> range:
        return range(1, min(max(self.gpus), self.servers) + 1)

    @cached_property
    def _reachable(self) -> tuple[Ints, Ints]:
        """Return the smallest and largest number of servers of each job."""
        low = np.array([self.min_servers(g) for g in self.gpus], dtype=np.int64)
        return low, np.minimum(np.array(self.gpus, dtype=np.int64), self.servers)

    @cached_property
    def _float_parts(self) -> tuple[Floats, Floats]:
        """Return e_j and the part of tau_j that depends on the job only."""
        i, jobs = self.instance, self.instance.jobs
        g = np.array(self.gpus, dtype=float)
        e = 2.0 * np.array([job.grad_size_mb for job in jobs]) * (g - 1) / g
        compute = np.array(
            [j.fwd_slots_per_sample * j.minibatch_samples + j.bwd_slots for j in jobs]
        )
        return e, e / (2.0 * i.gpu_reduce_mb_per_slot) + compute

    @cached_property
    def _float_lists(self) -> tuple[list[float], list[float]]:
        """Return `_float_parts` as lists, which index single jobs much faster."""
        e, own = self._float_parts
        return e.tolist(), own.tolist()

    def _float_factors(self, r: int, p: int) -> tuple[float, float]:
        """Return beta and the overhead, the part of tau_j that depends on (r, p) only."""
        i = self.instance
        beta = (
            1.0 / i.intra_bw_mb_per_slot
            if r == 1
            else float(self.degradation(p)) / i.inter_bw_mb_per_slot
        )
        free = r == 1 and i.overhead_free_local
        return beta, 0.0 if free else i.overhead_coeff * i.overhead_unit_slots * r

    def _float_tau(self, j: Ints, r: int, p: int) -> Floats:
        e, own = self._float_parts
        beta, overhead = self._factors(r, p)
        return e[j] * beta + own[j] + overhead

    def _floors(self, rates: Floats, j: Ints, r: int, p: int) -> Ints:
        floor = np.floor(rates).astype(np.int64)
        near = np.abs(rates - np.rint(rates)) <= _FLOAT_MARGIN * np.maximum(1.0, rates)
        for k in np.flatnonzero(near):
            floor[k] = self._floor_exactly(int(j[k]), r, p)
        return floor

    def _rates_where_reachable(self, r: int, p: int, otherwise: int) -> Ints:
        low, high = self._reachable
        out = np.full(len(low), otherwise, dtype=np.int64)
        j = np.flatnonzero((low <= r) & (r <= high))
        if j.size:
            out[j] = self._floors(1.0 / self._float_tau(j, r, p), j, r, p)
        return out

    def _best_rates(self, r: int) -> Ints:
        return self._rates_where_reachable(r, self.levels(r)[0], otherwise=0)

    def _worst_rates(self, r: int) -> Ints:
        largest = np.iinfo(np.int64).max
        return self._rates_where_reachable(r, self.levels(r)[-1], otherwise=largest)
