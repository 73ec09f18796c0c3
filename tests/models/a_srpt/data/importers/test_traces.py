"""Imported instances: their jobs, units and load, and that jobs take as long as in the trace."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.data.importers.templates import calibrated_type
from gadgetopt.models.a_srpt.data.importers.traces import (
    alibaba_2020,
    alibaba_2023,
    helios,
    muri,
    philly,
)
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.pieces.trace_jobs.networks import NETWORKS, measured_s, network_of
from gadgetopt.system.result import Limits

REAL = Path(__file__).parents[5] / "shared" / "data" / "traces"

INTRA, INTER = Fraction(75, 2), Fraction(25, 16)


def rng(seed=0):
    return np.random.default_rng(seed)


def real_file(name):
    if not (REAL / name).exists():
        pytest.skip(f"real trace {name} is not beside the repository")
    return REAL / name


@pytest.fixture
def muri_file(tmp_path):
    lines = [
        "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time"
    ]
    for i in range(30):
        iteration_ms, iterations = 200 + 20 * (i % 3), 4000 + 100 * i
        lines.append(
            f"{i},{2 ** (i % 5)},{60000 * i},{iterations},bert,64,{iterations * iteration_ms},0,"
            f"{iteration_ms}"
        )
    path = tmp_path / "muri.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def helios_file(tmp_path):
    lines = ["user,vc,gpu_num,state,submit_time,duration"]
    lines += [
        f"u{i % 3},vc{i % 2},{2 ** (i % 4)},COMPLETED,2020-04-01 00:{i:02}:00,{600 + 60 * i}"
        for i in range(40)
    ]
    path = tmp_path / "cluster_log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def one(outcome):
    ((_, instance),) = outcome.instances
    return instance


@pytest.mark.parametrize("network", sorted(NETWORKS))
@pytest.mark.parametrize("gpus", [1, 2, 4, 6, 8, 16, 32])
def test_a_calibrated_type_takes_the_time_that_was_measured(network, gpus):
    expected = measured_s(network, gpus)
    made = calibrated_type(
        network, gpus, expected, gpus_per_server=(8,) * 8, intra=INTRA, inter=INTER
    )
    times = mapping_times(made, INTRA, INTER)
    assert made.num_gpus == gpus
    if gpus <= 8:
        assert float(times.seconds(times.together)) == pytest.approx(float(expected), rel=1e-3)
    assert times.longest >= times.together


def test_scattering_costs_as_much_more_as_on_sixteen_gpus():
    """VGG-16: 332 ms on two servers, 214 ms on one; a ring of 8 sends 28/30 of what 16 send."""
    made = calibrated_type(
        "vgg16", 8, measured_s("vgg16", 8), gpus_per_server=(8,) * 4, intra=INTRA, inter=INTER
    )
    times = mapping_times(made, INTRA, INTER)
    slower = times.longest / times.together - 1
    assert slower == pytest.approx(14 / 15 * (332 / 214 - 1), rel=1e-3)


def test_a_text_always_gets_the_same_network():
    assert network_of("group 7") == network_of("group 7")
    assert {network_of(str(i)) for i in range(100)} == set(NETWORKS)


def test_muri_keeps_iterations_and_their_times(muri_file):
    instance = one(muri([muri_file], rng(), load=0, servers=4))
    assert [job.num_iterations for job in instance.jobs] == [4000 + 100 * i for i in range(30)]
    assert [job.release_tick for job in instance.jobs] == list(range(30))
    assert [int(g) for g in instance.gpus] == [2 ** (i % 5) for i in range(30)]
    for j, job in enumerate(instance.jobs):
        if instance.gpus[j] <= 8:
            stated = (200 + 20 * (j % 3)) / 1000
            assert float(instance.alpha_min_s[job.job_type]) == pytest.approx(stated, rel=1e-3)
    assert len(instance.job_types) == 15
    assert instance.jobs[0].name == "muri.csv:2"


@pytest.mark.parametrize("load", [0.5, 1.2, 3.0])
def test_compression_reaches_the_load(load, muri_file):
    outcome = muri([muri_file], rng(), load=load, servers=2)
    assert outcome.report["instances"][0]["load"] == pytest.approx(load, rel=0.05)
    instance = one(outcome)
    solution = a_srpt(instance, Limits(), rng()).solution
    assert evaluate(instance, solution).feasible


def test_helios_jobs_recur_by_user_and_size(helios_file):
    instance = one(helios([helios_file], rng(), servers=4, load=0))
    keys = {
        (job.user_id, int(g)): job.group_id
        for job, g in zip(instance.jobs, instance.gpus, strict=True)
    }
    assert len(set(keys.values())) == len(keys) == 12
    for j, job in enumerate(instance.jobs):
        seconds = float(job.num_iterations * instance.alpha_min_s[job.job_type])
        assert seconds == pytest.approx(600 + 60 * j, rel=0.01)
    half = one(helios([helios_file], rng(), servers=4, virtual_cluster="vc1"))
    assert len(half.jobs) == 20


def test_windows_begin_at_random_jobs(muri_file):
    outcome = muri([muri_file], rng(), jobs=10, count=3, servers=4)
    names = [instance.jobs[0].name for _, instance in outcome.instances]
    assert names[0] == "muri.csv:2"
    assert len({name for name, _ in outcome.instances}) == 3
    again = muri([muri_file], rng(), jobs=10, count=3, servers=4)
    for (_, first), (_, second) in zip(outcome.instances, again.instances, strict=True):
        assert first.model_dump() == second.model_dump()


def test_jobs_that_do_not_fit_are_counted(muri_file):
    outcome = muri([muri_file], rng(), servers=1, gpus_per_server=8)
    assert outcome.report["left_out"] == {"more than 8 GPUs": 6}
    with pytest.raises(InputError, match="no job is left"):
        muri([muri_file], rng(), min_duration_s=1e9)


@pytest.mark.parametrize(
    ("options", "field"), [({"jobs": 0}, "jobs"), ({"load": -1}, "load"), ({"nodes": 3}, "nodes")]
)
def test_wrong_options_are_named(options, field, muri_file):
    with pytest.raises(InputError, match=f"options of muri: {field}"):
        muri([muri_file], rng(), **options)


def test_alibaba_folders_and_files(tmp_path):
    (tmp_path / "pai_job_table.csv").write_text(
        "j1,i1,u1,Terminated,1000.0,1600.0\nj2,i2,u1,Terminated,1100.0,1700.0\n"
    )
    (tmp_path / "pai_task_table.csv").write_text(
        "j1,worker,2,Terminated,1000.0,1600.0,600,29,100,P100\n"
        "j2,worker,2,Terminated,1100.0,1700.0,600,29,100,P100\n"
    )
    (tmp_path / "pai_group_tag_table.csv").write_text("i1,u1,,g,\ni2,u1,,g,\n")
    instance = one(alibaba_2020([tmp_path], rng(), servers=1))
    assert [job.group_id for job in instance.jobs] == [0, 0]
    assert len(instance.job_types) == 1
    pods = tmp_path / "pods.csv"
    pods.write_text(
        "num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "1,1000,Succeeded,0,400,100\n2,1000,Succeeded,10,900,100\n"
    )
    instance = one(alibaba_2023([pods], rng(), servers=1, load=0))
    assert [int(g) for g in instance.gpus] == [1, 2]
    assert [job.group_id for job in instance.jobs] == [-1, -1]


@pytest.mark.parametrize(
    ("name", "read", "jobs"),
    [("muri_trace1.csv", muri, 1000), ("muri_trace3.csv", muri, 874), ("philly.csv", philly, 1000)],
)
def test_real_traces(name, read, jobs):
    outcome = read([real_file(name)], rng())
    instance = one(outcome)
    assert len(instance.jobs) == jobs
    assert outcome.report["instances"][0]["load"] == pytest.approx(1.2, rel=1e-3)
    assert evaluate(instance, a_srpt(instance, Limits(), rng()).solution).feasible
