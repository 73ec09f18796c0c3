"""SJF-BCO with other searches for the load limit theta than the paper's bisection.

All are (reconstructed): the paper bisects the integers 1..T by improvement of the makespan.
"""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.sjf_bco import Packing, best_over_limits
from ..instance import SjfBcoInstance
from ..subproblems.placement import Availability


@method(kind="heuristic", reference="Algorithm 1 with another search for theta (reconstructed)")
def sjf_bco_sweep(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    availability: Availability = "idle",
    packing: Packing = "least_loaded",
) -> MethodOutcome:
    """SJF-BCO over every load limit that makes a difference.

    At least as good as with any limits, and mostly with fewer runs than the bisection. On idle GPUs
    the corrected guarantee holds, as the run without a limit is the first one.

    Parameters
    ----------
    instance, limits, availability, packing
        As in `algorithms/sjf_bco.py`.
    """
    return best_over_limits(instance, limits, "sweep", availability, packing)


@method(kind="heuristic", reference="Algorithm 1 with another search for theta (reconstructed)")
def sjf_bco_feasible(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    availability: Availability = "idle",
    packing: Packing = "least_loaded",
) -> MethodOutcome:
    """SJF-BCO by a bisection on whether all jobs can be placed.

    SJF-BCO by a bisection that lowers the limit as long as all jobs can be placed.

    Parameters
    ----------
    instance, limits, availability, packing
        As in `algorithms/sjf_bco.py`.
    """
    return best_over_limits(instance, limits, "feasible", availability, packing)


@method(kind="heuristic", reference="Algorithm 1 with another search for theta (reconstructed)")
def sjf_bco_unbounded(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    availability: Availability = "idle",
    packing: Packing = "least_loaded",
) -> MethodOutcome:
    """SJF-BCO and the run without a load limit beside it.

    SJF-BCO as printed, and the run on idle GPUs without a load limit beside it.

    That run gives it the corrected guarantee on every instance.

    Parameters
    ----------
    instance, limits, availability, packing
        As in `algorithms/sjf_bco.py`.
    """
    return best_over_limits(
        instance, limits, "literal", availability, packing, with_unbounded_run=True
    )
