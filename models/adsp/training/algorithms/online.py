"""ADSP with its online search, and how a policy becomes the outcome of a method."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import Adsp, AdspTrainingInstance, AdspTrainingSolution, Policy
from ..simulator import Run, simulate


@method(kind="online", reference="Algorithm 1")
def adsp(instance: AdspTrainingInstance, limits: Limits) -> MethodOutcome:
    r"""Equal commits by timers; the rate climbs while measured rewards grow.

    Return ADSP: timers, no waiting, and the search of Algorithm 1 while training goes on.

    The same result as `plain`, tested.

    Every epoch it evaluates the rate C in use for one check period and C + 1 for the next, and
    climbs while the reward grows. A reward is one over the predicted time to the target,

    .. math:: \ell(t) = \frac{1}{a_1^2 t + a_2} + a_3, \qquad
        r = \frac{a_1^2}{1 / (\ell^* - a_3) - a_2},

    from the losses at the start, in the middle and at the end of its period.

    Parameters
    ----------
    instance : AdspTrainingInstance
        Has the epoch, the first rate, and whether workers catch up.
    limits : Limits
        `time_s` stops the simulation.

    Notes
    -----
    Departures from the text: the curve is the exact one through the three losses, not one of least
    squares; where there is none the reward is a slope (reconstructed).
    """
    return outcome_of([Adsp()], instance, limits)


def outcome_of(
    policies: Iterable[Policy], instance: AdspTrainingInstance, limits: Limits
) -> MethodOutcome:
    """Return the first of some policies that trains soonest; no solution if none converges."""
    clock = Clock(limits)
    best: tuple[Fraction, Policy, Run] | None = None
    stopped = False
    with clock.phase("simulate"):
        for policy in policies:
            run = simulate(instance, policy, before=best and best[0], over=lambda: clock.expired)
            stopped = stopped or run.stopped
            if run.converged and (best is None or run.time_s < best[0]):
                best = run.time_s, policy, run
            if clock.expired:
                stopped = True
                break
    limit_hit = "time_s" if stopped else None
    if best is None:
        return MethodOutcome(limit_hit=limit_hit, phases_s=clock.phases_s)
    time_s, policy, run = best
    return MethodOutcome(
        solution=AdspTrainingSolution(policy=policy),
        claimed_objective=time_s,
        limit_hit=limit_hit,
        phases_s=clock.phases_s,
        notes={"events": run.events, "max_spread": run.max_spread, **run.notes},
    )
