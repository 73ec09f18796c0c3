"""Pyomo models as instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.proofs.named_form import named_model
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.declaring import importer

from ...instance import MipInstance


@importer(name="pyomo", objects=("pyomo",))
def models(files: Sequence[Any], rng: np.random.Generator) -> ImportOutcome:
    """Linear Pyomo models, in Python: each number as it was written, names as Pyomo has them.

    Columns that occur nowhere are left out, and fixed variables are constants.

    Parameters
    ----------
    files : sequence of ConcreteModel
    rng : numpy.random.Generator
        Not used: nothing is drawn.

    Raises
    ------
    InputError
        If one is no linear model, or a number of it is known only as a rounded double.
    """
    instances = []
    for model in files:
        given = str(getattr(model, "name", model))
        name = "model" if given == "unknown" else given  # Pyomo's word for a model without a name
        try:
            instances.append((name, MipInstance.of(named_model(compile_model(model)))))
        except (InputError, ValueError, TriviallyInfeasibleError) as error:
            raise InputError(f"{name}: {error}") from None
    return ImportOutcome(list(instances), {"instances": len(instances)}, {"format": "pyomo"})
