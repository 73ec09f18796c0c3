r"""Iteration time of a layered network whose communication overlaps its computation.

Per sample: backward through layers N..1, then forward through 1..N of the next iteration. Layer j
takes b_j backward, f_j forward, and r_j for one push or one pull. TR(n) is equation (n) of SMD's
technical report (arXiv 2105.13855), whose lemmas these are.

* sequential, nothing overlaps: :math:`t = \sum b + 2 \sum r + \sum f`, TR(4);
* wait-free, a layer is pushed as soon as its gradient is there, full duplex, no preemption
  (Lemma 1, TR(5)-(7)), in closed form (reconstructed)

  .. math:: t = \max_{j_0 \ge j_1} \Big[\sum_{k \ge j_0} b_k + \sum_{k=j_1}^{j_0} r_k
            + \sum_{k \le j_1} r_k\Big] + \sum_k f_k;                                       \tag{W}

* priority, lower layers first, preemptive, in slices of phi (Lemma 2, TR(8)-(9)). The printed form
  adds the backlog of layers 2..j to the running maximum, which holds it already; corrected
  (reconstructed)

  .. math:: t = \max_q \Big[\sum_{k \ge q} b_k + \sum_{k \le q} r_k + \varphi
            + \sum_{k \ge q} f_k\Big].                                                      \tag{P}

The overlap fractions eta are the three phases on the critical path over their totals
(reconstructed rule: of the maximisers of (W) the one of the largest j_0, then j_1; of (P) the
smallest q).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from gadgetopt.system.data import Data, NonNegativeFloat

Overlap = Literal["sequential", "wait_free", "priority"]
Lemma2 = Literal["corrected", "as_printed"]


class Layer(Data):
    """One layer: backward and forward time of a sample, and time of one push or pull."""

    bp_s: NonNegativeFloat
    fp_s: NonNegativeFloat
    comm_s: NonNegativeFloat


@dataclass(frozen=True)
class CriticalPath:
    """The phases on the critical path of an iteration, in seconds: forward, backward, transfer."""

    forward_s: float
    backward_s: float
    transfer_s: float

    @property
    def total_s(self) -> float:
        """Iteration time."""
        return self.forward_s + self.backward_s + self.transfer_s


def critical_path(
    layers: Sequence[Layer], overlap: Overlap, slice_s: float = 0.0, lemma_2: Lemma2 = "corrected"
) -> CriticalPath:
    """Return the phases on the critical path of one iteration of one sample.

    With `lemma_2="as_printed"` the excess of the printed iteration time counts as transfer.
    """
    b = [layer.bp_s for layer in layers]
    f = [layer.fp_s for layer in layers]
    r = [layer.comm_s for layer in layers]
    if overlap == "sequential":
        return CriticalPath(sum(f), sum(b), 2 * sum(r))
    backward_from = _suffix_sums(b)
    transfer_to = list(accumulate(r))
    if overlap == "wait_free":
        return _wait_free(sum(f), backward_from, transfer_to, r)
    return _priority(_suffix_sums(f), backward_from, transfer_to, b, f, r, slice_s, lemma_2)


def overlap_fractions(
    layers: Sequence[Layer], overlap: Overlap, slice_s: float = 0.0, lemma_2: Lemma2 = "corrected"
) -> tuple[float, float, float]:
    """Return eta_1, eta_2, eta_3: phases on the critical path over their sequential totals."""
    path = critical_path(layers, overlap, slice_s, lemma_2)
    total = critical_path(layers, "sequential")
    phases = (
        (path.forward_s, total.forward_s),
        (path.backward_s, total.backward_s),
        (path.transfer_s, total.transfer_s),
    )
    eta_1, eta_2, eta_3 = (part / whole if whole else 1.0 for part, whole in phases)
    return eta_1, eta_2, eta_3


def _suffix_sums(x: Sequence[float]) -> list[float]:
    return list(accumulate(reversed(x)))[::-1]


def _wait_free(
    forward: float, backward_from: list[float], transfer_to: list[float], r: list[float]
) -> CriticalPath:
    """(W), by j_0 and the best j_1 <= j_0: a push waits for its gradient, a pull for its push."""
    best = None
    # The two sums of transfers are those up to j_0 and once more r of j_1.
    largest_r = 0.0
    for j_0, (backward, transfer) in enumerate(zip(backward_from, transfer_to, strict=True)):
        largest_r = max(largest_r, r[j_0])
        path = CriticalPath(forward, backward, transfer + largest_r)
        if best is None or path.total_s >= best.total_s:
            best = path
    assert best is not None
    return best


def _priority(
    forward_from: list[float],
    backward_from: list[float],
    transfer_to: list[float],
    b: list[float],
    f: list[float],
    r: list[float],
    slice_s: float,
    lemma_2: Lemma2,
) -> CriticalPath:
    """(P), by the layer q at which forward waits for parameters last."""
    best = None
    for forward, backward, transfer in zip(forward_from, backward_from, transfer_to, strict=True):
        path = CriticalPath(forward, backward, transfer + slice_s)
        if best is None or path.total_s > best.total_s:
            best = path
    assert best is not None
    if lemma_2 == "corrected":
        return best
    total = _printed_total(b, f, r, slice_s)
    return CriticalPath(best.forward_s, best.backward_s, total - best.forward_s - best.backward_s)


def _printed_total(b: list[float], f: list[float], r: list[float], slice_s: float) -> float:
    """Lemma 2 as printed: e_j = max_{k<j} e_k + Delta_j where Delta_j > 0, else 0."""
    latest = e = sum(b) + r[0] + slice_s
    tau = e
    backlog = 0.0
    for j in range(1, len(b)):
        backlog += r[j] - b[j - 1]
        e = latest + backlog if backlog > 0 else 0.0
        latest = max(latest, e)
        tau = max(tau + f[j - 1], e)
    return tau + f[-1]
