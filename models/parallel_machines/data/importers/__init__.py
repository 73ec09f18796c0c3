"""Instances from tables of processing times (`jobs_csv`)."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        format="jobs-csv",
        summary="CSV files with a column processing_s, one row a job",
        read=part("jobs_csv:jobs_csv"),
        parameters={"machines": 2},
        help={"machines": "number of machines, which the file does not say"},
    ),
)
