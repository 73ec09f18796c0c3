r"""At most K tree pairs on any network without switches: CP-SAT with integer rates.

Formulation F8d. Each pair k has a root literal at every worker, the same for its in-tree and its
out-tree, an arborescence for every stage of the collective, and a rate x_k on a grid (`rate_grid`).
Row i of the network carries

.. math:: \sum_k \sum_{a \in i} (l^-_{ka} + l^+_{ka}) \le c_i, \qquad l_{ka} \ge x_k
          \text{ if } a \text{ is in the tree.}

With one stage there is one tree a pair. A limit H of the depth bounds the sum of the heights, equal
shares make all rates that are not 0 the same. It is NP-complete to decide if an
in-tree and an out-tree without a common arc exist, so this is for small networks.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...formulations.tree_budget_cp import (
    grid_of,
    off_grid,
)
from ...instance import (
    ForestPackingInstance,
    Stage,
)
from ...network import Network
from ...packing import (
    Pair,
    required_shares,
)
from ...subproblems.rate_grid import (
    MOST_RATE_STEPS,
    MOST_STEPS,
    RateGrid,
)
from ...subproblems.tree_literals import (
    Arc,
    add_rooted_arborescence,
)
from ..certificate.check import check_bound
from ..proved_outcome import proved_outcome
from .rational_duals import singletons_certificate


class PairBudgetModel:
    """K tree pairs with rates in steps of a grid.

    Parameters
    ----------
    instance : ForestPackingInstance
    num_pairs : int
        K.
    grid : RateGrid
    bound : Fraction
        Known upper bound on the rate, GB/s.
    """

    instance: ForestPackingInstance
    network: Network
    model: cp_model.CpModel

    def __init__(
        self, instance: ForestPackingInstance, num_pairs: int, grid: RateGrid, bound: Fraction
    ):
        self.instance, self.network = instance, instance.network
        self.N, self.K = self.network.num_workers, num_pairs
        self.model = m = cp_model.CpModel()
        self.row_steps: list[int] = [grid.steps(row.capacity) for row in self.network.rows]
        self.most: int = grid.steps(bound)
        self.x: list[cp_model.IntVar] = [
            m.new_int_var(0, self.most, f"x[{k}]") for k in range(num_pairs)
        ]
        self.is_root: list[list[cp_model.IntVar]] = [
            [m.new_bool_var(f"root[{k},{v}]") for v in range(self.N)] for k in range(num_pairs)
        ]
        self.arcs: dict[tuple[int, Stage], dict[Arc, cp_model.IntVar]] = {}
        for faster, slower in pairwise(self.x):
            m.add(faster >= slower)
        m.add(sum(self.x) <= self.most)
        m.maximize(sum(self.x))

    def pairs_have_one_root(self) -> None:
        """Every pair has one root: the given one if the instance has one."""
        shares = required_shares(self.instance)
        for roots in self.is_root:
            self.model.add_exactly_one(roots)
            for v, root in enumerate(roots):
                if shares is not None and v not in shares:
                    self.model.add(root == 0)

    def trees_span(self) -> None:
        """Every tree is an arborescence to or from its root, no deeper than allowed."""
        for k in range(self.K):
            heights = []
            for stage in self.instance.stages:
                arcs = [a if stage == "broadcast" else a[::-1] for a in self.network.arcs]
                literals, depth = add_rooted_arborescence(self.model, self.N, arcs, self.is_root[k])
                self.arcs[k, stage] = {
                    (a if stage == "broadcast" else a[::-1]): b for a, b in literals.items()
                }
                height = self.model.new_int_var(0, self.N - 1, f"h[{k},{stage}]")
                self.model.add_max_equality(height, depth)
                heights.append(height)
            if self.instance.max_depth is not None:
                self.model.add(sum(heights) <= self.instance.max_depth)

    def rows_have_capacity(self) -> None:
        """The load of every row is within its capacity."""
        loads: list[list[cp_model.IntVar]] = [[] for _ in self.network.rows]
        for (k, stage), literals in self.arcs.items():
            for arc, b in literals.items():
                a = self.network.arc_index[arc]
                load = self.model.new_int_var(0, self.most, f"l[{k},{stage},{arc}]")
                self.model.add(load >= self.x[k]).only_enforce_if(b)
                for i in self.network.rows_of[a]:
                    loads[i].append(load)
        for i, row in enumerate(loads):
            # Loads never exceed that.
            self.model.add(sum(row) <= min(self.row_steps[i], len(row) * self.most))

    def shares_are_equal(self) -> None:
        """Pairs have the first pair's rate or none."""
        for x in self.x[1:]:
            unused = self.model.new_bool_var("")
            self.model.add(x == 0).only_enforce_if(unused)
            self.model.add(x == self.x[0]).only_enforce_if(~unused)

    def decode(self, values: np.ndarray, step: Fraction) -> list[Pair]:
        """Read the pairs with a rate."""
        pairs = []
        for k, x in enumerate(self.x):
            rate = value_of(values, x) * step
            if rate == 0:
                continue
            root = next(v for v, b in enumerate(self.is_root[k]) if value_of(values, b))
            trees = {
                stage: tuple(arc for arc, b in self.arcs[k, stage].items() if value_of(values, b))
                for stage in self.instance.stages
            }
            pairs.append(Pair(root, trees.get("reduce", ()), trees.get("broadcast", ()), rate))
        return pairs


