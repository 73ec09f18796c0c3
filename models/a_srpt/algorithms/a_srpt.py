r"""A-SRPT: the real cluster follows a virtual machine (dispatch and delay rules reconstructed).

1. A job that arrives gets a prediction and enters the virtual machine with
   :math:`g_j \tilde d_j` microticks of work (`virtual_machine`).
2. When it completes there, it joins the queue, which is ordered by virtual completion.
3. At every event the queue is scanned from the front. A job that needs more GPUs than are free ends
   the scan: nothing overtakes it. A heavy job that would run too scattered stays in the queue and
   may be overtaken, but for no longer than perfect consolidation could save, times `delay_factor`.

The order of events at one time: completions, arrivals, virtual completions, ends of delays; then
the scan. The true iterations of a job are used for its completion only.

What changes the guide or the order of the queue is a method of its own: `a_srpt_weighted`,
`a_srpt_workload`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster
from ..subproblems.mapper import Mapper
from ..subproblems.names import MappingRule, PredictorName
from ..subproblems.simulation import require_at_least, simulate
from .guided_queue import GuidedQueue
from .virtual_machine import VirtualMachine


@method(kind="online", reference="A-SRPT; dispatch and delay rules reconstructed")
def a_srpt(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    delay_factor: float = 1.0,
    comm_threshold: float = 1.5,
    consolidation_slack: float = 0.0,
) -> MethodOutcome:
    r"""Follows a virtual preemptive machine; waits for a better place while that may pay.

    The same result as `plain`, tested.

    With :math:`\sigma = \max_j d_j^{max} / \tilde d_j`, :math:`G' = G / (G - g_{max} + 1)`,
    :math:`\eta = \max(1, \max_j \tilde d_j / d_j^{min})` and the delays :math:`D_j` the sum of
    completions is at most

    .. math:: [\eta (1 + \sigma G') + \rho_\Delta]\, OPT + (1 + \sigma G') \sum_j D_j

    (reconstructed form of Theorem 1).

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the run without a schedule.
    rng : numpy.random.Generator
        Draws the noise of `noisy_oracle` and seeds the forest.
    mapping : str
        Rule of `subproblems.mapper.MAPPINGS`.
    predictor : str
        One of `subproblems.names.PredictorName`.
    noise_sd : float
        Of `noisy_oracle`: standard deviation of the logarithm of its error.
    delay_factor : float
        tau: how long a heavy job waits for a better place, as a multiple of the time that the best
        place could save; 0 is the plain guided list schedule.
    comm_threshold : float
        kappa: a job is heavy if scattering it completely takes more than this many times as long.
    consolidation_slack : float
        epsilon: a place is good enough if the job is slower by no more than this part.

    Notes
    -----
    Near-linear in the number of events: a scan touches the jobs that it starts, and of the delayed
    ones those that are too large for one server (`guided_queue`).
    """
    cluster = cluster_of(instance, mapping, comm_threshold)
    run = Guided(instance, cluster, VirtualMachine("srpt"), delay_factor, consolidation_slack)
    return follow(instance, run, limits, predictor, noise_sd, rng)


def cluster_of(instance: ASrptInstance, mapping: MappingRule, comm_threshold: float) -> Cluster:
    """Return the empty cluster, where jobs are heavy beyond a threshold."""
    require_at_least(1, comm_threshold=comm_threshold)
    return Cluster(instance, Mapper(instance, mapping), decimal_rational(comm_threshold))


def follow(
    instance: ASrptInstance,
    run: Guided,
    limits: Limits,
    predictor: PredictorName,
    noise_sd: float,
    rng: np.random.Generator,
) -> MethodOutcome:
    """Return the schedule of a guided policy; the notes count the jobs that it delayed."""
    outcome = simulate(instance, run, Clock(limits), predictor, noise_sd, rng)
    outcome.notes["delayed"] = run.delays
    return outcome


class Guided:
    """A-SRPT as a policy: virtual machine, queue and cluster."""

    def __init__(
        self,
        instance: ASrptInstance,
        cluster: Cluster,
        machine: VirtualMachine,
        delay_factor: float,
        consolidation_slack: float,
    ):
        require_at_least(0, delay_factor=delay_factor, consolidation_slack=consolidation_slack)
        self.cluster = cluster
        self._instance = instance
        self._machine = machine
        self._delay_factor = decimal_rational(delay_factor)
        self._predicted: dict[int, int] = {}
        self._queue = GuidedQueue(instance, cluster, 1 + decimal_rational(consolidation_slack))

    @property
    def delays(self) -> int:
        """Jobs that have been passed over for a better place."""
        return self._queue.delays

    @property
    def next_event(self) -> int | None:
        """The next virtual completion or end of a delay."""
        times = (self._machine.next_completion, self._queue.next_expiry)
        return min((t for t in times if t is not None), default=None)

    def arrive(self, job: int, now: int, predicted: int) -> None:
        """Let a job enter the virtual machine."""
        self._predicted[job] = predicted
        work = self.virtual_work(job, predicted)
        self._machine.add(job, now, work, self._instance.jobs[job].weight)

    def dispatch(self, now: int) -> None:
        """Take virtual completions and ends of delays, then start what may start."""
        while (end := self._machine.next_completion) is not None and end <= now:
            job = self._machine.complete()
            self._queue.join(self.place(job, end), job, now + self._longest_delay(job))
        self._queue.scan(now)

    def virtual_work(self, job: int, predicted: int) -> int:
        """Return g_j d~_j, of the mapping onto the empty cluster, in microticks."""
        job_type = self._instance.jobs[job].job_type
        units = self.cluster.mapper.on_empty_cluster(job_type)
        times = self._instance.times[job_type]
        return self.cluster.gpus[job] * times.ticks(units, predicted, self._instance.tick_s)

    def place(self, job: int, virtual_completion: int) -> int | Fraction:
        """Return what a job is ordered by in the queue: its virtual completion."""
        return virtual_completion

    def _longest_delay(self, job: int) -> int:
        """D_j: what perfect consolidation could save, times `delay_factor`, in microticks."""
        if not self._delay_factor or not self.cluster.is_heavy(job):
            return 0
        instance = self._instance
        job_type = instance.jobs[job].job_type
        times = instance.times[job_type]
        saved = times.longest - self.cluster.mapper.on_empty_cluster(job_type)
        saved_s = times.seconds(self._predicted[job] * saved)
        return math.floor(self._delay_factor * saved_s / instance.tick_s * instance.total_gpus)
