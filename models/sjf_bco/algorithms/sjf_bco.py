"""SJF-BCO: smallest job first with balanced contention and overhead (Algorithms 1-3).

M. Yu, B. Ji, H. Rajan, J. Liu, "On Scheduling Ring-All-Reduce Learning Jobs in Multi-Tenant GPU
Clusters with Communication Contention", MobiHoc 2022.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import SjfBcoInstance
from ..subproblems.placement import (
    Availability,
    Batch,
    MakePool,
    Run,
    Stage,
    run,
)
from ..subproblems.pools import LeastLoaded, LeastLoadedServers
from .theta_search import (
    MakeRun,
    Search,
    ThetaSearch,
    search_theta,
)

Packing = Literal["least_loaded", "opened_first"]


@method(kind="approximation", reference="Algorithm 1, with Algorithms 2 and 3")
def sjf_bco(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    availability: Availability = "idle",
    packing: Packing = "least_loaded",
) -> MethodOutcome:
    r"""Smallest job first with balanced contention and overhead.

    Return the best schedule of SJF-BCO over load limits theta and size thresholds kappa.

    With the parameters' defaults it is the same result as `plain`, tested.

    The paper claims makespan <= :math:`n_g \varphi \frac{u}{l}\,OPT` (Theorem 5), which small
    instances refute (`theorem_5_ratio` in `guarantees/ratios.py`). The proven guarantee is

    .. math:: \text{makespan} \le \varphi\Big(1 + \frac{N}{N - n' + 1} + \text{big}\Big)\,OPT
              \le 4 \varphi\,OPT

    (reconstructed, `corrected_ratio` there). It needs the run with every job placed by FA-FFP, idle
    availability and no load limit among the compared runs, which is so whenever the first limit
    tried does not bind. The variants in `heuristics/load_limits.py` always make that run.

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
        `time_s` stops the search between two runs.
    availability : "idle" or "queue", default "idle"
        Which GPUs count as available in Algorithms 2 and 3: those that are free, with jobs strictly
        in order (the pseudo-code), or all, each with a queue (the paper's analysis).
    packing : "least_loaded" or "opened_first", default "least_loaded"
        FA-FFP takes GPUs by load only (the pseudo-code), or from used servers first (the text,
        reconstructed).

    Returns
    -------
    MethodOutcome
        Its notes give theta and kappa of the schedule, the makespan at each theta tried, and the
        number of runs. No solution if no run ended before the horizon T.

    Notes
    -----
    A run takes O(sum_j G_j log N) plus the updates of contention levels. Algorithm 1 makes at most
    (distinct sizes) * log2 T runs, fewer since equal runs are recognised (see `theta_search`).
    The paper's bound is O(n_g |J| N log N log T) (Theorem 6).

    Departures from the text: theta is an integer in the bisection, ties between jobs of equal size
    go by index, only 1 and the distinct job sizes are tried as kappa, and est_j defaults to the
    shortest duration, with the tightest u (all reconstructed). A run that cannot place every job
    counts as makespan T, not as its partial makespan (line 15). Completion times are those of the
    complete schedule, with the contention caused by later jobs. As printed, an infeasible run would
    win, and outdated completion times would be compared.

    References
    ----------
    Algorithms 1-3, equations (14)-(16), Lemmas 2-4, Theorems 5 and 6 of the paper.
    """
    return best_over_limits(instance, limits, "literal", availability, packing)


def best_over_limits(
    instance: SjfBcoInstance,
    limits: Limits,
    theta_search: ThetaSearch,
    availability: Availability,
    packing: Packing,
    *,
    with_unbounded_run: bool = False,
) -> MethodOutcome:
    """Return the best schedule over the load limits that a search tries, for all kappa."""
    batch = Batch(instance)
    search = Search(batch, _runs_by_kappa(batch, availability, packing), limits)
    if with_unbounded_run:
        largest = max(batch.gpus)
        search.consider(unbounded_run(batch), largest, batch.unlimited, below=search.best_makespan)
    search_theta(search, theta_search)
    return search.outcome("kappa")


def unbounded_run(batch: Batch, packing: Packing = "least_loaded") -> Run:
    """Place every job by FA-FFP on idle GPUs without a load limit: kappa = n_g, theta infinite."""
    stages = kappa_stages(batch, max(batch.gpus), packing)
    return run(batch, stages, batch.unlimited, "idle")


def kappa_stages(batch: Batch, kappa: int, packing: Packing) -> list[Stage]:
    """Return the stages of a run: smallest first, FA-FFP up to size kappa, LBSGF beyond."""
    order = batch.smallest_first
    small = [j for j in order if batch.gpus[j] <= kappa]
    return [Stage(small, _fa_ffp(packing)), Stage(order[len(small) :], LeastLoadedServers)]


def _runs_by_kappa(
    batch: Batch, availability: Availability, packing: Packing
) -> dict[int, MakeRun]:
    """Return one run for each kappa of 1..n_g that differs from the previous one.

    Two kappas with no job size between them give the same run; kappa = 1 matters even without a job
    of that size, as every job then goes to LBSGF.
    """
    return {
        kappa: partial(_run_at, batch, kappa_stages(batch, kappa, packing), availability)
        for kappa in sorted({1, *batch.gpus})
    }


def _run_at(batch: Batch, stages: list[Stage], availability: Availability, limit: int) -> Run:
    return run(batch, stages, limit, availability)


def _fa_ffp(packing: Packing) -> MakePool:
    if packing == "least_loaded":
        return LeastLoaded
    if packing == "opened_first":
        return partial(LeastLoaded, opened_first=True)
    raise ValueError(f"packing: {packing!r} is not 'least_loaded' or 'opened_first'")
