"""Instances from exported PyTorch programs: numbered modules are layers, on boxes of GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.profile_import import options_of
from gadgetopt.pieces.transformers.exported_layers import HELP, ExportOptions, import_programs
from gadgetopt.system.declaring import importer

from ...instance import SppInstance


@importer(
    name="torch-export",
    summary="PyTorch programs of torch.export.save: numbered modules are layers, times a roofline",
    options=ExportOptions,
    help=HELP,
)
def torch_export(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each program; see `gadgetopt.pieces.transformers.exported_layers`.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    **options
        The fields of `ExportOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    given = options_of(ExportOptions, options)
    return import_programs(files, SppInstance, given)
