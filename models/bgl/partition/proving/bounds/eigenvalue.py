r"""The semidefinite bound on balanced partitions, by low-rank coordinate descent.

With :math:`Z = (k \sum_i x_i x_i^T - 11^T) / (k - 1)` a partition is a positive semidefinite matrix
of ones on the diagonal, and twice its cost is :math:`(1 - 1/k) \langle L, Z \rangle`. Relaxed,

.. math::
    \min\ \langle L, Z \rangle, \qquad Z_{vv} = 1, \qquad t^T Z t \le s_T, \qquad
    1^T Z 1 \le s_N, \qquad Z \succeq 0,

with :math:`s_T = (k S_T - |T|^2) / (k - 1)` and :math:`s_N` alike. Rows of unit length are moved
one after the other to where they are best, balance being priced. The diagonal and the prices of the
result, made feasible by the least eigenvalue, are the certificate.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate.check import (
    MATRIX_BITS,
    BglPartitionCertificate,
    Eigenvalue,
    Stars,
    largest_square_sum,
)

#: Nodes of a matrix; decomposing it takes time that no limit stops.
MOST_NODES = 1200
#: Rows are still when they move by less, but prices may yet move them in the first sweeps.
STILL, LEAST_SWEEPS = 1e-7, 20
#: Binary digits of the certificate's numbers behind the point, relative to the largest weight.
DIGITS = 40


@method(
    kind="relaxation",
    reference="Donath and Hoffman 1973; Goemans and Williamson 1995",
    formulation="eigenvalue",
)
def eigenvalue(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    sweeps: int = 200,
) -> MethodOutcome:
    """The semidefinite bound on balanced partitions, checked in whole numbers.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        `time_s` ends the descent between two sweeps.
    rng : numpy.random.Generator
        Draws the first rows.
    sweeps : int, default 200
        How often every row is moved.

    References
    ----------
    W. E. Donath, A. J. Hoffman, "Lower bounds for the partitioning of graphs", IBM Journal of
    Research and Development 17 (1973) 420-425. P.-W. Wang, W.-C. Chang, J. Z. Kolter, "The mixing
    method", arXiv 1706.00476, has the descent.
    """
    clock = Clock(limits)
    nodes = matrix_nodes(instance)
    if not len(nodes):
        return MethodOutcome(certificate=BglPartitionCertificate(proof=Stars()))
    if len(nodes) > MOST_NODES:
        raise ModelRefused(f"{len(nodes)} nodes with weight, expected at most {MOST_NODES}")
    descent = Descent(instance, nodes, rng)
    for sweep in range(sweeps):
        if clock.expired or (descent.sweep() < STILL and sweep >= LEAST_SWEEPS):
            break
    return MethodOutcome(
        certificate=BglPartitionCertificate(proof=descent.proof()),
        limit_hit="time_s" if clock.expired else None,
    )


def matrix_nodes(instance: BglPartitionInstance) -> Ints:
    """Return the nodes with weight; those with one neighbour go where it is and are left out."""
    weights = instance.pair_weights
    degree = np.bincount(
        np.concatenate([weights.first, weights.second]), minlength=instance.num_nodes
    )
    trained = np.zeros(instance.num_nodes, dtype=bool)
    trained[list(instance.train_nodes)] = True
    kept = degree > (1 if instance.weights == "requests" else 0)
    return np.flatnonzero(kept | (trained & (degree > 0)))


class Descent:
    """Rows of unit length, the diagonal and the prices that follow from them."""

    instance: BglPartitionInstance
    nodes: Ints
    n: int

    def __init__(self, instance: BglPartitionInstance, nodes: Ints, rng: np.random.Generator):
        self.instance, self.nodes = instance, nodes
        n = self.n = len(nodes)
        at = np.full(instance.num_nodes, -1)
        at[nodes] = np.arange(n)
        weights = instance.pair_weights
        a, b = at[weights.first], at[weights.second]
        inside = (a >= 0) & (b >= 0)
        self.weight: Floats = np.zeros((n, n))
        self.unit: float = max(1.0, float(weights.scaled.max()))
        self.weight[a[inside], b[inside]] = weights.scaled[inside] / self.unit
        self.weight += self.weight.T
        trained = np.isin(nodes, np.array(instance.train_nodes))
        self.t: Floats = trained.astype(float)
        k = instance.used_parts
        r = int(trained.sum())
        self.k = k
        self.most_train: float = _relaxed(largest_square_sum(r, instance.train_cap), r, k)
        self.most_nodes: float = _relaxed(largest_square_sum(n, instance.node_cap), n, k)
        rank = min(n, 2 + int(np.sqrt(2 * n)))
        self.rows: Floats = rng.normal(size=(n, rank))
        self.rows /= np.linalg.norm(self.rows, axis=1, keepdims=True)
        self.train_price: float = float(self.weight.sum()) / n
        self.node_price: float = 0.0

    def sweep(self) -> float:
        """Move every row once and adjust the prices; return how far rows moved at most."""
        rows, t = self.rows, self.t
        train_sum, node_sum = t @ rows, rows.sum(axis=0)
        moved = 0.0
        for v in range(self.n):
            train_sum = train_sum - t[v] * rows[v]
            node_sum = node_sum - rows[v]
            pull = self.weight[v] @ rows - self.train_price * t[v] * train_sum
            pull -= self.node_price * node_sum
            length = float(np.linalg.norm(pull))
            if length > 1e-12:
                new = pull / length
                moved = max(moved, float(np.abs(new - rows[v]).max()))
                rows[v] = new
            train_sum = train_sum + t[v] * rows[v]
            node_sum = node_sum + rows[v]
        step = float(self.weight.sum()) / self.n / max(1.0, float(t.sum())) ** 2
        over = float(train_sum @ train_sum) - self.most_train
        self.train_price = max(0.0, self.train_price + step * over)
        over = float(node_sum @ node_sum) - self.most_nodes
        self.node_price = max(0.0, self.node_price + step * over)
        return moved

    def proof(self) -> Eigenvalue:
        """Return the certificate of the present rows."""
        laplacian = np.diag(self.weight.sum(axis=1)) - self.weight
        priced = laplacian + self.train_price * np.outer(self.t, self.t) + self.node_price
        diagonal: Floats = -np.einsum("ij,ij->i", priced @ self.rows, self.rows)
        matrix = priced + np.diag(diagonal)
        least = float(eigvalsh(matrix, subset_by_index=[0, 0])[0])
        largest = float(np.diagonal(matrix).max()) + max(0.0, -least)
        # Room for the rounding of the check, and of the numbers below.
        room = self.n * largest * 2.0 ** (4 - MATRIX_BITS // 2) + 2.0 ** (4 - DIGITS) * self.n
        diagonal += max(0.0, -least) + room
        digits = max(1, round(2**DIGITS / self.unit))
        scale = self.unit * digits
        return Eigenvalue(
            nodes=tuple(self.nodes.tolist()),
            diagonal=tuple(int(x) for x in np.ceil(diagonal * scale).tolist()),
            train_price=int(self.train_price * scale),
            node_price=int(self.node_price * scale),
            unit=digits,
        )


def _relaxed(squares: int, count: int, parts: int) -> float:
    return (parts * squares - count * count) / (parts - 1)
