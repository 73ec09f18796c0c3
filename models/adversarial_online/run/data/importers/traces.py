"""Streams of requests from traces of GPU clusters.

A job asks for its GPUs once and keeps them; the resource is not given back (reconstructed). Its
value is its weight times its work, GPUs x seconds, with a weight drawn from whole numbers; so a GPU
is worth weight x duration, and the bounds are the shortest duration and the longest one times the
largest weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome, drawn_name
from gadgetopt.pieces.trace_jobs.selection import in_virtual_cluster, keep
from gadgetopt.pieces.traces import (
    Trace,
    joined,
    losses,
    read_muri,
    read_philly,
    rejections,
)
from gadgetopt.system.declaring import importer

from ...instance import AdversarialOnlineRunInstance

if TYPE_CHECKING:
    from typing import Any


_HELP = {
    "gpus": "for sale",
    "requests": "the first ones of the trace; all by default",
    "shortest_s": "jobs that run shorter are left out; with weight 1 the least value of a GPU",
    "longest_s": "jobs that run longer are left out",
    "largest_weight": "weights are drawn from 1 to this whole number",
}


@importer(help=_HELP)
def philly(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    gpus: int = 1000,
    requests: int | None = None,
    shortest_s: float = 600.0,
    longest_s: float = 360000.0,
    largest_weight: int = 5,
    virtual_cluster: str | None = None,
) -> ImportOutcome:
    """The condensed Philly trace: value = weight x work, demand = GPUs.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Draws the weights.
    gpus : int, default 1000
        For sale.
    requests : int, optional
        The first ones in order of submission; all by default.
    shortest_s, longest_s : float
        Jobs of other durations are left out.
    largest_weight : int, default 5
    virtual_cluster : str, optional
        Of whose jobs alone the stream consists.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    options = {
        "gpus": gpus,
        "requests": requests,
        "shortest_s": shortest_s,
        "longest_s": longest_s,
        "largest_weight": largest_weight,
        "virtual_cluster": virtual_cluster,
    }
    return _stream("philly", read_philly, files, rng, options)


@importer(help=_HELP)
def muri(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    gpus: int = 1000,
    requests: int | None = None,
    shortest_s: float = 600.0,
    longest_s: float = 360000.0,
    largest_weight: int = 5,
    virtual_cluster: str | None = None,
) -> ImportOutcome:
    """Traces of the Muri simulator: value = weight x work, demand = GPUs.

    Make a stream of traces of the Muri simulator; see `philly` for the options.
    """
    options = {
        "gpus": gpus,
        "requests": requests,
        "shortest_s": shortest_s,
        "longest_s": longest_s,
        "largest_weight": largest_weight,
        "virtual_cluster": virtual_cluster,
    }
    return _stream("muri", read_muri, files, rng, options)


def _stream(
    form: str,
    read: Callable[[Path], Trace],
    files: Sequence[Path],
    rng: np.random.Generator,
    options: dict[str, Any],
) -> ImportOutcome:
    if not files:
        raise InputError("files: none given, expected at least one trace")
    weight_max, gpus = options["largest_weight"], options["gpus"]
    if weight_max < 1:
        raise InputError(f"largest_weight: {weight_max}, expected at least 1")
    shortest_s, longest_s = options["shortest_s"], options["longest_s"]
    if not 0 < shortest_s <= longest_s:
        raise InputError(f"shortest_s: {shortest_s}, expected above 0, up to longest_s")
    trace = joined([read(Path(path)) for path in files])
    rows = len(trace) + len(trace.rejected)
    if options["virtual_cluster"] is not None:
        trace = in_virtual_cluster(trace, options["virtual_cluster"])
    duration = trace.jobs.duration_s
    trace = keep(trace, duration >= shortest_s, f"shorter than {shortest_s:g} s")
    trace = keep(trace, trace.jobs.duration_s <= longest_s, f"longer than {longest_s:g} s")
    trace = keep(trace, trace.jobs.gpus <= gpus, f"more than {gpus} GPUs")
    if options["requests"] is not None:
        first = np.arange(len(trace)) < options["requests"]
        trace = keep(trace, trace.jobs.gpus.where(first, 0) > 0, "after the requests asked for")
    if not len(trace):
        raise InputError(
            f"files: no job is left, expected at least one within the options ({losses(trace)})"
        )
    weights = rng.integers(1, weight_max + 1, size=len(trace))
    demand = trace.jobs.gpus.to_numpy(dtype=np.int64)
    value = np.round(weights * trace.jobs.duration_s.to_numpy(dtype=float), 3) * demand
    instance = AdversarialOnlineRunInstance(
        capacity=(gpus,),
        value=tuple(np.round(value, 3).tolist()),
        demand=tuple((d,) for d in demand.tolist()),
        value_min=shortest_s,
        value_max=longest_s * weight_max,
    )
    name = drawn_name(f"{Path(files[0]).stem}_{len(trace)}x{gpus}", rng, 0)
    report = {
        "rows_read": rows,
        "rows_rejected": len(trace.rejected),
        "rejected": rejections(trace),
        "left_out": dict(trace.left_out),
        "units": {"value": "weight x GPUs x seconds", "demand": "GPUs"},
        "instances": [{"name": name, "requests": len(trace)}],
    }
    origin = {
        "format": form,
        "files": [{"name": source.name, "sha256": source.sha256} for source in trace.source],
        "options": options,
    }
    return ImportOutcome([(name, instance)], report, origin)
