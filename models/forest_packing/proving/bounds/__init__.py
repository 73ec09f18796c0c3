"""Combinatorial upper bounds on the rate, each with a certificate.

- partition: the tree-packing number of symmetric networks and its tight partition.
- subpartition: the best allgather with free root shares and its tight subpartition.
- rooted_cuts: the tightest cut of a stage with given root shares.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "partition",
        kind="relaxation",
        summary="tree-packing number and its tight partition (symmetric networks)",
        reference="A4",
        run=part("partition:partition"),
        formulation="partition",
    ),
    Method(
        "subpartition",
        kind="relaxation",
        summary="free-share allgather and its tight subpartition",
        reference="A5",
        run=part("subpartition:subpartition"),
        formulation="subpartition",
    ),
    Method(
        "min_cut",
        kind="relaxation",
        summary="broadcast from one root: the smallest cut",
        reference="F6",
        run=part("rooted_cuts:min_cut"),
        formulation="min_cut",
    ),
    Method(
        "forestcoll_bound",
        kind="relaxation",
        summary="uniform-share allgather and its tight cut",
        reference="A6.1",
        run=part("rooted_cuts:forestcoll_bound"),
        formulation="forestcoll_bound",
    ),
)
