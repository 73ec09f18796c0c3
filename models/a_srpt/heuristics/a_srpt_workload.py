"""A-SRPT with its queue ordered by workload: this project's variant, with tuned defaults.

In the queue of A-SRPT a job waits behind everything that finished on the virtual machine before it,
so that under load the real cluster nearly serves in order of arrival. Here the queue is ordered by
predicted virtual work, small jobs first; the virtual machine only holds large jobs back. Lemma 3
and the theorem do not cover this.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.a_srpt import a_srpt
from ..instance import ASrptInstance


def a_srpt_workload(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: str = "best_of",
    predictor: str = "oracle",
    noise_sd: float = 0.0,
    guide: str = "srpt",
    virtual_alpha: str = "heuristic",
    virtual_speed: float = 1.5,
    queue_order: str = "workload",
    delay_factor: float = 10.0,
    comm_threshold: float = 1.1,
    consolidation_slack: float = 0.05,
) -> MethodOutcome:
    """Return the schedule of A-SRPT with other defaults; no guarantee is known.

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the run without a schedule.
    rng : numpy.random.Generator
        For `predictor`.
    mapping, predictor, noise_sd, guide, virtual_alpha, virtual_speed, queue_order, delay_factor
        As in `a_srpt`.
    comm_threshold, consolidation_slack : float
        As in `a_srpt`. Jobs of which scattering takes more than 10 % wait for a place that slows
        them by at most 5 %.
    """
    return a_srpt(
        instance,
        limits,
        rng,
        mapping=mapping,
        predictor=predictor,
        noise_sd=noise_sd,
        guide=guide,
        virtual_alpha=virtual_alpha,
        virtual_speed=virtual_speed,
        queue_order=queue_order,
        delay_factor=delay_factor,
        comm_threshold=comm_threshold,
        consolidation_slack=consolidation_slack,
    )
