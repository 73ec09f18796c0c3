"""The solver that suits a model: CP-SAT for pure knapsacks, HiGHS for all others.

CP-SAT takes integers alone, and on most models of these it is slower than HiGHS, too. On knapsacks
of several rows HiGHS's relaxation says little, and it needs many times as long.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.solvers.formulations.method import solve_formulation
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ... import PROBLEM
from ...features import row_classes
from ...instance import MipInstance

#: Rows from which on knapsacks are closed by CP-SAT sooner, and the least part of the columns that
#: are in a row, taken over all rows. Tuned: `benchmarks/defaults.py`.
SEVERAL, DENSE = 2, 0.9


@method(kind="exact", formulation="model", backend="highs")
def suited_solver(instance: MipInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """CP-SAT on binary knapsacks of several rows, each of most columns; HiGHS on any other model.

    Parameters
    ----------
    instance : MipInstance
    limits : Limits
    rng : numpy.random.Generator
        Its seed is an order of the rows and columns.
    """
    (formulation,) = PROBLEM.formulations
    backend = "cpsat" if is_knapsack(instance) else "highs"
    outcome = solve_formulation(PROBLEM, formulation, backend, instance, limits, rng)
    outcome.notes = {**outcome.notes, "solver": backend}
    return outcome


def is_knapsack(instance: MipInstance) -> bool:
    """Return whether all columns are binary and all rows, which are several, knapsacks of most."""
    model = instance.exact
    columns = zip(model.integer, model.lower, model.upper, strict=True)
    is_binary = all(whole and low == 0 and high == 1 for whole, low, high in columns)
    rows, classes = model.rows, row_classes(model)
    is_dense = sum(len(row.columns) for row in rows) >= DENSE * len(rows) * len(model.integer)
    return is_binary and is_dense and len(rows) >= SEVERAL and set(classes) == {"knapsack"}
