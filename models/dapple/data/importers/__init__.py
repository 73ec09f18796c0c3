"""Instances from profiles of networks (`profiles`): PipeDream, DAPPLE and dnn-partitioning."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

_OPTIONS = {
    "cluster": "8,8",
    "intra_gbyte_per_s": 25.0,
    "inter_gbyte_per_s": 1.0,
    "allreduce_intra_gbyte_per_s": 100.0,
    "allreduce_inter_gbyte_per_s": 3.0,
    "multi_inter_gbyte_per_s": 3.0,
    "microbatches": 16,
    "profile_batch": 0,
    "global_batch": 0,
    "microbatch": 0,
    "comm_model": "planner_code",
    "duplex": "half",
}
_HELP = {
    "cluster": "machines x GPUs of each, '4x4', or the GPUs of each machine, '8,8'",
    "microbatches": "the profiled minibatch is split into so many",
    "profile_batch": "with global_batch and microbatch: samples, from which M follows",
}

IMPORTERS = (
    Importer(
        "pipedream-profile",
        summary="graph.txt of PipeDream's profiler",
        read=part("profiles:pipedream"),
        parameters=_OPTIONS,
        help=_HELP,
    ),
    Importer(
        "dapple-profile",
        summary="profiles of DAPPLE's planner",
        read=part("profiles:dapple_profile"),
        parameters=_OPTIONS,
        help=_HELP,
    ),
    Importer(
        "dnn-partitioning",
        summary="throughput inputs of dnn-partitioning, JSON",
        read=part("profiles:dnn_partitioning"),
        parameters=_OPTIONS,
        help=_HELP,
    ),
)
