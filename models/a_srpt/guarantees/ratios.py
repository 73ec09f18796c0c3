r"""Promised ratios: Lemma 1 and Theorem 1, a priori.

*Lemma 1.* Let A_1 be the instance in which every job takes its longest duration, and stretch the
time axis of an optimal schedule of the original instance A by :math:`\rho_\Delta = \max_j
d_j^{max} / d_j^{min}`: every job then has room for its longest duration, so :math:`OPT_{A_1} \le
\rho_\Delta\, OPT_A`. With durations in whole ticks this is false for :math:`\rho = \max
\alpha^{max} / \alpha^{min}`, since rounding up may double a duration: the tiny instance
`rounding_trap` has :math:`\rho = 1.388` and a schedule of A_1 1.5 times the optimum.

*Theorem 1* is in `guide`. Its last term, :math:`(1 + \sigma G') \sum w_j D_j`, becomes a part of
the ratio through the largest of the bounds B0, B1 and B2 on OPT. With weights and preemptive WSPT
as the guide, :math:`\eta` doubles (A. S. Schulz, M. Skutella, "The power of alpha-points in
preemptive single machine scheduling", Journal of Scheduling 5 (2002) 121-133).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gadgetopt.system.declaring import guarantee

from ..instance import ASrptInstance
from ..relaxations import busy_time_bound, pool_of, release_bound, srpt_bound
from .guide import Guide, guide_of, one_block_size


@guarantee(
    name="Lemma 1",
    statement="OPT with every duration at its longest <= rho OPT; rho of durations in ticks",
    reference="Lemma 1",
    methods=("scattered",),
)
def lemma_1_ratio(
    instance: ASrptInstance, _parameters: Mapping[str, Any] | None = None
) -> Fraction:
    r"""Return :math:`\rho_\Delta`, the largest ratio of a longest to a shortest duration."""
    pairs = zip(instance.max_ticks.tolist(), instance.min_ticks.tolist(), strict=True)
    return max(Fraction(most, least) for most, least in pairs)


@guarantee(
    name="Lemma 1, not rounded",
    statement="the same with rho of per-iteration times, alpha_max / alpha_min",
    reference="Lemma 1, read for durations that are rounded to ticks",
    standing="claimed",
    methods=("scattered",),
)
def lemma_1_unrounded_ratio(
    instance: ASrptInstance, _parameters: Mapping[str, Any] | None = None
) -> Fraction | None:
    r"""Return :math:`\rho`, of per-iteration times; None if one of them is 0."""
    if 0 in instance.shortest_units:
        return None
    pairs = zip(instance.times, instance.shortest_units, strict=True)
    return max(Fraction(times.longest, shortest) for times, shortest in pairs)


def exact_predictions(_instance: ASrptInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if the predictor is the oracle."""
    return bool(parameters["predictor"] == "oracle")


def guided_by_wspt(_instance: ASrptInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if the virtual machine takes the largest weight per work first."""
    return bool(parameters["guide"] == "wspt")


def equal_weights(instance: ASrptInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if the sum of completions is not weighted."""
    return len({job.weight for job in instance.jobs}) == 1


@guarantee(
    name="Theorem 1",
    statement="sum C <= [eta (1 + sigma G') + rho] OPT + (1 + sigma G') sum D",
    reference="Theorem 1, reconstructed",
    methods=("a_srpt",),
    assumptions={
        "predictions are exact": exact_predictions,
        "all jobs have the same weight": equal_weights,
        "the blocks of a job have one size": one_block_size,
    },
)
def theorem_1_ratio(instance: ASrptInstance, parameters: Mapping[str, Any]) -> Fraction | None:
    """Return the a priori ratio of A-SRPT with exact predictions."""
    return _ratio(instance, _exact_guide(instance, parameters), 1)


@guarantee(
    name="Theorem 1, weighted",
    statement="sum w C <= [2 eta (1 + sigma G') + rho] OPT + (1 + sigma G') sum w D",
    reference="Theorem 1, reconstructed; Schulz and Skutella 2002",
    methods=("a_srpt_weighted",),
    assumptions={
        "predictions are exact": exact_predictions,
        "the guide is WSPT": guided_by_wspt,
        "the blocks of a job have one size": one_block_size,
    },
)
def theorem_1_weighted_ratio(
    instance: ASrptInstance, parameters: Mapping[str, Any]
) -> Fraction | None:
    """Return the a priori ratio of A-SRPT guided by WSPT, with exact predictions."""
    return _ratio(instance, _exact_guide(instance, parameters), 2)


def _exact_guide(instance: ASrptInstance, parameters: Mapping[str, Any]) -> Guide:
    return guide_of(instance, [job.num_iterations for job in instance.jobs], parameters)


def _ratio(instance: ASrptInstance, guide: Guide, factor: int) -> Fraction | None:
    if guide.stretch is None:
        return None
    pool = pool_of(instance)
    bound = max(release_bound(pool), srpt_bound(pool), busy_time_bound(pool))
    pairs = zip(instance.jobs, guide.delay, strict=True)
    delays = sum((job.weight * d for job, d in pairs), Fraction(0)) / instance.total_gpus
    return factor * guide.eta * guide.stretch + guide.rho + guide.stretch * delays / bound
