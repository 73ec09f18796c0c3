"""Contents put on servers, and the jobs of each lot into them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..instance import PlacementSolution
from .terms import Terms

#: Tasks of lots in one server: pairs (lot, number).
Pairs = Sequence[tuple[int, int]]


def placed(terms: Terms, servers: Iterable[tuple[int, int | None, Pairs]]) -> PlacementSolution:
    """Return the placement that has these contents, each in a server of a kind and rack.

    Where the rack is None, any will do. Jobs of a lot are interchangeable.
    """
    instance = terms.instance
    free: dict[tuple[int, int | None], list[int]] = {}
    numbers = {(kind.gpus, kind.cpus): k for k, kind in enumerate(terms.kinds)}
    for s in range(len(instance.servers) - 1, -1, -1):
        server = instance.servers[s]
        kind = numbers[server.gpus, server.cpus]
        for rack in {server.rack, None}:
            free.setdefault((kind, rack), []).append(s)
    waiting = [list(reversed(lot.jobs)) for lot in terms.lots]
    tasks: list[dict[int, int]] = [{} for _ in instance.jobs]
    for kind, rack, pairs in servers:
        s = free[kind, rack].pop()
        for i, n in pairs:
            if terms.lots[i].gang:
                tasks[terms.lots[i].jobs[0]][s] = n
            else:
                for _ in range(n):
                    tasks[waiting[i].pop()][s] = 1
    return PlacementSolution.of(tasks)
