r"""OneFlow's compiler pass and auto-parallel search, step by step.

Nothing here is fast: tables are lists of exact costs, and what is cheapest is found by trying all.
The paper names both; the steps are those of the released source. Left out, as in the fast ones, are
"trunk" and "collector". Where the source leaves ties open the order is (reconstructed).

Letters, as in the paper: operator o has signatures K_o, with labels of its inputs and its output;
p_o devices; c_ok compute cost, m_ok bytes of memory, R_e(a, b) the cost to turn a label into
another on an edge, infinite where that is not allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from ..evaluate import evaluate, memory_bytes
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution, Placement
from ..labels import BROADCAST, split
from ..tables import Edge

#: Infinite where a choice is not allowed.
Cost = Fraction | float
Table = list[list[Cost]]
#: Label of each node: a position in its list of signatures.
Labels = dict[int, int]


# -- A. the compiler's pass --------------------------------------------------------------------


def compiler_greedy(instance: OneFlowSbpInstance) -> tuple[int, ...] | None:
    """Return the signatures of one pass in topological order; None where it gets stuck."""
    tables = instance.tables
    chosen: list[int] = []
    for o, operator in enumerate(instance.operators):
        inputs = [edge for edge in tables.edges if edge.target == o]
        held = [tables.signatures[e.source][chosen[e.source]].output for e in inputs]
        tied = [a if b == o else b for a, b in tables.ties if o in (a, b) and a != b]
        tied_to = [tables.signatures[a][chosen[a]].output for a in tied if a < o]
        hint = None
        if o in tables.pinned:
            hint = tables.pinned[o]  # user label
        elif tied_to:
            hint = tied_to[0]
        elif operator.kind == "variable":
            hint = (BROADCAST,) * len(instance.placements[0].hierarchy)
        allowed = tables.signatures[o]
        if hint not in [signature.output for signature in allowed]:
            hint = None  # a label that no signature has is passed over
        best: tuple[int, Cost, int] | None = None
        for k, signature in enumerate(allowed):
            if hint is not None and signature.output != hint:
                continue
            if any(signature.output != label for label in tied_to):
                continue
            order = 0
            copy: Cost = Fraction(0)
            if not inputs and all(part == split(0) for part in signature.output):
                order = -1  # a source is split by samples
            for edge, label in zip(inputs, held, strict=True):
                R = conversion(instance, edge, chosen[edge.source], k)
                copy += R
                if label == signature.inputs[edge.slot] and as_many_devices(instance, edge):
                    order -= 10  # needs no conversion
            if copy < math.inf and (best is None or (order, copy, k) < best):
                best = order, copy, k
        if best is None:
            return None
        chosen.append(best[2])
    return tuple(chosen)


def conversion(instance: OneFlowSbpInstance, edge: Edge, k: int, k_target: int) -> Cost:
    """Return R_e of two signatures; an update takes its variable as it is held."""
    tables = instance.tables
    have = tables.signatures[edge.source][k].output
    want = tables.signatures[edge.target][k_target].inputs[edge.slot]
    R = tables.conversions(edge)[k][k_target]
    return math.inf if R is None or (edge.tied and have != want) else R


def as_many_devices(instance: OneFlowSbpInstance, edge: Edge) -> bool:
    """Return True if both ends of an edge have as many devices."""
    p = [placement(instance, o).devices for o in (edge.source, edge.target)]
    return p[0] == p[1]


def placement(instance: OneFlowSbpInstance, o: int) -> Placement:
    """Return the placement of an operator."""
    tables = instance.tables
    return instance.placements[tables.classes[tables.class_of[o]].group]


# -- B. the auto-parallel search ---------------------------------------------------------------


def auto_parallel(instance: OneFlowSbpInstance) -> OneFlowSbpSolution | None:
    """Return the best signatures met; None if none are feasible. Conversions are not shared."""
    limit = instance.memory_limit_bytes
    ratio = 0.0  # the adaptive start
    best: tuple[Cost, OneFlowSbpSolution] | None = None
    while True:
        found = search(instance, ratio)
        if found is None:
            break
        used = max(memory_bytes(instance, found))
        value = evaluate(instance, found).objective
        fits = limit is None or used <= limit
        if value is not None and fits and (best is None or value < best[0]):
            best = Fraction(value), found
        # 6 adaptive memory: if the result exceeds what is available, double the ratio and repeat
        available = math.inf if limit is None else limit / (1.04 * 1.06)
        if used <= available or ratio >= 22:
            break
        ratio = 22.0 if used > 1.4 * available else min(22.0, max(0.1, 2 * ratio))
    return None if best is None else best[1]


def search(instance: OneFlowSbpInstance, ratio: float) -> OneFlowSbpSolution | None:
    """Steps 1 to 5 and 7 for one weight of memory."""
    # 1, 2 lists of signatures, and weighted costs
    domains = [allowed_signatures(instance, o) for o in range(len(instance.operators))]
    graph = weighted(instance, domains, ratio)
    labels = chosen_labels(graph)
    if labels is None:
        return None
    signature = tuple(domains[o][labels[o]] for o in range(len(domains)))
    solution = OneFlowSbpSolution(signature=signature)
    broken = {violation.constraint for violation in evaluate(instance, solution).violations}
    return solution if broken <= {"memory"} else None


def chosen_labels(graph: Graph, most: int = 100) -> Labels | None:
    """Steps 3 to 5 and 7: return labels of all nodes; merged nodes have at most 100."""
    # 3 eliminate until stuck, merging small nodes
    graph.eliminate()
    while len(graph.cost) > 2 and graph.merge(most):
        graph.eliminate()
    # 4 the start: all first, or what a depth-first search finds
    labels = dict.fromkeys(graph.cost, 0)
    if graph.value(labels) == math.inf:
        found = next(feasible(graph, by_cut_ratio(graph), {}), None)
        if found is None:
            return None
        labels = found
    # 5 neighbourhoods
    labels = one_ring(graph, labels)
    # 7 unfold eliminations
    for unfold in reversed(graph.unfolds):
        unfold(labels)
    return labels


def allowed_signatures(instance: OneFlowSbpInstance, o: int) -> list[int]:
    """Return the signatures of an operator that a pin leaves."""
    tables = instance.tables
    pinned = tables.pinned.get(o)
    return [k for k, s in enumerate(tables.signatures[o]) if pinned is None or s.output == pinned]


def weighted(instance: OneFlowSbpInstance, domains: list[list[int]], ratio: float) -> Graph:
    """Return costs of nodes, compute and ratio times memory, and of pairs."""
    tables = instance.tables
    graph = Graph()
    for o, domain in enumerate(domains):
        made = tables.classes[tables.class_of[o]]
        byte = Fraction(ratio)
        if instance.costs.unit == "seconds":
            byte /= Fraction(instance.costs.link_bytes_per_s or 1) * placement(instance, o).devices
        graph.add_node(o, [made.compute[k] + byte * made.memory_bytes[k] for k in domain])
    for a, b in tables.ties:
        if a != b:
            same = [
                [
                    Fraction(0)
                    if tables.signatures[a][k].output == tables.signatures[b][x].output
                    else math.inf
                    for x in domains[b]
                ]
                for k in domains[a]
            ]
            graph.add_pair(a, b, same)
    for edge in tables.edges:
        u, v = edge.source, edge.target
        R = [[conversion(instance, edge, k, x) for x in domains[v]] for k in domains[u]]
        graph.add_pair(u, v, R)
    return graph


class Graph:
    """Costs of the labels of nodes and of pairs of nodes, which shrinks as its optimum stays."""

    def __init__(self) -> None:
        self.cost: dict[int, list[Cost]] = {}
        self.pair: dict[int, dict[int, Table]] = {}
        #: Each gives an eliminated node its label; the last one first.
        self.unfolds: list[Callable[[Labels], None]] = []

    def add_node(self, o: int, cost: list[Cost]) -> None:
        """Add a node."""
        self.cost[o], self.pair[o] = cost, {}

    def add_pair(self, u: int, v: int, table: Table) -> None:
        """Add costs to a pair: edge elimination, where it has costs already."""
        if v in self.pair[u]:
            old = self.pair[u][v]
            both = zip(old, table, strict=True)
            table = [[a + b for a, b in zip(*rows, strict=True)] for rows in both]
        self.pair[u][v] = table
        self.pair[v][u] = [list(column) for column in zip(*table, strict=True)]

    def remove(self, o: int) -> None:
        """Remove a node and its pairs."""
        for v in self.pair.pop(o):
            del self.pair[v][o]
        del self.cost[o]

    def value(self, labels: Labels) -> Cost:
        """Return the cost of labels of the nodes that are left."""
        total: Cost = sum((self.cost[o][labels[o]] for o in self.cost), Fraction(0))
        for u in self.cost:
            for v, table in self.pair[u].items():
                if u < v:
                    total += table[labels[u]][labels[v]]
        return total

    def eliminate(self) -> None:
        """Eliminate nodes of at most two neighbours, those of the fewest first; this is exact."""
        while True:
            few = [(len(self.pair[o]), o) for o in self.cost if len(self.pair[o]) <= 2]
            if not few:
                return
            self.eliminate_node(min(few)[1])

    def eliminate_node(self, o: int) -> None:
        """Node elimination: f(x_N) is the least of c_o + R over the labels of o."""
        cost, around = self.cost[o], dict(self.pair[o])
        self.remove(o)
        choice: dict[tuple[int, ...], int] = {}
        least: dict[tuple[int, ...], Cost] = {}
        for x in product(*(range(len(self.cost[v])) for v in around)):
            total = [
                c + sum((t[k][x_v] for t, x_v in zip(around.values(), x, strict=True)), Fraction(0))
                for k, c in enumerate(cost)
            ]
            least[x] = min(total)
            choice[x] = total.index(least[x])
        if len(around) == 1:  # child elimination: into the cost of the neighbour
            (v,) = around
            self.cost[v] = [c + least[x,] for x, c in enumerate(self.cost[v])]
        elif len(around) == 2:  # a new edge between the neighbours
            u, v = around
            sizes = range(len(self.cost[u])), range(len(self.cost[v]))
            self.add_pair(u, v, [[least[a, b] for b in sizes[1]] for a in sizes[0]])
        self.unfolds.append(
            lambda labels: labels.__setitem__(o, choice[tuple(labels[v] for v in around)])
        )

    def merge(self, most: int) -> bool:
        """Make one node of the pair with the fewest allowed pairs of labels, if few enough."""
        sizes = [
            (sum(c < math.inf for row in table for c in row), u, v)
            for u in self.cost
            for v, table in self.pair[u].items()
            if u < v
        ]
        if not sizes or not 0 < min(sizes)[0] <= most:
            return False
        _, u, v = min(sizes)
        table = self.pair[u][v]
        allowed = [(a, b) for a, row in enumerate(table) for b, c in enumerate(row) if c < math.inf]
        cost = [self.cost[u][a] + self.cost[v][b] + table[a][b] for a, b in allowed]
        of_u = {x: t for x, t in self.pair[u].items() if x != v}
        of_v = {x: t for x, t in self.pair[v].items() if x != u}
        self.remove(u)
        self.remove(v)
        self.add_node(u, cost)
        for x, t in of_u.items():
            self.add_pair(u, x, [t[a] for a, _ in allowed])
        for x, t in of_v.items():
            self.add_pair(u, x, [t[b] for _, b in allowed])

        def unfold(labels: Labels) -> None:
            labels[u], labels[v] = allowed[labels[u]]

        self.unfolds.append(unfold)
        return True


def by_cut_ratio(graph: Graph) -> list[int]:
    """Return the nodes breadth first, from the one with the smallest share of allowed pairs."""

    def ratio(o: int) -> float:
        shares = [
            sum(c < math.inf for row in table for c in row) / (len(table) * len(table[0]))
            for table in graph.pair[o].values()
        ]
        return min(shares, default=1.0)

    order: list[int] = []
    for root in sorted(graph.cost, key=lambda o: (ratio(o), o)):
        if root in order:
            continue
        queue = [root]
        for o in queue:
            new = [v for v in graph.pair[o] if v not in queue]
            queue += sorted(new, key=lambda v: (ratio(v), v))
        order += queue
    return order


def feasible(graph: Graph, order: list[int], labels: Labels) -> Iterator[Labels]:
    """Yield feasible labels, depth first, the cheapest label of a node first."""
    if len(labels) == len(order):
        yield dict(labels)
        return
    o = order[len(labels)]
    costs = [
        c + sum((t[k][labels[v]] for v, t in graph.pair[o].items() if v in labels), Fraction(0))
        for k, c in enumerate(graph.cost[o])
    ]
    for k in sorted(range(len(costs)), key=lambda k: (costs[k], k)):
        if costs[k] < math.inf:
            yield from feasible(graph, order, {**labels, o: k})


def one_ring(graph: Graph, labels: Labels) -> Labels:
    """Choose the labels of a node and up to three neighbours anew until nothing improves.

    Where labels changed, the nodes within two steps wait again; at most as many visits as nodes,
    squared.
    """
    queue = list(labels)
    visits = len(labels) ** 2
    while queue and visits > 0:
        visits -= 1
        o = queue.pop(0)
        around = list(graph.pair[o])
        for at in range(0, max(len(around), 1), 3):
            part = [o, *around[at : at + 3]]
            now = graph.value(labels)
            every = product(*(range(len(graph.cost[x])) for x in part))
            tried = [{**labels, **dict(zip(part, chosen, strict=True))} for chosen in every]
            best = min(tried, key=graph.value)
            if graph.value(best) < now:
                labels = best
                near = {o, *around, *(x for v in around for x in graph.pair[v])}
                queue += sorted(near - set(queue))
    return labels
