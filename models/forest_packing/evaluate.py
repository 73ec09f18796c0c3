r"""The evaluator: loads that trees with rates put on the links, in exact rational arithmetic.

It is written from the problem statement, reads the links of the instance again and uses none of the
tables of the solvers. Tree pair p reserves the rate x_p on every link of its two trees, as often
as their paths run over it. Rates fit if

.. math::
    \sum_p n_a(p) x_p \le c_a

for every arc (full duplex), cable (half duplex) and NIC direction; stages that take turns need
:math:`\rho^- + \rho^+ \le 1` of their congestions :math:`\rho = \max_a \mathrm{load}_a / c_a`
instead. The objective is the rate :math:`R = \sum_p x_p`; data of D GB take D/R.

A path's interior nodes, switches or workers, only forward; a path may pass a node twice and then
loads its links twice. Hops are counted between workers: a path through a worker is two.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.system.result import Evaluation, Violation

from .instance import ForestPackingInstance, ForestPackingSolution, Stage, TreePair
from .pipeline import Phase, best_chunks, chunked_time, simulate

Arc = tuple[int, int]


@dataclass(frozen=True)
class Links:
    """The instance's links, read as rows: sets of arcs that share a capacity.

    Attributes
    ----------
    names : list of str
    capacity : list of Fraction
        GB/s of each row.
    rows_of : dict
        Rows of each (tail, head); the first is the link's own, the others are NICs.
    """

    names: list[str]
    capacity: list[Fraction]
    rows_of: dict[Arc, list[int]]

    @property
    def cables(self) -> list[int]:
        """The rows that are not NICs."""
        return sorted({rows[0] for rows in self.rows_of.values()})

    @cached_property
    def unit(self) -> int:
        """Units in a GB/s, such that all capacities are whole numbers of units."""
        return math.lcm(*(c.denominator for c in self.capacity))

    @cached_property
    def capacity_in_units(self) -> list[int]:
        """Capacity of each row in units."""
        return [int(c * self.unit) for c in self.capacity]


@dataclass(frozen=True)
class Loads:
    """Loads of the rows in whole numbers of a common unit, and the resulting congestion.

    Attributes
    ----------
    on_row : list of int
        Load of each row over `per_gbyte_s`.
    per_gbyte_s : int
        Units in a GB/s.
    congestion : Fraction
        Largest load over capacity.
    """

    on_row: list[int]
    per_gbyte_s: int
    congestion: Fraction

    def rate(self, row: int) -> Fraction:
        """Return a row's load in GB/s."""
        return Fraction(self.on_row[row], self.per_gbyte_s)


def evaluate(instance: ForestPackingInstance, solution: ForestPackingSolution) -> Evaluation:
    """Recompute the rate of `solution` and list everything wrong with it.

    Returns
    -------
    Evaluation
        Objective: R in GB/s; None where a tree is invalid or a rate is negative. Components:
        `time_s` (D/R; of an overloaded plan stretched until it fits; missing at rate 0),
        `congestion`, `mean_utilisation` and `max_utilisation` (the part of the time that links are
        busy), `pipeline_depth` (hops between workers, up and down, of the deepest pair),
        `trees`, `roots_used`, `best_chunks` and `chunked_time_s` (m* and T(m*); missing if there is
        no best m),
        `simulated_time_s` (at the solution's own number of chunks).

    Notes
    -----
    Constraints: `unknown_node`, `unknown_link` (a path uses a link that is not there), `stage` (a
    tree of a stage the collective lacks, or none of one it has), `tree` (does not span, has a
    cycle, a node with two parents, or a switch that would copy or sum), `negative_rate`,
    `capacity`, `turns`, `root_share`, `tree_budget`, `equal_share`, `max_depth`.
    """
    links = read_links(instance)
    broken: list[Violation] = []
    heights = []
    for i, tree in enumerate(solution.trees):
        heights.append(_heights(instance, links, tree, f"trees[{i}]", broken))
        if tree.rate_gbyte_per_s < 0:
            broken.append(Violation("negative_rate", f"trees[{i}]", -tree.rate_gbyte_per_s))
    if broken:
        return Evaluation(objective=None, violations=tuple(broken))
    rate = sum((tree.rate_gbyte_per_s for tree in solution.trees), Fraction(0))
    runs = _loads(instance, links, solution.trees)
    violations = [
        *_capacity_violations(instance, links, runs),
        *_share_violations(instance, solution.trees, rate),
        *_restriction_violations(instance, solution.trees, heights),
    ]
    components = _components(instance, links, solution, rate, runs, heights)
    return Evaluation(rate, tuple(violations), components)


