"""PD-ORS with other ranges of its prices than the paper's U and L (all reconstructed)."""

from __future__ import annotations

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.pd_ors import decide
from ..instance import PdOrsInstance
from ..subproblems.prices import Upper, given_range, past_range, price_range


@method(kind="online", reference="L = e^-k min U (reconstructed)")
def pd_ors_price_span(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    log_price_span: float = 10.0,
    upper: Upper = "min",
) -> MethodOutcome:
    r"""PD-ORS with a given span ln(U / L) of its prices.

    Return the decisions of `pd_ors` with :math:`L = e^{-k} \min_r U^r`.

    The paper's L is often so low that prices are next to nothing until a machine is almost full.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    log_price_span : float, default 10
        k.
    upper : "min" or "sum", default "min"
        As in `pd_ors`.
    """
    prices = price_range(instance, upper=upper, log_price_span=log_price_span)
    return decide(instance, limits, prices)


@method(kind="online", reference="units that do not matter (reconstructed)")
def pd_ors_normalised(instance: PdOrsInstance, limits: Limits) -> MethodOutcome:
    """PD-ORS with every resource measured by its largest machine.

    Return the decisions of `pd_ors` with every resource measured by its largest machine.

    The paper's L and mu add up amounts of different resources, so that units matter.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    """
    return decide(instance, limits, price_range(instance, normalise_resources=True))


@method(kind="online", reference="constants known beforehand (reconstructed)")
def pd_ors_given_prices(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    given_upper: float = 1.0,
    given_lower: float = 1e-3,
) -> MethodOutcome:
    """PD-ORS with U and L that are given, the same for all resources.

    Return the decisions of `pd_ors` with given U, the same for all resources, and L.

    The paper's U and L come from all jobs of the instance, which nobody knows beforehand.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    given_upper, given_lower : float
        U and L, per amount of 1 of any resource.

    Raises
    ------
    ModelRefused
        If they are not in order.
    """
    try:
        prices = given_range(instance, given_upper, given_lower)
    except ValueError as error:
        raise ModelRefused(str(error)) from error
    return decide(instance, limits, prices)


@method(kind="online", reference="constants of the past (reconstructed)")
def pd_ors_history(instance: PdOrsInstance, limits: Limits, *, history: str = "") -> MethodOutcome:
    """PD-ORS with U and L of the jobs of another instance.

    Return the decisions of `pd_ors` with U and L of the jobs of another instance.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    history : str
        File of that instance.

    Raises
    ------
    ModelRefused
        If there is none, or it has other resources.
    """
    try:
        prices = past_range(instance, history)
    except (ValueError, InputError) as error:
        raise ModelRefused(str(error)) from error
    return decide(instance, limits, prices)
