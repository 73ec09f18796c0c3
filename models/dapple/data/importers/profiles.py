"""Instances from profiles of PipeDream, DAPPLE and dnn-partitioning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.instance import CommModel
from gadgetopt.pieces.pipeline.profile_import import ProfileOptions, import_profiles, options_of
from gadgetopt.pieces.pipeline.profiles import read_partitioning_graph, read_profile
from gadgetopt.pieces.transformers.torch_trace import read_trace
from gadgetopt.system.declaring import importer

from ...instance import DappleInstance


class PipedreamOptions(ProfileOptions):
    """Options of `pipedream`; the cluster's defaults are those of the public planner."""

    cluster: str = "8,8"
    intra_gbyte_per_s: float = Field(default=25.0, gt=0, le=1e6)
    inter_gbyte_per_s: float = Field(default=1.0, gt=0, le=1e6)
    allreduce_intra_gbyte_per_s: float = Field(default=100.0, ge=0, le=1e6)
    allreduce_inter_gbyte_per_s: float = Field(default=3.0, ge=0, le=1e6)
    multi_inter_gbyte_per_s: float = Field(default=3.0, ge=0, le=1e6)
    comm_model: CommModel = "planner_code"


class DappleProfileOptions(PipedreamOptions):
    """Options of `dapple_profile`."""


class DnnPartitioningOptions(PipedreamOptions):
    """Options of `dnn_partitioning`."""


class TorchTraceOptions(PipedreamOptions):
    """Options of `torch_trace`."""


_HELP = {
    "cluster": "machines x GPUs of each, '4x4', or the GPUs of each machine, '8,8'",
    "microbatches": "the profiled minibatch is split into so many",
    "profile_batch": "with global_batch and microbatch: samples, from which M follows",
}


@importer(
    name="pipedream-profile",
    summary="graph.txt of PipeDream's profiler",
    options=PipedreamOptions,
    help=_HELP,
)
def pipedream(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make one instance of each ``graph.txt`` of PipeDream; see `PipedreamOptions`.

    Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = options_of(PipedreamOptions, options)
    return import_profiles("pipedream-profile", files, read_profile, DappleInstance, settings)


@importer(name="dapple-profile", options=DappleProfileOptions, help=_HELP)
def dapple_profile(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """Profiles of DAPPLE's planner.

    Make one instance of each profile of DAPPLE's planner; see `DappleProfileOptions`.

    Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = options_of(DappleProfileOptions, options)
    return import_profiles("dapple-profile", files, read_profile, DappleInstance, settings)


@importer(name="dnn-partitioning", options=DnnPartitioningOptions, help=_HELP)
def dnn_partitioning(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """Throughput inputs of dnn-partitioning, JSON.

    See `DnnPartitioningOptions`. Latencies are taken as milliseconds, as the profiles have them;
    devices and memory limits of the file are reported, not used. Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = options_of(DnnPartitioningOptions, options)
    return import_profiles(
        "dnn-partitioning", files, read_partitioning_graph, DappleInstance, settings
    )


@importer(
    name="torch-trace",
    summary="Chrome traces of torch.profiler whose layers are marked by record_function",
    options=TorchTraceOptions,
    help=_HELP,
)
def torch_trace(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each trace; see `gadgetopt.pieces.transformers.torch_trace`.

    Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = options_of(TorchTraceOptions, options)
    return import_profiles("torch-trace", files, read_trace, DappleInstance, settings)
