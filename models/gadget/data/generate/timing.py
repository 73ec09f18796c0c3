r"""Iteration time of ring-all-reduce, and the resulting progress of a worker.

Each of w workers splits its gradient of d Mbit into w pieces. In w - 1 steps the pieces are summed
along the ring, in w - 1 more the sums are shared:

.. math::
    \tau(w) = \frac{d (w - 1)}{w} \Big[\frac{2}{b} + \frac{1}{G}\Big]
        + t^f M + t^b + \gamma. \tag{1}

A ring of one worker does not communicate, and no ring takes longer than :math:`\tau(\infty)`. The
paper uses one :math:`\zeta_i` for all ring sizes "by inverting (1)" and leaves open at which size.
Here it is the largest ring, :math:`w = N_i`, or :math:`w \to \infty`, with which no ring makes less
progress than planned (reconstructed).
"""

from __future__ import annotations

import math

from gadgetopt.system.data import Data, NonNegativeFloat, PositiveFloat


class RingTiming(Data):
    """Parameters of the iteration time of a job.

    Attributes
    ----------
    gradient_mbit : float
        d, the size of all gradients (not their number).
    bandwidth_mbps : float
        b, the bandwidth of every hop.
    reduce_mbps : float
        G, the rate at which a worker sums gradients.
    forward_s_per_sample, minibatch_samples, backward_s : float
        t^f, M, t^b.
    overhead_s : float
        gamma of (1), not the gamma of Theorem 8.
    """

    gradient_mbit: NonNegativeFloat
    bandwidth_mbps: PositiveFloat
    reduce_mbps: PositiveFloat
    forward_s_per_sample: NonNegativeFloat
    minibatch_samples: PositiveFloat
    backward_s: NonNegativeFloat
    overhead_s: NonNegativeFloat = 0.0

    def iteration_s(self, workers: float) -> float:
        """Return tau(w) of a ring, in seconds; `math.inf` workers give its limit.

        Raises
        ------
        ValueError
            If there is less than one worker.
        """
        if not workers >= 1:
            raise ValueError(f"workers: {workers}, expected at least 1")
        sent = self.gradient_mbit * (1 - 1 / workers)
        computing = self.forward_s_per_sample * self.minibatch_samples + self.backward_s
        return sent * (2 / self.bandwidth_mbps + 1 / self.reduce_mbps) + computing + self.overhead_s

    def iterations_per_worker_slot(self, slot_s: float, workers: float = math.inf) -> float:
        """Return zeta_i: the iterations per slot at the speed of a ring of `workers`.

        Parameters
        ----------
        slot_s : float
            Length of a slot in seconds.
        workers : float, default infinite
            N_i, or infinite, at which no ring makes less progress (both reconstructed).
        """
        return slot_s / self.iteration_s(workers)
