"""BSP, SSP, Fixed ADACOMM and ADACOMM."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.online import outcome_of
from ..instance import Adacomm, AdspTrainingInstance, Bsp, FixedAdacomm, Ssp


@method(kind="baseline", reference="bulk-synchronous parallel")
def bsp(instance: AdspTrainingInstance, limits: Limits) -> MethodOutcome:
    """A barrier after every step.

    Return BSP: every worker commits after every step and waits for all others.
    """
    return outcome_of([Bsp()], instance, limits)


@method(kind="baseline", reference="stale synchronous parallel")
def ssp(instance: AdspTrainingInstance, limits: Limits) -> MethodOutcome:
    """Every step committed; who is too far ahead waits.

    Return SSP with the best slack that is offered; the authors have 40.

    Notes
    -----
    Commits are compared as the server knows them, when updates arrive (reconstructed).

    Raises
    ------
    ModelRefused
        If no slack is offered.
    """
    if not instance.choices.slacks:
        raise ModelRefused("choices.slacks: none, expected one for SSP")
    return outcome_of([Ssp(slack=s) for s in instance.choices.slacks], instance, limits)


@method(kind="baseline", reference="periodic averaging")
def fixed_adacomm(
    instance: AdspTrainingInstance,
    limits: Limits,
    *,
    local_steps: int = 40,
) -> MethodOutcome:
    """A barrier after a fixed number of local steps.

    Return Fixed ADACOMM: local steps, a barrier, and the mean of all updates.

    Parameters
    ----------
    instance : AdspTrainingInstance
    limits : Limits
    local_steps : int, default 40
        The authors' number; of those offered, the nearest is taken.

    Raises
    ------
    ModelRefused
        If no number of local steps is offered.
    """
    offered = instance.choices.local_steps
    if not offered:
        raise ModelRefused("choices.local_steps: none, expected one for Fixed ADACOMM")
    nearest = min(offered, key=lambda tau: (abs(tau - local_steps), tau))
    return outcome_of([FixedAdacomm(local_steps=nearest)], instance, limits)


@method(kind="baseline", reference="ADACOMM")
def adacomm(instance: AdspTrainingInstance, limits: Limits) -> MethodOutcome:
    r"""A barrier after fewer local steps as the loss falls.

    The first number is the best of those offered after one period from the start.

    Raises
    ------
    ModelRefused
        If no number of local steps is offered.
    """
    if not instance.choices.local_steps:
        raise ModelRefused("choices.local_steps: none, expected one for ADACOMM")
    return outcome_of([Adacomm()], instance, limits)
