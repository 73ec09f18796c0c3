"""The rational values of a solved model's variables, beside the doubles that Pyomo holds.

Decoders of formulations whose decision has to hold exactly read them; all others read doubles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pyomo.common.collections import ComponentMap

from gadgetopt.solvers.domains import value_nearest_zero

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from gadgetopt.solvers.standard_form import StandardForm

_ATTRIBUTE = "_exact_values"


def exact_values(model: ConcreteModel) -> Mapping[Any, Fraction] | None:
    """Return the values of a model's variables at its exact optimum; None if it was not reached.

    Fixed variables are left out.
    """
    found: Mapping[Any, Fraction] | None = getattr(model, _ATTRIBUTE, None)
    return found


def keep_exact_values(model: ConcreteModel, form: StandardForm, values: Sequence[Fraction]) -> None:
    """Keep the values of a form's columns with the model that was compiled to it."""
    kept = ComponentMap(zip(form.columns, values, strict=True))
    kept.update((v, Fraction(value_nearest_zero(v))) for v in form.unused)
    setattr(model, _ATTRIBUTE, kept)


def forget_exact_values(model: ConcreteModel) -> None:
    """Forget the values of an earlier solve."""
    setattr(model, _ATTRIBUTE, None)
