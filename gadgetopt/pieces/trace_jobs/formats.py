"""Further formats of cluster traces: Alibaba's of 2020 (PAI) and 2023, and SenseTime's Helios.

The tables are described in the repositories that publish them (alibaba/clusterdata,
S-Lab-System-Group/HeliosData). Jobs that did not end well or have no GPU are counted as left out,
and so are those that share theirs unless they are asked for. CPUs and memory of a job are divided
by its GPUs; where a file does not tell them they are missing.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from gadgetopt.errors import InputError
from gadgetopt.pieces.trace_jobs.selection import keep
from gadgetopt.pieces.traces import COLUMNS, Column, Table, Trace, read_table

_HELIOS = (
    Column("user", "user", "text"),
    Column("vc", "virtual_cluster", "text"),
    Column("gpu_num", "gpus_stated", "non-negative number"),
    Column("state", "status", "text"),
    Column("submit_time", "submit_s", "time"),
    Column("duration", "duration_s", "non-negative number"),
)
_ALIBABA_2023 = (
    Column("num_gpu", "gpus_stated", "non-negative number"),
    Column("gpu_milli", "milli", "non-negative number"),
    Column("pod_phase", "status", "text"),
    Column("creation_time", "submit_s", "non-negative number"),
    Column("deletion_time", "end", "any text"),
    Column("scheduled_time", "start", "any text"),
)

#: What these files may have besides: a job's CPUs, and its memory in MiB.
_HELIOS_CPUS = (Column("cpu_num", "cpus", "any text"),)
_ALIBABA_2023_CPUS = (
    Column("cpu_milli", "cpus", "any text"),
    Column("memory_mib", "memory", "any text"),
)
#: GB of a MiB. By definition.
_MIB_GB = 2**20 / 1e9

#: Columns of the tables of Alibaba 2020, which have no header row.
_PAI_HEADERS = {
    "pai_job_table.csv": "job_name inst_id user status start_time end_time",
    "pai_task_table.csv": (
        "job_name task_name inst_num status start_time end_time plan_cpu plan_mem plan_gpu gpu_type"
    ),
    "pai_group_tag_table.csv": "inst_id user gpu_type_spec group workload",
}
_PAI_JOBS = (
    Column("job_name", "job", "text"),
    Column("inst_id", "instance", "text"),
    Column("user", "user", "text"),
    Column("status", "status", "text"),
    Column("start_time", "submit_s", "non-negative number"),
    Column("end_time", "end", "any text"),
)
_PAI_TASKS = (
    Column("job_name", "job", "text"),
    Column("task_name", "task", "any text"),
    Column("plan_cpu", "cpu_percent", "any text"),
    Column("plan_mem", "memory", "any text"),
    Column("inst_num", "number", "any text"),
    Column("start_time", "start", "any text"),
    Column("plan_gpu", "percent", "any text"),
)
_PAI_GROUPS = (Column("inst_id", "instance", "text"), Column("group", "group", "text"))


def read_helios(path: Path | str) -> Trace:
    """Read a `cluster_log.csv` of Helios; completed jobs on at least one GPU are kept.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, or lacks one of the columns.
    """
    table = read_table(Path(path), _HELIOS, optional=_HELIOS_CPUS)
    table.rows["cpus_per_gpu"] = _per_gpu(table.rows.cpus, table.rows.gpus_stated)
    return _ended(table, "COMPLETED")


def read_alibaba_2023(path: Path | str, *, shares: bool = False) -> Trace:
    """Read an `openb_pod_list_*.csv` of Alibaba 2023; a pod is a job, from its scheduling on.

    `gpu_milli` is the share of each of its GPUs in thousandths; a pod of less than whole ones is
    left out unless `shares` keeps it.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, or lacks one of the columns.
    """
    table = read_table(Path(path), _ALIBABA_2023, optional=_ALIBABA_2023_CPUS)
    stated = table.rows.gpus_stated
    table.rows["cpus_per_gpu"] = _per_gpu(table.rows.cpus, stated) / 1000
    table.rows["memory_gb_per_gpu"] = _per_gpu(table.rows.memory, stated) * _MIB_GB
    table.rows["duration_s"] = _numbers(table.rows.end) - _numbers(table.rows.start)
    table.rows["gpu_share"] = table.rows.milli / 1000
    return _ended(table, "Succeeded", shares)


def read_alibaba_2020(folder: Path | str, *, shares: bool = False) -> Trace:
    """Read the folder of Alibaba's PAI trace of 2020: its job, task and group tables.

    A job has as many GPUs as its tasks have instances, times the whole GPUs of each; `group` is its
    recurrence key. Jobs whose tasks all take one share of a GPU are left out unless `shares` keeps
    them, those whose tasks differ in their shares always. A job is submitted at the start
    that the job table has, and waits until its first task starts: it runs from then to its end.
    Tasks named `ps` are its parameter servers. CPUs (`plan_cpu`, in percent) and memory
    (`plan_mem`, GB) of the others are divided by their GPUs.

    Raises
    ------
    InputError
        If a table cannot be read.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: expected the folder of the tables {', '.join(_PAI_HEADERS)}")
    jobs = _pai_table(folder, "pai_job_table.csv", _PAI_JOBS)
    tasks = _pai_table(folder, "pai_task_table.csv", _PAI_TASKS).rows
    groups = _pai_table(folder, "pai_group_tag_table.csv", _PAI_GROUPS).rows
    whole = _numbers(tasks.percent) / 100
    tasks["gpus"] = _numbers(tasks.number) * whole.where(whole >= 1, 1.0).where(whole > 0, 0.0)
    tasks["gpu_share"] = whole.clip(upper=1).where(whole > 0)
    tasks["start"] = _numbers(tasks.start)
    of_job = tasks.groupby("job").agg(
        gpus=("gpus", "sum"),
        least=("gpu_share", "min"),
        most=("gpu_share", "max"),
        start=("start", "min"),
    )
    rows = jobs.rows
    rows["gpu_share"] = rows.job.map(of_job.most.where(of_job.least == of_job.most, 0.0))
    rows["gpus_stated"] = rows.job.map(of_job.gpus).where(rows.job.isin(of_job.index), 0.0)
    rows["duration_s"] = _numbers(rows.end) - rows.job.map(of_job.start)
    for name, of_each in _pai_needs(tasks).items():
        rows[name] = rows.job.map(of_each)
    rows["group"] = rows.instance.map(
        groups.drop_duplicates("instance").set_index("instance").group
    )
    return _ended(jobs, "Terminated", shares)


