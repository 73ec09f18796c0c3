r"""Rings along the axes of a grid of workers: BlueConnect, hierarchical rings, 2-D rings.

The workers' ranks are written as digits to the bases :math:`p_1, \dots, p_q`, :math:`\prod p_i =
N`. Axis i joins workers that differ in digit i alone into rings of :math:`p_i`. The data are
reduce-scattered along one axis after the other, each axis on the :math:`1/p_i` that the one before
it left, and gathered back in the opposite order:

.. math::
    T = 2 \sum_i \frac{(p_i - 1) D_i}{p_i} \max_a \frac{\mathrm{load}_a}{c_a}, \qquad
    D_1 = D, \quad D_{i+1} = D_i / p_i

with loads of the ring arcs of all of an axis' rings, on hop-shortest paths. As trees: every worker
r is the root of 1/N of the data. On the way up a worker sends along its ring to the next one, on
the first axis on which it differs from r; the tree from r is built of the same arcs the other way
round. Axes take turns, so links that the active axis does not use are idle: rates are slice/T and
in general leave capacity unused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import networkx as nx

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import ForestPackingInstance
from ..network import Network
from ..outcome import plan_outcome
from ..packing import Route
from ..subproblems.routing import Routing, fullest
from .rings_and_servers import check_shares, staged


@method(kind="baseline", reference="BlueConnect")
def blueconnect(
    instance: ForestPackingInstance,
    *,
    factors: tuple[int, ...] = (),
) -> MethodOutcome:
    r"""Rings along the axes of a grid: hierarchical ring, 2-D ring.

    Return BlueConnect's decomposition into rings of :math:`p_1`, then of :math:`p_2`, ...

    No guarantee. (box size, boxes) is the hierarchical ring, the sides of a torus its 2-D ring,
    (N,) the plain ring.

    Parameters
    ----------
    instance : ForestPackingInstance
        Of an allreduce, allgather or reduce-scatter; root shares free or uniform.
    factors : tuple of int, default ()
        p_1, ..., p_q with product N; the first belongs to consecutive ranks. Ranks run through
        one box after the other if `boxes` finds some, else as in the instance. Empty: (workers of
        a box, boxes), else the two factors of N that differ least, the larger one first.

    Returns
    -------
    MethodOutcome
        N pairs of equal rates; on a disconnected network none. The notes hold the
        `factors` and, in `phase_s`, the time of each axis over all stages.

    Raises
    ------
    InputError
        If the factors' product is not N.
    ModelRefused
        If the instance asks for other root shares than 1/N.

    References
    ----------
    M. Cho, U. Finkler, M. Serrano, D. Kung, H. Hunter, "BlueConnect: Decomposing all-reduce for
    deep learning on heterogeneous network hierarchy", IBM Journal of Research and Development 63
    (2019). The expression as trees is (reconstructed).
    """
    n = instance.network.num_workers
    found = boxes(instance.network)
    ranks = list(range(n)) if found is None else [v for box in found for v in box]
    if not factors:
        factors = _balanced(n) if found is None else (len(found[0]), len(found))
    if math.prod(factors) != n or min(factors) < 2:
        raise InputError(
            f"factors: {'*'.join(map(str, factors))}, expected numbers from 2 with product {n}"
        )
    strides = [math.prod(factors[:i]) for i in range(len(factors))]
    return _along_axes(instance, ranks, list(zip(factors, strides, strict=True)))


def boxes(network: Network) -> list[list[int]] | None:
    """Return the boxes of workers between which all links are slower than those inside.

    Of the networks that remain when all links below some bandwidth are cut, the first that is not
    in one piece is taken; its pieces are boxes if they hold equally many workers, two or more.
    None if they do not.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(network.num_nodes))
    graph.add_edges_from(network.edges)
    for c in sorted(set(network.capacity)):
        slower = [a for a, b in zip(network.arcs, network.capacity, strict=True) if b <= c]
        graph.remove_edges_from(slower)
        pieces = [
            sorted(v for v in piece if v < network.num_workers)
            for piece in nx.connected_components(graph)
        ]
        held = sorted(piece for piece in pieces if piece)
        if len(held) > 1:
            sizes = {len(piece) for piece in held}
            return held if len(sizes) == 1 and min(sizes) > 1 else None
    return None


def _balanced(n: int) -> tuple[int, ...]:
    """Return the two factors of n that differ least, larger first; n alone if it is prime."""
    smaller = max(p for p in range(1, math.isqrt(n) + 1) if n % p == 0)
    return (n // smaller, smaller) if smaller > 1 else (n,)


def _along_axes(
    instance: ForestPackingInstance, ranks: Sequence[int], axes: Sequence[tuple[int, int]]
) -> MethodOutcome:
    """Return the plan of rings along axes (size p_i, stride of neighbours) of workers by rank."""
    network = instance.network
    n = network.num_workers
    routing = Routing(network)
    if not routing.connected:
        return plan_outcome(
            instance, [], notes={"plan": "none: some worker does not reach another"}
        )

    following = [[_turned(k, axis, 1) for k in range(n)] for axis in axes]
    routes = [
        [routing.route(ranks[k], ranks[after]) for k, after in enumerate(nexts)]
        for nexts in following
    ]
    phase_s = []  # of one stage, a GB of data
    part = Fraction(1)
    for (size, _), on_axis in zip(axes, routes, strict=True):
        part /= size
        phase_s.append((size - 1) * part * fullest(network, on_axis))
    rate = 1 / (len(instance.stages) * sum(phase_s, Fraction(0)) * n)

    def up(root: int) -> tuple[Route, ...]:
        """Return the in-tree: workers send on the first axis on which they differ from the root."""
        return tuple(routes[_axis(axes, k, root)][k] for k in range(n) if k != root)

    def down(root: int) -> tuple[Route, ...]:
        """Return the out-tree: workers receive on that axis, from the one before them."""
        on = [(k, _axis(axes, k, root)) for k in range(n) if k != root]
        return tuple(routes[i][_turned(k, axes[i], -1)] for k, i in on)

    pairs = [staged(instance, ranks[r], up(r), down(r), rate) for r in range(n)]
    check_shares(instance, pairs, "BlueConnect")
    return plan_outcome(
        instance,
        pairs,
        notes={
            "factors": [size for size, _ in axes],
            "phase_s": [
                instance.model_size_gbyte * len(instance.stages) * float(s) for s in phase_s
            ],
        },
    )


def _turned(rank: int, axis: tuple[int, int], steps: int) -> int:
    """Return the rank some steps further on its ring along an axis."""
    size, stride = axis
    digit = rank // stride % size
    return rank + stride * ((digit + steps) % size - digit)


def _axis(axes: Sequence[tuple[int, int]], rank: int, root: int) -> int:
    """Return the first axis on which two ranks differ."""
    return next(
        i for i, (size, stride) in enumerate(axes) if (rank // stride - root // stride) % size
    )