def read_links(instance: ForestPackingInstance) -> Links:
    """Add up parallel links and list what limits each arc."""
    capacity: defaultdict[Arc, Fraction] = defaultdict(Fraction)
    for link in instance.links:
        bandwidth = decimal_rational(link.bandwidth_gbyte_per_s)
        if bandwidth > 0:
            capacity[link.src, link.dst] += bandwidth
            if link.both:
                capacity[link.dst, link.src] += bandwidth
    links = Links([], [], {})
    for (u, v), c in sorted(capacity.items()):
        if instance.duplex == "half" and (v, u) in links.rows_of:
            links.rows_of[u, v] = list(links.rows_of[v, u])
            continue
        links.rows_of[u, v] = [len(links.names)]
        links.names.append(f"cable {u}--{v}" if instance.duplex == "half" else f"arc {u}->{v}")
        links.capacity.append(c)
    for end, name, limits in (
        (1, "in", instance.nic_in_gbyte_per_s),
        (0, "out", instance.nic_out_gbyte_per_s),
    ):
        for node, limit in sorted(limits.items()):
            for arc, rows in links.rows_of.items():
                if arc[end] == node:
                    rows.append(len(links.names))
            links.names.append(f"nic {name} {node}")
            links.capacity.append(decimal_rational(limit))
    return links


# -- trees -------------------------------------------------------------------------------------


def _heights(
    instance: ForestPackingInstance,
    links: Links,
    tree: TreePair,
    where: str,
    broken: list[Violation],
) -> tuple[int, int]:
    """Return the heights of the in-tree and the out-tree; add violations to `broken`."""
    has_reduce, has_broadcast = (s in instance.stages for s in ("reduce", "broadcast"))
    backwards = tree.out_tree is None and has_reduce and has_broadcast
    present: list[tuple[Stage, bool, bool, str]] = [
        ("reduce", has_reduce, bool(tree.in_tree), "in_tree"),
        ("broadcast", has_broadcast, backwards or _has_out_tree(tree), "out_tree"),
    ]
    before = len(broken)
    for stage, wanted, given, name in present:
        if wanted and not given:
            broken.append(Violation("stage", f"{where}.{name}: missing for the {stage} stage", 1))
        if given and not wanted:
            broken.append(Violation("stage", f"{where}.{name}: there is no {stage} stage", 1))
    if tree.root not in instance.workers:
        kind = "tree" if tree.root in instance.switches else "unknown_node"
        broken.append(Violation(kind, f"{where}.root: {tree.root} is not a worker", 1))
    if len(broken) > before:
        return 0, 0
    up = down = 0
    if has_reduce:
        # With out_tree left out, the links are needed in the other direction too.
        broken.extend(_path_violations(instance, links, tree.in_tree, f"{where}.in_tree"))
        up = _height(instance, tree.root, tree.in_tree, f"{where}.in_tree", broken)
    if has_broadcast:
        out_tree = tree.broadcast_tree
        broken.extend(_path_violations(instance, links, out_tree, f"{where}.out_tree"))
        down = up
        if not backwards:
            paths = [path[::-1] for path in out_tree]
            down = _height(instance, tree.root, paths, f"{where}.out_tree", broken)
    return up, down


def _has_out_tree(tree: TreePair) -> bool:
    """Return True if there is an out-tree; if left out, it is the in-tree backwards."""
    return bool(tree.in_tree if tree.out_tree is None else tree.out_tree)


def _path_violations(
    instance: ForestPackingInstance, links: Links, paths: Sequence[tuple[int, ...]], where: str
) -> Iterator[Violation]:
    """Return the violations of a path over links that do not exist."""
    if links.rows_of.keys() >= set(paths):
        return  # the usual case, quickly: every path is a link
    for k, path in enumerate(paths):
        arcs = (path,) if len(path) == 2 else pairwise(path)
        for arc in arcs:
            if arc not in links.rows_of:
                u, v = arc
                for end in sorted({u, v}.difference(instance.workers, instance.switches)):
                    yield Violation("unknown_node", f"{where}[{k}]: {end}", 1)
                yield Violation("unknown_link", f"{where}[{k}]: {u}->{v}", 1)