@method(kind="exact", reference="F8d", formulation="pair_budget", backend="cpsat")
def pair_budget_cp(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    granularity: float | None = None,
) -> MethodOutcome:
    """At most K pairs of trees on any network without switches (CP-SAT, rates on a grid).

    Find the best K pairs of an in-tree and an out-tree with a common root (F8d).

    Exact up to the grid of rates; the bound is valid for all rates.

    Parameters
    ----------
    instance : ForestPackingInstance
        `tree_budget` is set; `equal_share` and `max_depth` may be.
    limits : Limits
    granularity : float, optional
        Step of the rates, GB/s. By default the coarsest that surely contains an optimum, or a
        sixtieth of the unit of capacity where that is too fine.

    Raises
    ------
    ModelRefused
        If the instance has no tree budget, several roots with given shares, stages that take
        turns, or linked switches; or if `granularity` is not positive, or too small
        for the rates.
    """
    num_pairs = _check(instance)
    clock = Clock(limits)
    certificate = singletons_certificate(instance)
    verified = check_bound(instance, certificate)
    if not verified:
        return proved_outcome(instance, [], certificate=certificate)
    verified = min(verified, num_pairs * _widest(instance.network))
    grid = _grid(instance, num_pairs, granularity, verified)
    model = PairBudgetModel(instance, num_pairs, grid, verified)
    model.pairs_have_one_root()
    model.trees_span()
    model.rows_have_capacity()
    if instance.equal_share:
        model.shares_are_equal()
    built_s = clock.elapsed_s
    outcome = solve_cp(model.model, clock.limits(), seed_of(fixed_rng()), 0)
    if outcome.status is Status.ERROR:
        raise SolverError(outcome.reason)
    notes = {"step_gbyte_per_s": str(grid.step), "grid_contains_optimum": grid.exact}
    phases = {"build": built_s, **outcome.phases_s}
    if outcome.status is Status.INFEASIBLE:
        # No pair at all: no tree connects the workers, or none that is so shallow.
        return proved_outcome(
            instance,
            [],
            dual_bound=Fraction(0),
            notes=notes,
            phases_s=phases,
            versions=outcome.versions,
        )
    bound = verified if outcome.bound is None else min(verified, grid.bound(int(outcome.bound)))
    pairs = [] if outcome.values is None else model.decode(outcome.values, grid.step)
    if granularity is None and not grid.exact:
        pairs = off_grid(instance, pairs, clock.limits())
    return proved_outcome(
        instance,
        pairs,
        dual_bound=bound,
        limit_hit=outcome.limit_hit,
        notes=notes,
        phases_s=phases,
        versions=outcome.versions,
    )


def _check(instance: ForestPackingInstance) -> int:
    if instance.tree_budget is None:
        raise ModelRefused("pair_budget_cp: tree_budget: none, expected a number of trees")
    if len(required_shares(instance) or [0]) > 1:
        raise ModelRefused(
            f"pair_budget_cp: root_mode: {instance.root_mode!r}, expected free or one root"
        )
    if instance.sequential:
        raise ModelRefused("pair_budget_cp: stage_mode: 'sequential', expected 'overlap'")
    if len(instance.network.switches) > 0:
        raise ModelRefused("pair_budget_cp: switches: expected none that are linked")
    return instance.tree_budget


def _widest(network: Network) -> Fraction:
    """Return a capacity that some arc of every spanning tree does not exceed: Kruskal's last."""
    part = list(range(network.num_nodes))
    last = Fraction(0)
    for c, (u, v) in sorted(zip(network.capacity, network.arcs, strict=True), reverse=True):
        if part[u] != part[v]:
            last = c
            part = [part[u] if p == part[v] else p for p in part]
    return last


def _grid(
    instance: ForestPackingInstance, num_pairs: int, granularity: float | None, largest: Fraction
) -> RateGrid:
    nic_limits = instance.nic_in_gbyte_per_s or instance.nic_out_gbyte_per_s
    most_uses = None if nic_limits else len(instance.stages)
    if not instance.equal_share:
        return grid_of(instance, num_pairs, most_uses, granularity, largest)
    grid = grid_of(instance, num_pairs, None, granularity, largest)
    # One rate for all: a capacity over the number of times its row is used.
    needed = 0 if most_uses is None else math.lcm(*range(1, most_uses * num_pairs + 1))
    if granularity is None and 0 < needed <= MOST_STEPS:
        step = instance.network.unit / needed
        if largest <= step * MOST_RATE_STEPS:
            return RateGrid(step, grid.unit, num_pairs, None, exact=True)
    return grid
