r"""Certificates of lower bounds on the time to train, and their check without a solver.

`arrivals`, in rationals: training ends with the arrival of an update. Whatever the policy, worker
i's r-th update arrives no earlier than :math:`r t_i + (r - \frac12) O_i`: before each there is a
step, and between two a way back and a way there. As many losses as the convergence asks for take as
many arrivals. It says nothing about learning, and no more is known without the data.

`all_policies`: no policy that is offered has converged earlier. The check simulates every one of
them, as the evaluator does: it takes as long as the search did, unless this process has just done
it, and believes the simulator.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from gadgetopt.numbers.exact import rationals
from gadgetopt.system.data import Certificate, Rational

from ..instance import (
    AdspTrainingInstance,
    all_policies,
)
from ..simulator import converges_before


class AdspTrainingCertificate(Certificate):
    """Before `time_s` seconds too few updates can have arrived, or no policy has converged."""

    kind: Literal["arrivals", "all_policies"] = "arrivals"
    time_s: Rational


def check_bound(
    instance: AdspTrainingInstance, certificate: AdspTrainingCertificate
) -> Fraction | None:
    """Return the time if no training can have ended before it by that proof; None otherwise.

    Raises
    ------
    ValueError
        If the time is negative.
    """
    time = certificate.time_s
    if time < 0:
        raise ValueError(f"time_s: {time} is negative")
    if certificate.kind == "all_policies":
        return time if none_converges_before(instance, time) else None
    return time if arrivals_before(instance, time) < instance.evaluations else None


def none_converges_before(instance: AdspTrainingInstance, time: Fraction) -> bool:
    """Return True if no policy that is offered has converged before a time."""
    return not any(converges_before(instance, policy, time) for policy in all_policies(instance))


def arrivals_before(instance: AdspTrainingInstance, time: Fraction) -> int:
    """Return how many updates can arrive before a time at most."""
    count = 0
    for worker in instance.workers:
        step, comm = rationals((worker.step_time_s, worker.comm_time_s))
        # r (t + O) - O / 2 < time
        count += max(0, math.ceil((time + comm / 2) / (step + comm)) - 1)
    return count
