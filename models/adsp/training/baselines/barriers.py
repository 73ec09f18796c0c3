"""BSP, SSP, Fixed ADACOMM and ADACOMM."""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.online import outcome_of
from ..instance import Adacomm, AdspTrainingInstance, Bsp, FixedAdacomm, Ssp


def bsp(instance: AdspTrainingInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return BSP: every worker commits after every step and waits for all others."""
    return outcome_of([Bsp()], instance, limits)


def ssp(instance: AdspTrainingInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return SSP with the best slack that is offered; the authors have 40.

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


def fixed_adacomm(
    instance: AdspTrainingInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    local_steps: int = 40,
) -> MethodOutcome:
    """Return Fixed ADACOMM: local steps, a barrier, and the mean of all updates.

    Parameters
    ----------
    instance : AdspTrainingInstance
    limits : Limits
    rng : numpy.random.Generator
        Not used.
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


def adacomm(
    instance: AdspTrainingInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Return ADACOMM: local steps fall with the root of the loss.

    The first number is the best of those offered after one period from the start.

    Raises
    ------
    ModelRefused
        If no number of local steps is offered.
    """
    if not instance.choices.local_steps:
        raise ModelRefused("choices.local_steps: none, expected one for ADACOMM")
    return outcome_of([Adacomm()], instance, limits)