def _height(
    instance: ForestPackingInstance,
    root: int,
    paths: Sequence[tuple[int, ...]],
    where: str,
    broken: list[Violation],
) -> int:
    """Return the height of a tree given as paths from child to parent; add violations to `broken`.

    Every worker but the root has one parent, and so has every switch that is a parent;
    following parents leads to the root. A path through switches is one hop, and every worker that
    it passes makes it one more.
    """
    parent = {path[0]: path[-1] for path in paths}
    faults = []
    if len(parent) < len(paths):
        faults.append(("a node has two parents", len(paths) - len(parent)))
    if root in parent:
        faults.append((f"root {root} has a parent", 1))
    spanned = {*parent, root}
    lost = {*instance.workers, *parent.values()} - spanned
    if lost:
        faults.append((f"{min(lost)} is left out", len(lost)))
    if not instance.in_network:
        forwarding = spanned.union(parent.values()).intersection(instance.switches)
        if forwarding:
            faults.append((f"switch {min(forwarding)} would copy or sum", len(forwarding)))
    if faults:
        broken.extend(Violation("tree", f"{where}: {what}", n) for what, n in faults)
        return 0
    workers = set(instance.workers)
    hops = {path[0]: 1 + sum(v in workers for v in path[1:-1]) for path in paths}
    depth = {root: 0}
    for child in parent:
        v = child
        climbed: list[int] = []
        while v not in depth:
            climbed.append(v)
            depth[v] = -1  # until known: a node met again before that is on a cycle
            v = parent[v]
        if depth[v] < 0:
            broken.append(Violation("tree", f"{where}: {v} is on a cycle", 1))
            return 0
        for w in reversed(climbed):
            depth[w] = depth[parent[w]] + hops[w]
    return max(depth.values())


# -- loads -------------------------------------------------------------------------------------


def _loads(
    instance: ForestPackingInstance, links: Links, trees: Sequence[TreePair]
) -> dict[str, Loads]:
    """Return the loads of both stages together, or of each stage where they take turns."""
    unit = math.lcm(*(tree.rate_gbyte_per_s.denominator for tree in trees))
    runs = {"": instance.stages}
    if instance.sequential:
        runs = {f"{stage}: ": (stage,) for stage in instance.stages}
    on_arc: dict[str, defaultdict[Arc, int]] = {run: defaultdict(int) for run in runs}
    for tree in trees:
        rate = int(tree.rate_gbyte_per_s * unit)
        for run, stages in runs.items():
            load = on_arc[run]
            for stage in stages:
                for path in tree.in_tree if stage == "reduce" else tree.broadcast_tree:
                    if len(path) == 2:
                        load[path] += rate
                    else:
                        for arc in pairwise(path):
                            load[arc] += rate
    return {run: _row_loads(links, loads, unit) for run, loads in on_arc.items()}


def _row_loads(links: Links, on_arc: Mapping[Arc, int], unit: int) -> Loads:
    on_row = [0] * len(links.names)
    for arc, load in on_arc.items():
        for row in links.rows_of[arc]:
            on_row[row] += load
    return Loads(on_row, unit, _fullest(links, on_row, range(len(on_row))) / unit)


def _fullest(links: Links, on_row: Sequence[int], rows: Iterable[int]) -> Fraction:
    """Return the largest load over capacity of some rows; compared in whole numbers."""
    largest, of_capacity = 0, 1
    for row in rows:
        capacity = links.capacity_in_units[row]
        if on_row[row] * of_capacity > largest * capacity:
            largest, of_capacity = on_row[row], capacity
    return Fraction(largest * links.unit, of_capacity)


def _capacity_violations(
    instance: ForestPackingInstance, links: Links, runs: Mapping[str, Loads]
) -> Iterator[Violation]:
    for run, loads in runs.items():
        for row, (name, capacity) in enumerate(zip(links.names, links.capacity, strict=True)):
            if loads.on_row[row] > capacity * loads.per_gbyte_s:
                yield Violation("capacity", run + name, loads.rate(row) - capacity)
    together = _congestion(runs)
    if instance.sequential and together > 1:
        yield Violation("turns", "congestion of both stages", together - 1)