def _pai_needs(tasks: pd.DataFrame) -> dict[str, pd.Series[float]]:
    """Return CPUs and memory of a GPU, and number, CPUs and memory of servers, by job."""
    number = _numbers(tasks.number)
    amounts = {"cpus": _numbers(tasks.cpu_percent) / 100, "memory_gb": _numbers(tasks.memory)}
    servers = tasks.task == "ps"
    trains = ~servers & (tasks.gpus > 0)
    gpus = tasks.gpus.where(trains).groupby(tasks.job).sum(min_count=1)
    count = number.where(servers).groupby(tasks.job).sum(min_count=1)
    needs = {"ps_number": count}
    for name, amount in amounts.items():
        used = (amount * number).where(trains).groupby(tasks.job).sum(min_count=1)
        served = (amount * number).where(servers).groupby(tasks.job).sum(min_count=1)
        needs[f"{name}_per_gpu"] = used / gpus
        needs[f"ps_{name}"] = served / count
    return needs


def _pai_table(folder: Path, name: str, columns: tuple[Column, ...]) -> Table:
    return read_table(folder / name, columns, _PAI_HEADERS[name].split())


def _ended(table: Table, good_status: str, shares: bool = False) -> Trace:
    """Return the jobs of a table that ended well and ran for some time, on whole GPUs or shares."""
    rows = table.rows
    rows["gpus"] = rows.gpus_stated
    trace = Trace(
        rows.reindex(columns=[*COLUMNS, "status"]).sort_values(
            "submit_s", kind="stable", ignore_index=True
        ),
        table.rejected,
        (table.source,),
    )
    trace = keep(trace, trace.jobs.status == good_status, f"status not {good_status}")
    trace = keep(trace, trace.jobs.gpus != 0, "without a GPU")
    if "gpu_share" in rows:
        share = trace.jobs.gpu_share
        trace = keep(trace, ~(share <= 0) & ~(share > 1), "unclear share of a GPU")
        if not shares:
            trace = keep(trace, trace.jobs.gpu_share == 1, "not on whole GPUs")
    gpus = trace.jobs.gpus
    trace = keep(trace, (gpus >= 1) & (gpus % 1 == 0), "not on whole GPUs")
    trace = keep(trace, trace.jobs.duration_s > 0, "no duration")
    trace.jobs["gpus"] = trace.jobs.gpus.astype("int64")
    del trace.jobs["status"]
    return trace


def _per_gpu(cells: pd.Series[str], gpus: pd.Series[float]) -> pd.Series[float]:
    return _numbers(cells) / gpus.where(gpus > 0)


def _numbers(cells: pd.Series[str]) -> pd.Series[float]:
    return pd.to_numeric(cells, errors="coerce")
