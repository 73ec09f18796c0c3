r"""Rings, parameter servers, the double binary tree, and recursive halving and doubling.

Every baseline is written as tree pairs with rates, so that the same evaluator judges it. Transfers
between workers are routed on hop-shortest paths (`routing`), over other workers where necessary.
Below, load is that of the routed transfers on a row of the network, c its capacity; times are for D
= 1:

================================= ===============================================================
baseline                          time
================================= ===============================================================
`ring`, `best_ring`               :math:`\frac{2 (N-1)}{N} \max \mathrm{load} / c` of the ring
`ring_bidirectional`              the same with half the load and both directions counted
`ps_single`                       :math:`\max \mathrm{load} / c` of the star in and out of a root
`ps_multi`, `ps_multi_opt`        the same of all stars, weighted 1/N or as a small LP says
`double_binary_tree`              :math:`\max \mathrm{load} / c`, half the data in each tree
`recursive_halving_doubling`      :math:`2 \sum_i 2^{-i} \max \mathrm{load}_i / c`
================================= ===============================================================

A collective of one stage has that stage's part of the time. Baselines of single trees are in
`trees.py`. The paper was not available: routing and orders of all baselines are reconstructed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import ForestPackingInstance
from ..network import Network
from ..outcome import plan_outcome
from ..packing import (
    Pair,
    Route,
    best_plan,
    fit,
    read_rates,
    required_shares,
    total_rate,
)
from ..subproblems.routing import Routing, fullest


@method(kind="baseline", reference="ring")
def ring(instance: ForestPackingInstance, *, order: str = "") -> MethodOutcome:
    """One ring in the order of the workers.

    Return the plan of one ring: every worker is the root of 1/N, data flow one way round.

    Parameters
    ----------
    instance
        Deterministic, fast.
    order : str, default ""
        The workers' numbers around the ring such as "0,1,3,2"; empty: as in the instance.

    Raises
    ------
    ModelRefused
        If the instance asks for other root shares than 1/N.
    """
    return ring_plan(instance, worker_order(instance, order), bidirectional=False)


@method(kind="baseline", reference="ring, both ways")
def ring_bidirectional(instance: ForestPackingInstance, *, order: str = "") -> MethodOutcome:
    """One ring, half of the data in each direction.

    Return the plan of one ring with half of the data each way round; see `ring`.
    """
    return ring_plan(instance, worker_order(instance, order), bidirectional=True)


@method(kind="baseline", reference="PS")
def ps_single(instance: ForestPackingInstance) -> MethodOutcome:
    """The best single parameter server.

    Return the plan of one parameter server, push and pull overlapped: the best worker for it.

    Raises
    ------
    ModelRefused
        If the instance asks for several roots.
    """
    routing = Routing(instance.network)
    if not routing.connected:
        return _unconnected(instance)
    asked = required_shares(instance)
    roots = range(instance.network.num_workers) if asked is None else asked
    plans = [
        planned(instance, [star(instance, routing, r, Fraction(1))], "a single parameter server")
        for r in roots
    ]
    plan = max(plans, key=total_rate)
    return plan_outcome(instance, plan, notes={"server": instance.network.labels[plan[0].root]})


@method(kind="baseline", reference="multi-PS")
def ps_multi(instance: ForestPackingInstance) -> MethodOutcome:
    """Every worker is the parameter server of an equal part.

    Raises
    ------
    ModelRefused
        If the instance asks for other root shares than 1/N.
    """
    routing = Routing(instance.network)
    if not routing.connected:
        return _unconnected(instance)
    n = instance.network.num_workers
    stars = [star(instance, routing, r, Fraction(1, n)) for r in range(n)]
    return plan_outcome(instance, planned(instance, stars, "equal parameter servers"))


@method(kind="baseline", reference="multi-PS, optimized")
def ps_multi_opt(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    r"""Every worker is a parameter server, with the best parts.

    Return the best plan of stars: parameter servers with shares from a linear program.

    .. math:: \max \sum_r x_r, \quad \sum_r n_{ir} x_r \le c_i \ \text{for every row } i

    with n_ir the load of the star in and out of r. Stages that take turns each have their own
    rows, with the capacity :math:`c_i s_g` in the time :math:`s_1 + s_2 = 1` that they share.
    """
    routing = Routing(instance.network)
    if not routing.connected:
        return _unconnected(instance)
    asked = required_shares(instance)
    if asked is not None:
        stars = [star(instance, routing, r, share) for r, share in asked.items()]
        return plan_outcome(instance, planned(instance, stars, "parameter servers"))
    stars = [star(instance, routing, r, Fraction(1)) for r in range(instance.network.num_workers)]
    rates, limit_hit = _best_stars(instance, stars, limits)
    readings = [
        [Pair(p.root, p.reduce, p.broadcast, x) for p, x in zip(stars, reading, strict=True)]
        for reading in read_rates(rates, instance.network.unit)
    ]
    return plan_outcome(instance, best_plan(instance, readings), limit_hit=limit_hit)


@method(kind="baseline", reference="double binary tree (reconstructed)")
def double_binary_tree(instance: ForestPackingInstance) -> MethodOutcome:
    """Two binary trees, half of the data each.

    A rank r > 0 with lowest set bit b has the parent (r xor b) | 2b, or r xor b if there is no such
    rank. The second tree has the ranks mirrored if N is even, shifted by one if it is odd. (NCCL's
    rule is reconstructed.)

    Raises
    ------
    ModelRefused
        If the instance does not leave the root shares free.
    """
    routing = Routing(instance.network)
    if not routing.connected:
        return _unconnected(instance)
    n = instance.network.num_workers
    # The worker of each rank in the second tree.
    second = [n - 1 - r for r in range(n)] if n % 2 == 0 else [(r + 1) % n for r in range(n)]
    pairs = []
    for worker in (range(n), second):
        arcs = [(worker[r], worker[_binary_parent(r, n)]) for r in range(1, n)]
        towards = tuple(routing.route(v, parent) for v, parent in arcs)
        away = tuple(routing.route(parent, v) for v, parent in arcs)
        pairs.append(staged(instance, worker[0], towards, away, Fraction(1, 2)))
    return plan_outcome(instance, planned(instance, pairs, "a double binary tree"))


@method(kind="baseline", reference="recursive halving and doubling")
def recursive_halving_doubling(instance: ForestPackingInstance) -> MethodOutcome:
    """Exchanges at distances N/2, ..., 1 and back.

    Return the plan of recursive halving and doubling: a binomial tree to every worker.

    In step i of the reduction worker v sends 1/2^i of the data to v xor N/2^i, and the broadcast
    goes backwards. The steps run one after the other: their times add up, and the rate is that of
    the whole, although links are idle in between.

    Raises
    ------
    ModelRefused
        If the number of workers is not a power of two, or the instance asks for other root shares
        than 1/N.
    """
    network = instance.network
    n = network.num_workers
    if n & (n - 1):
        raise ModelRefused(f"recursive halving: {n} workers, expected a power of two")
    routing = Routing(network)
    if not routing.connected:
        return _unconnected(instance)
    distances = [n >> i for i in range(1, n.bit_length())]
    steps = [
        fullest(network, (routing.route(v, v ^ d) for v in range(n))) * Fraction(d, n)
        for d in distances
    ]
    # The doubling repeats the halving's transfers, each pair of workers the other way round.
    rate = 1 / (len(instance.stages) * sum(steps, Fraction(0)))
    pairs = []
    for root in range(n):
        # A worker that first differs from the root in bit d hands its sum over that bit.
        meets = {v: 1 << ((v ^ root).bit_length() - 1) for v in range(n) if v != root}
        towards = tuple(routing.route(v, v ^ d) for v, d in meets.items())
        away = tuple(routing.route(v ^ d, v) for v, d in meets.items())
        pairs.append(staged(instance, root, towards, away, rate / n))
    check_shares(instance, pairs, "recursive halving")
    return plan_outcome(instance, pairs, notes={"steps": len(instance.stages) * len(steps)})


# -- shared parts -------------------------------------------------------------------------------


def staged(
    instance: ForestPackingInstance,
    root: int,
    towards: tuple[Route, ...],
    away: tuple[Route, ...],
    rate: Fraction,
) -> Pair:
    """Return the pair of an in-tree and an out-tree, without the stage the collective lacks."""
    return Pair(
        root,
        towards if "reduce" in instance.stages else (),
        away if "broadcast" in instance.stages else (),
        rate,
    )


def planned(instance: ForestPackingInstance, pairs: Sequence[Pair], name: str) -> list[Pair]:
    """Scale pairs until the fullest row is just full, if their root shares are those asked for."""
    check_shares(instance, pairs, name)
    return fit(instance, pairs)


def check_shares(instance: ForestPackingInstance, pairs: Iterable[Pair], name: str) -> None:
    """Raise ModelRefused if the instance asks for other root shares than a baseline has."""
    asked = required_shares(instance)
    if asked is None:
        return
    rates: dict[int, Fraction] = {}
    for p in pairs:
        rates[p.root] = rates.get(p.root, Fraction(0)) + p.rate
    total = sum(rates.values(), Fraction(0))
    if {r: x / total for r, x in rates.items()} != asked:
        roots = f"{len(rates)} roots" if len(rates) > 1 else "1 root"
        raise ModelRefused(
            f"{name} has {roots} with shares of its own, the instance asks for others "
            f"(root_mode: {instance.root_mode})"
        )


def star(instance: ForestPackingInstance, routing: Routing, root: int, rate: Fraction) -> Pair:
    """Return the pair in which every worker sends to the root and gets from it directly."""
    others = [v for v in range(instance.network.num_workers) if v != root]
    towards = tuple(routing.route(v, root) for v in others)
    away = tuple(routing.route(root, v) for v in others)
    return staged(instance, root, towards, away, rate)


def worker_order(instance: ForestPackingInstance, order: str) -> list[int]:
    """Read an order of the workers, all once; empty: the instance's."""
    if not order:
        return list(range(instance.network.num_workers))
    try:
        labels = [int(part) for part in order.split(",")]
    except ValueError:
        labels = []
    if sorted(labels) != sorted(instance.workers):
        raise InputError(f"order: {order!r}, expected the numbers of all workers such as 0,2,1")
    return [instance.network.index[label] for label in labels]


