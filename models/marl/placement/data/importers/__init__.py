"""Instances from real data: job mixes of traces (`traces`), measured slowdowns (`measured`)."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

_CLUSTER = {"count": 1, "racks": 2, "servers_per_rack": 10, "gpus_per_server": 4, "load": 0.9}
_HELP = {
    "count": "instances; each draws its jobs anew",
    "load": "share of the GPUs that the jobs may need; jobs without room are left out",
    "interference": "CSV file of measured slowdowns, see `interference-csv`; empty: a random table",
    "types": "job types of the random table, where the trace names no networks",
}
_TRACE = {**_CLUSTER, "types": 4, "min_duration_s": 60.0, "interference": ""}

IMPORTERS = (
    Importer(
        "philly",
        summary="a batch of jobs as in the condensed Microsoft Philly trace",
        read=part("traces:philly"),
        parameters={**_TRACE, "virtual_cluster": ""},
        help=_HELP,
    ),
    Importer(
        "muri",
        summary="a batch of jobs as in traces of the Muri simulator, a type for each network",
        read=part("traces:muri"),
        parameters=_TRACE,
        help=_HELP,
    ),
    Importer(
        "interference-csv",
        summary="random jobs of the types whose slowdowns were measured: columns victim, "
        "neighbours (types joined by +), slowdown",
        read=part("measured:interference_csv"),
        parameters={**_CLUSTER, "jobs": 60, "keep_measured": True},
        help={
            "jobs": "random jobs, as long as there is room for them",
            "keep_measured": "neighbourhoods of several jobs keep their measured slowdown; "
            "otherwise all are sums of the fitted table",
            **{name: _HELP[name] for name in ("count", "load")},
        },
    ),
)
