r"""The largest ring that a job alone could have, for the check: plain sets of servers.

A ring on several servers needs, between any two of them, links in both directions that carry its
bandwidth. On a two-tier cluster these are access links, and uplinks where it spans racks. So a ring
is no larger than the most workers of one server, or of the servers that are connected so
(reconstructed). On graphs that is an upper bound, as a ring may need more than that.

`subproblems.max_ring` computes the same by other means for the search; a test holds the two against
each other.
"""

from __future__ import annotations

from ...terms import Terms


def largest_alone(terms: Terms) -> list[int]:
    """Return an upper bound on the workers of each job's ring in the empty cluster."""
    groups = {b: _groups(terms, b) for b in {job.bandwidth for job in terms.jobs}}
    largest = []
    for job in terms.jobs:
        workers = dict(zip(terms.servers, job.per_server.tolist(), strict=True))
        on_several = (sum(workers.get(v, 0) for v in group) for group in groups[job.bandwidth])
        largest.append(min(job.max_ring, max(*workers.values(), *on_several)))
    return largest


def _groups(terms: Terms, bandwidth: int) -> list[set[int]]:
    """Return the sets of nodes among which a ring of some bandwidth may be spread."""
    if terms.tree is None:
        return _connected(terms, bandwidth)
    rack_of = dict(zip(terms.servers, terms.tree.rack.tolist(), strict=True))
    access = dict(zip(terms.servers, terms.tree.access.tolist(), strict=True))
    uplink = terms.tree.uplink.tolist()
    wide = {v for v in terms.servers if access[v] >= bandwidth}
    racks = [{v for v in wide if rack_of[v] == k} for k in range(len(uplink))]
    return [*racks, {v for v in wide if uplink[rack_of[v]] >= bandwidth}]


def _connected(terms: Terms, bandwidth: int) -> list[set[int]]:
    """Return the sets of nodes that reach each other by links of at least some bandwidth."""
    onward: dict[int, list[int]] = {v: [] for v in range(terms.num_nodes)}
    back: dict[int, list[int]] = {v: [] for v in range(terms.num_nodes)}
    for (u, v), mbps in zip(terms.links.tolist(), terms.link_mbps.tolist(), strict=True):
        if mbps >= bandwidth:
            onward[u].append(v)
            back[v].append(u)
    left, found = set(onward), []
    while left:
        start = min(left)
        found.append(_reached(start, onward) & _reached(start, back))
        left -= found[-1]
    return found


def _reached(start: int, links: dict[int, list[int]]) -> set[int]:
    """Return all nodes that links lead to from a node."""
    seen, waiting = {start}, [start]
    while waiting:
        for v in links[waiting.pop()]:
            if v not in seen:
                seen.add(v)
                waiting.append(v)
    return seen
