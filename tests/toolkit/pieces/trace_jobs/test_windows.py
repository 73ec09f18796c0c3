"""Traces as instances of GADGET, PD-ORS and SMD: rows to the digit, windows, losses, messages."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError

REAL = Path(__file__).parents[5] / "shared" / "data" / "traces"
SYSTEMS = ("gadget", "pd_ors", "smd")
MURI = (
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time"
)


def imported(system, source, files, seed=0, **options):
    module = import_module(f"gadgetopt.models.{system}.data.importers.traces")
    return getattr(module, source)(files, np.random.default_rng(seed), **options)


@pytest.fixture
def muri(tmp_path):
    """A job of vgg16 on 8 GPUs at 0 s, then one a minute of bert on 2; a broken row."""
    lines = [MURI, "0,8,0,1000,vgg16,16,214000,0,214"]
    lines += [f"{i},2,{60000 * i},{4000 + i},bert,4,{195 * (4000 + i)},0,195" for i in range(1, 40)]
    path = tmp_path / "muri.csv"
    path.write_text("\n".join([*lines, "41,two,0,1,bert,4,195,0,195"]) + "\n")
    return path


def test_a_row_becomes_a_job_of_gadget(muri):
    ((_, instance),) = imported("gadget", "muri", [muri], slot_s=600).instances
    job = instance.jobs[0]
    assert (job.arrival_slot, job.max_workers, job.worker_demand) == (1, 8, (1.0,))
    # 2 x 4427.52 x 7/8 Mbit in 53.5 ms are 144,825.4 Mbit/s, more than the network card has
    assert job.ring_bandwidth_mbps == 100_000
    ((_, wide),) = imported("gadget", "muri", [muri], slot_s=600, nic_gbps=400).instances
    assert wide.jobs[0].ring_bandwidth_mbps == 144_826
    iteration_s = 4427.52 * 7 / 8 * (2 / 100_000 + 1 / 20_000) + 0.107
    assert job.iterations_per_worker_slot == pytest.approx(600 / iteration_s, rel=1e-5)
    assert job.utility.target_iterations == 8000
    assert job.max_worker_slots == int(np.ceil(1.2 * 8000 / job.iterations_per_worker_slot))
    assert [other.arrival_slot for other in instance.jobs[8:12]] == [1, 1, 2, 2]
    assert [server.rack for server in instance.substrate.servers] == [0, 0, 0, 0]
    ((_, hours),) = imported("gadget", "muri", [muri], priority="gpu_hours").instances
    assert hours.jobs[0].utility.priority == round(214 * 8 / 3600, 3)


def test_a_row_becomes_a_job_of_pd_ors(muri):
    ((_, instance),) = imported("pd_ors", "muri", [muri], slot_s=600).instances
    job = instance.jobs[0]
    assert (job.epochs, job.samples, job.global_batch) == (1, 8000, 8)
    assert job.gradient_gbit == 4.42752
    assert job.sample_time_slots == pytest.approx(0.107 / 600, abs=1e-9)
    assert (job.worker_demand, job.ps_demand) == ((1, 4, 32), (0, 4, 32))
    assert instance.machines[0].capacity == (8, 40, 320)
    assert 214 / 600 - 1e-3 <= job.utility.theta3 <= 2 * 214 / 600 + 1e-3


def test_a_row_becomes_a_job_of_smd(muri):
    ((_, instance),) = imported("smd", "muri", [muri]).instances
    job = instance.jobs[0]
    assert (job.iterations, job.global_batch_size, job.model_size_mb) == (1000, 128, 553.44)
    assert job.reservation_limit == (8, 40, 320)
    assert instance.capacity == (32, 160, 1280)
    assert 1.2 * 214 - 0.1 <= job.utility.gamma3 <= 2 * 214 + 0.1


@pytest.fixture
def pai(tmp_path):
    """A job of two workers and a server, one of four GPUs whose table tells no more."""
    tables = {
        "pai_job_table.csv": "a,i1,u,Terminated,0,600\nb,i2,u,Terminated,60,900\n",
        "pai_task_table.csv": (
            "a,ps,1,Terminated,0,600,600,10,,\n"
            "a,worker,2,Terminated,0,600,800,29,100,V100\n"
            "b,worker,4,Terminated,60,900,,,100,V100\n"
        ),
        "pai_group_tag_table.csv": "i1,u,,g1,\ni2,u,,g2,\n",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_cpus_memory_and_servers_of_a_trace_are_those_of_the_job(pai):
    outcome = imported("pd_ors", "alibaba_2020", [pai])
    ((name, instance),) = outcome.instances
    first, second = instance.jobs
    assert (first.worker_demand, first.ps_demand) == ((1, 8, 29), (0, 6, 10))
    assert (first.worker_ps_ratio, second.worker_ps_ratio) == (2, 4)
    assert (second.worker_demand, second.ps_demand) == ((1, 4, 32), (0, 4, 32))
    # Both jobs have networks and iterations of the table of networks; b has all else, too.
    counts = dict.fromkeys(("cpus", "memory", "server_cpus", "server_memory", "servers"), 1)
    counts |= {"iterations": 2, "network": 2}
    assert outcome.origin_of[name] == {"jobs_with_defaults": counts}
    ((_, interval),) = imported("smd", "alibaba_2020", [pai]).instances
    assert interval.jobs[0].reservation_limit == (2, 2 * 8 + 6, 2 * 29 + 10)
    assert interval.jobs[1].reservation_limit == (4, 20, 160)


@pytest.fixture
def pods(tmp_path):
    path = tmp_path / "pods.csv"
    path.write_text(
        "num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "1,460,Succeeded,0,3700,100\n"
        "2,1000,Succeeded,1,3700,100\n"
    )
    return path


def test_a_worker_of_gadget_takes_the_share_of_a_gpu_that_a_trace_tells(pods):
    outcome = imported("gadget", "alibaba_2023", [pods], priority="gpu_hours", servers=1)
    ((_, instance),) = outcome.instances
    assert [job.worker_demand for job in instance.jobs] == [(0.46,), (1.0,)]
    assert [job.max_workers for job in instance.jobs] == [1, 2]
    # An hour on 0.46 of a GPU, and on two.
    assert [job.utility.priority for job in instance.jobs] == [0.46, 2.0]
    (details,) = outcome.report["instances"]
    assert details["jobs_on_shares_of_gpus"] == 1
    assert details["load"] == pytest.approx((0.46 + 2) * 3600 / (8 * 24 * 1800))
    assert outcome.report["left_out"] == {}


@pytest.mark.parametrize("system", ["pd_ors", "smd", "a_srpt"])
def test_a_job_on_a_share_of_a_gpu_is_left_out_and_counted(pods, system):
    outcome = imported(system, "alibaba_2023", [pods])
    assert outcome.report["left_out"] == {"not on whole GPUs": 1}
    ((_, instance),) = outcome.instances
    assert len(instance.jobs) == 1


@pytest.mark.parametrize("system", ["pd_ors", "smd"])
def test_a_job_that_fits_no_server_is_counted(pai, system):
    outcome = imported(system, "alibaba_2020", [pai], cpus_per_server=7)
    assert outcome.report["left_out"] == {"a worker or parameter server fits no server": 1}
    ((_, instance),) = imported(system, "alibaba_2020", [pai], memory_gb_per_server=256).instances
    capacity = instance.capacity if system == "smd" else instance.machines[0].capacity
    servers = 4 if system == "smd" else 1
    assert capacity == (8 * servers, 40 * servers, 256 * servers)
    with pytest.raises(InputError, match=r"no job is left .*fits no server"):
        imported(system, "alibaba_2020", [pai], memory_gb_per_server=1)


def test_the_origin_of_a_file_tells_what_is_no_part_of_the_trace(pai, tmp_path, cli):
    out = tmp_path / "out"
    assert cli("import", "alibaba-2020", pai, "--system", "smd", "--out", out)[0] == 0
    (path,) = (p for p in out.glob("*.json") if "report" not in p.name)
    assert json.loads(path.read_text())["origin"]["jobs_with_defaults"]["servers"] == 1


@pytest.mark.parametrize("system", SYSTEMS)
def test_windows_hold_the_jobs_asked_for_and_lose_none_silently(muri, system):
    outcome = imported(system, "muri", [muri], jobs=10, count=3)
    assert [len(instance.jobs) for _, instance in outcome.instances] == [10, 10, 10]
    report = outcome.report
    assert (report["rows_read"], report["rows_rejected"], report["jobs_eligible"]) == (41, 1, 40)
    again = imported(system, "muri", [muri], jobs=10, count=3)
    assert [i for _, i in again.instances] == [i for _, i in outcome.instances]
    few = imported(system, "muri", [muri], max_gpus=2, min_duration_s=0)
    assert few.report["left_out"] == {"more than 2 GPUs": 1}


@pytest.mark.parametrize("system", SYSTEMS)
def test_wrong_input_is_named(muri, system, tmp_path, cli):
    with pytest.raises(InputError, match="options of muri: servers: 0"):
        imported(system, "muri", [muri], servers=0)
    with pytest.raises(InputError, match="files: none given"):
        imported(system, "muri", [])
    with pytest.raises(InputError, match=r"muri\.csv: no job is left .*fewer than 1e"):
        imported(system, "muri", [muri], min_duration_s=1e6, max_duration_s=2e6)
    with pytest.raises(InputError, match="'vc9' has no job, expected one of none"):
        imported(system, "muri", [muri], virtual_cluster="vc9")
    path = tmp_path / "short.csv"
    path.write_text("timestamp,duration\n2017-10-09 06:13:03,60\n")
    code, _, err = cli("import", "philly", path, "--system", system, "--out", tmp_path)
    assert code == 2
    assert "num_gpus" in err


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_real_traces(system, tmp_path, cli):
    if not (REAL / "philly.csv").exists():
        pytest.skip("the real traces are not beside the repository")
    out = tmp_path / system
    arguments = ("--system", system, "--set", "jobs=30", "--out", out)
    assert cli("import", "philly", REAL / "philly.csv", *arguments)[0] == 0
    (path,) = (p for p in out.glob("*.json") if "report" not in p.name)
    origin = json.loads(path.read_text())["origin"]
    assert origin["format"] == "philly"
    assert origin["options"]["jobs"] == 30
