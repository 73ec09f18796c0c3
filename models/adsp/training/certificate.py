r"""Certificates of lower bounds on the time to train, and their check in integers and rationals.

`Arrivals`: training ends with the arrival of an update. Whatever the policy, worker i's r-th update
arrives no earlier than :math:`r t_i + (r - \frac12) O_i`: before each there is a step, and between
two a way back and a way there. As many losses as the convergence asks for take as many arrivals. It
says nothing about learning, and no more is known without the data.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from gadgetopt.numbers.exact import rationals
from gadgetopt.system.data import Certificate, Rational

from .instance import AdspTrainingInstance


class AdspTrainingCertificate(Certificate):
    """Before `time_s` seconds too few updates can have arrived."""

    kind: Literal["arrivals"] = "arrivals"
    time_s: Rational


def check_bound(
    instance: AdspTrainingInstance, certificate: AdspTrainingCertificate
) -> Fraction | None:
    """Return the time if too few updates can have arrived before it; None otherwise.

    Raises
    ------
    ValueError
        If the time is negative.
    """
    time = certificate.time_s
    if time < 0:
        raise ValueError(f"time_s: {time} is negative")
    return time if arrivals_before(instance, time) < instance.evaluations else None


def arrivals_before(instance: AdspTrainingInstance, time: Fraction) -> int:
    """Return how many updates can arrive before a time at most."""
    count = 0
    for worker in instance.workers:
        step, comm = rationals((worker.step_time_s, worker.comm_time_s))
        # r (t + O) - O / 2 < time
        count += max(0, math.ceil((time + comm / 2) / (step + comm)) - 1)
    return count
