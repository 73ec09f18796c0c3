r"""At most K trees of any rates: CP-SAT with integer rates.

Formulation F8b on a grid of rates (`rate_grid`). Trees are arc literals; x_1 >= ... >= x_K are the
rates in steps. Instead of loads the model knows, for every capacity c that a cable has, which sets
S of trees fit on it together:

.. math:: \mathrm{fits}_{cS} \Rightarrow \sum_{k \in S} x_k \le c,
          \qquad \bigwedge_{k \in S} b_{ke} \Rightarrow \mathrm{fits}_{c_e S}.

A cable that holds j of the i fastest trees holds in particular the j slowest of those, so the
number of the i fastest trees on it is at most the number of j with
:math:`\mathrm{fits}_{c \{i-j+1..i\}}`. Counting over all cables, and over those at a node, gives

.. math:: \sum_e \sum_{j \le i} \mathrm{fits}_{c_e \{i-j+1..i\}} \ge i (N - 1), \qquad
          \sum_{e \in \delta(v)} \sum_{j \le i} \mathrm{fits}_{c_e \{i-j+1..i\}} \ge i,

which involve the rates alone and prove most bounds (reconstructed). With many trees there are too
many sets; then :math:`l_{ke} \ge x_k` if :math:`b_{ke}`, and
:math:`\sum_k l_{ke} \le c_e`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
)

from ..instance import ForestPackingInstance
from ..outcome import plan_outcome
from ..packing import Pair, fit, total_rate
from ..subproblems.cable_trees import (
    EdgeTree,
    disconnected,
    edge_capacities,
    plan,
    strength,
    widest,
)
from ..subproblems.exact_rates import best_rates
from ..subproblems.rate_grid import RateGrid, make_grid
from ..subproblems.tree_literals import add_arborescence, both_ways
from .tree_budget import rate_bound, rate_certificate, refuse_others

#: Sets of trees times capacities up to which the sets that fit are listed (measured: 16 nodes,
#: capacities 1..20, K = 5 are solved in 1 s with them, and not in 20 s without).
#: Tuned: `benchmarks/constants.py`.
MOST_SETS = 8_000


class TreeBudgetModel:
    """K trees on cables with rates in steps of a grid.

    Parameters
    ----------
    instance : ForestPackingInstance
    num_trees : int
        K.
    grid : RateGrid
    """

    edges: tuple[tuple[int, int], ...]
    model: cp_model.CpModel

    def __init__(self, instance: ForestPackingInstance, num_trees: int, grid: RateGrid):
        network = instance.network
        self.edges, self.N, self.K = network.edges, network.num_nodes, num_trees
        most = grid.steps(rate_bound(instance, num_trees))
        # A cable never carries more than all trees together.
        self.capacity: list[int] = [
            min(most, grid.steps(c * network.unit)) for c in edge_capacities(network)
        ]
        self.width: int = grid.steps(widest(network) * network.unit)
        self.model = m = cp_model.CpModel()
        self.x: list[cp_model.IntVar] = [
            m.new_int_var(0, self.width, f"x[{k}]") for k in range(num_trees)
        ]
        self.b: dict[tuple[int, int], cp_model.IntVar] = {
            (k, e): m.new_bool_var(f"b[{k},{e}]")
            for k in range(num_trees)
            for e in range(len(self.edges))
        }
        for faster, slower in pairwise(self.x):
            m.add(faster >= slower)
        m.add(sum(self.x) <= most)
        m.maximize(sum(self.x))

    def trees_span(self) -> None:
        """Every tree has an arborescence from node 0 on its cables."""
        position = {edge: e for e, edge in enumerate(self.edges)}
        arcs = both_ways(self.edges)
        for k in range(self.K):
            for (u, v), arc in add_arborescence(self.model, self.N, arcs, 0).items():
                self.model.add_implication(arc, self.b[k, position[min(u, v), max(u, v)]])
            cables = range(len(self.edges))
            self.model.add(sum(self.b[k, e] for e in cables) >= self.N - 1)

    def cables_have_capacity(self) -> None:
        """Trees on a cable fit together."""
        capacities = sorted(set(self.capacity))
        if 2**self.K * len(capacities) > MOST_SETS:
            self._loads_fit()
            return
        sets = [S for r in range(1, self.K + 1) for S in combinations(range(self.K), r)]
        fits = self._fitting_sets(capacities, sets)
        for e, c in enumerate(self.capacity):
            for S in sets:
                self.model.add_bool_or(*(~self.b[k, e] for k in S), fits[c, S])
        self._count(fits)

    def _loads_fit(self) -> None:
        for e, c in enumerate(self.capacity):
            loads = []
            for k in range(self.K):
                load = self.model.new_int_var(0, min(c, self.width), f"l[{k},{e}]")
                self.model.add(load >= self.x[k]).only_enforce_if(self.b[k, e])
                loads.append(load)
            self.model.add(sum(loads) <= c)

    def _fitting_sets(
        self, capacities: list[int], sets: list[tuple[int, ...]]
    ) -> dict[tuple[int, tuple[int, ...]], cp_model.IntVar]:
        m = self.model
        fits = {(c, S): m.new_bool_var(f"fits[{c},{S}]") for c in capacities for S in sets}
        for (c, S), fits_in in fits.items():
            m.add(sum(self.x[k] for k in S) <= c).only_enforce_if(fits_in)
            for k in S if len(S) > 1 else ():
                m.add_implication(fits_in, fits[c, tuple(i for i in S if i != k)])
        for S in sets:
            for smaller, larger in pairwise(capacities):
                m.add_implication(fits[smaller, S], fits[larger, S])
        return fits

    def _count(self, fits: dict[tuple[int, tuple[int, ...]], cp_model.IntVar]) -> None:
        at = [[e for e, edge in enumerate(self.edges) if v in edge] for v in range(self.N)]
        for i in range(1, self.K + 1):
            slowest = [tuple(range(i - j, i)) for j in range(1, i + 1)]
            room = {c: sum(fits[c, S] for S in slowest) for c in set(self.capacity)}
            self.model.add(sum(room[c] for c in self.capacity) >= i * (self.N - 1))
            for incident in at:
                self.model.add(sum(room[self.capacity[e]] for e in incident) >= i)

    def decode(self, outcome: SolverOutcome) -> tuple[list[EdgeTree], list[int]]:
        """Return a spanning tree of each tree's cables, and the rates in steps."""
        values = outcome.values
        assert values is not None
        cables = [
            [e for e in range(len(self.edges)) if value_of(values, self.b[k, e])]
            for k in range(self.K)
        ]
        return [self._spanning(chosen) for chosen in cables], [value_of(values, x) for x in self.x]

    def _spanning(self, chosen: list[int]) -> EdgeTree:
        """Drop cables that close a cycle: their literals may be true needlessly."""
        part = list(range(self.N))
        tree = []
        for e in chosen:
            u, v = (part[w] for w in self.edges[e])
            if u != v:
                part = [u if p == v else p for p in part]
                tree.append(e)
        return tuple(tree)


