"""A table of processing times becomes an instance, and no row disappears."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.parallel_machines.data.importers.jobs_csv import jobs_csv


def read(*files, **options):
    return jobs_csv(files, np.random.default_rng(0), **options)


def test_rows_become_jobs_and_others_are_reported(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("name,processing_s\na,3\nb,0\nc,2.5\nd,4\ne\n")
    found = read(path, machines=3)
    ((name, instance),) = found.instances
    assert name == "log_2x3"
    assert (instance.machines, instance.processing_s) == (3, (3, 4))
    (report,) = found.report["instances"]
    assert (report["rows_read"], report["rows_rejected"]) == (5, 3)
    (rejected,) = report["rejected"]
    assert (rejected["rows"], rejected["first_lines"]) == (3, [3, 4, 6])
    assert rejected["reason"] == "processing_s: expected a positive whole number"
    assert rejected["first_value"] == "0"
    assert found.origin["options"] == {"machines": 3}


def test_a_file_without_jobs_is_answered(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("processing_s\n-1\n")
    with pytest.raises(InputError, match="no row has a positive whole number as processing_s"):
        read(path)
    with pytest.raises(InputError, match="expected at least one"):
        read()
