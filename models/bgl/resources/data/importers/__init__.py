"""Instances from profiles of the cache workflow (`profile_csv`)."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        format="cache-profile-csv",
        summary="CSV files with columns cores and seconds: measured times of the cache workflow",
        read=part("profile_csv:profile_csv"),
        parameters={
            "request_core_s": 8.0,
            "construct_core_s": 4.0,
            "net_s": 0.5,
            "process_core_s": 6.0,
            "subgraph_unit_s": 2.0,
            "feature_unit_s": 3.0,
            "gpu_s": 0.9,
            "store_cores": 10,
            "worker_cores": 8,
            "pcie_units": 6,
        },
        help={
            "request_core_s": "this and the others are what the profile does not say",
        },
    ),
)
