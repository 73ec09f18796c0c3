r"""ForestColl: optimal allgather trees, and the allreduce made of them.

Algorithm A6. With given root shares w_r (uniform: 1/N) a stage's rate R* is that of its tightest
cut (`rooted_cuts`). Scaled by U so that the capacities :math:`U c_a` and the multiplicities
:math:`m_r = U w_r R^*` are integers, the network loses its switches by edge splitting
(`edge_splitting`), and Edmonds' theorem gives m_r trees per root (`arborescence_packing`), each of
rate 1/U. Paths are put back in place of the arcs that were split off.

An allreduce is a reduce-scatter on reversed trees, then the allgather (A6.5):
:math:`R = 1 / (1/R_{\rm reduce} + 1/R_{\rm broadcast})`, on symmetric networks :math:`N x^* / 2`
with :math:`x^* = R^*/N`. The stages take turns or run side by side at that rate; a further
gain by overlapping them is not sought.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.graphs.arborescence_packing import Arborescence, pack_arborescences
from gadgetopt.pieces.graphs.flows import FlowNetwork, wide_integers
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import CutFamily, ForestPackingCertificate, ForestPackingInstance, Stage
from ..network import Network
from ..outcome import plan_outcome
from ..packing import (
    Pair,
    Route,
    Tree,
    couple,
    fit,
    required_shares,
)
from ..subproblems.edge_splitting import Ways, split_off_switches
from ..subproblems.rooted_cuts import Digraph, RootedCut, single_cut_outcome, tightest_cut

Shares = Mapping[int, Fraction]


@method(kind="baseline", reference="A6")
def forestcoll(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    trees_per_root: int = 0,
) -> MethodOutcome:
    r"""ForestColl: edge splitting and trees in batches; optimal for uniform allgather.

    Pack ForestColl's trees for given root shares, uniform where they are free (A6).

    Optimal for one stage with given shares on networks without switches, and with switches if
    capacities in and out of every node are equal. The plan of an allreduce has the rate of both
    stages one after the other: at least half the optimum of a symmetric network whose allgather is
    best with uniform shares (T3).

    On other networks with switches the plan is feasible; splitting may then lose capacity
    (reconstructed). NIC limits and half-duplex cables are ignored when trees are built: the
    plan is scaled to keep them.

    Parameters
    ----------
    trees_per_root : int
        k: trees of equal rate at each root, times the root's share in lowest terms (F8c); 0 for the
        number of the optimum.

    Raises
    ------
    ModelRefused
        If `trees_per_root` is negative.
    """
    if trees_per_root < 0:
        raise ModelRefused(f"trees_per_root: {trees_per_root} is negative")
    clock = Clock(limits)
    network = instance.network
    shares = required_shares(instance)
    if len(instance.stages) == 1 and shares is not None:
        bound = single_cut_outcome(instance, clock.limits())
        certificate = bound.certificate
        assert certificate is None or isinstance(certificate, ForestPackingCertificate)
        dual_bound = bound.dual_bound
    else:
        certificate = dual_bound = None
    if shares is None:
        n = network.num_workers
        shares = {r: Fraction(1, n) for r in range(n)}
    # Trees backwards use the other directions of the cables.
    twice = len(instance.stages) == 2 and network.symmetric
    stages: tuple[Stage, ...] = ("broadcast",) if twice else instance.stages
    trees: dict[Stage, list[Tree]] = {}
    notes: dict[str, object] = {}
    for stage in stages:
        cut = tightest_cut(_digraph(network, stage), shares, range(network.num_workers), clock)
        notes[f"{stage}_rate"] = str(cut.rate * network.unit)
        if cut.rate == 0:
            return _disconnected(instance, cut, stage, certificate)
        try:
            if not cut.proved:
                raise TimeoutError("the optimal rate was not found in time")
            trees[stage] = build_trees(network, stage, shares, cut.rate, trees_per_root, clock)
        except TimeoutError:
            return plan_outcome(
                instance,
                None,
                certificate=certificate,
                dual_bound=dual_bound,
                limit_hit="time_s",
                notes=notes,
            )
        if not trees[stage]:
            return plan_outcome(
                instance, [], certificate=certificate, dual_bound=dual_bound, notes=notes
            )
    pairs = _pairs(trees, reverse=twice)
    if len(instance.stages) == 2:
        # The pairs have a total of 1 so far.
        times = [1 / _sum(found) for found in trees.values()]
        rate = 1 / sum(times * 2 if twice else times, Fraction(0))
        pairs = [replace(p, rate=p.rate * rate) for p in pairs]
    if not network.only_arc_rows:
        pairs = fit(instance, pairs)
    notes["trees"] = len(pairs)
    return plan_outcome(
        instance,
        pairs,
        certificate=certificate,
        dual_bound=dual_bound,
        phases_s={"trees": clock.elapsed_s},
        notes=notes,
    )


def build_trees(
    network: Network,
    stage: Stage,
    shares: Shares,
    rate: Fraction,
    trees_per_root: int = 0,
    clock: Clock | None = None,
) -> list[Tree]:
    """Return trees of one stage with the given shares (A6.2 to A6.4).

    Parameters
    ----------
    rate : Fraction
        Rate of the stage's tightest cut, in units of the network, positive.
    trees_per_root : int
        As in `forestcoll`.

    Raises
    ------
    TimeoutError
        If time is up first.
    """
    graph = _digraph(network, stage)
    if trees_per_root == 0:
        scale = _common_scale(
            [*map(Fraction, graph.capacity), *(w * rate for w in shares.values())]
        )
        roots = {r: int(scale * rate * w) for r, w in shares.items()}
    else:
        least = math.lcm(*(w.denominator for w in shares.values()))
        roots = {r: trees_per_root * int(w * least) for r, w in shares.items()}
        scale = _smallest_scale(graph, roots, network.num_workers, rate, clock)
    n = network.num_nodes
    capacity = wide_integers([math.floor(scale * c) for c in graph.capacity])
    matrix = np.zeros((n, n), dtype=capacity.dtype)
    matrix[graph.tails, graph.heads] = capacity
    multiplicity = [roots.get(r, 0) for r in range(network.num_workers)]
    ways = split_off_switches(network.num_workers, matrix, multiplicity, clock)
    if len(network.switches) > 0 and (matrix.sum(axis=0) != matrix.sum(axis=1)).any():
        finer, multiplicity = _rescaled(ways, multiplicity, shares, clock)
        if finer == 0:
            return []
        ways = {
            arc: deque((route, units * finer) for route, units in way) for arc, way in ways.items()
        }
        scale *= finer
    packed = pack_arborescences(network.num_workers, list(ways), _room(ways), multiplicity, clock)
    unit = network.unit / scale
    return [
        Tree(t.root, routes if stage == "broadcast" else _reversed(routes), units * unit)
        for t in packed
        for routes, units in _expanded(t, ways)
    ]


def _rescaled(
    ways: Ways, multiplicity: Sequence[int], shares: Shares, clock: Clock | None
) -> tuple[int, list[int]]:
    """Return by how much to divide the units further, and the multiplicities that then fit.

    Needed where splitting had to drop capacity. A factor of 0 means that no tree is left.
    """
    room = _room(ways)
    workers = range(len(multiplicity))
    between = Digraph(len(workers), [u for u, _ in ways], [v for _, v in ways], room)
    cut = tightest_cut(between, shares, workers, clock)
    if not cut.proved:
        raise TimeoutError("the rate after splitting was not found in time")
    rate = min(cut.rate, Fraction(sum(multiplicity)))
    finer = math.lcm(*((w * rate).denominator for w in shares.values())) if rate > 0 else 0
    return finer, [int(finer * rate * shares.get(r, Fraction(0))) for r in workers]


def _room(ways: Ways) -> list[int]:
    return [sum(units for _, units in way) for way in ways.values()]


def _smallest_scale(
    graph: Digraph,
    roots: Mapping[int, int],
    num_workers: int,
    rate: Fraction,
    clock: Clock | None,
) -> Fraction:
    r"""Return the least U so that capacities :math:`\lfloor U c_a \rfloor` hold the trees (F8c).

    U is some j/c_a. It is at least :math:`\sum_r m_r / R^*`, and at most 1/min c_a more, as
    rounding down then costs no arc more than the excess of U.
    """
    n = graph.num_nodes
    demand = sum(roots.values())
    network = FlowNetwork(n + 1, [*graph.tails, *[n] * len(roots)], [*graph.heads, *roots])

    def holds(scale: Fraction) -> bool:
        if clock is not None and clock.expired:
            raise TimeoutError("the number of trees was not scaled in time")
        amounts = [*(math.floor(scale * c) for c in graph.capacity), *roots.values()]
        return all(network.max_flow(amounts, n, v).value == demand for v in range(num_workers))

    low = demand / rate
    if holds(low):
        return low
    high = low + Fraction(1, min(graph.capacity))
    sizes = sorted(set(graph.capacity))
    # low does not hold the trees, high does.
    while sum(math.floor(high * c) - math.floor(low * c) for c in sizes) > len(sizes) + 1:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    steps = {
        Fraction(j, c)
        for c in sizes
        for j in range(math.floor(low * c) + 1, math.floor(high * c) + 1)
    }
    candidates = sorted(steps)
    first, last = 0, len(candidates) - 1
    while first < last:
        middle_index = (first + last) // 2
        if holds(candidates[middle_index]):
            last = middle_index
        else:
            first = middle_index + 1
    return candidates[first]


def _common_scale(values: Iterable[Fraction]) -> Fraction:
    """Return the least factor that makes all values integers (A6.2)."""
    values = list(values)
    denominator = math.lcm(*(x.denominator for x in values))
    return Fraction(denominator, math.gcd(*(int(x * denominator) for x in values)))


def _expanded(tree: Arborescence, ways: Ways) -> list[tuple[tuple[Route, ...], int]]:
    """Put paths in place of the arcs of a batch of trees; subtract their units."""
    pieces: list[tuple[tuple[Route, ...], int]] = [((), tree.multiplicity)]
    for arc in tree.arcs:
        longer: list[tuple[tuple[Route, ...], int]] = []
        for routes, size in pieces:
            units = size
            while units > 0:
                route, there = ways[arc].popleft()
                taken = min(units, there)
                if there > taken:
                    ways[arc].appendleft((route, there - taken))
                longer.append(((*routes, route), taken))
                units -= taken
        pieces = longer
    return pieces


def _pairs(trees: Mapping[Stage, list[Tree]], *, reverse: bool) -> list[Pair]:
    """Return the trees of a single stage, or of two stages coupled with a total rate of 1."""
    if reverse:
        found = _normalized(trees["broadcast"])
        return [Pair(t.root, _reversed(t.routes), None, t.rate) for t in found]
    if len(trees) == 2:
        return couple(_normalized(trees["reduce"]), _normalized(trees["broadcast"]))
    ((stage, found),) = trees.items()
    if stage == "reduce":
        return [Pair(t.root, t.routes, (), t.rate) for t in found]
    return [Pair(t.root, (), t.routes, t.rate) for t in found]


def _normalized(trees: Sequence[Tree]) -> list[Tree]:
    total = _sum(trees)
    return [replace(t, rate=t.rate / total) for t in trees]


def _sum(trees: Iterable[Tree]) -> Fraction:
    return sum((t.rate for t in trees), Fraction(0))


def _reversed(routes: Iterable[Route]) -> tuple[Route, ...]:
    return tuple(route[::-1] for route in routes)


def _digraph(network: Network, stage: Stage) -> Digraph:
    """Return the arcs in the direction of a broadcast."""
    tails, heads = [u for u, _ in network.arcs], [v for _, v in network.arcs]
    if stage == "reduce":
        tails, heads = heads, tails
    return Digraph(network.num_nodes, tails, heads, network.int_capacity)


def _disconnected(
    instance: ForestPackingInstance,
    cut: RootedCut,
    stage: Stage,
    certificate: ForestPackingCertificate | None,
) -> MethodOutcome:
    """Return the empty plan, and for two stages the cut that neither can cross."""
    network = instance.network
    sides: list[tuple[int, ...]] = [
        tuple(network.labels[v] for v in range(network.num_nodes) if cut.far[v] == far)
        for far in (True, False)
    ]
    if certificate is None and len(instance.stages) == 2:
        # Nothing gets to the far side (or from it, when reducing), wherever the root is.
        far, near = sides if stage == "broadcast" else sides[::-1]
        proof = CutFamily(
            cuts=(
                CutFamily.Cut(stage="broadcast", nodes=far, multiplier=Fraction(1)),
                CutFamily.Cut(stage="reduce", nodes=near, multiplier=Fraction(1)),
            )
        )
        certificate = ForestPackingCertificate(proof=proof)
    return plan_outcome(
        instance,
        [],
        certificate=certificate,
        dual_bound=None if certificate is None else 0,
        notes={"cut": list(sides[0]), "rate": "0"},
    )
