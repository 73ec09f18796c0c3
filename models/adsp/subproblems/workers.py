"""Workers of different speeds behind links of different speeds."""

from __future__ import annotations

from gadgetopt.system.data import Data, NonNegativeSize, PositiveSize


class Worker(Data):
    r"""A worker.

    Attributes
    ----------
    step_time_s : float
        :math:`t_i`, seconds of one mini-batch step; its speed is :math:`v_i = 1 / t_i`.
    comm_time_s : float
        :math:`O_i`, seconds of a commit and the pull after it.
    """

    step_time_s: PositiveSize
    comm_time_s: NonNegativeSize = 0.0
