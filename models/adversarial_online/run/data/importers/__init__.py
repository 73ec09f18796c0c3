"""Streams from traces of clusters (`traces`) and from tables of bids (`bids_csv`)."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

_TRACE = {
    "gpus": 1000,
    "requests": None,
    "shortest_s": 600.0,
    "longest_s": 360000.0,
    "largest_weight": 5,
    "virtual_cluster": None,
}
_HELP = {
    "gpus": "for sale",
    "requests": "the first ones of the trace; all by default",
    "shortest_s": "jobs that run shorter are left out; with weight 1 the least value of a GPU",
    "longest_s": "jobs that run longer are left out",
    "largest_weight": "weights are drawn from 1 to this whole number",
}

IMPORTERS = (
    Importer(
        format="philly",
        summary="the condensed Philly trace: value = weight x work, demand = GPUs",
        read=part("traces:philly"),
        parameters=_TRACE,
        help=_HELP,
    ),
    Importer(
        format="muri",
        summary="traces of the Muri simulator: value = weight x work, demand = GPUs",
        read=part("traces:muri"),
        parameters=_TRACE,
        help=_HELP,
    ),
    Importer(
        format="bids-csv",
        summary="CSV files with a column value, and one of units for every resource",
        read=part("bids_csv:bids_csv"),
        parameters={"capacity": "10", "value_min": None, "value_max": None},
        help={
            "capacity": "units of each resource, such as 10 or gpus=8,memory=64",
            "value_min": "of a unit; the least one of the file by default",
            "value_max": "of a unit; the largest one of the file by default",
        },
    ),
)
