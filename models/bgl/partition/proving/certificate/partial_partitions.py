r"""The check of an elimination: all partitions of the branched nodes, one node after the other.

It is written apart from the run that found the bound and takes only an order, and what was
forgotten, from the certificate. Every pair of weight has a branched node at one end. A node u that
is not branched on goes where most of its weight lies and costs
:math:`\sum_t q_{tu} - \max_i \sum_{t \in i} q_{tu}`. A *state* is what matters for the nodes ahead:
the loads of the parts, and the parts of the nodes that still have a neighbour ahead, the frontier.
Of states that are alike the cheapest is kept. So the least cost in the end is a lower bound; it
remains one if a state's node is forgotten, as its weights to nodes ahead are then not charged.

Up to `MOST_PLAIN` states are dictionaries of Python's integers. Where there are more, the check
begins again with the loops of `partial_loops`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ...instance import BglPartitionInstance
from .partial_loops import FREE, cheapest_of_two, expand

#: States of all steps together that plain Python goes through. Tuned: `benchmarks/constants.py`.
MOST_PLAIN = 10_000
#: States of one step.
MOST_STATES = MOST_CELLS // 4
#: Bits of a state in the compiled loops. By definition.
MOST_BITS = 62

Weights = dict[int, int]


@dataclass
class Branched:
    """The nodes that are branched on and the weights that they add up.

    Attributes
    ----------
    parts, train_cap, node_cap : int
    trained : set of int
    pairs : dict
        For every branched node, its weights to other branched nodes.
    rays : dict
        For every branched node, its weights to nodes that are not.
    """

    parts: int
    train_cap: int
    node_cap: int
    trained: set[int]
    pairs: dict[int, Weights] = field(default_factory=dict)
    rays: dict[int, Weights] = field(default_factory=dict)

    @classmethod
    def of(cls, instance: BglPartitionInstance, *, every_node: bool) -> Branched:
        """Branch on training nodes with weight, or on all nodes with weight.

        All are branched on also where two nodes that are no training nodes share weight.
        """
        weights, trained = instance.pair_weights, set(instance.train_nodes)
        first, second = weights.first.tolist(), weights.second.tolist()
        listed = list(zip(first, second, weights.scaled.tolist(), strict=True))
        every_node |= any(a not in trained and b not in trained for a, b, _ in listed)
        found = cls(instance.used_parts, instance.train_cap, instance.node_cap, trained)
        for a, b, w in listed:
            for v, other in ((a, b), (b, a)):
                if every_node or v in trained:
                    found.pairs.setdefault(v, {})
                    rays = found.rays.setdefault(v, {})
                    among = every_node or other in trained
                    (found.pairs[v] if among else rays)[other] = w
        return found

    @property
    def loads(self) -> list[tuple[int, bool]]:
        """The cap of each kind of load, and whether only training nodes count; all nodes last."""
        if self.trained.issuperset(self.pairs):
            return [(min(self.train_cap, self.node_cap), False)]
        return [(self.train_cap, True), (self.node_cap, False)]


@dataclass(frozen=True)
class Step:
    """One node: what it adds to the cost, and what leaves the frontier after it.

    Attributes
    ----------
    node : int
    to : list of (node, weight)
        Its neighbours in the frontier.
    groups : list of (weight, list of (node, weight))
        Nodes that are not branched on: the weight to this node, and to nodes of the frontier.
    dropped : list of int
    """

    node: int
    to: list[tuple[int, int]]
    groups: list[tuple[int, list[tuple[int, int]]]]
    dropped: list[int]


def steps(
    branched: Branched, order: Sequence[int], forgotten: Sequence[Sequence[int]]
) -> Iterator[Step]:
    """Yield the steps of an order.

    Raises
    ------
    ValueError
        If a node is forgotten that is not in the frontier.
    """
    last: dict[int, int] = {}  # the step of a node's last neighbour, or of its centres' last ray
    last_ray = {u: at for at, v in enumerate(order) for u in branched.rays[v]}
    place = {v: at for at, v in enumerate(order)}
    for v in order:
        ahead = [place[u] for u in branched.pairs[v]] + [last_ray[u] for u in branched.rays[v]]
        last[v] = max(ahead, default=-1)
    frontier: set[int] = set()
    sharing: dict[int, Weights] = {}
    for at, v in enumerate(order):
        to = [(u, w) for u, w in branched.pairs[v].items() if u in frontier]
        groups = []
        for u, w in branched.rays[v].items():
            mates = sharing.setdefault(u, {})
            if mates:
                groups.append((w, list(mates.items())))
            mates[v] = w
        frontier.add(v)
        dropped = [u for u in frontier if last[u] <= at]
        frontier.difference_update(dropped)
        for u in forgotten[at] if at < len(forgotten) else ():
            if u not in frontier:
                raise ValueError(f"forgotten[{at}]: {u} is not in the frontier")
            frontier.remove(u)
            dropped.append(u)
            for centre in branched.rays[u]:
                if u in sharing[centre]:
                    sharing[centre] = {}
        yield Step(v, to, groups, dropped)


def least_cost(
    branched: Branched,
    order: Sequence[int],
    forgotten: Sequence[Sequence[int]],
    at_least: int,
    most_plain: int = MOST_PLAIN,
) -> int:
    """Return a lower bound on the scaled cost of all partitions, at most `at_least`.

    Raises
    ------
    ValueError
        If the order does not fit, or there are too many states.
    """
    found = _plain(branched, steps(branched, order, forgotten), at_least, most_plain)
    if found is None:
        found = _compiled(branched, list(steps(branched, order, forgotten)), at_least)
    return found


# -- dictionaries ----------------------------------------------------------------------------------


State = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]


def _plain(branched: Branched, todo: Iterator[Step], at_least: int, most: int) -> int | None:
    """Return the bound; None if there are too many states.

    A state is the parts of the frontier, and for each kind of load the loads of the parts.
    """
    loads, none = branched.loads, (0,) * branched.parts
    states: dict[State, int] = {((), (none,) * len(loads)): 0}
    frontier: list[int] = []
    for step in todo:
        if len(states) > most:
            return None
        most -= len(states)
        kept = [p for p, u in enumerate([*frontier, step.node]) if u not in step.dropped]
        place = {u: p for p, u in enumerate(frontier)}
        after: dict[State, int] = {}
        for (parts, of_kind), cost in states.items():
            for i in range(branched.parts):
                if i and not of_kind[-1][i - 1]:  # parts are numbered as they are opened
                    break
                new = _loaded(branched, of_kind, step.node, i)
                total = cost + _added(step, parts, place, i)
                if new is None or total >= at_least:
                    continue
                chosen = (*parts, i)
                state = tuple(chosen[p] for p in kept), new
                after[state] = min(total, after.get(state, total))
        frontier = [u for u in [*frontier, step.node] if u not in step.dropped]
        states = after
    return min(states.values(), default=at_least)


def _loaded(
    branched: Branched, of_kind: tuple[tuple[int, ...], ...], v: int, i: int
) -> tuple[tuple[int, ...], ...] | None:
    """Return the loads after a node went into part i; None if that is full."""
    after = []
    for loads, (cap, trained_only) in zip(of_kind, branched.loads, strict=True):
        if not trained_only or v in branched.trained:
            if loads[i] == cap:
                return None
            after.append((*loads[:i], loads[i] + 1, *loads[i + 1 :]))
        else:
            after.append(loads)
    return tuple(after)


def _added(step: Step, parts: tuple[int, ...], place: Weights, i: int) -> int:
    """Return what part i of a step's node adds to the cost."""
    added = sum(w for u, w in step.to if parts[place[u]] != i)
    for own, mates in step.groups:
        pull: Weights = {}
        for u, w in mates:
            pull[parts[place[u]]] = pull.get(parts[place[u]], 0) + w
        most = max(pull.values())
        added += own - (max(most, pull.get(i, 0) + own) - most)
    return added


