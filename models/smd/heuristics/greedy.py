"""Best pairs of all jobs, admitted greedily."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.outer import serve
from ..baselines.admission import densest
from ..instance import SmdInstance
from ..subproblems.inner import best_pair


def greedy(instance: SmdInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return the best pairs, admitted by utility over the largest share of a capacity.

    For very many jobs (reconstructed): takes O(P) per job, with at most P servers, and a sort.
    """
    return serve(instance, limits, lambda _, job: best_pair(job), densest)
