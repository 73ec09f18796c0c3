r"""The tightest single cut of a stage whose root shares are given.

Algorithm A6.1; closed forms F6 for one root and for uniform shares. Data rooted outside a set Q
with a worker must enter it, so a broadcast at rate R needs

.. math:: R\, (1 - w(Q)) \le c(\delta^-(Q)), \qquad Q \cap W \ne \emptyset.

The least ratio is found by Dinkelbach's method: a super-source feeds worker r with
:math:`w_r R`; R can be reached if every worker can then receive a flow of R, and otherwise a
minimum cut gives a smaller R. A reduce stage is a broadcast stage with every arc reversed.

NIC limits are arcs too: all flow into v passes an arc of capacity C_v^in, all flow out of v one of
capacity C_v^out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools
from gadgetopt.pieces.graphs.flows import FlowNetwork, wide_integers
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import CutFamily, ForestPackingCertificate, ForestPackingInstance, Stage
from ..network import Network
from ..outcome import plan_outcome
from ..packing import required_shares


@dataclass(frozen=True)
class Digraph:
    """Arcs with integer capacities."""

    num_nodes: int
    tails: Sequence[int]
    heads: Sequence[int]
    capacity: Sequence[int]


@dataclass(frozen=True)
class RootedCut:
    """The least c/(1 - w) over cuts, and one that has it.

    Attributes
    ----------
    rate : Fraction
        In units of the capacities.
    far : bool ndarray, shape (nodes,)
        Q: the side that the data must enter.
    rounds : int
        Rates tried.
    proved : bool
        False if time ran out: the cut is valid but may not be the tightest.
    """

    rate: Fraction
    far: Bools
    rounds: int
    proved: bool


def tightest_cut(
    graph: Digraph,
    shares: Mapping[int, Fraction],
    terminals: Sequence[int],
    clock: Clock | None = None,
) -> RootedCut:
    r"""Return :math:`\min_Q c(\delta^-(Q)) / (1 - w(Q))` over sets Q with a terminal (A6.1).

    Parameters
    ----------
    shares : dict
        w_r of the nodes that may be roots, with sum 1.
    terminals : sequence of int
        Nodes that need all the data; two or more.
    clock : Clock, optional
        Of the run.

    Notes
    -----
    Every round is one maximum flow per terminal; a round takes the best of all the cuts it finds.
    """
    n = graph.num_nodes
    capacity = wide_integers(graph.capacity)
    tails = np.asarray(graph.tails, dtype=np.int64)
    heads = np.asarray(graph.heads, dtype=np.int64)
    total = math.lcm(*(w.denominator for w in shares.values()))
    weight = {r: int(w * total) for r, w in shares.items()}
    network = FlowNetwork(
        n + 1, np.append(tails, np.full(len(weight), n)), np.append(heads, list(weight))
    )
    share = np.zeros(n, dtype=object)
    share[list(weight)] = list(weight.values())

    def ratio(far: Bools) -> Fraction:
        entering = int(capacity[far[heads] & ~far[tails]].sum(dtype=object))
        return Fraction(entering * total, total - int(share[far].sum()))

    singles = [np.arange(n) == v for v in terminals if weight.get(v, 0) < total]
    best, far = min(((ratio(q), q) for q in singles), key=lambda found: found[0])
    rounds = 0
    while best > 0:
        rounds += 1
        # Everything times `total` and the denominator of the rate.
        fed = [m * best.numerator for m in weight.values()]
        scaled = [int(c) * total * best.denominator for c in capacity]
        amounts = wide_integers([*scaled, *fed])
        demand = total * best.numerator
        found = []
        for v in terminals:
            if clock is not None and clock.expired:
                return RootedCut(best, far, rounds, False)
            flow = network.max_flow(amounts, n, v)
            if flow.value < demand:
                found.append(~flow.source_side()[:n])
        if not found:
            break
        best, far = min(((ratio(q), q) for q in found), key=lambda pair: pair[0])
    return RootedCut(best, far, rounds, True)


def single_cut_outcome(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    """Return the bound of the tightest cut, with its certificate."""
    if len(instance.stages) != 1:
        raise ModelRefused("single-cut bound: it is for collectives of one stage")
    network = instance.network
    shares = required_shares(instance)
    assert shares is not None
    (stage,) = instance.stages
    clock = Clock(limits)
    graph, row_of = gated_graph(network, stage)
    cut = tightest_cut(graph, shares, range(network.num_workers), clock)
    crossing = {
        network.rows[row_of[a]].name: Fraction(1)
        for a, (u, v) in enumerate(zip(graph.tails, graph.heads, strict=True))
        if cut.far[v] and not cut.far[u]
    }
    nodes = tuple(network.labels[v] for v in range(network.num_nodes) if cut.far[v])
    proof = CutFamily(
        cuts=(CutFamily.Cut(stage=stage, nodes=nodes, multiplier=Fraction(1)),), prices=crossing
    )
    return plan_outcome(
        instance,
        None,
        certificate=ForestPackingCertificate(proof=proof),
        dual_bound=cut.rate * network.unit,
        limit_hit=None if cut.proved else "time_s",
        notes={"cut": list(nodes), "rounds": cut.rounds},
    )


def gated_graph(network: Network, stage: Stage) -> tuple[Digraph, list[int]]:
    """Return the network of one stage, in the direction of a broadcast, with NIC limits as arcs.

    Nodes of the network keep their numbers; a gate follows for every NIC limit. Returns also the
    row of each arc.
    """
    gate_in, gate_out = {}, {}
    nics = []
    n = network.num_nodes
    for i, row in enumerate(network.rows):
        if row.name.startswith("nic"):
            # All arcs of the row meet in the node it limits.
            u, v = network.arcs[row.arcs[0]]
            if row.name.startswith("nic in"):
                gate_in[v] = n
                nics.append((n, v, i))
            else:
                gate_out[u] = n
                nics.append((u, n, i))
            n += 1
    arcs = [
        (gate_out.get(u, u), gate_in.get(v, v), network.rows_of[a][0])
        for a, (u, v) in enumerate(network.arcs)
    ]
    arcs += nics
    capacity = [int(network.rows[i].capacity / network.unit) for _, _, i in arcs]
    tails, heads = [u for u, _, _ in arcs], [v for _, v, _ in arcs]
    if stage == "reduce":
        tails, heads = heads, tails
    return Digraph(n, tails, heads, capacity), [i for _, _, i in arcs]
