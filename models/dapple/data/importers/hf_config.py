"""Instances from configurations of transformers: every block a layer, on boxes of accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.instance import CommModel
from gadgetopt.pieces.pipeline.profile_import import options_of
from gadgetopt.pieces.transformers.importing import HELP, import_configs
from gadgetopt.pieces.transformers.pipelines import PlannerOptions, planning_problem
from gadgetopt.system.declaring import importer

from ...instance import DappleInstance


class HfConfigOptions(PlannerOptions):
    """Options of `hf_config`: transfers of two values by default."""

    comm_model: CommModel = "simple"


@importer(
    name="hf-config",
    summary="config.json of a transformer: its layers on boxes of accelerators",
    options=HfConfigOptions,
    help=HELP,
)
def hf_config(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each configuration of a transformer.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    **options
        The fields of `HfConfigOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    given = options_of(HfConfigOptions, options)
    return import_configs(files, given, planning_problem(DappleInstance))
