"""Batches of jobs as in a trace: Philly and Muri.

A trace tells how many GPUs a job has and how long it ran; Muri's also its network, iterations and
their time. Everything else is drawn (reconstructed):

1. Kept are jobs of at least a minute that fit the empty cluster. Jobs are drawn at random until the
   GPUs times the load are taken; one that no longer fits is passed over.
2. A task has one GPU and 2 to 4 CPUs, so a job has as many tasks as GPUs.
3. Muri: a network is a type, iterations and their time are those of the trace. Philly: the type is
   drawn, the time of an iteration is from 0.2 to 1 s, and the duration gives the iterations.
4. Between servers of a rack an iteration takes 2 to 10 per cent longer, across racks 10 to 50.
5. The table of interference is random, or the one of a file of measured slowdowns, which must name
   Muri's networks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import NonNegativeFloat, PositiveInt

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.import_outcome import ImportOutcome, drawn_name
from gadgetopt.pieces.trace_jobs.selection import in_virtual_cluster, with_duration_s, with_gpus
from gadgetopt.pieces.traces import (
    Trace,
    joined,
    losses,
    read_muri,
    read_philly,
    rejections,
)
from gadgetopt.system.declaring import importer

from ....subproblems.cluster import Job
from ....subproblems.random_jobs import (
    racks_of,
    table,
)
from ...instance import PlacementInstance
from .measured import (
    ClusterOptions,
    Measurements,
    read_measurements,
    read_options,
)

#: Decimals of an iteration's time.
_DECIMALS = 6


class MuriOptions(ClusterOptions):
    """Options of all traces.

    Attributes
    ----------
    types : int
        Of the random table, where the trace names no networks.
    min_duration_s : float
    interference : str
        File of measured slowdowns; empty for a random table.
    """

    types: PositiveInt = 4
    min_duration_s: NonNegativeFloat = 60.0
    interference: str = ""


class PhillyOptions(MuriOptions):
    """Options of traces of several virtual clusters: empty keeps all jobs."""

    virtual_cluster: str = ""


_HELP = {
    "count": "instances; each draws its jobs anew",
    "load": "share of the GPUs that the jobs may need; jobs without room are left out",
    "interference": "CSV file of measured slowdowns, see `interference-csv`; empty: a random table",
    "types": "job types of the random table, where the trace names no networks",
}


@importer(options=PhillyOptions, help=_HELP)
def philly(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A batch of jobs as in the condensed Microsoft Philly trace.

    Make instances of condensed Philly traces; see `PhillyOptions`.
    """
    return _imported(
        "philly", read_philly, files, rng, read_options(PhillyOptions, options, "philly")
    )


@importer(options=MuriOptions, help=_HELP)
def muri(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A batch of jobs as in traces of the Muri simulator, a type for each network.

    Make instances of traces of the Muri simulator; see `MuriOptions`.
    """
    return _imported("muri", read_muri, files, rng, read_options(MuriOptions, options, "muri"))


def _imported(
    form: str,
    read: Callable[[Path], Trace],
    files: Sequence[Path],
    rng: np.random.Generator,
    options: Any,
) -> ImportOutcome:
    trace = joined([read(path) for path in files])
    if getattr(options, "virtual_cluster", ""):
        trace = in_virtual_cluster(trace, options.virtual_cluster)
    room = options.racks * options.servers_per_rack * options.gpus_per_server
    trace = with_duration_s(trace, at_least=options.min_duration_s)
    trace = with_gpus(trace, at_most=int(options.load * room))
    if not len(trace):
        raise InputError(
            f"{', '.join(f.name for f in trace.source)}: no job is left ({losses(trace)})"
        )
    known = read_measurements(Path(options.interference)) if options.interference else None
    names = _types(trace, options.types, known)
    instances, details = [], []
    for k in range(options.count):
        instance = _instance(trace, names, known, options, rng)
        name = drawn_name(f"{Path(trace.source[0].name).stem}_{room}gpus", rng, k)
        instances.append((name, instance))
        sizes, counts = np.unique([job.num_tasks for job in instance.jobs], return_counts=True)
        details.append(
            {
                "name": name,
                "jobs_used": len(instance.jobs),
                "jobs_by_gpus": dict(zip(sizes.tolist(), counts.tolist(), strict=True)),
                "load": instance.num_tasks / room,
            }
        )
    report = {
        "rows_read": sum(file.rows for file in trace.source),
        "rows_rejected": len(trace.rejected),
        "rejected": rejections(trace),
        "left_out": dict(trace.left_out),
        "jobs_eligible": len(trace),
        "types": list(names),
        **({} if known is None else {"interference": known.report}),
        "instances": details,
    }
    origin: dict[str, Any] = {
        "format": form,
        "files": [{"name": file.name, "sha256": file.sha256} for file in trace.source],
        "options": options.model_dump(mode="json"),
    }
    if known is not None:
        origin["interference_sha256"] = known.sha256
    return ImportOutcome(list(instances), report, origin)


def _types(trace: Trace, types: int, known: Measurements | None) -> tuple[str, ...]:
    """Return the names of the types, in the order of the table."""
    networks = sorted(trace.jobs.model.dropna().unique())
    if known is None:
        return tuple(networks) or tuple(f"type {k}" for k in range(types))
    missing = [name for name in networks if name not in known.types]
    if missing:
        raise InputError(
            f"interference: {missing[0]!r} was not measured, expected every network of the trace "
            f"(measured: {', '.join(known.types)})"
        )
    return known.types


def _instance(
    trace: Trace,
    names: tuple[str, ...],
    known: Measurements | None,
    options: Any,
    rng: np.random.Generator,
) -> PlacementInstance:
    gpus = options.gpus_per_server
    servers = racks_of(options.racks, options.servers_per_rack, gpus, 4 * gpus)
    left = int(options.load * gpus * len(servers))
    index = {name: k for k, name in enumerate(names)}
    jobs: list[Job] = []
    sizes = trace.jobs.gpus.to_numpy()
    for row in rng.permutation(len(trace)).tolist():
        if sizes[row] <= left:
            jobs.append(_job(trace.jobs.iloc[row], index, rng))
            left -= int(sizes[row])
        if not left:
            break
    return PlacementInstance(
        servers=servers,
        jobs=tuple(jobs),
        interference=table(rng, len(names)) if known is None else known.table,
        measured=() if known is None else known.measured,
    )


def _job(row: Any, index: dict[str, int], rng: np.random.Generator) -> Job:
    stated = isinstance(row.model, str)
    drawn_s = Fraction(int(rng.integers(20, 101)), 100)
    base_s = decimal_rational(round(float(row.iteration_s), _DECIMALS)) if stated else drawn_s
    kind = index[row.model] if stated else int(rng.integers(len(index)))
    iterations = row.iterations if stated else round(row.duration_s / float(base_s))
    return Job(
        type=kind,
        num_tasks=int(row.gpus),
        gpus_per_task=1,
        cpus_per_task=int(rng.integers(2, 5)),
        iterations=max(1, int(iterations)),
        base_iteration_s=base_s,
        rack_comm_s=base_s * Fraction(int(rng.integers(2, 11)), 100),
        cross_comm_s=base_s * Fraction(int(rng.integers(10, 51)), 100),
        name=f"{row.file}:{row.line}",
    )
