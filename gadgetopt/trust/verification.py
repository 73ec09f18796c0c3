"""Solutions and certificates of files, checked without a solver."""

from __future__ import annotations

from gadgetopt.errors import BoundRefuted, InputError
from gadgetopt.numbers.text import show, show_apart, without_long_numbers
from gadgetopt.numbers.tolerance import Number, refutes
from gadgetopt.system.files import Document
from gadgetopt.system.result import Evaluation
from gadgetopt.trust.certificate import certified_bound, is_infinite


def verify_bound(instance: Document, certificate: Document) -> Number:
    """Return the dual bound that a certificate proves, without a solver.

    It is infinite where the certificate proves that there is no solution, or no optimum.

    Raises
    ------
    InputError
        If the two files belong to different problems, or the certificate proves nothing.
    """
    same_problem(instance, certificate)
    try:
        bound = certified_bound(instance.problem, instance.data, certificate.data)
    except ValueError as error:
        reason = without_long_numbers(str(error))
        raise InputError(f"{certificate.path}: {reason}") from None
    if bound is None:
        raise InputError(f"{certificate.path}: proves no bound on {instance.path}")
    return bound


def verify(
    instance: Document, solution: Document, certificate: Document | None = None
) -> Evaluation:
    """Evaluate a solution of an instance, and compare it with a certificate's bound if given.

    Raises
    ------
    InputError
        If the files belong to different problems, or the certificate proves nothing.
    BoundRefuted
        If the solution is feasible and better than the certificate's bound.
    """
    same_problem(instance, solution)
    evaluation: Evaluation = instance.problem.evaluate(instance.data, solution.data)
    if certificate is not None:
        contradiction = refutation(instance, evaluation, verify_bound(instance, certificate))
        if contradiction is not None:
            raise BoundRefuted(f"{certificate.path}: {contradiction}")
    return evaluation


def refutation(instance: Document, evaluation: Evaluation, bound: Number) -> str | None:
    """Return how a feasible solution refutes a dual bound, or None if it does not."""
    objective = evaluation.objective
    if not evaluation.feasible or objective is None:
        return None
    if is_infinite(bound):
        return f"a feasible solution has {show(objective)}"
    if not refutes(objective, bound, minimise=instance.problem.sense == "min"):
        return None
    claimed, true = show_apart(bound, objective)
    return f"the dual bound {claimed} is refuted: a feasible solution has {true}"


def same_problem(instance: Document, other: Document) -> None:
    """Raise an InputError if two files belong to different problems."""
    if instance.problem.name != other.problem.name:
        raise InputError(
            f"{other.path}: problem: {other.problem.name!r}, expected "
            f"{instance.problem.name!r} as in {instance.path}"
        )