@method(kind="heuristic", reference="F8b", formulation="tree_budget", backend="cpsat")
def tree_budget_cp(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    granularity: float | None = None,
) -> MethodOutcome:
    r"""At most K trees of any rates, each used up and down (CP-SAT, rates on a grid).

    Find the best K trees, each used in both directions (F8b).

    The bound is :math:`\min(\tau, K B_1)` and holds for pairs of different trees too; the notes
    have the bound for trees used in both directions, which is valid for all rates, not only for
    those of the grid.

    Parameters
    ----------
    instance : ForestPackingInstance
        `tree_budget` is set.
    limits : Limits
    granularity : float, optional
        Step of the rates, GB/s. By default the coarsest that surely contains an optimum; from
        seven trees on, a sixtieth of the unit of capacity.

    Raises
    ------
    ModelRefused
        If the instance has no tree budget or equal shares, given root shares, or is not an
        overlapped allreduce on full-duplex cables; or if `granularity` is not positive, or too
        small for the rates.
    """
    num_trees = refuse_others(instance, "tree_budget_cp")
    clock = Clock(limits)
    network = instance.network
    whole = strength(network)
    if whole.value == 0:
        return disconnected(instance, whole)
    verified = rate_bound(instance, num_trees)
    grid = grid_of(instance, num_trees, 1, granularity, verified)
    model = TreeBudgetModel(instance, num_trees, grid)
    model.trees_span()
    model.cables_have_capacity()
    built_s = clock.elapsed_s
    outcome = solve_cp(model.model, clock.limits(), seed_of(fixed_rng()), 0)
    if outcome.status is Status.ERROR:
        raise SolverError(outcome.reason)
    two_way = verified if outcome.bound is None else grid.bound(int(outcome.bound))
    pairs = []
    if outcome.values is not None:
        trees, steps = model.decode(outcome)
        pairs = plan(instance, trees, [Fraction(x) * grid.step for x in steps])
        if granularity is None and not grid.exact:
            pairs = off_grid(instance, pairs, clock.limits())
    return plan_outcome(
        instance,
        pairs,
        certificate=rate_certificate(instance, num_trees),
        dual_bound=verified,
        limit_hit=outcome.limit_hit,
        notes={
            "bound_of_trees_used_both_ways": str(min(verified, two_way)),
            "step_gbyte_per_s": str(grid.step),
            "grid_contains_optimum": grid.exact,
        },
        phases_s={"build": built_s, **outcome.phases_s},
        versions=outcome.versions,
    )


def off_grid(instance: ForestPackingInstance, pairs: list[Pair], limits: Limits) -> list[Pair]:
    """Return the pairs with their best rates, all equal if the instance has equal shares."""
    plans = [fit(instance, pairs)]
    if not instance.equal_share:
        plans.append(best_rates(instance, pairs, limits))
    return max(plans, key=total_rate)


def grid_of(
    instance: ForestPackingInstance,
    num_trees: int,
    most_uses: int | None,
    granularity: float | None,
    largest: Fraction,
) -> RateGrid:
    """Return the grid that a parameter asks for, of rates up to `largest`, GB/s.

    Raises
    ------
    ModelRefused
        If `granularity` is not positive, or too small for such rates.
    """
    if granularity is not None and granularity <= 0:
        raise ModelRefused(f"granularity: {granularity}, expected a positive number")
    step = None if granularity is None else decimal_rational(granularity)
    return make_grid(instance.network.unit, num_trees, most_uses, step, largest)
