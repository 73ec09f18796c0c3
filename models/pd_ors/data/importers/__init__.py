"""Instances from logs of arrivals (`arrivals`)."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        "arrivals-csv",
        summary="logs of arrivals with the columns arrival_s and class",
        read=part("arrivals:arrivals_csv"),
        parameters={
            "jobs": 50,
            "count": 1,
            "machines": 100,
            "horizon_slots": 20,
            "slot_s": 3600.0,
            "start_s": None,
            "work_scale": 1.0,
            "capacity_workers": 18.0,
            "largest_batch": 200,
            "bandwidth_ratio": None,
        },
    ),
)
