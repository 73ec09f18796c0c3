"""Importers of real data.

traces: cluster traces of Philly and of the Muri simulator.
"""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        "philly",
        summary="the condensed Microsoft Philly trace",
        read=part("traces:philly"),
        parameters={
            "jobs": 160,
            "count": 1,
            "servers": 20,
            "server_gpus": "paper",
            "sizes": "paper",
            "virtual_cluster": "",
            "window_start": None,
            "window_hours": None,
            "min_gpus": None,
            "max_gpus": None,
            "min_duration_s": 7200.0,
            "max_duration_s": 43200.0,
            "slot_s": None,
            "horizon_slots": None,
            "extra": 0.15,
            "p_cal": 4,
        },
    ),
    Importer(
        "muri",
        summary="traces of the Muri simulator, with iterations and iteration times",
        read=part("traces:muri"),
        parameters={
            "jobs": 160,
            "count": 1,
            "servers": 20,
            "server_gpus": "paper",
            "sizes": "trace",
            "window_start_hours": None,
            "window_hours": None,
            "min_gpus": None,
            "max_gpus": None,
            "min_duration_s": 7200.0,
            "max_duration_s": 43200.0,
            "slot_s": None,
            "horizon_slots": None,
            "extra": 0.15,
            "p_cal": 4,
        },
    ),
)
