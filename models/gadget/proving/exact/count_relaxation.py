"""The relaxation by ring counts as arrays that cuts can be added to."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...instance import GadgetInstance
from ..certificate.epochs import epochs_of
from .epoch_form import EpochForm


def count_form(instance: GadgetInstance) -> EpochForm:
    """Return the compiled formulation `ring_counts` with the columns of its totals.

    Raises
    ------
    ModelRefused
        If the network is a graph, or the model is too large.
    """
    from gadgetopt.solvers.standard_form import compile_model

    from ..formulations import ring_counts

    model = ring_counts.build(instance)
    form = compile_model(model)
    columns: dict[str, list[tuple[int, int, int]]] = {"z": [], "chi": [], "delta": []}
    for c, var in enumerate(form.columns):
        name = var.parent_component().name
        if name in columns:
            columns[name].append((c, *var.index()))
    z, chi, delta = (_table(columns[name]) for name in ("z", "chi", "delta"))
    return EpochForm(
        form,
        epochs_of(instance.terms),
        z=z[0],
        chi=chi[0],
        delta=delta[0],
        z_job=z[1],
        z_epoch=z[2],
        level_job=chi[1],
        level=chi[2],
        piece_job=delta[1],
    )


def _table(rows: list[tuple[int, int, int]]) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, 3).T
