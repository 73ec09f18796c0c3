"""Theorems on caching policies: the competitive ratio of FIFO and LRU (`paging`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        name="paging",
        statement="FIFO and LRU load at most K + 1 times as much as any solution",
        reference="after Sleator and Tarjan 1985, for caches that may be bypassed",
        standing="proven",
        methods=("fifo", "lru"),
        ratio=part("paging:ratio"),
        assumptions=(
            Assumption("the order is given, one node a batch", part("paging:is_paging")),
            Assumption("misses of one cost, unit sizes, one cache", part("paging:is_uniform")),
        ),
    ),
)
