"""Imported instances: their jobs and units, and that they can be scheduled."""

import json
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.sjf_bco import PROBLEM
from gadgetopt.models.sjf_bco.data.generate.presets import PAPER_MIX
from gadgetopt.models.sjf_bco.data.importers.traces import (
    MuriOptions,
    PhillyOptions,
    muri,
    philly,
)
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.subproblems.greedy import upper_bound_schedule
from gadgetopt.system.methods import parse_assignments

REAL = Path(__file__).parents[5] / "shared" / "data" / "traces"


def real_file(name: str) -> Path:
    if not (REAL / name).exists():
        pytest.skip(f"real trace {name} is not beside the repository")
    return REAL / name


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def philly_file(tmp_path: Path) -> Path:
    """80 jobs of 1 to 16 GPUs and 0.5 to 13.7 hours, one per minute; three malformed rows."""
    lines = ["timestamp,duration,num_gpus,gpu_time,cluster"]
    for i in range(80):
        time = f"2017-10-09 {6 + i // 60:02}:{i % 60:02}:00"
        lines.append(f"{time},{1800 + 600 * i},{2 ** (i % 5)},0,{'vc1' if i % 4 else 'vc2'}")
    lines += ["2017-10-09 06:13:03,-1,1,1,vc1", "too,few", "2017-10-09 06:13:03,1,one,1,vc1"]
    path = tmp_path / "philly.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def muri_file(tmp_path: Path) -> Path:
    """40 jobs of 1 to 8 GPUs whose iterations take 0.2 to 0.98 s."""
    lines = [
        "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time"
    ]
    for i in range(40):
        iteration_ms, iterations = 200 + 20 * i, 40000 + 100 * i
        lines.append(
            f"{i},{2 ** (i % 4)},{60000 * i},{iterations},bert,64,{iterations * iteration_ms},0,"
            f"{iteration_ms}"
        )
    path = tmp_path / "muri.csv"
    path.write_text("\r\n".join(lines) + "\r\n")
    return path


def assert_schedulable(instance: SjfBcoInstance) -> None:
    evaluation = evaluate(instance, upper_bound_schedule(instance))
    assert evaluation.feasible
    assert evaluation.objective <= instance.horizon_slots


def test_durations_become_slots(philly_file):
    outcome = philly([philly_file], rng(), jobs=20, servers=4, server_gpus="16,8,8,4")
    name, instance = outcome.instances[0]
    assert name == "philly_20x4_s0_0"
    assert outcome.report["units"]["slot_s"] == 144  # 12 hours / 300
    for job in instance.jobs:
        line = int(job.name.split(":")[1])
        assert job.est_slots == (1800 + 600 * (line - 2)) / 144
        assert 50 <= job.est_slots <= 300
        assert 1000 <= job.iterations <= 6000
    assert instance.server_gpus == (16, 8, 8, 4)
    assert_schedulable(instance)


def test_slot_length_can_be_chosen(philly_file):
    options = {"jobs": 20, "min_duration_s": None, "max_duration_s": None, "sizes": "trace"}
    for slot_s in (600, 60, 3600):
        _, instance = philly([philly_file], rng(), slot_s=slot_s, **options).instances[0]
        shortest = min(instance.jobs, key=lambda job: job.est_slots)
        assert shortest.est_slots == pytest.approx(
            (1800 + 600 * (int(shortest.name.split(":")[1]) - 2)) / slot_s
        )
        assert_schedulable(instance)
    # By default the longest job of the file has 300 slots.
    assert philly([philly_file], rng(), **options).report["units"]["slot_s"] == 49200 / 300


def test_every_row_is_accounted_for(philly_file):
    report = philly(
        [philly_file], rng(), jobs=5, server_gpus="4,4", max_gpus=8, window_hours=1, count=3
    ).report
    assert (report["rows_read"], report["rows_rejected"]) == (83, 3)
    lines = [line for entry in report["rejected"] for line in entry["first_lines"]]
    assert sorted(lines) == [82, 83, 84]
    assert sum(report["left_out"].values()) + 3 + report["jobs_eligible"] == 83
    for entry in report["instances"]:
        assert sum(entry["left_out"].values()) + entry["jobs_used"] == report["jobs_eligible"]
        assert sum(entry["jobs_by_gpus"].values()) == entry["jobs_used"] == 5