def ring_plan(
    instance: ForestPackingInstance,
    order: Sequence[int],
    *,
    bidirectional: bool,
    **outcome: Any,
) -> MethodOutcome:
    """Return the plan of the ring through the workers in this order."""
    routing = Routing(instance.network)
    if not routing.connected:
        return _unconnected(instance)
    pairs = ring_pairs(instance, routing, order)
    if bidirectional:
        pairs += ring_pairs(instance, routing, order[::-1])
    return plan_outcome(
        instance,
        planned(instance, pairs, "a ring"),
        notes={"order": [instance.network.labels[v] for v in order]},
        **outcome,
    )


def ring_pairs(
    instance: ForestPackingInstance, routing: Routing, order: Sequence[int]
) -> list[Pair]:
    """Return a pair for every root, all of the same rate: the ring cut open after and before it."""
    hops = [
        routing.route(u, v) for u, v in zip(order, (*order[1:], order[0]), strict=True)
    ]  # from the i-th worker to the next
    n = len(order)
    pairs = []
    for i, root in enumerate(order):
        towards = tuple(hops[(i + k) % n] for k in range(1, n))
        away = tuple(hops[(i + k) % n] for k in range(n - 1))
        pairs.append(staged(instance, root, towards, away, Fraction(1, n)))
    return pairs


