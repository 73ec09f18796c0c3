r"""Rings from counts of workers and uses of links (P1, reconstructed).

A multiset of directed links carries a ring over given servers, up to links it does not need, if and
only if it is balanced at every node and connects these servers. Then it has an Eulerian circuit:
servers are visited in the order in which it meets them first, and the piece of the circuit between
two of these is the route of a hop, without its loops. All workers of a server follow one another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping as Counts

from ..terms import Terms
from .slot_problem import Mapping


def mapping_of(
    terms: Terms, job: int, workers: Counts[int, int], uses: Counts[int, int]
) -> Mapping | None:
    """Return the ring with these workers, routed over these links.

    Parameters
    ----------
    terms : Terms
    job : int
    workers : mapping of int to int
        Workers by position in `Terms.servers`; zeros are left out.
    uses : mapping of int to int
        How often the ring uses each link, by position in `Terms.links`. On two-tier clusters it
        does not matter: servers are visited rack by rack, which no ring does with less (P2).

    Returns
    -------
    Mapping or None
        None without workers.

    Raises
    ------
    ValueError
        If the links do not connect the servers, or are not balanced.
    """
    used = {s: count for s, count in workers.items() if count > 0}
    if not used:
        return None
    if terms.tree is not None:
        rack = terms.tree.rack
        return Mapping(job, tuple((s, used[s]) for s in sorted(used, key=lambda s: (rack[s], s))))
    if len(used) == 1:
        ((s, count),) = used.items()
        return Mapping(job, ((s, count),), ((),) * count)
    position = {terms.servers[s]: s for s in used}
    circuit = eulerian_circuit(terms, uses, terms.servers[min(used)])
    order, begins = [], []
    for at, node in enumerate(circuit):
        if node in position and position[node] not in order:
            order.append(position[node])
            begins.append(at)
    if len(order) < len(used):
        raise ValueError(f"the links of job {job} do not connect its servers")
    routes: list[tuple[int, ...]] = []
    for s, begin, end in zip(order, begins, [*begins[1:], len(circuit) - 1], strict=True):
        routes += [()] * (used[s] - 1)
        routes.append(without_loops(circuit[begin : end + 1]))
    return Mapping(job, tuple((s, used[s]) for s in order), tuple(routes))


def eulerian_circuit(terms: Terms, uses: Counts[int, int], start: int) -> list[int]:
    """Return the nodes of a closed walk over all links that can be reached from `start`.

    Hierholzer's algorithm; links of other components are left out.

    Raises
    ------
    ValueError
        If more links enter a node than leave it.
    """
    onward: defaultdict[int, list[int]] = defaultdict(list)
    for e in sorted(uses, reverse=True):
        source, target = terms.links[e].tolist()
        onward[source] += [target] * uses[e]
    stack, backwards = [start], []
    while stack:
        if onward[stack[-1]]:
            stack.append(onward[stack[-1]].pop())
        else:
            backwards.append(stack.pop())
    if backwards[0] != start:
        raise ValueError(f"the links are not balanced at node {backwards[0]}")
    return backwards[::-1]


def without_loops(walk: list[int]) -> tuple[int, ...]:
    """Return a walk without the detours that lead back to a node it has been at."""
    path: list[int] = []
    for node in walk:
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return tuple(path)
