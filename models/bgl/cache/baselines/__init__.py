"""Policies that BGL is compared with.

- `policies`: FIFO, LRU, LFU and static caches on orders of several kinds.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

_ORDERS = ("given", "random", "path", "proximity")

METHODS = (
    Method(
        name="fifo",
        kind="baseline",
        summary="first in, first out",
        reference="classical",
        run=part("policies:fifo"),
        parameters={"order": "given", "sequences": 1},
        choices={"order": _ORDERS},
        stochastic=True,
    ),
    Method(
        name="lru",
        kind="baseline",
        summary="least recently used",
        reference="classical",
        run=part("policies:lru"),
        parameters={"order": "given", "sequences": 1},
        choices={"order": _ORDERS},
        stochastic=True,
    ),
    Method(
        name="lfu",
        kind="baseline",
        summary="least frequently used since it was loaded",
        reference="classical",
        run=part("policies:lfu"),
        parameters={"order": "given", "sequences": 1},
        choices={"order": _ORDERS},
        stochastic=True,
    ),
    Method(
        name="static_degree",
        kind="baseline",
        summary="the nodes of highest degree, loaded first and kept",
        reference="PaGraph (recalled)",
        run=part("policies:static_degree"),
    ),
    Method(
        name="static_frequency",
        kind="baseline",
        summary="the nodes of most uses, known in advance, loaded first and kept",
        reference="oracle",
        run=part("policies:static_frequency"),
    ),
)