def _unconnected(instance: ForestPackingInstance) -> MethodOutcome:
    return plan_outcome(instance, [], notes={"plan": "none: some worker does not reach another"})


def _binary_parent(rank: int, n: int) -> int:
    bit = rank & -rank
    parent = (rank ^ bit) | (2 * bit)
    return parent if parent < n else rank ^ bit


def _best_stars(
    instance: ForestPackingInstance, stars: Sequence[Pair], limits: Limits
) -> tuple[list[float], str | None]:
    """Solve the LP of `ps_multi_opt`: rates of the stars, and the limit that was hit."""
    from gadgetopt.solvers.persistent import INFINITY, PersistentLp

    network = instance.network
    n = len(stars)
    # n_ir of each group of stages that use the links at the same time, shape (rows, stars).
    reduces = _row_loads(network, [p.reduce for p in stars])
    broadcasts = _row_loads(network, [p.out_routes for p in stars])
    groups = [reduces, broadcasts] if instance.sequential else [reduces + broadcasts]
    lp = PersistentLp("max")
    # x_r >= 0, and of every group its part s_g of the time.
    columns = n + len(groups)
    lp.add_columns(
        [1.0] * n + [0.0] * len(groups), [0.0] * columns, [INFINITY] * n + [1.0] * len(groups)
    )
    # The groups' times: sum_g s_g <= 1.
    lp.add_rows([-INFINITY], [1.0], [0], range(n, columns), [1.0] * len(groups))
    for g, loads in enumerate(groups):
        for load, capacity in zip(loads, network.row_capacity_float, strict=True):
            # Capacity: sum_r n_ir x_r <= c_i s_g.
            used = np.flatnonzero(load)
            entries = [*(load[used] / capacity), -1.0]
            lp.add_rows([-INFINITY], [0.0], [0], [*used, n + g], entries)
    status = lp.solve(limits)
    if status in (Status.OPTIMAL, Status.FEASIBLE):
        return [float(x) for x in lp.values[:n]], lp.limit_hit
    return [1.0] * n, lp.limit_hit


def _row_loads(network: Network, plans: Sequence[Sequence[Route]]) -> Floats:
    """Return how often the routes of each plan use each row, shape (rows, plans)."""
    loads = np.zeros((len(network.rows), len(plans)))
    for k, routes in enumerate(plans):
        for route in routes:
            for arc in itertools.pairwise(route):
                loads[network.rows_of[network.arc_index[arc]], k] += 1
    return loads