def test_jobs_larger_than_the_cluster_are_reported(philly_file):
    outcome = philly([philly_file], rng(), jobs=10, server_gpus=[4, 4])
    left_out = outcome.report["instances"][0]["left_out"]
    # Of the 61 jobs of 2 to 12 hours (rows 9 to 69), 13 ask for 16 GPUs.
    assert left_out["larger than the cluster"] == 13
    assert max(job.gpus for job in outcome.instances[0][1].jobs) <= 8


def test_windows_and_virtual_clusters_choose_jobs(philly_file):
    outcome = philly(
        [philly_file],
        rng(),
        jobs=5,
        sizes="trace",
        window_start="2017-10-09T06:20:00",
        window_hours=0.5,
        virtual_cluster="vc1",
    )
    rows = [int(job.name.split(":")[1]) - 2 for job in outcome.instances[0][1].jobs]
    assert all(20 <= row < 50 and row % 4 for row in rows)
    zoned = philly(
        [philly_file],
        rng(),
        jobs=5,
        sizes="trace",
        window_start="2017-10-09T08:20:00+02:00",
        window_hours=0.5,
        virtual_cluster="vc1",
    )
    assert zoned.instances == outcome.instances


def test_same_seed_same_instances(philly_file, muri_file):
    for read, file in ((philly, philly_file), (muri, muri_file)):
        first, again, other = (
            read([file], rng(seed), jobs=10, count=2).instances for seed in (1, 1, 2)
        )
        assert first == again != other
        assert first[0][1] != first[1][1]
        assert [name[-2:] for name, _ in first] == ["_0", "_1"]


def test_muri_iterations_and_iteration_times_are_kept(muri_file):
    _, instance = muri([muri_file], rng(), jobs=20, server_gpus="8,8,4,4", p_cal=4).instances[0]
    for job_index, job in enumerate(instance.jobs):
        place, model = job.name.split()
        row = int(place.split(":")[1]) - 2
        assert model == "bert"
        assert job.iterations == 40000 + 100 * row
        planned = (200 + 20 * row) / 1000 / 144  # slots per iteration
        slowest = float(
            instance.rates.iteration_slots(job_index, min(job.gpus, 4), 0 if job.gpus == 1 else 4)
        )
        assert slowest <= planned * (1 + 1e-9)
        if job.gpus == 1:
            assert slowest == pytest.approx(planned, rel=1e-5)
        assert job.est_slots == pytest.approx(job.iterations * planned)
    assert_schedulable(instance)


def test_muri_window_counts_from_the_beginning_of_the_trace(muri_file):
    options = {"min_duration_s": None, "window_start_hours": 0.25, "window_hours": 0.25}
    outcome = muri([muri_file], rng(), jobs=10, **options)
    assert outcome.report["jobs_eligible"] == 15  # one a minute


def test_slots_shorter_than_an_iteration_are_refused(muri_file):
    with pytest.raises(InputError, match=r"slot_s: slots of 0\.1 s make no valid instance: .*"):
        muri([muri_file], rng(), jobs=10, slot_s=0.1)


def test_contention_bites(philly_file):
    """Sharing links at the calibrated level costs a spread job several percent of its time."""
    _, instance = philly([philly_file], rng(), jobs=30, servers=5).instances[0]
    gangs = [j for j, job in enumerate(instance.jobs) if job.gpus >= 4]
    slowdown = [instance.rates.duration(j, 2, 4) / instance.rates.duration(j, 2, 1) for j in gangs]
    assert np.mean(slowdown) > 1.03


def test_report_and_origin_go_into_json(philly_file, muri_file):
    outcome = philly([philly_file], rng(), jobs=5, window_start="2017-10-09 06:00:00")
    json.dumps(outcome.report)
    origin = json.loads(json.dumps(outcome.origin))
    assert origin["format"] == "philly"
    assert origin["files"][0]["name"] == "philly.csv"
    assert len(origin["files"][0]["sha256"]) == 64
    assert origin["options"]["jobs"] == 5
    json.dumps(muri([muri_file], rng(), jobs=5).report)


