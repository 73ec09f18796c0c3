"""A-SRPT with its queue ordered by workload: this project's variant, with tuned defaults.

In the queue of A-SRPT a job waits behind everything that finished on the virtual machine before it,
so that under load the real cluster nearly serves in order of arrival. Here the queue is ordered by
predicted virtual work, small jobs first; the virtual machine only holds large jobs back. Lemma 3
and the theorem do not cover this.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.a_srpt import Guided, cluster_of, follow
from ..algorithms.virtual_machine import VirtualMachine
from ..instance import ASrptInstance
from ..subproblems.names import MappingRule, PredictorName
from ..subproblems.simulation import require_at_least


@method(kind="online", reference="this project")
def a_srpt_workload(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "best_of",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    guide: Literal["srpt", "wspt", "wsrpt"] = "srpt",
    virtual_alpha: Literal["heuristic", "min", "max"] = "heuristic",
    virtual_speed: float = 1.5,
    queue_order: Literal["virtual_completion", "workload"] = "workload",
    delay_factor: float = 10.0,
    comm_threshold: float = 1.1,
    consolidation_slack: float = 0.05,
) -> MethodOutcome:
    """A-SRPT with its queue ordered by workload, a faster guide and longer patience.

    Return the schedule of A-SRPT with another queue and other defaults; no guarantee is known.

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the run without a schedule.
    rng : numpy.random.Generator
        For `predictor`.
    mapping, predictor, noise_sd, delay_factor
        As in `a_srpt`.
    guide : "srpt", "wspt" or "wsrpt"
        Rule of the virtual machine.
    virtual_alpha : "heuristic", "min" or "max"
        Per-iteration time in the virtual work: of the mapping onto the empty cluster, the least,
        or that of a job scattered completely.
    virtual_speed : float
        The virtual machine is so many times as fast as the cluster, so that jobs join the queue
        sooner.
    queue_order : "workload" or "virtual_completion"
        "workload" orders the queue by predicted virtual work over weight, so that a small job
        overtakes larger ones that wait.
    comm_threshold, consolidation_slack : float
        As in `a_srpt`. Jobs of which scattering takes more than 10 % wait for a place that slows
        them by at most 5 %.
    """
    require_at_least(1, virtual_speed=virtual_speed)
    cluster = cluster_of(instance, mapping, comm_threshold)
    run = _ByWorkload(instance, cluster, VirtualMachine(guide), delay_factor, consolidation_slack)
    run.virtual_alpha = virtual_alpha
    run.speed = decimal_rational(virtual_speed)
    run.by_workload = queue_order == "workload"
    return follow(instance, run, limits, predictor, noise_sd, rng)


class _ByWorkload(Guided):
    """A-SRPT with other work on the virtual machine, and another order of its queue."""

    virtual_alpha: str
    speed: Fraction
    by_workload: bool

    def virtual_work(self, job: int, predicted: int) -> int:
        """Return the work of a job, less on a faster machine, in microticks."""
        return max(1, math.floor(self._workload(job, predicted) / self.speed))

    def place(self, job: int, virtual_completion: int) -> int | Fraction:
        """Return the predicted work over the weight, or the virtual completion."""
        if not self.by_workload:
            return virtual_completion
        work, weight = self._workload(job, self._predicted[job]), self._instance.jobs[job].weight
        return work if weight == 1 else work / weight

    def _workload(self, job: int, predicted: int) -> int:
        if self.virtual_alpha == "heuristic":
            return super().virtual_work(job, predicted)
        instance, job_type = self._instance, self._instance.jobs[job].job_type
        times = instance.times[job_type]
        least = self.virtual_alpha == "min"
        units = instance.shortest_units[job_type] if least else times.longest
        return self.cluster.gpus[job] * times.ticks(units, predicted, instance.tick_s)
