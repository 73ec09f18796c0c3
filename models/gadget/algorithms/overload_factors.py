r"""Overload factors of Theorem 8: by how much Algorithm 2 may exceed capacities.

.. math::
    \beta^r = 1 + \epsilon \sqrt{2 \Delta^r \ln |V_s|}, \qquad
    \gamma = 1 + \epsilon \sqrt{2 \Delta \ln |E_s|}

A mapping of a job can put several times the load of one worker (hop) on a node (link);
:math:`\Delta` is the largest sum over jobs of the squares of these multiples. :math:`\epsilon` is
the least number such that no worker takes more than a share :math:`\epsilon` of a server's capacity
and no hop more than that of a link's. The paper leaves it undefined (reconstructed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..subproblems.slot_problem import SlotProblem


@dataclass(frozen=True)
class OverloadFactors:
    """beta for each resource, and gamma."""

    beta: tuple[float, ...]
    gamma: float


def overload_factors(problem: SlotProblem, sizes: tuple[int, ...]) -> OverloadFactors:
    """Return the factors for rings of the selected sizes.

    Parameters
    ----------
    sizes : tuple of int
        kappa_i of each job of the slot problem; 0 if the job has no ring.

    Notes
    -----
    A ring of kappa workers puts at most kappa workers on a server and kappa hops on a link. Nodes
    and links that a job cannot use are left out. Only servers count as nodes. Fewer than 3 servers
    or links count as 3, as the theorem requires.
    """
    terms = problem.terms
    chosen = [(x.job, k) for x, k in zip(problem.jobs, sizes, strict=True) if k > 0]
    nodes = math.log(max(3, len(terms.servers)))
    links = math.log(max(3, len(terms.links)))
    beta = []
    for r in range(terms.capacity.shape[1]):
        delta, epsilon = 0, 0.0
        for s, capacity in enumerate(terms.capacity[:, r].tolist()):
            using = [(job, k) for job, k in chosen if job.demand[r] > 0 and job.per_server[s] > 0]
            delta = max(delta, sum(k**2 for _, k in using))
            epsilon = max([epsilon, *(int(job.demand[r]) / capacity for job, _ in using)])
        beta.append(1 + epsilon * math.sqrt(2 * delta * nodes))
    delta, epsilon = 0, 0.0
    for mbps in terms.link_mbps.tolist():
        using = [(job, k) for job, k in chosen if 0 < job.bandwidth <= mbps and k > 1]
        delta = max(delta, sum(k**2 for _, k in using))
        epsilon = max([epsilon, *(job.bandwidth / mbps for job, _ in using)])
    return OverloadFactors(tuple(beta), 1 + epsilon * math.sqrt(2 * delta * links))
