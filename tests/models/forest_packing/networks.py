"""Small networks for tests: the hand-checkable ones, and random ones from a seed.

Import with `from .networks import ...`. Nodes are numbered so that workers are not simply the
first: what confuses labels with positions shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gadgetopt.models.forest_packing.instance import ForestPackingInstance, Link


def cables(*capacities: tuple[int, int, float]) -> tuple[Link, ...]:
    """Links with both directions from (u, v, GB/s)."""
    return tuple(Link(src=u, dst=v, bandwidth_gbyte_per_s=c, both=True) for u, v, c in capacities)


def arcs(*capacities: tuple[int, int, float]) -> tuple[Link, ...]:
    """One-way links from (tail, head, GB/s)."""
    return tuple(Link(src=u, dst=v, bandwidth_gbyte_per_s=c) for u, v, c in capacities)


#: The hand-checkable networks as workers, switches and links. Optimal rates of an overlapped
#: allreduce with free shares: H2 9/2, H3 3, H4 3/4, H5 3/4, H6 1, H7 5/2, DGX-1V 600/7.
NETWORKS: dict[str, tuple[int, int, tuple[Link, ...]]] = {
    "H2": (3, 0, cables((0, 1, 4), (1, 2, 4), (0, 2, 1))),
    "H3": (4, 0, cables((0, 1, 10), (2, 3, 10), (1, 2, 2), (0, 3, 1))),
    "H4": (3, 1, cables((0, 3, 1), (1, 3, 1), (2, 3, 1))),
    "H5": (3, 0, arcs((0, 1, 1), (1, 2, 1), (2, 0, 1))),
    "H6": (4, 0, cables((0, 1, 1), (0, 2, 1), (0, 3, 1))),
    "H7": (3, 0, arcs((0, 1, 2), (1, 0, 1), (1, 2, 2), (2, 1, 1), (0, 2, 1), (2, 0, 3))),
    "DGX-1V": (
        8,
        0,
        cables(
            *((u, v, 50) for u, v in ((0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7))),
            (6, 7, 50),
            *((u, v, 25) for u, v in ((0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7))),
            (5, 6, 25),
        ),
    ),
}


def known(name: str, **fields: Any) -> ForestPackingInstance:
    """One of `NETWORKS`; `fields` are those of the instance."""
    workers, switches, links = NETWORKS[name]
    return ForestPackingInstance(
        workers=tuple(range(workers)),
        switches=tuple(range(workers, workers + switches)),
        links=links,
        **fields,
    )


def symmetric(
    rng: np.random.Generator, workers: int, switches: int = 0, largest: int = 6, **fields: Any
) -> ForestPackingInstance:
    """A connected network of cables with integer capacities; half-duplex if `fields` say so."""
    labels, n = _labels(rng, workers, switches)
    order = rng.permutation(n)
    pairs = {tuple(sorted((order[i], order[rng.integers(i)]))) for i in range(1, n)}
    pairs |= {(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.4}
    links = cables(
        *((labels[u], labels[v], int(rng.integers(1, largest + 1))) for u, v in sorted(pairs))
    )
    return _instance(labels, workers, links, **fields)


def eulerian(
    rng: np.random.Generator, workers: int, switches: int = 0, largest: int = 6, **fields: Any
) -> ForestPackingInstance:
    """A strongly connected union of directed cycles: each node's capacity in is that out."""
    labels, n = _labels(rng, workers, switches)
    cycles = [rng.permutation(n)]
    cycles += [rng.permutation(n)[: rng.integers(2, n + 1)] for _ in range(3)]
    links = []
    for cycle in cycles:
        capacity = int(rng.integers(1, largest + 1))
        ahead = np.roll(cycle, -1)
        links += [(labels[u], labels[v], capacity) for u, v in zip(cycle, ahead, strict=True)]
    return _instance(labels, workers, arcs(*links), **fields)