# -- compiled loops --------------------------------------------------------------------------------


def _compiled(branched: Branched, todo: Sequence[Step], at_least: int) -> int:
    """Return the bound by the loop `expand`, over states of 62 bits."""
    parts, loads = branched.parts, branched.loads
    part_bits, shift = max(1, (parts - 1).bit_length()), 0
    load_shift, load_bits = [], []
    for cap, _ in loads:
        load_shift.append(shift)
        load_bits.append(max(1, min(cap, len(todo)).bit_length()))
        shift += parts * load_bits[-1]
    slot_of: dict[int, int] = {}
    codes, costs = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)

    def where(u: int) -> int:
        return shift + slot_of[u] * part_bits

    for step in todo:
        slot = next(s for s in range(len(slot_of) + 1) if s not in slot_of.values())
        slot_of[step.node] = slot
        if where(step.node) + part_bits > MOST_BITS:
            raise ValueError(f"order: a state takes more than {MOST_BITS} bits")
        kept = (1 << MOST_BITS) - 1
        for u in step.dropped:
            kept &= ~(((1 << part_bits) - 1) << where(u))
        mates = [mate for _, group in step.groups for mate in group]
        sizes = [0, *(len(group) for _, group in step.groups)]
        counts = [not trained_only or step.node in branched.trained for _, trained_only in loads]
        most = min(len(codes) * parts, MOST_STATES)
        keys = np.full(1 << (2 * most + 1).bit_length(), FREE, dtype=np.int64)
        values = np.zeros_like(keys)
        found = expand(
            codes, costs, parts, (1 << part_bits) - 1, where(step.node),
            _ints(where(u) for u, _ in step.to), _ints(w for _, w in step.to),
            _ints(np.cumsum(sizes)), _ints(own for own, _ in step.groups),
            _ints(where(u) for u, _ in mates), _ints(w for _, w in mates),
            _ints(load_shift), _ints(load_bits), _ints(cap for cap, _ in loads), _ints(counts),
            kept, at_least, keys, values, most,
        )  # fmt: skip
        if found < 0:
            raise ValueError(f"order: more than {MOST_STATES} states at node {step.node}")
        codes, costs = keys[keys != FREE], values[keys != FREE]
        for u in step.dropped:
            del slot_of[u]
    return int(costs.min(initial=at_least))


