"""What every model is looked at for before a solver gets it, whichever solver that is.

Solvers know different parts of Pyomo, and some leave out what they do not know: a disjunction, say.
Their results would be those of another model.
"""

from __future__ import annotations

import math
from typing import Any

from pyomo.core.base import (
    Block,
    Constraint,
    Expression,
    ExternalFunction,
    Objective,
    Param,
    RangeSet,
    Set,
    Suffix,
    Var,
)
from pyomo.core.base.block import BlockData
from pyomo.core.kernel.base import ICategorizedObject
from pyomo.dae import ContinuousSet, DerivativeVar
from pyomo.network import Port
from pyomo.repn.util import categorize_valid_components

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers.compiler import CONSTANT_TOLERANCE, TriviallyInfeasibleError

_KNOWN = frozenset(
    {Block, Constraint, Objective, Var, Param, Expression, ExternalFunction, Set, RangeSet}
    | {Port, Suffix}
)


def check_is_model(model: Any) -> None:
    """Refuse what is not a constructed and active Pyomo model.

    Raises
    ------
    InputError
        If it is no model of `pyomo.environ`.
    ModelRefused
        If it is an abstract model without data, or deactivated.
    """
    if not isinstance(model, BlockData):
        raise InputError(f"expected a ConcreteModel of pyomo.environ, not a {type(model).__name__}")
    if not model.is_constructed():
        raise ModelRefused("the model is not constructed: call its create_instance")
    if not model.active:
        raise ModelRefused("the model is deactivated")


def check_components(model: Any) -> None:
    """Refuse a model that is more than an objective and rows over numbers and free variables.

    Raises
    ------
    InputError
        If it is no model, or a variable is fixed at what is no finite number.
    ModelRefused
        If there is a component that has no linear form, such as a disjunction.
    TriviallyInfeasibleError
        If a variable is fixed outside its domain or bounds.
    """
    check_is_model(model)
    _, unknown = categorize_valid_components(model, active=True, valid=set(_KNOWN))
    for kind, components in unknown.items():
        raise ModelRefused(f"{components[0].name}: a {kind.__name__} has no linear form")
    for block in model.block_data_objects(active=True):
        for name, thing in vars(block).items():
            if isinstance(thing, ICategorizedObject):
                raise ModelRefused(f"{name}: objects of pyomo.kernel are no part of the model")
    for derivative in model.component_objects(DerivativeVar):
        raise ModelRefused(f"{derivative.name}: the derivative is not discretised")
    for points in model.component_objects(ContinuousSet):
        if not points.get_discretization_info():
            raise ModelRefused(f"{points.name}: the model is not discretised along it")
    for v in model.component_data_objects(Var, descend_into=Block):
        if v.fixed and v.value is not None:
            _check_fixed(v)


def _check_fixed(v: Any) -> None:
    x = v.value
    if isinstance(x, float) and not math.isfinite(x):
        raise InputError(f"{v.name}: it is fixed at {x}, which is not a finite number")
    continuous = v.domain.get_interval()[2] == 0
    if not continuous and x not in v.domain:
        raise TriviallyInfeasibleError(
            f"{v.name}: it is fixed at {x}, which is not in its domain {v.domain}"
        )
    for sign, bound in zip((1, -1), v.bounds, strict=True):
        slack = CONSTANT_TOLERANCE * max(1.0, abs(bound or 0)) if continuous else 0
        if bound is not None and sign * (bound - x) > slack:
            raise TriviallyInfeasibleError(
                f"{v.name}: it is fixed at {x}, beyond its bound {bound}"
            )
