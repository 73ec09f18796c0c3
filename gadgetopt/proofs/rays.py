"""Proofs that a model is unbounded: an exact feasible point and an exact improving ray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.ray_kernel import check_unbounded
from gadgetopt.proofs.tree_kernel import Rejected
from gadgetopt.solvers.exact_optimum.rays import best_direction
from gadgetopt.solvers.linear import solve_form
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model
    from gadgetopt.solvers.standard_form import StandardForm


def ray_proof(form: StandardForm, model: Model, left_s: Callable[[], float]) -> list[str] | None:
    """Return the lines that prove a model unbounded; None if none are found in time.

    Parameters
    ----------
    form : StandardForm
        The compiled model.
    model : Model
        The same model in exact numbers.
    """
    direction = best_direction(form, Limits(time_s=max(0.0, left_s())), seed=0)
    if direction is None:
        return None
    # Any feasible point will do.
    indifferent = replace(
        form,
        c=np.zeros(len(form.columns)),
        offset=0.0,
        exact=replace(form.exact, costs={}, offset=0),
    )
    try:
        found = solve_form(indifferent, "highs", Limits(time_s=max(0.0, left_s())), 0)
    except ModelRefused:
        return None
    point = found.exact_values
    if point is None and found.values is not None and form.integer.all():
        point = [Fraction(round(x)) for x in found.values.tolist()]
    if point is None:
        return None
    lines = [_line("point", point), _line("ray", direction)]
    try:
        check_unbounded(model, lines)
    except Rejected:
        return None
    return lines


def _line(kind: str, numbers: Sequence[Fraction]) -> str:
    return " ".join([kind, *(f"{j} {x}" for j, x in enumerate(numbers) if x)])
