r"""The virtual machine that guided a run of A-SRPT, and what it promises for every job.

With virtual durations :math:`\tilde d_j` (predicted iterations, mapping on the empty cluster,
divided by the speed of the virtual machine), virtual completions :math:`\tilde C_j` and longest
delays :math:`D_j`, let

.. math::
    \sigma = \max_j \frac{d_j^{max}}{\tilde d_j}, \quad
    \eta = \max\Big(1, \max_j \frac{\tilde d_j}{d_j^{min}}\Big), \quad
    \rho_\Delta = \max_j \frac{d_j^{max}}{d_j^{min}}, \quad
    G' = \max_j \frac{G}{G - g_j + t_j - M (t_j - 1)},

where a replica of job j is a block of t_j GPUs of one server; without tensor parallelism that is
:math:`G / (G - g_{max} + 1)`. For a job whose stages have blocks of different sizes nothing is
promised: whether it fits is a bin packing, for which no such constant is proved here.

* *Lemma 2* (= B1, reconstructed). With SRPT as the guide, :math:`\sum_j \tilde C_j \le \eta\, OPT`.
* *Lemma 3* (reconstructed). Every job starts by :math:`(\tilde C_j + D_j)(1 + \sigma G')`. From
  :math:`t' = \tilde C_j + D_j` until j starts, a scan of the queue meets a job at or before j for
  which too few GPUs are free: fewer blocks than it needs, and on every one of the M servers t - 1
  GPUs at most beside them, so at least :math:`G / G'` are busy, if that is positive; all jobs that
  run then have completed on the virtual machine by t', so their work is at most
  :math:`\sigma G t'`.
* *Theorem 1* (reconstructed). Summed,

  .. math:: \sum_j C_j \le (1 + \sigma G') \sum_j (\tilde C_j + D_j) + \sum_j d_j
            \le [\eta (1 + \sigma G') + \rho_\Delta]\, OPT + (1 + \sigma G') \sum_j D_j.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gadgetopt.numbers.tolerance import decimal_rational

from ..algorithms.virtual_machine import virtual_completions
from ..instance import ASrptInstance, ASrptSolution
from ..subproblems.cluster import Cluster
from ..subproblems.mapper import Mapper


@dataclass(frozen=True)
class Guide:
    r"""What guided a run; times in microticks.

    Attributes
    ----------
    completion, delay : tuple of int, shape (jobs,)
        :math:`\tilde C_j` and :math:`D_j`.
    sigma, eta, rho : Fraction
        :math:`\sigma, \eta` and :math:`\rho_\Delta`.
    crowding : Fraction or None
        :math:`G'`; None if all GPUs may be idle though a job does not fit, or if a job has blocks
        of several sizes.
    """

    completion: tuple[int, ...]
    delay: tuple[int, ...]
    sigma: Fraction
    eta: Fraction
    rho: Fraction
    crowding: Fraction | None

    @property
    def stretch(self) -> Fraction | None:
        r""":math:`1 + \sigma G'`; None if there is no :math:`G'`."""
        return None if self.crowding is None else 1 + self.sigma * self.crowding


def guide_of(
    instance: ASrptInstance, predicted: Sequence[int], parameters: Mapping[str, Any]
) -> Guide:
    """Return the guide of a run of A-SRPT, or a variant, with these predictions and parameters."""
    G, jobs = instance.total_gpus, instance.jobs
    threshold = decimal_rational(parameters["comm_threshold"])
    cluster = Cluster(instance, Mapper(instance, parameters["mapping"]), threshold)
    factor = decimal_rational(parameters["delay_factor"])
    speed = decimal_rational(parameters.get("virtual_speed", 1.0))
    work, delay = [], []
    for j, job in enumerate(jobs):
        times = instance.times[job.job_type]
        empty = cluster.mapper.on_empty_cluster(job.job_type)
        units = {
            "heuristic": empty,
            "min": instance.shortest_units[job.job_type],
            "max": times.longest,
        }[parameters.get("virtual_alpha", "heuristic")]
        ticks = times.ticks(units, predicted[j], instance.tick_s)
        work.append(max(1, math.floor(cluster.gpus[j] * ticks / speed)))
        saved_s = times.seconds(predicted[j] * (times.longest - empty))
        waits = cluster.is_heavy(j)
        delay.append(math.floor(factor * saved_s / instance.tick_s * G) if waits else 0)
    release = (instance.release_ticks * G).tolist()
    weights = [job.weight for job in jobs]
    completion = virtual_completions(release, work, weights, parameters.get("guide", "srpt"))
    least = (instance.gpus * instance.min_ticks).tolist()
    most = (instance.gpus * instance.max_ticks).tolist()
    return Guide(
        tuple(completion),
        tuple(delay),
        max(Fraction(b, v) for b, v in zip(most, work, strict=True)),
        max(Fraction(1), *(Fraction(v, a) for v, a in zip(work, least, strict=True))),
        max(Fraction(b, a) for b, a in zip(most, least, strict=True)),
        _crowding(instance),
    )


def _crowding(instance: ASrptInstance) -> Fraction | None:
    """Return G'; None if all GPUs may be idle though a job does not fit, or nothing is promised."""
    if not one_block_size(instance):
        return None
    G, M = instance.total_gpus, instance.num_servers
    types = [instance.job_types[job.job_type] for job in instance.jobs]
    busy = min(G - a.num_gpus + a.block_unit - M * (a.block_unit - 1) for a in types)
    return Fraction(G, busy) if busy > 0 else None


def one_block_size(instance: ASrptInstance, _parameters: Mapping[str, Any] | None = None) -> bool:
    """Return True if in no job stages have blocks of different sizes."""
    return all(len(instance.job_types[job.job_type].blocks) == 1 for job in instance.jobs)


def durations_of(instance: ASrptInstance, solution: ASrptSolution) -> list[int]:
    """Return the ticks that each job runs."""
    durations = [0] * len(instance.jobs)
    for job in solution.jobs:
        times = instance.times[instance.jobs[job.job].job_type]
        durations[job.job] = instance.ticks(job.job, times.units(job.placement))
    return durations