def test_virtual_cluster_names_that_look_like_numbers_stay_text(tmp_path):
    rows = [f"2017-10-09 06:13:03,{8000 + i},1,0,{'6214e9' if i % 2 else 'a'}" for i in range(8)]
    path = tmp_path / "p.csv"
    path.write_text("\n".join(["timestamp,duration,num_gpus,gpu_time,cluster", *rows]) + "\n")
    setting = parse_assignments(["virtual_cluster=6214e9"], PhillyOptions().model_dump(), "import")
    assert philly([path], rng(), jobs=4, **setting).report["jobs_eligible"] == 4


def test_options_given_as_text_are_converted(philly_file):
    as_text = {"jobs": "10", "servers": "3", "slot_s": "200", "max_gpus": "8", "extra": "0.1"}
    as_numbers = {"jobs": 10, "servers": 3, "slot_s": 200.0, "max_gpus": 8, "extra": 0.1}
    assert (
        philly([philly_file], rng(), **as_text).instances
        == philly([philly_file], rng(), **as_numbers).instances
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "options of philly: jobs: 0: .*greater than 0"),
        ({"jobs": "many"}, "jobs: 'many': .*valid integer"),
        ({"colour": "red"}, "colour: 'red': Extra inputs are not permitted"),
        ({"server_gpus": "8,x"}, "server_gpus: '8,x': expected 'paper' or positive integers"),
        ({"server_gpus": "0,8"}, "server_gpus: '0,8': expected 'paper' or positive integers"),
        ({"server_gpus": []}, r"server_gpus: \[\]: expected 'paper' or positive integers"),
        ({"sizes": "mine"}, "sizes: 'mine': .*'paper' or 'trace'"),
        ({"window_start": "then"}, "window_start: 'then': .*valid datetime"),
        ({"slot_s": float("nan")}, "slot_s: nan: "),
        ({"virtual_cluster": "vc9"}, "virtual_cluster: 'vc9' has no job, expected one of vc1, vc2"),
        ({"jobs": 500}, r"philly\.csv: jobs: 500 asked for, expected at most the 61 that are left"),
        ({"min_gpus": 999}, "jobs: 160 asked for, expected at most the 0 that are left"),
    ],
)
def test_a_bad_option_is_an_input_error_of_one_line(philly_file, options, message):
    with pytest.raises(InputError, match=message) as caught:
        philly([philly_file], rng(), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("form", "options"), [("philly", PhillyOptions), ("muri", MuriOptions)])
def test_the_declared_parameters_are_the_options(form, options):
    (importer,) = (entry for entry in PROBLEM.importers if entry.format == form)
    declared = {name: value or None for name, value in importer.parameters.items()}
    assert declared == {name: value or None for name, value in options().model_dump().items()}


def test_no_files_is_an_input_error():
    with pytest.raises(InputError, match="files: none given"):
        muri([], rng())


def test_several_files_are_joined(philly_file, tmp_path):
    copy = tmp_path / "again.csv"
    copy.write_text(philly_file.read_text())
    report = philly([philly_file, copy], rng(), jobs=100).report
    assert (report["rows_read"], report["rows_rejected"]) == (166, 6)
    assert {entry["file"] for entry in report["rejected"]} == {"philly.csv", "again.csv"}


def test_the_real_philly_trace_makes_the_papers_scale():
    outcome = philly([real_file("philly.csv")], rng())
    _, instance = outcome.instances[0]
    assert len(instance.jobs) == 160
    assert len(instance.server_gpus) == 20
    assert (outcome.report["rows_read"], outcome.report["rows_rejected"]) == (66156, 0)
    assert {job.gpus for job in instance.jobs} <= set(PAPER_MIX)
    assert sum(job.gpus >= 2 for job in instance.jobs) >= 50
    assert_schedulable(instance)


@pytest.mark.parametrize("name", ["muri_trace1.csv", "muri_trace3.csv"])
def test_the_real_muri_traces_can_be_scheduled(name):
    outcome = muri([real_file(name)], rng())
    assert len(outcome.instances[0][1].jobs) == 160
    assert outcome.report["rows_rejected"] == 0
    assert_schedulable(outcome.instances[0][1])
