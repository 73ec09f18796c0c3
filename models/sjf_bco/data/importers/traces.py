"""Importers of cluster traces (Philly, Muri): their jobs on a cluster of the paper's kind.

A trace gives the duration and the GPUs of a job, but no bandwidths, gradient sizes or compute
times. These come from `calibrated_instance`, by the same reconstruction as in the preset `paper`.
Submission times only select jobs: in the problem all jobs wait at slot 0.

Choices that neither the paper nor the traces determine (all reconstructed):

- A job of d seconds has the estimate d / `slot_s` slots. By default jobs of 2 to 12 hours are taken
  and the slot is the longest duration / 300 (144 s), so that estimates fill the paper's [50, 300].
- Philly jobs are drawn in the proportions of the paper's job sizes (`sizes="paper"`). The trace
  itself is 94% single-GPU jobs, among which there is no contention to schedule around.
- Philly has no iterations: F_j is drawn from the paper's range as far as the iteration time stays
  in [0.01, 0.05] slots. Muri has both, and they are kept.
- Contention and overhead together reach `extra` = 15% of an iteration at level `p_cal` = 4, not at
  the level of the largest server, where contention would be almost invisible.
- The horizon is 4 (area + longest estimate), with area the requested GPU-slots per GPU. A list
  schedule without contention needs area + longest, so far worse schedules still fit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import pandas as pd
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    field_validator,
)

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome, drawn_name
from gadgetopt.pieces.trace_jobs.selection import (
    in_virtual_cluster,
    in_window,
    keep,
    sample,
    with_duration_s,
    with_gpus,
)
from gadgetopt.pieces.traces import (
    Trace,
    joined,
    read_muri,
    read_philly,
    rejections,
)
from gadgetopt.system.declaring import importer

from ...instance import SjfBcoInstance
from ..generate.presets import (
    PAPER_CAPACITIES,
    PAPER_MIX,
    calibrated_instance,
    iteration_range,
)

#: The longest estimate of the paper, to which the longest duration is scaled by default.
_LONGEST_SLOTS = 300


class Options(BaseModel):
    """Options of both importers. Text from the command line is converted.

    Attributes
    ----------
    jobs, count : int
        Jobs per instance, and number of instances; each instance draws its jobs and servers.
    servers : int
        Number of servers whose capacities are drawn.
    server_gpus : "paper" or list of int
        "paper" draws each capacity from {4, 8, 16, 32}; a list such as "8,8,8" fixes the number and
        capacities of servers.
    sizes : "paper" or "trace"
        Draw job sizes in the paper's proportions, or all jobs with equal probability.
    min_gpus, max_gpus : int, optional
        Job sizes to keep.
    min_duration_s, max_duration_s : float, optional
        Durations to keep.
    window_hours : float, optional
        Length of the window of submission times.
    slot_s : float, optional
        Seconds per slot; default the longest duration kept / 300.
    horizon_slots : int, optional
        Default 4 (area + longest estimate).
    extra, p_cal
        As in `calibrated_instance`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    jobs: PositiveInt = 160
    count: PositiveInt = 1
    servers: PositiveInt = 20
    server_gpus: Literal["paper"] | tuple[PositiveInt, ...] = "paper"
    sizes: Literal["paper", "trace"] = "paper"
    min_gpus: PositiveInt | None = None
    max_gpus: PositiveInt | None = None
    min_duration_s: NonNegativeFloat | None = 7200.0
    max_duration_s: PositiveFloat | None = 43200.0
    window_hours: PositiveFloat | None = None
    slot_s: PositiveFloat | None = None
    horizon_slots: PositiveInt | None = None
    extra: float = Field(default=0.15, gt=0, lt=1)
    p_cal: PositiveInt = 4

    @field_validator("server_gpus", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if value == "paper":
            return value
        try:
            capacities = tuple(
                int(c) for c in (value.split(",") if isinstance(value, str) else value)
            )
        except (TypeError, ValueError):
            capacities = ()
        if not capacities or min(capacities) < 1:
            raise ValueError("expected 'paper' or positive integers such as [8,8,8]")
        return capacities

    @property
    def window_start_s(self) -> float | None:
        """Start of the window on the clock of the trace."""
        return None


class PhillyOptions(Options):
    """Options of `philly`: those of `Options` and two more.

    Attributes
    ----------
    window_start : datetime, optional
        First submission time to keep, in UTC unless stated; default the first of the trace.
    virtual_cluster : str
        Keep the jobs of one virtual cluster; empty keeps all. The default is text so that the
        command line reads names such as 6214e9 as text.
    """

    window_start: datetime | None = None
    virtual_cluster: str = ""

    @property
    def window_start_s(self) -> float | None:
        """Start of the window in seconds since 1970."""
        start = self.window_start
        if start is None:
            return None
        return (start if start.tzinfo else start.replace(tzinfo=UTC)).timestamp()


class MuriOptions(Options):
    """Options of `muri`: those of `Options`, with `sizes` by default as in the trace, and one more.

    Attributes
    ----------
    window_start_hours : float, optional
        Start of the window, counted from the start of the trace.
    """

    sizes: Literal["paper", "trace"] = "trace"
    window_start_hours: NonNegativeFloat | None = None

    @property
    def window_start_s(self) -> float | None:
        """Start of the window in seconds."""
        return None if self.window_start_hours is None else 3600 * self.window_start_hours


@importer(options=PhillyOptions)
def philly(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """The condensed Microsoft Philly trace.

    Make instances of a condensed Philly trace; see `PhillyOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used, or fewer jobs remain than are asked for.
    """
    settings = _settings(PhillyOptions, "philly", options)
    trace = joined([read_philly(path) for path in _some(files)])
    if settings.virtual_cluster:
        trace = in_virtual_cluster(trace, settings.virtual_cluster)
    return _import("philly", trace, settings, rng, _drawn_iterations)


@importer(options=MuriOptions)
def muri(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Traces of the Muri simulator, with iterations and iteration times.

    Make instances of a Muri simulator trace; see `MuriOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used, or fewer jobs remain than are asked for.
    """
    settings = _settings(MuriOptions, "muri", options)
    trace = joined([read_muri(path) for path in _some(files)])
    return _import("muri", trace, settings, rng, _stated_iterations)


_O = TypeVar("_O", bound=Options)

#: (jobs, seconds per slot, rng) -> F_j, and the product of F_j and the iteration time in slots.
_Iterations = Callable[[pd.DataFrame, float, np.random.Generator], tuple[list[int], list[float]]]


def _drawn_iterations(
    jobs: pd.DataFrame, slot_s: float, rng: np.random.Generator
) -> tuple[list[int], list[float]]:
    """Draw F_j from the paper's ranges; iterations fill the whole duration."""
    rhos = [float(d) / slot_s for d in jobs.duration_s]
    iterations = []
    for rho in rhos:
        low, high = iteration_range(rho)
        if (
            low > high
        ):  # too short or too long a job for both ranges: the iteration time stays in its range
            low = high = max(1, high) if rho < _LONGEST_SLOTS else low
        iterations.append(int(rng.integers(low, high + 1)))
    return iterations, rhos


def _stated_iterations(
    jobs: pd.DataFrame, slot_s: float, rng: np.random.Generator
) -> tuple[list[int], list[float]]:
    """Take iterations and iteration times from the trace."""
    rhos = jobs.iterations * jobs.iteration_s / slot_s
    return [int(f) for f in jobs.iterations], [float(rho) for rho in rhos]


def _import(
    source: str, trace: Trace, options: Options, rng: np.random.Generator, iterations: _Iterations
) -> ImportOutcome:
    rows = sum(file.rows for file in trace.source)
    trace = in_window(
        trace,
        options.window_start_s,
        None if options.window_hours is None else 3600 * options.window_hours,
    )
    trace = with_gpus(trace, options.min_gpus, options.max_gpus)
    trace = with_duration_s(trace, options.min_duration_s, options.max_duration_s)
    longest_s = options.max_duration_s or float(trace.jobs.duration_s.max())
    slot_s = options.slot_s or longest_s / _LONGEST_SLOTS
    instances, details = [], []
    for k in range(options.count):
        capacities = _capacities(options, rng)
        drawn = _sampled(trace, options, sum(capacities), rng)
        counts, rhos = iterations(drawn.jobs, slot_s, rng)
        instance = _instance(drawn.jobs, counts, rhos, capacities, slot_s=slot_s, options=options)
        stem = f"{Path(trace.source[0].name).stem}_{len(instance.jobs)}x{len(capacities)}"
        name = drawn_name(stem, rng, k)
        instances.append((name, instance))
        details.append({"name": name, **_described(instance, drawn, trace)})
    report = {
        "rows_read": rows,
        "rows_rejected": len(trace.rejected),
        "rejected": rejections(trace),
        "left_out": dict(trace.left_out),
        "jobs_eligible": len(trace),
        "units": {
            "slot_s": slot_s,
            "est_slots": "duration [s] / slot_s",
            "iterations": "drawn" if iterations is _drawn_iterations else "from the trace",
        },
        "instances": details,
    }
    origin = {
        "format": source,
        "files": [{"name": file.name, "sha256": file.sha256} for file in trace.source],
        "options": options.model_dump(mode="json"),
    }
    return ImportOutcome(list(instances), report, origin)


def _capacities(options: Options, rng: np.random.Generator) -> list[int]:
    if options.server_gpus == "paper":
        return [int(c) for c in rng.choice(PAPER_CAPACITIES, size=options.servers)]
    return list(options.server_gpus)


def _sampled(trace: Trace, options: Options, gpus: int, rng: np.random.Generator) -> Trace:
    """Draw the jobs of one instance from those that fit its cluster."""
    trace = keep(trace, trace.jobs.gpus.le(gpus), "larger than the cluster")
    weights = PAPER_MIX if options.sizes == "paper" else None
    return sample(trace, options.jobs, rng, weights)


def _described(instance: SjfBcoInstance, drawn: Trace, eligible: Trace) -> dict[str, Any]:
    """Return a summary of an instance, with the number of omitted eligible jobs by reason."""
    earlier = eligible.left_out
    return {
        "jobs_used": len(instance.jobs),
        "jobs_by_gpus": dict(sorted(Counter(job.gpus for job in instance.jobs).items())),
        "left_out": {
            reason: jobs - earlier.get(reason, 0)
            for reason, jobs in drawn.left_out.items()
            if jobs > earlier.get(reason, 0)
        },
        "server_gpus": list(instance.server_gpus),
        "horizon_slots": instance.horizon_slots,
    }


def _instance(
    jobs: pd.DataFrame,
    iterations: list[int],
    rhos: list[float],
    capacities: list[int],
    *,
    slot_s: float,
    options: Options,
) -> SjfBcoInstance:
    """Calibrate the drawn jobs; their estimates are the durations of the trace."""
    sizes = [int(g) for g in jobs.gpus]
    est_slots = [float(d) / slot_s for d in jobs.duration_s]
    area = sum(g * est for g, est in zip(sizes, est_slots, strict=True)) / sum(capacities)
    try:
        instance = calibrated_instance(
            capacities,
            sizes,
            rhos,
            iterations,
            horizon_slots=options.horizon_slots or math.ceil(4 * (area + max(est_slots))),
            extra=options.extra,
            p_cal=options.p_cal,
        )
    except ValidationError as error:
        raise InputError(
            f"slot_s: slots of {slot_s:g} s make no valid instance: {_first(error)}"
        ) from error
    named = (
        job.model_copy(update={"est_slots": est, "name": _name(row)})
        for job, est, row in zip(instance.jobs, est_slots, jobs.itertuples(), strict=True)
    )
    return instance.model_copy(update={"jobs": tuple(named)})


def _name(row: Any) -> str:
    """Return file and line of a job, and the model that it trains if known."""
    place = f"{row.file}:{row.line}"
    return f"{place} {row.model}" if isinstance(row.model, str) else place


def _some(files: Sequence[Path]) -> Sequence[Path]:
    if not files:
        raise InputError("files: none given, expected at least one trace")
    return files


def _settings(kind: type[_O], source: str, options: dict[str, Any]) -> _O:
    try:
        return kind(**options)
    except ValidationError as error:
        raise InputError(f"options of {source}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    """Return the first validation error in one line."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"][:1])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {first['input']!r}: {message}" if place else message
