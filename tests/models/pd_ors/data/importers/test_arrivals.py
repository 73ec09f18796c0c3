"""Rows of logs become arrivals, and bad ones are refused in one clear line."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.pd_ors.data.importers.arrivals import arrivals_csv

LOG = "arrival_s,user,class\n3600,a,3\n0,b,0\n1800,c,Sensitive\n90000,d,2\n7,e\nx,f,1\n8,g,9\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_arrivals_become_slots_and_classes_become_utilities(log):
    outcome = arrivals_csv([log], np.random.default_rng(0), jobs=3, machines=2)
    ((name, instance),) = outcome.instances
    assert name == "log_3x2_s0_0"
    assert [job.arrival_slot for job in instance.jobs] == [1, 1, 2]
    steep = [job.utility.theta2 for job in instance.jobs]
    assert steep[0] == 0
    assert 0.01 <= steep[1] <= 1
    assert 4 <= steep[2] <= 6


def test_no_row_disappears(log):
    report = arrivals_csv([log], np.random.default_rng(0), jobs=3, machines=2).report
    assert (report["rows_read"], report["rows_rejected"], report["jobs_eligible"]) == (7, 3, 3)
    assert report["left_out"] == {"after the horizon": 1}
    assert {r["reason"].split(":")[0]: r["first_lines"] for r in report["rejected"]} == {
        "expected 3 fields": [6],
        "arrival_s": [7],
        "class": [8],
    }


def test_the_window_begins_where_it_is_told_to(log):
    outcome = arrivals_csv(
        [log], np.random.default_rng(0), jobs=2, machines=1, start_s=1800, slot_s=1800
    )
    assert [job.arrival_slot for job in outcome.instances[0][1].jobs] == [1, 2]
    assert outcome.report["left_out"] == {"before the window": 1, "after the horizon": 1}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (LOG, {"jobs": 4}, "jobs: 4 asked for, expected 1 to 3"),
        (LOG, {"jobs": 0}, "jobs: 0 asked for"),
        (LOG, {"slot_s": 0}, "slot_s: 0, expected a positive number"),
        (LOG, {"count": 0}, "count: 0, expected at least 1"),
        ("arrival_s\n1\n", {}, "header: column 'class' occurs 0 times"),
        ("", {}, "empty file"),
        (b"\xff\xfe", {}, "not a text file"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(tmp_path, text, options, message):
    path = tmp_path / "log.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        arrivals_csv([path], np.random.default_rng(0), **{"jobs": 1, "machines": 1, **options})
