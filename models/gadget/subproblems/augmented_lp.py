r"""Augmented linear program of ring embedding: its points are convex combinations of rings.

In the plain relaxation a cycle may close at another fragment of its first worker than the one it
started from. So there is one copy of a ring for each server w of its worker 0 (reconstructed from
the idea of Rost and Schmid): mass :math:`X^{\kappa w}_i`, places :math:`\varrho^{u,w}_a` of the
workers :math:`a = 1..\kappa - 1` and flows :math:`\theta^{e,w}_a` of the hops from a to a + 1,
where worker :math:`\kappa` is worker 0 again, :math:`\varrho^{u,w}_0 = \varrho^{u,w}_\kappa =
X^{\kappa w}_i [u = w]`.

.. math::
    \max & \textstyle\sum_i \sum_\kappa \pi_{i\kappa} \sum_w X^{\kappa w}_i, \qquad
        \sum_\kappa \sum_w X^{\kappa w}_i \le 1 \quad \forall i \qquad \text{(D10)} \\
    & \textstyle\sum_{\delta^+(v)} \theta^{\cdot w}_a - \sum_{\delta^-(v)} \theta^{\cdot w}_a
        = \varrho^{v,w}_a - \varrho^{v,w}_{a+1} \quad \forall v, a, w \qquad \text{(D11)} \\
    & \textstyle\sum l_i^r (X^{w}[u = w] + \sum_{a \ge 1, w'} \varrho^{u,w'}_a) \le C_u^r, \qquad
        \sum b_i \theta^{e,w}_a \le e^e \qquad \text{(D12)}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints

from .slot_problem import SlotProblem

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm


#: Limit on the columns; beyond it only the configuration program is practical.
#: Tuned: `benchmarks/constants.py`.
MOST_COLUMNS = 2_000_000


@dataclass(frozen=True)
class RingCopies:
    """Column numbers of the variables of one job and one ring size.

    Attributes
    ----------
    job : int
        Position in the slot problem.
    size : int
        kappa.
    server : array of int, shape (usable servers,)
        Positions in `Terms.servers`.
    link : array of int, shape (usable links,)
        Positions in `Terms.links`.
    mass, place, flow : array of int
        Column numbers, of shapes (servers), (servers w, kappa - 1, servers u) and (servers w,
        kappa, links); a ring of one worker has no hops.
    """

    job: int
    size: int
    server: Ints
    link: Ints
    mass: Ints
    place: Ints
    flow: Ints


@dataclass(frozen=True)
class AugmentedLp:
    """The program as arrays, with the meaning of its columns."""

    form: StandardForm
    copies: tuple[RingCopies, ...]


def num_columns(problem: SlotProblem, sizes: Sequence[Sequence[int]]) -> int:
    """Return the number of columns of the program, if nothing is left out."""
    servers, links = len(problem.terms.servers), len(problem.terms.links)
    return sum(
        servers * (1 + (k - 1) * servers + (k > 1) * k * links) for of_job in sizes for k in of_job
    )


def augmented_lp(
    problem: SlotProblem, sizes: Sequence[Sequence[int]], *, leave_out: bool = True
) -> AugmentedLp:
    """Return the program for the given ring sizes of each job.

    Parameters
    ----------
    problem : SlotProblem
    sizes : sequence of sequence of int
    leave_out : bool
        If True, servers and links that a job cannot use are left out for it.

    Raises
    ------
    ModelRefused
        If the program has too many columns.
    """
    from gadgetopt.solvers.standard_form import Named, StandardForm

    if num_columns(problem, sizes) > MOST_COLUMNS:
        raise ModelRefused(
            f"the augmented linear program has {num_columns(problem, sizes)} columns"
        )
    terms = problem.terms
    copies, count = _copies(problem, sizes, leave_out)
    jobs, resources = len(problem.jobs), terms.capacity.shape[1]
    servers, links = len(terms.servers), len(terms.links)
    server_row, link_row = jobs, jobs + servers * resources
    rows = link_row + links
    blocks: list[tuple[Ints, Ints, Floats]] = []
    cost = np.zeros(count)

    def add(row: Ints | int, column: Ints, value: float | Ints) -> None:
        shape = column.shape
        blocks.append(
            (
                np.broadcast_to(row, shape).ravel(),
                column.ravel(),
                np.broadcast_to(value, shape).astype(float).ravel(),
            )
        )

    for x in copies:
        slot_job = problem.jobs[x.job]
        job = slot_job.job
        cost[x.mass] = slot_job.gain[x.size]
        add(x.job, x.mass, 1.0)
        for r in np.flatnonzero(job.demand):
            add(server_row + x.server * resources + r, x.mass, job.demand[r])
            add(server_row + x.server * resources + r, x.place, job.demand[r])
        if x.size == 1:
            continue
        add(link_row + x.link, x.flow, job.bandwidth)
        # Rows of (D11) are ordered by w, a and v.
        here = np.arange(len(x.server))[:, None, None]
        hop = np.arange(x.size)[None, :, None]
        conserved = rows + (here * x.size + hop) * terms.num_nodes
        rows += len(x.server) * x.size * terms.num_nodes
        source, target = terms.links[x.link].T
        add(conserved + source, x.flow, 1.0)
        add(conserved + target, x.flow, -1.0)
        nodes = np.array(terms.servers)[x.server]
        # Worker a leaves at hop a and is reached by hop a - 1; worker 0 is also the last one.
        add(conserved[:, 1:] + nodes, x.place, -1.0)
        add(conserved[:, :-1] + nodes, x.place, 1.0)
        add(conserved[:, 0, 0] + nodes, x.mass, -1.0)
        add(conserved[:, -1, 0] + nodes, x.mass, 1.0)
    row, column, value = (np.concatenate(part) for part in zip(*blocks, strict=True))
    matrix = csr_array(coo_array((value, (row, column)), shape=(rows, count)))
    # Loads are divided by capacities, which differ by orders of magnitude.
    capacity = np.concatenate([terms.capacity.ravel(), terms.link_mbps]).astype(float)
    scale = np.ones(rows)
    scale[jobs : jobs + len(capacity)] = 1 / np.maximum(capacity, 1.0)
    matrix = csr_array(matrix.multiply(scale[:, None]))
    matrix.eliminate_zeros()
    upper, lower = np.zeros(rows), np.zeros(rows)
    upper[:jobs] = 1.0
    upper[jobs : jobs + len(capacity)] = capacity * scale[jobs : jobs + len(capacity)]
    lower[: jobs + len(capacity)] = -np.inf
    form = StandardForm(
        columns=[Named("a column of the augmented program")] * count,
        col_lower=np.zeros(count),
        col_upper=np.ones(count),
        integer=np.zeros(count, dtype=bool),
        c=cost,
        offset=0.0,
        sense="max",
        A=matrix,
        row_lower=lower,
        row_upper=upper,
        rows=[Named("a row of the augmented program")] * rows,
        unused=[],
    )
    return AugmentedLp(form, copies)


def _copies(
    problem: SlotProblem, sizes: Sequence[Sequence[int]], leave_out: bool
) -> tuple[tuple[RingCopies, ...], int]:
    """Number the columns; return their positions and their number."""
    terms = problem.terms
    copies, begin = [], 0
    for j, (x, allowed) in enumerate(zip(problem.jobs, sizes, strict=True)):
        server, link = np.arange(len(terms.servers)), np.arange(len(terms.links))
        if leave_out:
            server = np.flatnonzero(x.job.per_server > 0)
            link = np.flatnonzero(terms.link_mbps >= x.job.bandwidth)
        for size in allowed:
            shapes = (
                (len(server),),
                (len(server), size - 1, len(server)),
                (len(server), size if size > 1 else 0, len(link)),
            )
            columns = []
            for shape in shapes:
                n = int(np.prod(shape))
                columns.append(np.arange(begin, begin + n).reshape(shape))
                begin += n
            copies.append(RingCopies(j, size, server, link, *columns))
    return tuple(copies), begin
