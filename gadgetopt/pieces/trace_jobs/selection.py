"""Jobs of a trace that are kept or drawn; what is left out is counted by its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from gadgetopt.errors import InputError
from gadgetopt.pieces.traces import Trace, losses, names


def keep(trace: Trace, kept: pd.Series[Any], reason: str) -> Trace:
    """Return the jobs for which `kept` is true; the others are counted under `reason`."""
    dropped = int((~kept).sum())
    if not dropped:
        return trace
    left_out = {**trace.left_out, reason: trace.left_out.get(reason, 0) + dropped}
    return replace(trace, jobs=trace.jobs[kept].reset_index(drop=True), left_out=left_out)


def in_window(trace: Trace, start_s: float | None, length_s: float | None) -> Trace:
    """Keep the jobs submitted within `length_s` from `start_s` on.

    `start_s` None means the first submission; `length_s` None means no end.
    """
    submit_s = trace.jobs.submit_s
    if start_s is not None:
        trace = keep(trace, submit_s >= start_s, "submitted before the window")
    if length_s is not None:
        start_s = float(submit_s.min()) if start_s is None else start_s
        trace = keep(trace, trace.jobs.submit_s < start_s + length_s, "submitted after the window")
    return trace


def in_virtual_cluster(trace: Trace, name: str) -> Trace:
    """Keep the jobs of one virtual cluster.

    Raises
    ------
    InputError
        If the trace has no such virtual cluster.
    """
    of_cluster = trace.jobs.virtual_cluster == name
    if not of_cluster.any():
        known = ", ".join(sorted(trace.jobs.virtual_cluster.dropna().unique()))
        none = "none (the format has none)" if len(trace) else f"none ({losses(trace)})"
        raise InputError(
            f"{names(trace)}: virtual_cluster: {name!r} has no job, expected one of {known or none}"
        )
    return keep(trace, of_cluster, f"not in virtual cluster {name}")


def with_gpus(trace: Trace, at_least: int | None = None, at_most: int | None = None) -> Trace:
    """Keep the jobs whose number of GPUs lies between the limits, both included."""
    return _between(trace, "gpus", at_least, at_most, "GPUs")


def with_duration_s(
    trace: Trace, at_least: float | None = None, at_most: float | None = None
) -> Trace:
    """Keep the jobs whose duration in seconds lies between the limits, both included."""
    return _between(trace, "duration_s", at_least, at_most, "s")


def sample(
    trace: Trace,
    jobs: int,
    rng: np.random.Generator,
    weight_of_gpus: Mapping[int, float] | None = None,
) -> Trace:
    """Draw `jobs` jobs without replacement; they stay in order of submission.

    Parameters
    ----------
    trace : Trace
    jobs : int
    rng : numpy.random.Generator
    weight_of_gpus : mapping, optional
        Proportions in which job sizes are drawn, whatever their proportions in the trace. Sizes
        that are not in it are left out. Default: every job is equally likely.

    Raises
    ------
    InputError
        If the trace has fewer jobs.
    """
    if weight_of_gpus is not None:
        sizes = sorted(weight_of_gpus)
        trace = keep(trace, trace.jobs.gpus.isin(sizes), f"GPUs not in {sizes}")
    if jobs > len(trace):
        raise InputError(
            f"{names(trace)}: jobs: {jobs} asked for, expected at most the {len(trace)} that are "
            f"left ({losses(trace)})"
        )
    chance = None
    if weight_of_gpus is not None:
        gpus = trace.jobs.gpus
        weight = (gpus.map(weight_of_gpus) / gpus.map(gpus.value_counts())).to_numpy(dtype=float)
        chance = weight / weight.sum()
    drawn = pd.Series(np.zeros(len(trace), dtype=bool))
    drawn[rng.choice(len(trace), size=jobs, replace=False, p=chance)] = True
    return keep(trace, drawn, "not sampled")


def _between(
    trace: Trace, column: str, at_least: float | None, at_most: float | None, unit: str
) -> Trace:
    if at_least is not None:
        trace = keep(trace, trace.jobs[column].ge(at_least), f"fewer than {at_least:g} {unit}")
    if at_most is not None:
        trace = keep(trace, trace.jobs[column].le(at_most), f"more than {at_most:g} {unit}")
    return trace