def digraph(
    rng: np.random.Generator, workers: int, switches: int = 0, largest: int = 6, **fields: Any
) -> ForestPackingInstance:
    """A random directed network. One in ten or so does not connect its workers: its rate is 0."""
    labels, n = _labels(rng, workers, switches)
    pairs = {(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.5}
    if rng.random() < 0.85:
        cycle = rng.permutation(n)
        pairs |= set(zip(cycle.tolist(), np.roll(cycle, -1).tolist(), strict=True))
    links = arcs(
        *((labels[u], labels[v], int(rng.integers(1, largest + 1))) for u, v in sorted(pairs))
    )
    return _instance(labels, workers, links, **fields)


def with_nics(
    rng: np.random.Generator, instance: ForestPackingInstance, largest: int = 8
) -> ForestPackingInstance:
    """The network with a limit in or out of about half of its nodes."""
    nodes = (*instance.workers, *instance.switches)

    def limits() -> dict[int, float]:
        return {v: float(rng.integers(1, largest + 1)) for v in nodes if rng.random() < 0.4}

    return instance.model_copy(
        update={"nic_in_gbyte_per_s": limits(), "nic_out_gbyte_per_s": limits()}
    )


#: Builders of random networks by name.
BUILDERS: dict[str, Callable[..., ForestPackingInstance]] = {
    "symmetric": symmetric,
    "eulerian": eulerian,
    "digraph": digraph,
}

#: The collectives (in both stage modes) and root modes that `asked` knows.
COLLECTIVES = ("allreduce", "sequential", "allgather", "reduce_scatter")
ROOT_MODES = ("free", "uniform", "fixed", "weights")


def asked(
    instance: ForestPackingInstance, collective: str, root_mode: str
) -> ForestPackingInstance:
    """The network with a collective ("sequential" is an allreduce in turns) and a root mode.

    Mode "fixed" is rooted at the last worker; "weights" are 1/4 for the first, 3/4 for the last.
    """
    workers = instance.workers
    sequential = collective == "sequential"
    share = {workers[0]: 0.25, workers[-1]: 0.75}
    weights = tuple(share.get(v, 0.0) for v in workers)
    return instance.model_copy(
        update={
            "collective": "allreduce" if sequential else collective,
            "stage_mode": "sequential" if sequential else "overlap",
            "root_mode": root_mode,
            "root": workers[-1] if root_mode == "fixed" else None,
            "root_share": weights if root_mode == "weights" else None,
        }
    )


def random_instance(
    seed: int, max_workers: int = 4, max_switches: int = 3
) -> ForestPackingInstance:
    """A random network of a random kind, with a random collective and root mode.

    One in six is half-duplex, one in four has NIC limits.
    """
    rng = np.random.default_rng(seed)
    workers = int(rng.integers(2, max_workers + 1))
    switches = int(rng.integers(max_switches + 1))
    build = BUILDERS[str(rng.choice(list(BUILDERS)))]
    if build is symmetric and rng.random() < 0.5:
        instance = build(rng, workers, switches, duplex="half")
    else:
        instance = build(rng, workers, switches)
    if rng.random() < 0.25:
        instance = with_nics(rng, instance)
    return asked(instance, str(rng.choice(COLLECTIVES)), str(rng.choice(ROOT_MODES)))


def _labels(rng: np.random.Generator, workers: int, switches: int) -> tuple[list[int], int]:
    n = workers + switches
    return rng.permutation(n).tolist(), n


def _instance(
    labels: list[int], workers: int, links: tuple[Link, ...], **fields: Any
) -> ForestPackingInstance:
    return ForestPackingInstance(
        workers=tuple(labels[:workers]), switches=tuple(labels[workers:]), links=links, **fields
    )


def widened(instance, seed):
    """Spread the capacities of a network over twelve orders of magnitude, in three digits each."""
    rng = np.random.default_rng(seed)
    links = tuple(
        link.model_copy(
            update={
                "bandwidth_gbyte_per_s": float(
                    f"{link.bandwidth_gbyte_per_s * 10 ** rng.uniform(-6, 6):.3g}"
                )
            }
        )
        for link in instance.links
    )
    return instance.model_copy(update={"links": links})
