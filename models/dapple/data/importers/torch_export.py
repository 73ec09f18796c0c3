"""Instances from exported PyTorch programs: numbered modules are layers, on boxes of GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.instance import CommModel
from gadgetopt.pieces.pipeline.profile_import import options_of
from gadgetopt.pieces.transformers.exported_layers import HELP, ExportOptions, import_programs
from gadgetopt.system.declaring import importer

from ...instance import DappleInstance


class TorchExportOptions(ExportOptions):
    """Options of `torch_export`: transfers of two values by default."""

    comm_model: CommModel = "simple"


@importer(
    name="torch-export",
    summary="PyTorch programs of torch.export.save: numbered modules are layers, times a roofline",
    options=TorchExportOptions,
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
        The fields of `TorchExportOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    given = options_of(TorchExportOptions, options)
    return import_programs(files, DappleInstance, given)
