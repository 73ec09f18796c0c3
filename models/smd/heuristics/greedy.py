"""Best pairs of all jobs, admitted greedily."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.outer import admit_jobs
from ..baselines.admission import densest
from ..instance import SmdInstance
from ..subproblems.inner import best_pair


@method(kind="heuristic", reference="greedy (reconstructed)")
def greedy(instance: SmdInstance, limits: Limits) -> MethodOutcome:
    """Best pairs, admitted by utility over the largest share of a capacity.

    For very many jobs (reconstructed): takes O(P) per job, with at most P servers, and a sort.
    """
    return admit_jobs(instance, limits, lambda _, job: best_pair(job), densest)
