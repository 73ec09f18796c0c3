"""Instances from profiles of PipeDream, DAPPLE and dnn-partitioning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.pieces.pipeline.profile_import import ProfileOptions, import_profiles, options_of
from gadgetopt.pieces.pipeline.profiles import read_partitioning_graph, read_profile
from gadgetopt.pieces.traces import ImportOutcome

from ..instance import SppInstance


class PipedreamOptions(ProfileOptions):
    """Options of `pipedream`."""


class DappleProfileOptions(ProfileOptions):
    """Options of `dapple_profile`."""


class DnnPartitioningOptions(ProfileOptions):
    """Options of `dnn_partitioning`."""


def pipedream(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make one instance of each ``graph.txt`` of PipeDream; see `PipedreamOptions`.

    Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = options_of(PipedreamOptions, options)
    return import_profiles("pipedream", files, read_profile, SppInstance, settings)


def dapple_profile(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """Make one instance of each profile of DAPPLE's planner; see `DappleProfileOptions`.

    Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = options_of(DappleProfileOptions, options)
    return import_profiles("dapple_profile", files, read_profile, SppInstance, settings)


def dnn_partitioning(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """Make one instance of each throughput input of dnn-partitioning.

    See `DnnPartitioningOptions`. Latencies are taken as milliseconds, as the profiles have them;
    devices and memory limits of the file are reported, not used. Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = options_of(DnnPartitioningOptions, options)
    return import_profiles(
        "dnn_partitioning", files, read_partitioning_graph, SppInstance, settings
    )
