r"""Semidefinite programs with inequalities, by the boundary point method.

.. math:: \min\ \langle C, Z \rangle, \qquad Z_{vv} = 1, \qquad \langle A_c, Z \rangle \ge h_c,
    \qquad Z \succeq 0.

J. Povh, F. Rendl, A. Wiegele, "A boundary point method to solve semidefinite programs", Computing
78 (2006) 277-286: an augmented Lagrangian of the dual, whose matrix is projected by eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, eye_array, vstack
from scipy.sparse.linalg import splu

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock

#: Relative residuals at which it ends, and the iterations between two looks at them.
RESIDUAL, EVERY = 1e-5, 20
#: The penalty grows or shrinks by this factor where the residuals differ by more than five.
FACTOR = 1.6


@dataclass
class Point:
    """Matrix, duals of the inequalities, and what the slacks and the dual matrix are.

    Attributes
    ----------
    matrix, dual_matrix : ndarray, shape (n, n)
    prices, slacks : ndarray, shape (rows,)
        Prices are not negative.
    penalty : float
    """

    matrix: Floats
    dual_matrix: Floats
    prices: Floats
    slacks: Floats
    penalty: float = 1.0


def boundary_point(
    cost: Floats, rows: csr_array, least: Floats, start: Point, clock: Clock, iterations: int
) -> Point:
    """Return a point after some iterations, or when both residuals are small.

    Parameters
    ----------
    cost : ndarray, shape (n, n)
    rows : sparse array, shape (rows, n * n)
        Symmetric matrices, row by row.
    least : ndarray, shape (rows,)
    start : Point
        Of as many rows; it is changed.
    clock : Clock
    iterations : int
    """
    n, m = len(cost), len(least)
    diagonal = csr_array((np.ones(n), (np.arange(n), np.arange(n) * (n + 1))), (n, n * n))
    both = csr_array(vstack([diagonal, rows]))
    slack = csr_array(vstack([csr_array((n, m)), -eye_array(m)]))
    solve = splu((both @ both.T + slack @ slack.T).tocsc()).solve
    right = np.concatenate([np.ones(n), least])
    x, z, s = start.matrix, start.dual_matrix, start.slacks
    u, sigma = start.prices, start.penalty
    flat = cost.ravel()
    for iteration in range(iterations):
        missing = right - both @ x.ravel() - slack @ s
        y = solve(both @ (flat - z.ravel()) - slack @ u + missing / sigma)
        free = cost - (both.T @ y).reshape(n, n)
        w = free - x / sigma
        values, vectors = eigh((w + w.T) / 2)
        up = vectors[:, values > 0]
        z = (up * values[values > 0]) @ up.T
        x = sigma * (z - w)
        ws = y[n:] - s / sigma
        u, s = np.maximum(ws, 0), np.maximum(-sigma * ws, 0)
        if clock.expired:
            break
        if iteration % EVERY == EVERY - 1:
            missing = right - both @ x.ravel() - slack @ s
            primal = float(np.linalg.norm(missing)) / (1 + float(np.linalg.norm(right)))
            dual = float(np.linalg.norm(free - z)) + float(np.linalg.norm(y[n:] - u))
            dual /= 1 + float(np.linalg.norm(cost))
            if max(primal, dual) < RESIDUAL:
                break
            if primal > 5 * dual:
                sigma /= FACTOR
            elif dual > 5 * primal:
                sigma *= FACTOR
    return Point(x, z, u, s, sigma)
