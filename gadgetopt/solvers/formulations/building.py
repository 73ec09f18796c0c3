"""Models built without Pyomo's word on interruptions: it reports them as errors of a component."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaration import Formulation

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from gadgetopt.solvers.standard_form import StandardForm


def compiled(formulation: Formulation, instance: Any) -> StandardForm:
    """Return the model of a formulation on an instance's data as arrays and exact numbers.

    Raises
    ------
    ModelRefused, TriviallyInfeasibleError, InputError
        As `compile_model`, and as the formulation refuses the instance.
    """
    from gadgetopt.solvers.standard_form import compile_model

    if formulation.form is not None:
        form: StandardForm = formulation.form(instance)
        return form
    return compile_model(built(formulation, instance))


def decision(formulation: Formulation, model: ConcreteModel, instance: Any) -> Any:
    """Return the decision that the values of a formulation's Pyomo model are.

    The columns of arrays are the variables of the model, in their order.
    """
    from pyomo.core.base import Var

    from gadgetopt.numbers.tolerance import simplest_rational
    from gadgetopt.solvers.exact_optimum.values import exact_values

    assert formulation.decode is not None
    if formulation.form is None:
        return formulation.decode(model, instance)
    exact = exact_values(model)
    variables = list(model.component_data_objects(Var))
    return formulation.decode(
        [
            exact[v] if exact is not None and v in exact else simplest_rational(v.value or 0)
            for v in variables
        ],
        instance,
    )


def built(formulation: Formulation, instance: Any) -> ConcreteModel:
    """Return the model of a formulation on an instance's data."""
    from pyomo.common.log import pyomo_handler

    pyomo_handler.addFilter(_is_news)  # again is once
    model: ConcreteModel = formulation.build(instance)
    return model


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for what is said because Ctrl-C or an alarm passes through."""
    kind = sys.exc_info()[0]
    return kind is None or not issubclass(kind, KeyboardInterrupt)