def _congestion(runs: Mapping[str, Loads]) -> Fraction:
    """Return rho; for stages that take turns, the sum of theirs."""
    return sum((loads.congestion for loads in runs.values()), Fraction(0))


def _share_violations(
    instance: ForestPackingInstance, trees: Sequence[TreePair], rate: Fraction
) -> Iterator[Violation]:
    """Return the roots whose trees do not carry exactly the required share."""
    if instance.root_mode == "free":
        return
    workers = instance.workers
    shares = dict.fromkeys(workers, Fraction(0))
    if instance.root_mode == "uniform":
        shares = dict.fromkeys(workers, Fraction(1, len(workers)))
    elif instance.root is not None:
        shares[instance.root] = Fraction(1)
    elif instance.root_share is not None:
        shares = {r: decimal_rational(w) for r, w in zip(workers, instance.root_share, strict=True)}
    at_root = dict.fromkeys(workers, Fraction(0))
    for tree in trees:
        at_root[tree.root] += tree.rate_gbyte_per_s
    for r in workers:
        if at_root[r] != shares[r] * rate:
            yield Violation("root_share", f"root {r}", at_root[r] - shares[r] * rate)


def _restriction_violations(
    instance: ForestPackingInstance, trees: Sequence[TreePair], heights: Sequence[tuple[int, int]]
) -> Iterator[Violation]:
    if instance.tree_budget is not None and len(trees) > instance.tree_budget:
        yield Violation("tree_budget", "trees", len(trees) - instance.tree_budget)
    rates = [tree.rate_gbyte_per_s for tree in trees]
    if instance.equal_share and rates and min(rates) < max(rates):
        yield Violation("equal_share", "rates", max(rates) - min(rates))
    if instance.max_depth is not None:
        for i, (up, down) in enumerate(heights):
            if up + down > instance.max_depth:
                yield Violation("max_depth", f"trees[{i}]", up + down - instance.max_depth)


# -- components --------------------------------------------------------------------------------


def _components(
    instance: ForestPackingInstance,
    links: Links,
    solution: ForestPackingSolution,
    rate: Fraction,
    runs: Mapping[str, Loads],
    heights: Sequence[tuple[int, int]],
) -> dict[str, Number]:
    congestion = _congestion(runs)
    carried = [sum(on) for on in zip(*(loads.on_row for loads in runs.values()), strict=True)]
    unit = max(loads.per_gbyte_s for loads in runs.values())  # the same in all runs
    cables = links.cables
    busy = [carried[i] * links.unit / (links.capacity_in_units[i] * unit) for i in cables]
    found: dict[str, Number] = {
        "congestion": congestion,
        "mean_utilisation": math.fsum(busy) / len(busy) if busy else 0.0,
        "max_utilisation": _fullest(links, carried, cables) / unit,
        "pipeline_depth": max((up + down for up, down in heights), default=0),
        "trees": len(solution.trees),
        "roots_used": len({tree.root for tree in solution.trees if tree.rate_gbyte_per_s}),
    }
    if rate == 0:
        return found
    data = decimal_rational(instance.model_size_gbyte)
    alpha = decimal_rational(instance.hop_latency_s)
    time_s = data * max(congestion, Fraction(1)) / rate
    if instance.sequential:
        # Each stage gets the part of the time that its own fullest row needs.
        deepest = [max(h[stage] for h in heights) for stage in range(2)]
        phases = [
            Phase(time_s * loads.congestion / congestion, h)
            for loads, h in zip(runs.values(), deepest, strict=True)
        ]
    else:
        phases = [Phase(time_s, max(up + down for up, down in heights))]
    found["time_s"] = time_s
    chunks = best_chunks(phases, alpha)
    if chunks is not None:
        found["best_chunks"] = chunks
        found["chunked_time_s"] = chunked_time(phases, chunks, alpha)
    if solution.chunks is not None:
        slices = [data * tree.rate_gbyte_per_s / rate for tree in solution.trees]
        course = simulate(
            solution.trees, phases, solution.chunks, alpha, slices, links.rows_of, links.capacity
        )
        found["simulated_time_s"] = course.time_s
    return found
