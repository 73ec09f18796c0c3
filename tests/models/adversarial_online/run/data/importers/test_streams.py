"""Streams from traces and tables: every row is accounted for, values are as stated."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.adversarial_online.run.data.importers.bids_csv import bids_csv
from gadgetopt.models.adversarial_online.run.data.importers.traces import (
    muri,
    philly,
)

from ...brute_force import run

TRACES = Path(__file__).parents[6] / ".." / "shared" / "data" / "traces"
HEADER = "timestamp,duration,num_gpus,gpu_time,cluster\n"


def rng():
    return np.random.default_rng(0)


def test_a_philly_stream_is_weight_times_work(tmp_path):
    path = tmp_path / "philly.csv"
    path.write_text(
        HEADER + "2017-10-09 06:13:03,1000,2,2000,a\n2017-10-09 06:10:00,700,1,700,a\n"
        "2017-10-09 07:00:00,30,1,30,a\n2017-10-09 08:00:00,900,zero,0,a\n"
    )
    outcome = philly([path], rng(), gpus=8, largest_weight=1)
    instance = outcome.instances[0][1]
    assert instance.value == (700, 2000)
    assert instance.demand == ((1,), (2,))
    assert (instance.value_min, instance.value_max) == (600, 360000)
    assert outcome.report["rows_rejected"] == 1
    assert outcome.report["left_out"] == {"shorter than 600 s": 1}


@pytest.mark.parametrize(("reader", "name"), [(philly, "philly.csv"), (muri, "muri_trace3.csv")])
def test_streams_of_the_traces_run(reader, name):
    path = TRACES / name
    if not path.is_file():
        pytest.skip("the traces are not beside this checkout")
    instance = reader([path], rng(), gpus=64, requests=300).instances[0][1]
    best = run(instance, "offline")
    assert best.status == "optimal"
    for method in ("greedy", "exponential", "finite_k"):
        found = run(instance, method)
        assert 0 < found.objective <= best.objective <= found.bound


def test_bids_of_units_and_of_bundles(tmp_path):
    path = tmp_path / "bids.csv"
    path.write_text("value,gpus,memory\n3,1,2\n10,2,0\nx,1,1\n5,9,1\n")
    units = bids_csv([path], rng(), capacity="2").instances[0][1]
    assert (units.value, units.demand, units.capacity) == ((3, 10, 5), (), (2,))
    outcome = bids_csv([path], rng(), capacity="gpus=4,memory=8")
    bundles = outcome.instances[0][1]
    assert bundles.demand == ((1, 2), (2, 0))
    assert (bundles.value_min, bundles.value_max) == (1, 5)
    rejected = outcome.report["instances"][0]["rejected"]
    assert [row["first_lines"] for row in rejected] == [[4], [5]]
    assert rejected[1]["reason"] == "gpus: expected whole units up to 4"
    assert rejected[1]["first_value"] == "9"


def test_bounds_reject_bids_outside(tmp_path):
    path = tmp_path / "bids.csv"
    path.write_text("value\n1\n2\n30\n")
    instance = bids_csv([path], rng(), capacity="2", value_min=2, value_max=20).instances[0][1]
    assert (instance.value, instance.value_max) == ((2,), Fraction(20))
    with pytest.raises(InputError, match="capacity: 'many'"):
        bids_csv([path], rng(), capacity="many")
