"""Random tables of costs, and plain Python that says what the checks must say of them."""

import itertools
import random

import numpy as np

from gadgetopt.models.oneflow_sbp.proving.certificate.cost_tables import (
    FORBIDDEN,
    Arrays,
    CostTables,
    Pair,
)


def random_tables(seed, *, nodes=None, most_labels=4, forbidden=0.15):
    """Return tables over a few nodes; some labels share rows, some pairs have two tables."""
    rng = random.Random(seed)
    nodes = nodes or rng.randint(1, 6)
    arrays = Arrays()

    def number(made):
        return arrays.number(np.array(made, dtype=np.int64))

    labels = [rng.randint(1, most_labels) for _ in range(nodes)]
    own = [number([rng.randint(0, 20) for _ in range(n)]) for n in labels]
    pairs = []
    for u, v in itertools.combinations(range(nodes), 2):
        for _ in range(rng.choice([0, 1, 1, 2])):
            shape = rng.randint(1, labels[u]), rng.randint(1, labels[v])
            drawn = [rng.randint(0, 20) for _ in range(shape[0] * shape[1])]
            table = [FORBIDDEN if rng.random() < forbidden else c for c in drawn]
            rows, columns = (
                number([rng.randrange(extent) for _ in range(labels[o])])
                for o, extent in zip((u, v), shape, strict=True)
            )
            pairs.append(Pair(u, v, number(np.reshape(table, shape)), rows, columns))
    memory = [number([rng.randint(0, 9) for _ in range(n)]) for n in labels]
    allowed = [tuple(range(n)) for n in labels]
    limit = sum(int(arrays[m].min()) for m in memory) + rng.randint(0, 6)
    return CostTables(arrays, allowed, own, pairs, memory, [0] * nodes, limit)


def some_labels(costs, rng):
    """Return domains of at least one label a node."""
    return [tuple(sorted(rng.sample(d, rng.randint(1, len(d))))) for d in costs.allowed]


def cost_of(costs, chosen):
    """Return the cost of an assignment, `FORBIDDEN` if it is not allowed."""
    total = sum(int(costs.arrays[t][k]) for t, k in zip(costs.own, chosen, strict=True))
    for u, v, table, rows, columns in costs.pairs:
        row, column = int(costs.arrays[rows][chosen[u]]), int(costs.arrays[columns][chosen[v]])
        total += int(costs.arrays[table][row, column])
    return min(total, FORBIDDEN)


def enumerated(costs, domains):
    """Return the least cost of all assignments."""
    return min(cost_of(costs, chosen) for chosen in itertools.product(*domains))


def eliminated(costs, domains, order, splits=()):
    """Return the bound of an elimination, table by table and entry by entry.

    A table is its nodes and a dictionary of entries; `splits` are nodes, parts and shifts.
    """
    split_at = {node: (parts, shifts) for node, parts, shifts in splits}
    tables = []
    for o, number in enumerate(costs.own):
        tables.append(((o,), {(k,): int(costs.arrays[number][k]) for k in domains[o]}))
    for u, v, table, rows, columns in costs.pairs:
        up, down = costs.arrays[rows], costs.arrays[columns]
        entries = {
            (k, j): int(costs.arrays[table][up[k], down[j]]) for k in domains[u] for j in domains[v]
        }
        kept = [at for at, o in enumerate((u, v)) if len(domains[o]) > 1]
        some = {tuple(x[at] for at in kept): cost for x, cost in entries.items()}
        tables.append((tuple((u, v)[at] for at in kept), some))
    bound = sum(cost for nodes, some in tables if not nodes for cost in some.values())
    for o in order:
        mine = [t for t in tables if o in t[0]]
        tables = [t for t in tables if o not in t[0]]
        if o in split_at:
            parts, shifts = split_at[o]
            groups = [[] for _ in parts]
            for table in mine:
                apart = set(table[0]) - {o}
                groups[next(i for i, part in enumerate(parts) if apart <= set(part))].append(table)
        else:
            groups, shifts = [mine], [[0] * len(domains[o])]
        sums = [added(group, domains, o) for group in groups]
        lost = {
            k
            for nodes, entries in sums
            for k in domains[o]
            if min(c for x, c in entries.items() if x[0] == k) >= FORBIDDEN
        }
        for (nodes, entries), shift in zip(sums, shifts, strict=True):
            least = {}
            for x, cost in entries.items():
                more = FORBIDDEN if x[0] in lost else shift[domains[o].index(x[0])]
                least[x[1:]] = min(cost + more, least.get(x[1:], FORBIDDEN))
            constant = min(least.values())
            if constant >= FORBIDDEN:
                return FORBIDDEN
            bound += constant
            rest = {x: FORBIDDEN if c >= FORBIDDEN else c - constant for x, c in least.items()}
            if nodes[1:]:
                tables.append((nodes[1:], rest))
    return min(bound, FORBIDDEN)


def added(tables, domains, o):
    """Return the sum of tables over a node, which comes first, and all their other nodes."""
    others = sorted({v for nodes, _ in tables for v in nodes} - {o})
    nodes = (o, *others)
    entries = {}
    for x in itertools.product(*(domains[v] for v in nodes)):
        label = dict(zip(nodes, x, strict=True))
        total = sum(entries_of[tuple(label[v] for v in its)] for its, entries_of in tables)
        entries[x] = min(total, FORBIDDEN)
    return nodes, entries
