"""Instances from profiles of real networks: PipeDream's, DAPPLE's and dnn-partitioning's."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

_OPTIONS = {
    "cluster": "4x4",
    "intra_gbyte_per_s": 12.0,
    "inter_gbyte_per_s": 1.25,
    "allreduce_intra_gbyte_per_s": 0.0,
    "allreduce_inter_gbyte_per_s": 0.0,
    "multi_inter_gbyte_per_s": 0.0,
    "microbatches": 16,
    "profile_batch": 0,
    "global_batch": 0,
    "microbatch": 0,
    "comm_model": "pair_slice",
    "duplex": "half",
}
_HELP = {
    "cluster": "machines x GPUs of each, '4x4', or the GPUs of each machine, '8,8'",
    "microbatches": "the profiled minibatch is split into so many",
    "profile_batch": "samples profiled; with global_batch and microbatch, instead of microbatches",
    "allreduce_intra_gbyte_per_s": "0: as for transfers; so the next two",
}

IMPORTERS = (
    Importer(
        format="pipedream-profile",
        summary="graph.txt of PipeDream's profiler, and the profiles of DAPPLE's planner",
        read=part("profiles:pipedream_profile"),
        parameters=_OPTIONS,
        help=_HELP,
    ),
    Importer(
        format="dnn-partitioning",
        summary="JSON inputs of dnn-partitioning",
        read=part("profiles:dnn_partitioning"),
        parameters=_OPTIONS,
        help=_HELP,
    ),
)
