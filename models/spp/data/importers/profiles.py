"""Instances from profiles: graphs become chains of layers, on a cluster of machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.profile_import import ProfileOptions, import_profiles, options_of
from gadgetopt.pieces.pipeline.profiles import read_partitioning_graph, read_profile
from gadgetopt.pieces.transformers.torch_trace import read_trace
from gadgetopt.system.declaring import importer

from ...instance import SppInstance


class PipedreamProfileOptions(ProfileOptions):
    """Options of `pipedream_profile`."""


class DnnPartitioningOptions(ProfileOptions):
    """Options of `dnn_partitioning`."""


class TorchTraceOptions(ProfileOptions):
    """Options of `torch_trace`."""


_HELP = {
    "cluster": "machines x GPUs of each, '4x4', or the GPUs of each machine, '8,8'",
    "microbatches": "the profiled minibatch is split into so many",
    "profile_batch": "samples profiled; with global_batch and microbatch, instead of microbatches",
    "allreduce_intra_gbyte_per_s": "0: as for transfers; so the next two",
}


@importer(
    name="pipedream-profile",
    summary="graph.txt of PipeDream's profiler, and the profiles of DAPPLE's planner",
    options=PipedreamProfileOptions,
    help=_HELP,
)
def pipedream_profile(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """Make an instance of each profile in the text form of PipeDream and DAPPLE.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    **options
        The fields of `gadgetopt.pieces.pipeline.profile_import.ProfileOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    given = options_of(PipedreamProfileOptions, options)
    return import_profiles("pipedream-profile", files, read_profile, SppInstance, given)


@importer(name="dnn-partitioning", options=DnnPartitioningOptions, help=_HELP)
def dnn_partitioning(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """JSON inputs of dnn-partitioning.

    The parameters are those of `pipedream_profile`.
    """
    given = options_of(DnnPartitioningOptions, options)
    return import_profiles("dnn-partitioning", files, read_partitioning_graph, SppInstance, given)


@importer(
    name="torch-trace",
    summary="Chrome traces of torch.profiler whose layers are marked by record_function",
    options=TorchTraceOptions,
    help=_HELP,
)
def torch_trace(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each trace; see `gadgetopt.pieces.transformers.torch_trace`.

    The parameters are those of `pipedream_profile`.
    """
    given = options_of(TorchTraceOptions, options)
    return import_profiles("torch-trace", files, read_trace, SppInstance, given)
