r"""Decoding of rings from worker counts and link uses, by Eulerian circuits.

A multiset of directed links carries a ring over given servers, up to superfluous links, if and only
if it is balanced at every node and connects these servers (proposition P1, reconstructed). Then it
has an Eulerian circuit. Servers are visited in the order in which the circuit first meets them; the
part of the circuit between two of them, without loops, is the route of a hop. All workers of a
server are consecutive.
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
        Workers by position in `Terms.servers`; zeros are ignored.
    uses : mapping of int to int
        How often the ring uses each link, by position in `Terms.links`. Ignored on two-tier
        clusters: servers are visited rack by rack, which uses the least bandwidth (proposition P2).

    Returns
    -------
    Mapping or None
        None if there are no workers.

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

    This is Hierholzer's algorithm; links of other components are left out.

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
    """Return a walk without loops, that is, without detours back to a visited node."""
    path: list[int] = []
    for node in walk:
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return tuple(path)
