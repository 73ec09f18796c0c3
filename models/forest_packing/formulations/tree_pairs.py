r"""The tree-pair packing LP: a column for every pair of an in-tree and an out-tree.

Formulation F1, our reading of the paper's core model (reconstructed).

Sets: pairs p = (r, T^-, T^+) of spanning arborescences of the workers into and out of a common root
r; rows i with capacity c_i. An arc of a tree is a path with only switches inside (F7.3), so that
n^-_i(p) and n^+_i(p), how often row i is used by T^- and T^+, can be any numbers.

Variables: x_p the rate of pair p, R their sum, in GB/s.

.. math::
    \max\ & R \\
    (F1.1)\quad & \sum_p x_p = R \\
    (F1.2)\quad & \sum_p (n^-_i(p) + n^+_i(p))\, x_p \le c_i \text{ for every row } i,
                  \text{ or, if the stages take turns,} \\
                & \sum_p n^-_i(p)\, x_p \le c_i s_1, \quad \sum_p n^+_i(p)\, x_p \le c_i s_2, \quad
                  s_1 + s_2 \le 1 \\
    (F1.3)\quad & \sum_{p \ni r} x_p = \omega_r R \text{ where the share } \omega_r
                  \text{ is given}

The textbook form has R = sum x as its objective and only (F1.2) for arcs; it is in rates already,
and the time of a GB is t = 1/R. Collectives of a single stage have one tree a column.

`build` lists all columns of tiny networks. `build_restricted` takes columns from elsewhere: the
restricted master of column generation, and the best rates for given trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, product
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import ForestPackingInstance, ForestPackingSolution, Stage
from ..network import Network
from ..outcome import depth
from ..packing import (
    Pair,
    Route,
    best_plan,
    required_shares,
    to_solution,
)
from ..subproblems.enumeration import (
    arborescences,
    count_arborescences,
    routings,
    switch_routes,
)
from .loads import rate_readings, refuse_variants, values

#: Most columns that `build` lists. Tuned: `benchmarks/constants.py`.
MAX_PAIRS = 20_000


def num_pairs(instance: ForestPackingInstance) -> int:
    """Return the number of columns of F1, whatever their depth."""
    return sum(_pairs_by_root(instance))


def _pairs_by_root(instance: ForestPackingInstance) -> Iterator[int]:
    """Count the columns of one root after the other, each by two determinants."""
    network = instance.network
    N = network.num_workers
    routes = switch_routes(network)
    down = {(v, u): len(found) for (u, v), found in routes.items()}  # reversed: towards the root
    up = {pair: len(found) for pair, found in routes.items()}
    for r in _roots(instance):
        in_trees = count_arborescences(N, down, r) if "reduce" in instance.stages else 1
        out_trees = count_arborescences(N, up, r) if "broadcast" in instance.stages else 1
        yield in_trees * out_trees


def all_pairs(instance: ForestPackingInstance) -> list[Pair]:
    """Return all columns of F1 that keep the depth limit of the instance."""
    routes = switch_routes(instance.network)
    pairs = [
        Pair(r, in_tree, out_tree, instance.network.unit)
        for r in _roots(instance)
        for in_tree, out_tree in product(
            _in_trees(instance, r, routes), list(_out_trees(instance, r, routes))
        )
    ]
    if instance.max_depth is None:
        return pairs
    return [p for p in pairs if depth(p, instance.network.num_workers) <= instance.max_depth]


@formulation(model_class="LP", equations="F1, F7.3")
def build(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """One variable for every pair of trees (tiny networks).

    Build F1 with all columns, or those no deeper than `max_depth` if it is given (F8f).

    Raises
    ------
    ModelRefused
        If there are more than `MAX_PAIRS` columns, the number or shares of the trees are
        restricted, or switches copy and sum.
    """
    refuse_variants(instance.model_copy(update={"max_depth": None}))
    # On large networks one root is enough to refuse.
    if any(columns > MAX_PAIRS for columns in accumulate(_pairs_by_root(instance))):
        raise ModelRefused(
            f"the network has more than {MAX_PAIRS} pairs of trees: use column_generation, which "
            "finds those that matter"
        )
    return build_restricted(instance, all_pairs(instance))


def build_restricted(instance: ForestPackingInstance, pairs: Sequence[Pair]) -> pyo.ConcreteModel:
    """Build F1 with the given columns; their rates are ignored."""
    network = instance.network
    shares = required_shares(instance)
    by_root: dict[int, list[int]] = {r: [] for r in range(network.num_workers)}
    for k, p in enumerate(pairs):
        by_root[p.root].append(k)
    uses = {stage: _uses(network, stage, pairs) for stage in instance.stages}

    m = pyo.ConcreteModel("tree pairs")
    m.pairs = list(pairs)
    m.P = pyo.RangeSet(0, len(pairs) - 1)
    m.W = pyo.RangeSet(0, network.num_workers - 1)
    m.rows = pyo.RangeSet(0, len(network.rows) - 1)
    m.R = pyo.Var(domain=pyo.NonNegativeReals, doc="rate, GB/s")
    m.x = pyo.Var(m.P, domain=pyo.NonNegativeReals, doc="rate of a pair")

    @m.Constraint(doc="(F1.1): the pairs share the rate")
    def total(m: Any) -> Any:
        return pyo.quicksum(m.x[p] for p in m.P) == m.R

    def on_row(stage: Stage, i: int) -> Any:
        return pyo.quicksum(n * m.x[p] for p, n in uses[stage][i])

    if instance.sequential:
        m.s = pyo.Var(list(uses), domain=pyo.NonNegativeReals, doc="part of the time of a stage")

        @m.Constraint(list(uses), m.rows, doc="(F1.2): capacity during a stage's part of the time")
        def stage_capacity(m: Any, stage: Stage, i: int) -> Any:
            return on_row(stage, i) <= coefficient(network.rows[i].capacity) * m.s[stage]

        @m.Constraint(doc="(F1.2): the stages take turns")
        def turns(m: Any) -> Any:
            return pyo.quicksum(m.s[stage] for stage in uses) <= 1

    else:

        @m.Constraint(m.rows, doc="(F1.2): capacity, all stages together")
        def capacity(m: Any, i: int) -> Any:
            if not any(used[i] for used in uses.values()):
                return pyo.Constraint.Skip
            together = pyo.quicksum(on_row(stage, i) for stage in uses)
            return together <= coefficient(network.rows[i].capacity)

    @m.Constraint(m.W, doc="(F1.3): the roots have the shares that are given")
    def given_share(m: Any, r: int) -> Any:
        if shares is None or not (by_root[r] or r in shares):
            return pyo.Constraint.Skip
        return pyo.quicksum(m.x[p] for p in by_root[r]) == coefficient(shares.get(r, 0)) * m.R

    m.rate = pyo.Objective(expr=m.R, sense=pyo.maximize)
    return m


def decode(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> ForestPackingSolution:
    """Read the rates, exactly where the optimum is known exactly or they are simple fractions."""
    rated = zip(m.pairs, values(m, m.x.values()), strict=True)
    used = [(pair, x) for pair, x in rated if x > 0]
    pairs = [
        [replace(pair, rate=rate) for (pair, _), rate in zip(used, rates, strict=True)]
        for rates in rate_readings(instance, [x for _, x in used])
    ]
    return to_solution(instance, best_plan(instance, pairs))


def _roots(instance: ForestPackingInstance) -> Iterable[int]:
    shares = required_shares(instance)
    return range(instance.network.num_workers) if shares is None else shares


def _out_trees(
    instance: ForestPackingInstance, root: int, routes: dict[tuple[int, int], list[Route]]
) -> Iterator[tuple[Route, ...]]:
    if "broadcast" not in instance.stages:
        yield ()
        return
    for parent in arborescences(list(routes), instance.network.num_workers, root):
        yield from routings(parent, root, routes)


def _in_trees(
    instance: ForestPackingInstance, root: int, routes: dict[tuple[int, int], list[Route]]
) -> Iterator[tuple[Route, ...]]:
    """In-trees are out-trees of the reversed network, read backwards."""
    if "reduce" not in instance.stages:
        yield ()
        return
    reverse = {(v, u): found for (u, v), found in routes.items()}
    for parent in arborescences(list(reverse), instance.network.num_workers, root):
        yield from routings(parent, root, reverse)


def _uses(network: Network, stage: Stage, pairs: Sequence[Pair]) -> list[list[tuple[int, int]]]:
    """Return, for each row i, the columns p that use it in a stage, with n_i(p)."""
    uses: list[list[tuple[int, int]]] = [[] for _ in network.rows]
    for k, p in enumerate(pairs):
        routes = p.reduce if stage == "reduce" else p.out_routes
        count: Counter[int] = Counter()
        for route in routes:
            for arc in pairwise(route):
                count.update(network.rows_of[network.arc_index[arc]])
        for i, n in count.items():
            uses[i].append((k, n))
    return uses
