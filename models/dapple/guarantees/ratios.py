r"""Promised ratios: one that is proven, and two that the estimate does not keep.

**Proven.** Let a plan have the least bound :math:`LB^* = \max_Q L_Q` of all plans, and let it be
run in rounds: round t takes block j of its J = 4S - 3 blocks for microbatch t - j + 1. With C the
longest period :math:`F_q + B_q` of a stage or link, every round takes at most C, and the last block
of a stage lies in round M + 4S - 4 at the latest. So

.. math:: T \le (M + 4S - 4)\, C + \max_n AR_n.

As :math:`MC \le LB^*`, :math:`AR_n \le LB^*` and :math:`LB^* \le OPT`, the ratio is at most
:math:`2 + (4S - 4)/M`. Links of full duplex have half that load, and limits of microbatches in
flight break the rounds: both are assumed away.

**Claimed.** The planner takes the plan of the least latency. If the latency ranked plans as their
optima do, that plan would be optimal; if it were attained, the ratio would be at most
:math:`L_{lat} / LB^*`. Instances D1 and D2 refute both.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import DappleInstance

#: Seconds for the planner and the least bound that a claimed ratio needs.
#: Tuned: `benchmarks/constants.py`.
_MOST_S = 5.0


def half_duplex(instance: DappleInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if the two directions of a link share it."""
    return instance.duplex == "half"


def unlimited(instance: DappleInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if stages may have all microbatches in flight."""
    return instance.options.max_in_flight is None and instance.options.memory_bytes is None


def one_pipeline(instance: DappleInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if there are no copies of the pipeline, which the planner does not know."""
    return instance.max_copies == 1


def one_stage(instance: DappleInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if no plan has two stages."""
    return instance.most_stages == 1


@guarantee(
    name="latency ranks plans",
    statement="the plan of the least latency is optimal (refuted by D2)",
    reference="Fan et al. 2021, implied by planning with it",
    standing="claimed",
    methods=("dapple",),
    assumptions={"one pipeline": one_pipeline},
)
@guarantee(
    name="one stage",
    statement="data parallelism is optimal where there can be only one stage",
    reference="this project",
    methods=("data_parallel",),
    assumptions={"only one stage is possible": one_stage},
)
def one(_instance: DappleInstance, _parameters: Mapping[str, Any]) -> int:
    """Return 1."""
    return 1


@guarantee(
    name="least bound in rounds",
    statement="T <= (2 + (4 S - 4) / M) OPT, S the largest number of stages",
    reference="this project",
    methods=("least_bound",),
    assumptions={
        "links of half duplex": half_duplex,
        "no limit of microbatches in flight": unlimited,
    },
)
def rounds_ratio(instance: DappleInstance, _parameters: Mapping[str, Any]) -> Fraction:
    """Return 2 + (4S - 4) / M for the largest number of stages."""
    return 2 + Fraction(4 * instance.most_stages - 4, instance.num_microbatches)


@guarantee(
    name="latency is attained",
    statement="T <= L_lat of its plan, hence T / OPT <= L_lat / LB* (refuted by D1 and D2)",
    reference="Fan et al. 2021, implied by the name",
    standing="claimed",
    methods=("dapple",),
    assumptions={"one pipeline": one_pipeline},
)
def latency_ratio(instance: DappleInstance, _parameters: Mapping[str, Any]) -> Number | None:
    """Return the planner's latency over the least bound of all plans; None if that takes long."""
    from gadgetopt.pieces.pipeline.all_plans.label_search import PlanSpace
    from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
    from gadgetopt.search.clock import Clock
    from gadgetopt.system.result import Limits

    clock = Clock(Limits(time_s=_MOST_S))
    found = plan_by_latency(instance, clock, memo="best_prefix")
    space = PlanSpace(instance)
    least = space.least_bound(clock)
    least_s = float(least.ticks * space.tick_s)
    if found.plan is None or not (found.complete and least.complete and least_s > 0):
        return None
    return found.latency_s / least_s
