"""Alibaba 2020 and 2023, Helios: small files written for these tests."""

from pathlib import Path

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.trace_jobs.formats import read_alibaba_2020, read_alibaba_2023, read_helios

HELIOS = """job_id,user,vc,gpu_num,cpu_num,node_num,state,\
submit_time,start_time,end_time,duration,queue
1,ua,vcA,8,32,1,COMPLETED,2020-04-01 00:00:10,2020-04-01 00:00:20,2020-04-01 00:10:20,600,10
2,ub,vcB,0,4,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:01:00,60,0
3,ub,vcA,1,4,1,FAILED,2020-04-01 00:00:30,2020-04-01 00:00:30,2020-04-01 00:01:30,60,0
4,ua,vcA,16,64,2,COMPLETED,2020-04-01 00:00:05,2020-04-01 00:02:05,2020-04-01 00:05:05,180,120
5,ua,vcA,one,64,2,COMPLETED,2020-04-01 00:00:05,2020-04-01 00:02:05,2020-04-01 00:05:05,180,120
"""

ALIBABA_2023 = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
creation_time,deletion_time,scheduled_time
p0,8000,1000,1,1000,,LS,Succeeded,100,400,150
p1,8000,1000,0,0,,LS,Succeeded,0,400,10
p2,8000,1000,8,1000,V100M32,LS,Failed,20,400,30
p3,8000,1000,2,1000,,BE,Succeeded,50,950,50
p4,8000,1000,1,500,,BE,Running,60,,70
p5,8000,1000,4,1000,,BE,Succeeded,70,100,
"""

#: Job j1 has a ps without a GPU and two workers of one GPU each; j2 shares GPUs; j3 has two tasks
#: and waits for 300 s; of the tasks of j6 no start is known.
PAI = {
    "pai_job_table.csv": """j1,i1,u1,Terminated,1000.0,1600.0
j2,i2,u1,Terminated,1100.0,1700.0
j3,i3,u2,Terminated,900.0,4500.0
j4,i4,u2,Failed,950.0,1000.0
j5,i5,u2,Waiting,,
j6,i6,u2,Terminated,960.0,1000.0
""",
    "pai_task_table.csv": """j1,ps,1,Terminated,1000.0,1600.0,600,10,,
j1,worker,2,Terminated,1000.0,1600.0,600,29,100,P100
j2,tensorflow,4,Terminated,1100.0,1700.0,600,29,25,T4
j3,worker,3,Terminated,1500.0,4500.0,600,29,200,V100
j3,chief,1,Terminated,1200.0,4500.0,600,29,200,V100
j4,worker,1,Failed,950.0,1000.0,600,29,100,T4
j6,worker,1,Terminated,,,600,29,100,T4
""",
    "pai_group_tag_table.csv": """i1,u1,,g_one,
i2,u1,T4,g_two,bert
i3,u2,V100,g_one,
""",
}


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_helios(tmp_path):
    trace = read_helios(written(tmp_path / "cluster_log.csv", HELIOS))
    assert trace.jobs[
        ["gpus", "duration_s", "user", "virtual_cluster", "line"]
    ].values.tolist() == [
        [16, 180.0, "ua", "vcA", 5],
        [8, 600.0, "ua", "vcA", 2],
    ]
    assert trace.jobs.submit_s.diff().iloc[1] == 5
    assert trace.jobs.cpus_per_gpu.tolist() == [4.0, 4.0]
    assert trace.left_out == {"status not COMPLETED": 1, "without a GPU": 1}
    assert trace.rejected[["line", "value"]].values.tolist() == [[6, "one"]]


def test_alibaba_2023(tmp_path):
    trace = read_alibaba_2023(written(tmp_path / "openb_pod_list.csv", ALIBABA_2023))
    assert trace.jobs[["submit_s", "gpus", "duration_s"]].values.tolist() == [
        [50.0, 2, 900.0],
        [100.0, 1, 250.0],
    ]
    # 8000 thousandths of a CPU over 2 GPUs and 1; 1000 MiB are 1.048576 GB.
    assert trace.jobs.cpus_per_gpu.tolist() == [4.0, 8.0]
    assert trace.jobs.memory_gb_per_gpu.tolist() == pytest.approx([0.524288, 1.048576])
    assert trace.left_out == {
        "status not Succeeded": 2,
        "without a GPU": 1,
        "no duration": 1,
    }


def test_pods_of_alibaba_2023_that_share_a_gpu_are_left_out(tmp_path):
    pods = """name,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time
