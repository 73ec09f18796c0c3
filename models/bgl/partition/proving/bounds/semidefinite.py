r"""The semidefinite bound with cuts, for any number of parts.

The matrix Z of `eigenvalue.py` has :math:`1 - Z_{ab} = \frac{k}{k-1} d_{ab}`, so that every cut of
`cuts.py` is a row. With more than two parts :math:`Z_{ab} \ge -1/(k-1)`, which is
:math:`d_{ab} \le 1`, matters (Frieze and Jerrum 1997; Karisch and Rendl 1998). The cuts are those
that are tight in the linear program over pairs, and those that Z violates.

What the duals prove is checked like an eigenvalue bound: weights less prices times cuts, and a
diagonal, are positive semidefinite. The linear program's own prices are the fallback.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate.check import (
    MATRIX_BITS,
    BglPartitionCertificate,
    Eigenvalue,
    Proof,
    Stars,
    check_bound,
)
from ..certificate.cuts import (
    AtMost,
    Cut,
)
from ..cut_lp import CutLp
from ..cut_separation import separate
from .boundary_point import (
    Point,
    boundary_point,
)
from .cut_bound import (
    close,
    proof_of,
)

#: Nodes of the matrix, and rows of the program.
MOST_NODES, MOST_ROWS = 200, 2000
#: Part of the time that the linear program may use.
LP_SHARE = 0.5
#: A pair is held to at most 1 where it is above it by this much.
APART = 1e-3


@method(
    kind="relaxation",
    reference="Frieze and Jerrum 1997; Karisch and Rendl 1998",
    formulation="semidefinite",
)
def semidefinite(
    instance: BglPartitionInstance,
    limits: Limits,
    *,
    rounds: int = 4,
    iterations: int = 400,
) -> MethodOutcome:
    """The semidefinite bound with the cuts as rows, checked in whole numbers.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        The linear program gets half of `time_s`.
    rounds : int, default 4
        How often violated cuts are added.
    iterations : int, default 400
        Iterations of the boundary point method in a round.

    References
    ----------
    A. Frieze, M. Jerrum, "Improved approximation algorithms for MAX k-CUT and MAX BISECTION",
    Algorithmica 18 (1997) 67-81. S. E. Karisch, F. Rendl, "Semidefinite programming and graph
    equipartition", Fields Institute Communications 18 (1998) 77-95.
    """
    clock = Clock(limits)
    if not len(instance.pair_weights):
        return MethodOutcome(certificate=BglPartitionCertificate(proof=Stars()))
    lp = CutLp(instance)
    if len(lp.nodes) > MOST_NODES:
        raise ModelRefused(f"{len(lp.nodes)} nodes with weight, expected at most {MOST_NODES}")
    leaf, _ = close(lp, Clock(clock.limits(LP_SHARE)))
    proofs: list[Proof] = [proof_of(lp, leaf)]
    program = Relaxation(lp, [lp.cuts[c] for c in leaf.cuts])
    for done in range(rounds):
        if clock.expired or len(program.cuts) > MOST_ROWS or (done and not program.cut()):
            break
        program.solve(clock, iterations)
    proofs.append(program.proof())
    certificates = [BglPartitionCertificate(proof=proof) for proof in proofs]
    best = max(certificates, key=lambda c: check_bound(instance, c) or 0)
    return MethodOutcome(
        certificate=best,
        limit_hit="time_s" if clock.expired else None,
        notes={"cuts": len(program.cuts), "semidefinite": int(isinstance(best.proof, Eigenvalue))},
    )


class Relaxation:
    """The semidefinite program with the cuts so far, and its last point."""

    lp: CutLp
    n: int

    def __init__(self, lp: CutLp, cuts: list[Cut]):
        self.lp, self.n = lp, len(lp.nodes)
        self.parts: int = lp.caps.parts
        weight = np.zeros((self.n, self.n))
        a, b = lp.ends[: lp.weighted].T
        weight[a, b] = weight[b, a] = np.array(list(lp.weights.values())) / lp.unit
        self.laplacian: Floats = np.diag(weight.sum(axis=1)) - weight
        self.cuts: list[Cut] = []
        self.entries: list[tuple[Floats, Floats, float, float]] = []
        n = self.n
        none = np.zeros(0)
        self.point: Point = Point(np.eye(n), np.zeros((n, n)), none, none)
        self._add(cuts)

    def _add(self, cuts: list[Cut]) -> int:
        """Add cuts that are not there, each scaled to length 1; return how many."""
        known = set(self.cuts)
        new = [cut for cut in dict.fromkeys(cuts) if cut not in known]
        at, n = self.lp.at, self.n
        for cut in new:
            found = self.lp.caps.inequality(cut)
            matrix: dict[int, float] = {}
            for (u, v), x in found.of_pair.items():
                i, j = at[u], at[v]
                for place, sign in (
                    (i * n + i, x),
                    (j * n + j, x),
                    (i * n + j, -x),
                    (j * n + i, -x),
                ):
                    matrix[place] = matrix.get(place, 0.0) + sign
            values = np.array(list(matrix.values()))
            length = float(np.linalg.norm(values))
            least = found.least * 2 * self.parts / (self.parts - 1)
            places = np.array(list(matrix), dtype=float)
            self.entries.append((places, values / length, least / length, length))
        self.cuts += new
        room = np.zeros(len(new))
        self.point.prices = np.concatenate([self.point.prices, room])
        self.point.slacks = np.concatenate([self.point.slacks, room])
        return len(new)

    def solve(self, clock: Clock, iterations: int) -> None:
        """Go on from the last point."""
        m = len(self.entries)
        sizes = [len(places) for places, *_ in self.entries]
        columns = np.concatenate([places for places, *_ in self.entries]) if m else np.zeros(0)
        values = np.concatenate([v for _, v, *_ in self.entries]) if m else np.zeros(0)
        rows = csr_array(
            (values, (np.repeat(np.arange(m), sizes), columns.astype(np.int64))),
            shape=(m, self.n * self.n),
        )
        least = np.array([h for *_, h, _ in self.entries])
        self.point = boundary_point(self.laplacian, rows, least, self.point, clock, iterations)

    def cut(self) -> int:
        """Add cuts that the matrix violates; return how many."""
        apart = (1 - self.point.matrix) * (self.parts - 1) / self.parts
        metric = np.where(self.lp.column >= 0, np.clip(apart, 0.0, None), np.inf)
        np.fill_diagonal(metric, 0.0)
        numbers = self.lp.nodes
        far: list[Cut] = [
            AtMost(nodes=(int(numbers[i]), int(numbers[j])), trained=False)
            for i, j in zip(
                *np.nonzero(np.triu(np.isfinite(metric) & (metric > 1 + APART))), strict=True
            )
        ]
        return self._add(
            far + separate(self.lp, np.where(np.isfinite(metric), np.minimum(metric, 1.0), np.inf))
        )

    def proof(self) -> Eigenvalue:
        """Return the certificate of the present prices, made feasible by the least eigenvalue."""
        lp, n = self.lp, self.n
        lengths = np.array([length for *_, length in self.entries])
        digits = lp.digits
        whole = np.floor(self.point.prices / np.maximum(lengths, 1e-12) * lp.unit * digits)
        prices = [int(x) for x in whole.tolist()]
        reduced = self.laplacian.copy().ravel()
        for (places, values, _, length), price in zip(self.entries, prices, strict=True):
            if price:
                reduced[places.astype(np.int64)] -= values * length * (price / (lp.unit * digits))
        matrix = reduced.reshape(n, n)
        diagonal = np.diagonal(self.point.dual_matrix - matrix).copy()
        shifted = matrix + np.diag(diagonal)
        low = float(eigvalsh(shifted, subset_by_index=[0, 0])[0])
        largest = float(np.diagonal(shifted).max()) + max(0.0, -low)
        diagonal += max(0.0, -low) + n * largest * 2.0 ** (4 - MATRIX_BITS // 2)
        scale = lp.unit * digits
        kept = [i for i, price in enumerate(prices) if price]
        return Eigenvalue(
            nodes=tuple(lp.nodes.tolist()),
            diagonal=tuple(int(x) for x in np.ceil(diagonal * scale).tolist()),
            unit=digits,
            cuts=tuple(self.cuts[i] for i in kept),
            prices=tuple(prices[i] for i in kept),
        )