def least_cost_of_two(branched: Branched, order: Sequence[int], at_least: int) -> int:
    """Return the least cost of two parts with the node cap charged, at most `at_least`.

    Raises
    ------
    ValueError
        If there are more parts, nodes that are no training nodes are branched on, or there are too
        many partitions.
    """
    if branched.parts != 2 or not branched.trained.issuperset(branched.pairs):
        raise ValueError("placed: only with two parts, branching on training nodes")
    place = {v: at for at, v in enumerate(order)}
    centre: dict[int, int] = {}
    pairs, rays = [], []
    for at, v in enumerate(order):
        pairs.append([(place[u], w) for u, w in branched.pairs[v].items() if place[u] < at])
        rays.append([(centre.setdefault(u, len(centre)), w) for u, w in branched.rays[v].items()])
    if not order:
        return min(0, at_least)
    found = cheapest_of_two(
        *_rows(pairs), *_rows(rays), len(centre),
        branched.loads[0][0], branched.node_cap, at_least, MOST_STATES,
    )  # fmt: skip
    if found < 0:
        raise ValueError(f"placed: more than {MOST_STATES} partitions")
    return int(found)


def _rows(rows: list[list[tuple[int, int]]]) -> tuple[Ints, Ints, Ints]:
    """Return where each row begins, and all first and all second numbers."""
    first = _ints(np.cumsum([0, *map(len, rows)]))
    return first, _ints(a for row in rows for a, _ in row), _ints(b for row in rows for _, b in row)


def _ints(numbers: object) -> Ints:
    return np.array(list(numbers), dtype=np.int64)  # type: ignore[call-overload]
