r"""Configuration linear program of a slot, solved by column generation.

It chooses among mappings, each of which is feasible on its own (reconstructed):

.. math::
    \max \sum_\omega \pi_\omega \varphi_\omega, \qquad
    \sum_{\omega \ni i} \varphi_\omega \le 1, \qquad
    \sum_\omega \mathrm{load}_\omega \varphi_\omega \le \mathrm{capacity}, \qquad \varphi \ge 0,

At any prices the Lagrangian bound

.. math::
    \sum \mathrm{price} \cdot \mathrm{capacity} + \sum_i \max_\omega (\pi_\omega -
        \mathrm{price} \cdot \mathrm{load}_\omega)^+

is an upper bound on the slot's optimum. This bound is reported, not the master's value. Bandwidths
are tightened to what sets of jobs can use. Unlike the relaxation of (12)-(19), the program takes
bandwidth into account.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.solvers.scaling import cost_unit
from gadgetopt.system.result import Limits, Status

from ...subproblems.decomposition import WeightedMapping
from ...subproblems.slot_problem import (
    Mapping,
    SlotProblem,
)
from ..certificate.bandwidth_tightening import tightened
from .tree_pricing import (
    Prices,
    TreePricing,
)

#: A column enters if its reduced cost exceeds this, relative to the largest gain.
#: Tuned: `benchmarks/constants.py`.
ENTERING = 1e-7
#: Weights below this are zero. Tuned: `benchmarks/constants.py`.
ZERO = 1e-9
#: The bound is raised by this relative amount, for rounding errors.
#: Tuned: `benchmarks/constants.py`.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ConfigLp:
    """Result of the column generation.

    Attributes
    ----------
    bound : float
        Least Lagrangian bound over all iterations.
    prices : Prices
        Prices of that bound.
    value : float
        Value of the restricted master.
    mappings : tuple of tuple of WeightedMapping
        For each job of the slot problem, the mappings with positive weight.
    rounds : int
    limit_hit : str or None
    """

    bound: float
    prices: Prices
    value: float
    mappings: tuple[tuple[WeightedMapping, ...], ...]
    rounds: int
    limit_hit: str | None


def config_lp(problem: SlotProblem, limits: Limits, *, tighten: bool = True) -> ConfigLp:
    """Solve the configuration program of a slot on a two-tier cluster.

    Parameters
    ----------
    problem : SlotProblem
    limits : Limits
    tighten : bool
        If True, bandwidths are first tightened to what sets of jobs can use.

    Raises
    ------
    ModelRefused
        If the network is a graph.
    """
    clock = Clock(limits)
    pricing = TreePricing(problem)
    master = _Master(problem, tighten)
    largest = max((float(x.gain.max()) for x in problem.jobs), default=0.0)
    bound = sum(float(x.gain.max()) for x in problem.jobs)
    cheapest, _ = master.prices()
    rounds, limit_hit = 0, None
    # The initial columns, at zero prices: the best ring of every job alone.
    while problem.jobs:
        if clock.expired:
            limit_hit = "time_s"
            break
        prices, pays = master.prices()
        values, mappings = pricing.best(prices)
        rounds += 1
        lagrangian = master.worth_of_capacity(prices) + float(values.sum())
        if lagrangian < bound:
            bound, cheapest = lagrangian, prices
        entering = [
            (j, mapping)
            for j, (value, mapping) in enumerate(zip(values.tolist(), mappings, strict=True))
            if mapping is not None and value - pays[j] > ENTERING * largest
        ]
        if not master.add(entering):
            break
        if master.lp.solve(clock.limits()) is not Status.OPTIMAL:
            limit_hit = master.lp.limit_hit or "time_s"
            break
    value, weighted = master.point()
    return ConfigLp(bound * (1 + ROUNDING), cheapest, value, weighted, rounds, limit_hit)


class _Master:
    """The restricted master: scaled rows of jobs, of servers' resources and of links."""

    def __init__(self, problem: SlotProblem, tighten: bool):
        terms = problem.terms
        tree = terms.tree
        assert tree is not None
        self.problem = problem
        self.access, self.uplink = tree.access, tree.uplink
        if tighten:
            spanning = [x.job.bandwidth for x in problem.jobs if x.most > 1]
            self.access = np.array(tightened(tree.access.tolist(), spanning))
            self.uplink = np.array(tightened(tree.uplink.tolist(), spanning))
        capacity = np.concatenate([terms.capacity.ravel(), self.access, self.uplink])
        self.scale = 1 / np.maximum(1, capacity)
        self.capacity = capacity
        self.jobs = len(problem.jobs)
        self.lp = PersistentLp("max", cost_unit=cost_unit([x.gain.max() for x in problem.jobs]))
        rows = self.jobs + len(capacity)
        upper = np.concatenate([np.ones(self.jobs), np.where(capacity > 0, 1.0, 0.0)])
        self.lp.add_rows(np.full(rows, -np.inf), upper, np.zeros(rows), (), ())
        self._pool: ColumnPool[tuple[int, Mapping]] = ColumnPool(self.lp)

    def add(self, entering: list[tuple[int, Mapping]]) -> int:
        """Add mappings of jobs, given by their position in the slot problem, that are new."""
        for j, mapping in entering:
            load = self.load(j, mapping)
            touched = np.flatnonzero(load)
            self._pool.add(
                (j, mapping),
                (j, mapping),
                float(self.problem.jobs[j].gain[mapping.size]),
                np.append(j, self.jobs + touched),
                np.append(1.0, load[touched] * self.scale[touched]),
            )
        return self._pool.enter()

    def load(self, j: int, mapping: Mapping) -> Floats:
        """Return the resource units and the access and uplink Mbit/s that a mapping uses."""
        terms = self.problem.terms
        tree = terms.tree
        assert tree is not None
        job = self.problem.jobs[j].job
        servers = np.array([s for s, _ in mapping.workers])
        units = np.zeros(terms.capacity.shape)
        units[servers] = np.array([[n] for _, n in mapping.workers]) * job.demand
        access, uplink = np.zeros(len(self.access)), np.zeros(len(self.uplink))
        if len(servers) > 1:
            access[servers] = job.bandwidth
            racks = np.unique(tree.rack[servers])
            if len(racks) > 1:
                uplink[racks] = job.bandwidth
        return np.concatenate([units.ravel(), access, uplink])

    def prices(self) -> tuple[Prices, list[float]]:
        """Return the duals of the capacity rows and of the job rows."""
        shape = self.problem.terms.capacity.shape
        if not self._pool.payloads:
            nothing = np.zeros(len(self.access)), np.zeros(len(self.uplink))
            return Prices(np.zeros(shape), *nothing), [0.0] * self.jobs
        duals = np.maximum(0.0, self.lp.row_duals)
        pays, unscaled = duals[: self.jobs], duals[self.jobs :] * self.scale
        units = shape[0] * shape[1]
        prices = Prices(
            unscaled[:units].reshape(shape),
            unscaled[units : units + len(self.access)],
            unscaled[units + len(self.access) :],
        )
        return prices, pays.tolist()

    def worth_of_capacity(self, prices: Prices) -> float:
        """Return the total price of all capacities."""
        flat = np.concatenate([prices.unit.ravel(), prices.access, prices.uplink])
        return float(flat @ self.capacity)

    def point(self) -> tuple[float, tuple[tuple[WeightedMapping, ...], ...]]:
        """Return the value and the mappings with positive weight of the last solve."""
        weighted: list[list[WeightedMapping]] = [[] for _ in range(self.jobs)]
        if not self._pool.payloads:
            return 0.0, tuple(map(tuple, weighted))
        for (j, mapping), weight in self._pool.used(ZERO):
            weighted[j].append(WeightedMapping(min(1.0, weight), mapping))
        return self.lp.objective, tuple(map(tuple, weighted))
