"""Importers of cluster traces: Philly, Muri, Alibaba 2020 and 2023, Helios.

Jobs of a window of the trace run on a cluster of equal servers. All of it is reconstructed:

1. Kept are jobs that ended well, on a whole number of GPUs up to a limit, for at least a minute.
2. A job's network is that of the trace, else one chosen by its recurrence key (`group`, else user
   and GPUs, else its row): recurring jobs share it. `templates` says what a network's type is.
3. Iterations are those of the trace, else its duration over the time of an iteration.
4. Releases count from the first submission.
5. With `load`, releases are compressed or stretched by one factor until the jobs need so many times
   the cluster while they arrive: a slice of a trace as it is often leaves a cluster nearly idle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt
from pydantic import ValidationError as PydanticError

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.file_imports import options_of
from gadgetopt.pieces.import_outcome import ImportOutcome, drawn_name
from gadgetopt.pieces.trace_jobs.networks import measured_s, network_of, recurrence
from gadgetopt.pieces.trace_jobs.selection import keep
from gadgetopt.pieces.trace_jobs.windows import outcome_of, read_trace
from gadgetopt.pieces.traces import Trace
from gadgetopt.system.data import Instance
from gadgetopt.system.declaring import importer

from ...instance import (
    ASrptInstance,
    Job,
    JobType,
)
from ..generate.random_jobs import (
    INTRA_GBYTES_PER_S,
    NIC_GBYTES_PER_S,
    demand_ticks,
    with_load,
)
from .templates import calibrated_type


class Options(BaseModel):
    """Options of all importers. Text from the command line is converted.

    Attributes
    ----------
    jobs : int
        Jobs in succession; all that are left if there are fewer.
    count : int
        Instances; each is a window of the trace that begins at a random job, the first of them at
        its beginning.
    servers, gpus_per_server : int
    load : float
        GPUs that the jobs need until the last release, by those of the cluster; 0 keeps the
        releases of the trace.
    tick_s : float
    min_duration_s : float
    max_gpus : int
        Largest jobs to keep; 0: those that fit the cluster.
    intra_bandwidth_gbytes_per_s, nic_bandwidth_gbytes_per_s : float
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    jobs: PositiveInt = 1000
    count: PositiveInt = 1
    servers: PositiveInt = 32
    gpus_per_server: PositiveInt = 8
    load: NonNegativeFloat = 1.2
    tick_s: PositiveFloat = 60.0
    min_duration_s: NonNegativeFloat = 60.0
    max_gpus: int = Field(default=0, ge=0)
    intra_bandwidth_gbytes_per_s: PositiveFloat = float(INTRA_GBYTES_PER_S)
    nic_bandwidth_gbytes_per_s: PositiveFloat = float(NIC_GBYTES_PER_S)


class ClusterOptions(Options):
    """Options of traces of several virtual clusters: those of `Options` and one more.

    Attributes
    ----------
    virtual_cluster : str
        Keep the jobs of one virtual cluster; empty keeps all.
    """

    virtual_cluster: str = ""


PhillyOptions = HeliosOptions = ClusterOptions
MuriOptions = Alibaba2020Options = Alibaba2023Options = Options


_HELP = {
    "load": (
        "GPUs that the jobs need while they arrive, by those of the cluster; releases "
        "are compressed or stretched to it; 0 keeps them"
    ),
    "max_gpus": "largest jobs to keep; 0: all that fit the cluster",
    "count": "windows of the trace; the first begins with it, others at random",
}


