"""Instances from traces of real clusters (`traces`), with job types of measured networks.

`templates` holds the measurements and how a job type is calibrated to them.
"""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

_OPTIONS = {
    "jobs": 1000,
    "count": 1,
    "servers": 32,
    "gpus_per_server": 8,
    "load": 1.2,
    "tick_s": 60.0,
    "min_duration_s": 60.0,
    "max_gpus": 0,
    "intra_bandwidth_gbytes_per_s": 37.5,
    "nic_bandwidth_gbytes_per_s": 12.5,
}
_HELP = {
    "load": "GPUs that the jobs need while they arrive, by those of the cluster; releases are "
    "compressed or stretched to it; 0 keeps them",
    "max_gpus": "largest jobs to keep; 0: all that fit the cluster",
    "count": "windows of the trace; the first begins with it, others at random",
}


def _importer(name: str, function: str, summary: str, **more: str) -> Importer:
    return Importer(
        name,
        summary=summary,
        read=part(f"traces:{function}"),
        parameters={**_OPTIONS, **more},
        help=_HELP,
    )


IMPORTERS = (
    _importer("philly", "philly", "the condensed Microsoft Philly trace", virtual_cluster=""),
    _importer("muri", "muri", "traces of the Muri simulator, with iterations and their times"),
    _importer("alibaba-2020", "alibaba_2020", "a folder with the tables of Alibaba's PAI trace"),
    _importer("alibaba-2023", "alibaba_2023", "a list of pods of Alibaba's trace of 2023"),
    _importer("helios", "helios", "a cluster log of SenseTime's Helios", virtual_cluster=""),
)
