"""Windows of a trace as instances: read the files, select jobs, account for every row.

A window begins with a job and holds the jobs that are submitted within its length, the first ones
where they are too many. Windows begin where there are as many jobs as asked for, or else most: the
first of them as early as possible, the others at random.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt
from pydantic import ValidationError as PydanticError

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.file_imports import options_of
from gadgetopt.pieces.import_outcome import ImportOutcome, drawn_name
from gadgetopt.pieces.trace_jobs.formats import read_alibaba_2020, read_alibaba_2023, read_helios
from gadgetopt.pieces.trace_jobs.networks import (
    CPUS,
    MEMORY_GB,
    WORKERS_PER_SERVER,
    TracedJob,
    traced_job,
)
from gadgetopt.pieces.trace_jobs.selection import (
    in_virtual_cluster,
    keep,
    with_duration_s,
    with_gpus,
)
from gadgetopt.pieces.traces import (
    Trace,
    joined,
    losses,
    names,
    read_muri,
    read_philly,
    rejections,
)
from gadgetopt.system.data import Instance

READERS: Mapping[str, Callable[..., Trace]] = {
    "philly": read_philly,
    "muri": read_muri,
    "alibaba-2020": read_alibaba_2020,
    "alibaba-2023": read_alibaba_2023,
    "helios": read_helios,
}

#: Formats that may keep jobs on shares of GPUs. By definition.
_WITH_SHARES = ("alibaba-2020", "alibaba-2023")

#: What the options mean, for lists.
HELP = {
    "jobs": "most jobs of a window",
    "count": "windows of the trace that hold so many jobs; the first of them, others at random",
    "max_duration_s": "longest jobs to keep; 0: as long as the horizon, where there is one",
    "max_gpus": "largest jobs to keep; 0: all that fit the cluster",
    "nic_gbps": "bandwidth of a server's network card, Gbit/s",
}
#: The same of importers whose jobs take CPUs and memory.
HELP_OF_MACHINES = {
    **HELP,
    "cpus_per_server": "CPUs of a server; 0: those of a worker a GPU and of their servers",
    "memory_gb_per_server": "GB of memory of a server; 0: likewise",
}


class WindowOptions(BaseModel):
    """Options of the importers of all systems. Text from the command line is converted.

    Attributes
    ----------
    jobs : int
        Most jobs of a window.
    count : int
        Windows; each becomes an instance.
    servers, gpus_per_server : int
    min_duration_s, max_duration_s : float
        Jobs to keep; at most 0: as long as the horizon, where there is one.
    max_gpus : int
        Largest jobs to keep; 0: those that fit the cluster.
    virtual_cluster : str
        Keep the jobs of one virtual cluster, where the format has them; empty keeps all.
    nic_gbps : float
        Gbit/s of a server's network card.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    jobs: PositiveInt = 100
    count: PositiveInt = 1
    servers: PositiveInt = 4
    gpus_per_server: PositiveInt = 8
    min_duration_s: NonNegativeFloat = 60.0
    max_duration_s: NonNegativeFloat = 0.0
    max_gpus: int = Field(default=0, ge=0)
    virtual_cluster: str = ""
    nic_gbps: PositiveFloat = 100.0

    @property
    def gpus(self) -> int:
        """GPUs of the cluster."""
        return self.servers * self.gpus_per_server

    @property
    def longest_s(self) -> float | None:
        """The longest duration to keep."""
        return self.max_duration_s or None

    @property
    @abstractmethod
    def length_s(self) -> float:
        """Length of a window."""


class MachineOptions(WindowOptions):
    """Options of importers whose jobs take CPUs and memory: those of `WindowOptions` and these.

    Attributes
    ----------
    cpus_per_server, memory_gb_per_server : float
        0: what a worker a GPU takes and a parameter server for every four of them.
    """

    cpus_per_server: NonNegativeFloat = 0.0
    memory_gb_per_server: NonNegativeFloat = 0.0

    @property
    def machine(self) -> tuple[float, float, float]:
        """GPUs, CPUs and memory of a server."""
        tasks = self.gpus_per_server * (1 + 1 / WORKERS_PER_SERVER)
        cpus, memory_gb = self.cpus_per_server, self.memory_gb_per_server
        return float(self.gpus_per_server), cpus or tasks * CPUS, memory_gb or tasks * MEMORY_GB


Chosen = TypeVar("Chosen", bound=WindowOptions)