@importer(options=PhillyOptions, help=_HELP)
def philly(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """The condensed Microsoft Philly trace.

    Make instances of condensed Philly traces; see `ClusterOptions`.
    """
    return _imported("philly", PhillyOptions, files, rng, options)


@importer(options=MuriOptions, help=_HELP)
def muri(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Traces of the Muri simulator, with iterations and their times.

    Make instances of traces of the Muri simulator; see `Options`.
    """
    return _imported("muri", MuriOptions, files, rng, options)


@importer(name="alibaba-2020", options=Alibaba2020Options, help=_HELP)
def alibaba_2020(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A folder with the tables of Alibaba's PAI trace.

    Make instances of folders of Alibaba's PAI trace of 2020; see `Options`.
    """
    return _imported("alibaba-2020", Alibaba2020Options, files, rng, options)


@importer(name="alibaba-2023", options=Alibaba2023Options, help=_HELP)
def alibaba_2023(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A list of pods of Alibaba's trace of 2023.

    Make instances of pod lists of Alibaba's trace of 2023; see `Options`.
    """
    return _imported("alibaba-2023", Alibaba2023Options, files, rng, options)


@importer(options=HeliosOptions, help=_HELP)
def helios(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A cluster log of SenseTime's Helios.

    Make instances of cluster logs of Helios; see `ClusterOptions`.
    """
    return _imported("helios", HeliosOptions, files, rng, options)


def _imported(
    source: str,
    kind: type[Options],
    files: Sequence[Path],
    rng: np.random.Generator,
    given: dict[str, Any],
) -> ImportOutcome:
    options = options_of(kind, source, given)
    gpus = options.servers * options.gpus_per_server
    trace = read_trace(
        source,
        files,
        virtual_cluster=getattr(options, "virtual_cluster", ""),
        most_gpus=min(options.max_gpus or gpus, gpus),
        min_duration_s=options.min_duration_s,
    )
    instances: list[tuple[str, Instance]] = []
    details = []
    for k in range(options.count):
        spare = max(0, len(trace) - options.jobs)
        first = int(rng.integers(spare + 1)) if k else 0
        rows = np.arange(len(trace))
        window = pd.Series((rows >= first) & (rows < first + options.jobs))
        chosen = keep(trace, window, "outside the window")
        instance, demand = _instance(chosen.jobs, options)
        stem = f"{Path(trace.source[0].name).stem}_{len(chosen)}x{options.servers}"
        name = drawn_name(stem, rng, k)
        instances.append((name, instance))
        details.append(_described(name, instance, chosen, demand))
    units = {
        "tick_s": options.tick_s,
        "iterations": "from the trace" if source == "muri" else "duration / iteration time",
    }
    return outcome_of(source, trace, options, instances, details, units)


def _described(name: str, instance: ASrptInstance, chosen: Trace, demand: float) -> dict[str, Any]:
    submit = chosen.jobs.submit_s
    span = max(job.release_tick for job in instance.jobs)
    gpus, counts = np.unique(instance.gpus, return_counts=True)
    return {
        "name": name,
        "jobs_used": len(instance.jobs),
        "jobs_by_gpus": {int(g): int(n) for g, n in zip(gpus, counts, strict=True)},
        "job_types": len(instance.job_types),
        "trace_span_s": float(submit.max() - submit.min()),
        "span_ticks": span,
        "load": demand / span if span else None,
    }


def _instance(jobs: pd.DataFrame, options: Options) -> tuple[ASrptInstance, float]:
    """Return the instance of a window of a trace, and how many ticks it keeps all GPUs busy."""
    intra = decimal_rational(options.intra_bandwidth_gbytes_per_s)
    inter = decimal_rational(options.nic_bandwidth_gbytes_per_s) / options.gpus_per_server
    servers = (options.gpus_per_server,) * options.servers
    kinds: dict[tuple[str, int, Fraction], int] = {}
    types: list[JobType] = []
    made: list[Job] = []
    groups: dict[str, int] = {}
    users: dict[str, int] = {}
    submit = jobs.submit_s - jobs.submit_s.min()
    rows: Iterable[Any] = jobs.itertuples()
    for row, submit_s in zip(rows, submit, strict=True):
        gpus = int(row.gpus)
        key = recurrence(row)
        place = f"{row.file}:{row.line}"
        network = row.model if isinstance(row.model, str) else network_of(key or place)
        stated = not pd.isna(row.iteration_s)
        iteration_s = decimal_rational(row.iteration_s) if stated else measured_s(network, gpus)
        kind = (network, gpus, iteration_s)
        if kind not in kinds:
            kinds[kind] = len(types)
            types.append(calibrated_type(*kind, gpus_per_server=servers, intra=intra, inter=inter))
        iterations = row.iterations if stated else round(row.duration_s / float(iteration_s))
        user = row.user if isinstance(row.user, str) else None
        made.append(
            Job(
                job_type=kinds[kind],
                release_tick=int(submit_s / options.tick_s),
                num_iterations=max(1, int(iterations)),
                group_id=groups.setdefault(key, len(groups)) if key else -1,
                user_id=users.setdefault(user, len(users)) if user else -1,
                batch_size=None if pd.isna(row.batch_size) else int(row.batch_size),
                name=place,
            )
        )
    try:
        instance = ASrptInstance(
            gpus_per_server=servers,
            intra_bandwidth_gbytes_per_s=intra,
            nic_bandwidth_gbytes_per_s=decimal_rational(options.nic_bandwidth_gbytes_per_s),
            tick_s=decimal_rational(options.tick_s),
            job_types=tuple(types),
            jobs=tuple(made),
        )
    except PydanticError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"options make no valid instance: {message}") from error
    demand = demand_ticks(instance)
    span_s = float(submit.max())
    if options.load and span_s:
        instance = with_load(instance, (submit / span_s).tolist(), options.load)
    return instance, demand