a,1,460,Succeeded,0,100,10
b,1,1000,Succeeded,1,100,10
c,8,1000,Succeeded,2,100,10
d,2,500,Succeeded,3,100,10
e,0,0,Succeeded,4,100,10
f,1,all,Succeeded,5,100,10
"""
    trace = read_alibaba_2023(written(tmp_path / "pods.csv", pods))
    assert trace.jobs.gpus.tolist() == [1, 8]
    assert trace.jobs[["cpus_per_gpu", "memory_gb_per_gpu"]].isna().all(axis=None)
    assert trace.left_out == {"without a GPU": 1, "not on whole GPUs": 2}
    assert trace.rejected[["line", "value"]].values.tolist() == [[7, "all"]]


def test_pods_on_shares_of_gpus_are_kept_where_they_are_asked_for(tmp_path):
    pods = """name,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time
a,1,460,Succeeded,0,100,10
b,1,1000,Succeeded,1,100,10
c,2,500,Succeeded,2,100,10
d,1,0,Succeeded,3,100,10
e,1,1200,Succeeded,4,100,10
f,0,0,Succeeded,5,100,10
"""
    trace = read_alibaba_2023(written(tmp_path / "pods.csv", pods), shares=True)
    assert trace.jobs[["line", "gpus", "gpu_share"]].values.tolist() == [
        [2, 1, 0.46],
        [3, 1, 1.0],
        [4, 2, 0.5],
    ]
    assert trace.left_out == {"without a GPU": 1, "unclear share of a GPU": 2}


def test_jobs_of_alibaba_2020_on_one_share_are_kept_where_they_are_asked_for(tmp_path):
    # j3 has its workers on two whole GPUs and its chief on a quarter of one.
    chief = "600,29,200,V100\nj4"
    for name, text in PAI.items():
        written(tmp_path / name, text.replace(chief, "600,29,25,V100\nj4"))
    kept = read_alibaba_2020(tmp_path, shares=True)
    assert kept.jobs[["submit_s", "gpus", "gpu_share"]].values.tolist() == [
        [1000.0, 2, 1.0],
        [1100.0, 4, 0.25],
    ]
    assert kept.left_out == {
        "status not Terminated": 1,
        "unclear share of a GPU": 1,
        "no duration": 1,
    }
    whole = read_alibaba_2020(tmp_path)
    assert whole.jobs.gpus.tolist() == [2]
    assert whole.left_out == {**kept.left_out, "not on whole GPUs": 1}


def test_alibaba_2020_runs_from_the_start_of_the_first_task(tmp_path):
    for name, text in PAI.items():
        written(tmp_path / name, text)
    trace = read_alibaba_2020(tmp_path)
    assert trace.jobs[["submit_s", "gpus", "duration_s", "group", "user"]].values.tolist() == [
        [900.0, 8, 3300.0, "g_one", "u2"],
        [1000.0, 2, 600.0, "g_one", "u1"],
    ]
    # j3 has instances of 6 CPUs and 29 GB for 2 GPUs each; j1 one GPU each, and a server of 6 CPUs
    # and 10 GB.
    needs = trace.jobs[["cpus_per_gpu", "memory_gb_per_gpu", "ps_number", "ps_cpus"]]
    assert needs.values.tolist()[1] == [6.0, 29.0, 1.0, 6.0]
    assert needs.values.tolist()[0][:2] == [3.0, 14.5]
    assert trace.jobs.ps_number.isna().tolist() == [True, False]
    assert trace.jobs.ps_memory_gb.tolist()[1] == 10.0
    assert trace.left_out == {
        "status not Terminated": 1,
        "not on whole GPUs": 1,
        "no duration": 1,
    }
    assert trace.rejected.line.tolist() == [5]


@pytest.mark.parametrize(("read", "name"), [(read_helios, "user"), (read_alibaba_2023, "num_gpu")])
def test_a_missing_column_is_named(read, name, tmp_path):
    with pytest.raises(InputError, match=rf"column '{name}' occurs 0 times"):
        read(written(tmp_path / "trace.csv", "a,b\n1,2\n"))


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(InputError, match="expected the folder"):
        read_alibaba_2020(tmp_path / "none")
    written(tmp_path / "pai_job_table.csv", PAI["pai_job_table.csv"])
    with pytest.raises(InputError, match=r"pai_task_table\.csv: cannot be read"):
        read_alibaba_2020(tmp_path)
