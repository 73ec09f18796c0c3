"""Dual bounds checked from certificates in exact arithmetic, without trusting a solver.

A certificate is a system's own (a partition, prices, the name of a formula) and checked by the
system's `check_bound`; or it is about the model of one of its formulations: row duals, or a proof
(`gadgetopt.proofs`). Then the model is built anew from the instance.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError, ModelRefused, Unproved
from gadgetopt.numbers.tolerance import Number, is_finite
from gadgetopt.system.data import Certificate, LpDuals, ModelProof
from gadgetopt.system.declaration import Problem, integral
from gadgetopt.system.methods import find_formulation

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model
    from gadgetopt.solvers.standard_form import StandardForm

#: Most binary digits of a bound's denominator: as many as optima of linear programs of hundreds of
#: rows have, and few enough for a file. Python does not print integers of thousands of digits.
#: Tuned: `benchmarks/constants.py`.
MOST_BITS = 3000
#: The largest double, as an integer.
LARGEST = int(sys.float_info.max)


def certified_bound(problem: Problem, instance: Any, certificate: Certificate) -> Number | None:
    """Return the dual bound that a certificate proves on an instance, or None if it proves none.

    It is infinite where a proof about a model shows that nothing is feasible, or that the model is
    unbounded: the optimum of nothing is worse than any number, that of an unbounded model better.

    Raises
    ------
    InputError
        If the problem has no certificates of this kind.
    ValueError
        If the certificate refers to something the instance does not have, or the bound is not
        finite or larger than any double.
    """
    bound: Number | None
    if isinstance(certificate, LpDuals):
        bound = _bound_of_duals(problem, instance, certificate)
    elif isinstance(certificate, ModelProof):
        return _bound_of_proof(problem, instance, certificate)
    elif problem.check_bound is not None:
        bound = problem.check_bound(instance, certificate)
    else:
        raise InputError(f"{problem.name}: has no certificates of its own")
    return None if bound is None else _kept(problem, bound)


def is_infinite(bound: Number) -> bool:
    """Return True if a proved bound says that nothing is feasible, or the model unbounded."""
    return isinstance(bound, float) and math.isinf(bound)


def _kept(problem: Problem, bound: Number) -> Number:
    """Return a proved bound as results keep it: finite, of few digits, whole where values are."""
    if not is_finite(bound) or abs(Fraction(bound)) > LARGEST:
        raise Unproved("the bound is larger than any double")
    return integral(problem, shortened(problem, bound))


def shortened(problem: Problem, bound: Number) -> Number:
    """Return a dual bound, or a negligibly weaker one with fewer digits."""
    if not isinstance(bound, Fraction) or bound.denominator.bit_length() <= MOST_BITS:
        return bound
    scaled = bound * (1 << MOST_BITS)
    whole = math.floor(scaled) if problem.sense == "min" else math.ceil(scaled)
    return Fraction(whole, 1 << MOST_BITS)


def _bound_of_duals(problem: Problem, instance: Any, certificate: LpDuals) -> Number | None:
    from gadgetopt.numbers.exact import common_denominator
    from gadgetopt.proofs.exact_model import exact_model, with_rounded_costs
    from gadgetopt.solvers.dual_bounds import exact_dual_bound

    common_denominator(certificate.row_duals)  # refuses those with too many digits
    form = compiled_formulation(problem, instance, certificate.formulation)
    rounding = find_formulation(problem, certificate.formulation).objective_error
    try:
        bound = exact_dual_bound(form, certificate.row_duals)
        if bound is None or not rounding:
            return bound
        model = exact_model(form)
        return model.bound(with_rounded_costs(model, model.least(bound), rounding))
    except ModelRefused as error:
        raise Unproved(f"formulation: {certificate.formulation!r}: {error}") from None


def _bound_of_proof(problem: Problem, instance: Any, certificate: ModelProof) -> Number:
    from gadgetopt.proofs.exact_model import exact_model, has_all_of
    from gadgetopt.proofs.model import digest

    form = compiled_formulation(problem, instance, certificate.formulation)
    try:
        model = exact_model(form)
    except ModelRefused as error:
        raise Unproved(f"formulation: {certificate.formulation!r}: {error}") from None
    if digest(model) != certificate.model:
        what = "of other data, or made by another version"
        raise ValueError(f"model: is not that of {certificate.formulation!r} here, but {what}")
    if certificate.kind == "ray" and not has_all_of(model, form):
        raise Unproved(f"formulation: {certificate.formulation!r}: a row is not known exactly")
    return bound_on_model(problem, certificate, model)


def bound_on_model(problem: Problem, certificate: ModelProof, model: Model) -> Number:
    """Return the bound on the problem that a proof proves on the exact model of its formulation.

    It is infinite as `certified_bound` says.

    Raises
    ------
    ValueError
        If it proves none.
    """
    if certificate.kind == "ray":
        return _bound_of_ray(problem, certificate, model)
    from gadgetopt.proofs import tree_kernel
    from gadgetopt.proofs.exact_model import with_rounded_costs
    from gadgetopt.proofs.files import unpacked
    from gadgetopt.proofs.pseudo_boolean import encoding

    least: Fraction | int | None
    try:
        if certificate.kind == "tree":
            least = tree_kernel.proved(model, unpacked(certificate.proof))
        else:
            least = encoding.proved(model, unpacked(certificate.proof))
    except ValueError as error:
        raise ValueError(f"proof: {str(error).removeprefix('proof: ')}") from None
    if least is None:
        return math.inf if model.sense == "min" else -math.inf
    rounding = find_formulation(problem, certificate.formulation).objective_error
    if rounding:
        try:
            least = with_rounded_costs(model, Fraction(least), rounding)
        except ValueError as error:
            raise Unproved(f"formulation: {certificate.formulation!r}: {error}") from None
    return _kept(problem, model.bound(least))


def _bound_of_ray(problem: Problem, certificate: ModelProof, model: Model) -> float:
    """Return the infinite optimum of a model that a point and a ray prove unbounded."""
    from gadgetopt.proofs.files import unpacked
    from gadgetopt.proofs.ray_kernel import check_unbounded

    formulation = find_formulation(problem, certificate.formulation)
    if formulation.strength != "exact" or formulation.objective_error:
        what = "is not exact, and may be unbounded where the problem is not"
        raise Unproved(f"formulation: {certificate.formulation!r} {what}")
    try:
        check_unbounded(model, unpacked(certificate.proof))
    except ValueError as error:
        raise ValueError(f"proof: {str(error).removeprefix('proof: ')}") from None
    return -math.inf if model.sense == "min" else math.inf


def compiled_formulation(problem: Problem, instance: Any, name: str) -> StandardForm:
    """Return the compiled model of a formulation whose bounds hold for the problem."""
    from gadgetopt.solvers.compiler import TriviallyInfeasibleError
    from gadgetopt.solvers.dual_bounds import rounded_in_model
    from gadgetopt.solvers.formulations.building import compiled

    formulation = find_formulation(problem, name)
    if formulation.strength == "restriction":
        raise Unproved(f"formulation: {name!r} is a restriction and bounds nothing")
    reason = rounded_in_model(formulation, instance)
    if reason is not None:
        raise Unproved(f"formulation: {name!r}: {reason}")
    try:
        return compiled(formulation, instance)
    except (ModelRefused, TriviallyInfeasibleError) as error:
        raise Unproved(f"formulation: {name!r}: {error}") from None
