"""Batches from traces and measured slowdowns."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.marl.placement.data.importers.measured import (
    interference_csv,
    read_measurements,
)
from gadgetopt.models.marl.placement.data.importers.traces import (
    muri,
    philly,
)

REAL = Path(__file__).parents[6] / "shared" / "data" / "traces"


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "slowdowns.csv"
    path.write_text(
        "victim,neighbours,slowdown\n"
        "bert,bert,0.4\nbert,vgg16,0.2\nvgg16,bert,0.1\nvgg16,vgg16,0.3\n"
        "bert,bert+vgg16,0.5\nbert,vgg16+bert,0.6\n"
    )
    return path


@pytest.fixture
def muri_file(tmp_path):
    lines = [
        "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time"
    ]
    for i in range(30):
        network = ("bert", "vgg16")[i % 2]
        lines.append(f"{i},{2 ** (i % 4)},{60000 * i},{4000 + i},{network},64,{800000},0,200")
    path = tmp_path / "muri.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_measured_table_is_the_regression_of_its_rows(table):
    known = read_measurements(table)
    assert known.types == ("bert", "vgg16")
    # bert by bert and by vgg16 also from the two rows with both: 0.55 in the mean for 0.4 + 0.2.
    assert float(known.table[0][0] + known.table[0][1]) == pytest.approx(0.567, abs=0.01)
    assert known.table[1] == (Fraction(999, 10000), Fraction(2997, 10000))
    (both,) = known.measured
    assert (both.victim, both.neighbours, both.slowdown) == (0, (1, 1), Fraction(11, 20))
    assert 0 < known.report["error_of_fit"] < known.report["error_on_rows_left_out"]


def test_jobs_of_measured_types_fit_the_cluster(table):
    outcome = interference_csv([table], rng(), servers_per_rack=3, count=2)
    (_, first), (_, second) = outcome.instances
    assert first != second
    assert {job.name for job in first.jobs} == {"bert", "vgg16"}
    assert first.num_tasks <= 0.9 * first.total_gpus
    assert len(first.measured) == 1
    additive = interference_csv([table], rng(), keep_measured=False).instances[0][1]
    assert additive.additive


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("bert,vgg16", "line 2: 2 fields, expected 3"),
        ("bert,,0.1", "line 2: ['bert', ''], expected names of types"),
        ("bert,vgg16,-1", "line 2: slowdown: '-1', expected a number of at least 0"),
        ("bert,vgg16,inf", "line 2: slowdown: 'inf', expected a number of at least 0"),
        (None, "no row, expected measurements"),
    ],
)
def test_wrong_measurements_have_their_line(tmp_path, row, line):
    path = tmp_path / "m.csv"
    path.write_text("victim,neighbours,slowdown\n" + (f"{row}\n" if row else ""))
    with pytest.raises(InputError) as error:
        read_measurements(path)
    assert str(error.value) == f"{path}: {line}"


def test_jobs_of_a_trace_keep_their_gpus_iterations_and_network(muri_file, table):
    outcome = muri([muri_file], rng(), servers_per_rack=4, interference=str(table))
    ((_, instance),) = outcome.instances
    lines = muri_file.read_text().splitlines()
    for job in instance.jobs:
        cells = lines[int(job.name.split(":")[1]) - 1].split(",")
        assert (job.num_tasks, job.iterations) == (int(cells[1]), int(cells[3]))
        assert ("bert", "vgg16")[job.type] == cells[4]
        assert job.base_iteration_s == Fraction(1, 5)
        assert Fraction(1, 50) <= job.rack_comm_s / job.base_iteration_s <= Fraction(1, 10)
    assert instance.num_tasks <= 0.9 * instance.total_gpus
    assert outcome.report["types"] == ["bert", "vgg16"]


def test_a_network_that_was_not_measured_is_named(muri_file, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("victim,neighbours,slowdown\nbert,bert,0.4\n")
    with pytest.raises(InputError, match="interference: 'vgg16' was not measured"):
        muri([muri_file], rng(), interference=str(path))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"load": 0.0}, "import muri: load: 0.0: Input should be greater than 0"),
        ({"gpus_per_server": 0}, "import muri: gpus_per_server: 0: Input should be greater than 0"),
    ],
)
def test_wrong_options_have_their_line(muri_file, options, line):
    with pytest.raises(InputError) as error:
        muri([muri_file], rng(), **options)
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("read", "name", "types"), [(philly, "philly.csv", 4), (muri, "muri_trace1.csv", 8)]
)
def test_real_traces_fill_a_cluster(read, name, types):
    if not (REAL / name).exists():
        pytest.skip(f"real trace {name} is not beside the repository")
    outcome = read([REAL / name], rng())
    ((_, instance),) = outcome.instances
    assert instance.num_types == types
    assert 0.8 <= instance.num_tasks / instance.total_gpus <= 0.9
    report = outcome.report
    eligible = report["rows_read"] - report["rows_rejected"] - sum(report["left_out"].values())
    assert report["jobs_eligible"] == eligible
