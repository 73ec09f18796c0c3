"""A-SRPT for weighted completion times: the virtual machine heeds the weights (reconstructed)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.a_srpt import Guided, cluster_of, follow
from ..algorithms.virtual_machine import VirtualMachine
from ..instance import ASrptInstance
from ..subproblems.names import MappingRule, PredictorName


@method(kind="online", reference="A-SRPT, weighted (reconstructed)")
def a_srpt_weighted(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    guide: Literal["wspt", "wsrpt"] = "wspt",
    delay_factor: float = 1.0,
    comm_threshold: float = 1.5,
    consolidation_slack: float = 0.0,
) -> MethodOutcome:
    r"""A-SRPT for weighted completion times: its virtual machine heeds the weights.

    Guided by WSPT, the theorem of A-SRPT holds with :math:`2 \eta` for :math:`\eta`
    (reconstructed).

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the run without a schedule.
    rng : numpy.random.Generator
        For `predictor`.
    guide : "wspt" or "wsrpt"
        The virtual machine takes the largest weight per work first, or per work that is left.
    mapping, predictor, noise_sd, delay_factor, comm_threshold, consolidation_slack
        As in `a_srpt`.
    """
    cluster = cluster_of(instance, mapping, comm_threshold)
    run = Guided(instance, cluster, VirtualMachine(guide), delay_factor, consolidation_slack)
    return follow(instance, run, limits, predictor, noise_sd, rng)
