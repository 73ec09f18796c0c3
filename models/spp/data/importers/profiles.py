"""Instances from profiles: graphs become chains of layers, on a cluster of machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.pieces.pipeline.profile_import import ProfileOptions, import_profiles, options_of
from gadgetopt.pieces.pipeline.profiles import read_partitioning_graph, read_profile
from gadgetopt.pieces.traces import ImportOutcome

from ...instance import SppInstance


class PipedreamProfileOptions(ProfileOptions):
    """Options of `pipedream_profile`."""


class DnnPartitioningOptions(ProfileOptions):
    """Options of `dnn_partitioning`."""


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


def dnn_partitioning(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """Make an instance of each JSON input of dnn-partitioning; latencies are taken as ms.

    The parameters are those of `pipedream_profile`.
    """
    given = options_of(DnnPartitioningOptions, options)
    return import_profiles("dnn-partitioning", files, read_partitioning_graph, SppInstance, given)