def import_windows(
    source: str,
    files: Sequence[Path],
    rng: np.random.Generator,
    model: type[Chosen],
    given: Mapping[str, Any],
    make: Callable[[list[TracedJob], Chosen, np.random.Generator], Instance],
    units: Callable[[Chosen], Mapping[str, Any]],
    *,
    shares: bool = False,
) -> ImportOutcome:
    """Make an instance of each window of a trace.

    Parameters
    ----------
    source : str
        A format of `READERS`.
    files : sequence of Path
    rng : numpy.random.Generator
        Begins of windows, and what `make` draws.
    model, given
        The system's options and their values.
    make : callable
        Returns the instance of jobs in order of submission, whose first is submitted at 0 s.
    units : callable
        What the report says of units, defaults and draws.
    shares : bool
        Whether jobs on shares of GPUs are kept; otherwise they are left out and counted.

    Raises
    ------
    InputError
        If an option or a file cannot be used, or no job is left.
    """
    options = options_of(model, source, given)
    trace = read_trace(
        source,
        files,
        virtual_cluster=options.virtual_cluster,
        most_gpus=min(options.max_gpus or options.gpus, options.gpus),
        min_duration_s=options.min_duration_s,
        longest_s=options.longest_s,
        shares=shares,
    )
    instances: list[tuple[str, Instance]] = []
    details = []
    defaulted: dict[str, dict[str, Any]] = {}
    if isinstance(options, MachineOptions):
        trace = _fitting(trace, options.machine)
    stem = Path(trace.source[0].name).stem
    begins = _begins(trace, options)
    for k in range(options.count):
        jobs = _window(trace, int(rng.choice(begins) if k else begins[0]), options)
        try:
            instance = make(jobs, options, rng)
        except PydanticError as error:
            message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise InputError(f"options make no valid instance: {message}") from error
        name = drawn_name(f"{stem}_{len(jobs)}x{options.servers}", rng, k)
        instances.append((name, instance))
        counts = Counter(field for job in jobs for field in job.defaulted)
        on_shares = sum(job.gpu_share < 1 for job in jobs)
        defaulted[name] = {"jobs_with_defaults": dict(sorted(counts.items()))}
        details.append(
            {
                "name": name,
                "jobs_used": len(jobs),
                **({"jobs_on_shares_of_gpus": on_shares} if shares else {}),
                "load": sum(job.gpus * job.gpu_share * job.duration_s for job in jobs)
                / (options.gpus * options.length_s),
            }
        )
    outcome = outcome_of(source, trace, options, instances, details, units(options))
    return replace(outcome, origin_of=defaulted)


def _fitting(trace: Trace, machine: tuple[float, float, float]) -> Trace:
    """Keep the jobs of which a worker fits a server, and a parameter server does."""
    jobs = trace.jobs
    cpus = jobs[["cpus_per_gpu", "ps_cpus"]].astype(float).fillna(CPUS).max(axis=1)
    memory = jobs[["memory_gb_per_gpu", "ps_memory_gb"]].astype(float).fillna(MEMORY_GB).max(axis=1)
    kept = keep(
        trace,
        ~((cpus > machine[1]) | (memory > machine[2])),
        "a worker or parameter server fits no server",
    )
    if not len(kept):
        raise InputError(f"{names(kept)}: no job is left ({losses(kept)})")
    return kept


def read_trace(
    source: str,
    files: Sequence[Path],
    *,
    virtual_cluster: str,
    most_gpus: int,
    min_duration_s: float,
    longest_s: float | None = None,
    shares: bool = False,
) -> Trace:
    """Read the files of a trace and keep the jobs that an importer's options ask for.

    Jobs on shares of GPUs are left out, unless `shares` is true.

    Raises
    ------
    InputError
        If a file cannot be read, or no job is left.
    """
    if not files:
        raise InputError("files: none given, expected at least one trace")
    kept = {"shares": True} if shares and source in _WITH_SHARES else {}
    trace = joined([READERS[source](Path(path), **kept) for path in files])
    if virtual_cluster:
        trace = in_virtual_cluster(trace, virtual_cluster)
    trace = with_gpus(trace, None, most_gpus)
    trace = with_duration_s(trace, min_duration_s or None, longest_s)
    if not len(trace):
        raise InputError(f"{names(trace)}: no job is left ({losses(trace)})")
    return trace


def outcome_of(
    source: str,
    trace: Trace,
    options: BaseModel,
    instances: Sequence[tuple[str, Instance]],
    details: Sequence[Mapping[str, Any]],
    units: Mapping[str, Any],
) -> ImportOutcome:
    """Return the instances with the report on rows and units, and the origin."""
    report = {
        "rows_read": sum(file.rows for file in trace.source),
        "rows_rejected": len(trace.rejected),
        "rejected": rejections(trace),
        "left_out": dict(trace.left_out),
        "jobs_eligible": len(trace),
        "units": dict(units),
        "instances": list(details),
    }
    origin = {
        "format": source,
        "files": [{"name": file.name, "sha256": file.sha256} for file in trace.source],
        "options": options.model_dump(mode="json"),
    }
    return ImportOutcome(list(instances), report, origin)


def _begins(trace: Trace, options: WindowOptions) -> Ints:
    """Return the jobs with which windows of as many jobs as asked for begin, or else of most."""
    submit_s = trace.jobs.submit_s.to_numpy(dtype=float)
    first_after = np.searchsorted(submit_s, submit_s + options.length_s)
    held = np.minimum(options.jobs, first_after - np.arange(len(submit_s)))
    return np.flatnonzero(held == held.max())


def _window(trace: Trace, first: int, options: WindowOptions) -> list[TracedJob]:
    """Return the jobs from one on that are submitted within the window's length."""
    start_s = float(trace.jobs.submit_s[first])
    kept = trace.jobs.submit_s < start_s + options.length_s
    kept.iloc[:first] = False
    rows = keep(trace, kept, "outside the window").jobs.head(options.jobs)
    rows = rows.assign(submit_s=rows.submit_s - start_s)
    return [traced_job(row) for row in rows.itertuples()]
