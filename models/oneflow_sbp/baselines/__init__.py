"""Strategies that people choose by hand: labels of data and weights, the rest inferred.

All are in `strategies`.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="data_parallel",
        kind="baseline",
        summary="data split by samples, all weights on every device",
        reference="4 C",
        run=part("strategies:data_parallel"),
    ),
    Method(
        name="model_parallel_col",
        kind="baseline",
        summary="weights split along an axis of their products, data on every device",
        reference="4 C",
        run=part("strategies:model_parallel_col"),
    ),
    Method(
        name="model_parallel_row",
        kind="baseline",
        summary="weights split along a summed axis, data on every device",
        reference="4 C",
        run=part("strategies:model_parallel_row"),
    ),
    Method(
        name="megatron",
        kind="baseline",
        summary="weights split by columns and by rows in turn, one all-reduce for each pair",
        reference="Shoeybi et al. 2019; 4 C",
        run=part("strategies:megatron"),
        parameters={"outer": "data"},
        choices={"outer": ("data", "model")},
    ),
    Method(
        name="all_broadcast",
        kind="baseline",
        summary="every device computes everything",
        reference="4 C",
        run=part("strategies:all_broadcast"),
    ),
)
