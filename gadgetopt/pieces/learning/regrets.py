"""Regret matching (CFR+) where an adversary chooses a sequence type by type, or ends it.

The adversary sees what came and not what was decided, so that it has an action for every history:
one of J types, or the end. A sequence has from 1 to N requests. Histories of one length are
numbered by their types as digits, the first the most significant.

References
----------
M. Zinkevich, M. Johanson, M. Bowling, C. Piccione, "Regret Minimization in Games with Incomplete
Information", NIPS 2007. O. Tammelin, "Solving Large Imperfect Information Games Using CFR+",
arXiv:1407.5042, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats


def matched(regrets: Floats) -> Floats:
    """Return chances in proportion to regrets along the first axis, equal ones without any."""
    total = regrets.sum(axis=0)
    even = np.full_like(regrets, 1.0 / len(regrets))
    return np.where(total > 0, regrets / np.where(total > 0, total, 1.0), even)


class SequenceRegrets:
    """Regrets of the adversary, which wants a small payoff.

    Parameters
    ----------
    types, horizon : int
        J and N.

    Attributes
    ----------
    of_length : list of ndarray, shape (J^t, J + 1)
        Regrets after t requests, t from 0 to N, of each type and, last, of the end.
    """

    def __init__(self, types: int, horizon: int) -> None:
        self.J, self.N = types, horizon
        self.of_length: list[Floats] = [np.zeros((types**t, types + 1)) for t in range(horizon + 1)]

    def moves(self) -> list[Floats]:
        """Return the chances of types and of the end after each history."""
        moves = []
        for t, regrets in enumerate(self.of_length):
            exists = np.ones(self.J + 1, dtype=bool)
            exists[self.J] = t > 0  # at least one request comes
            exists[: self.J] = t < self.N
            kept = np.where(exists, regrets, 0.0)
            total = kept.sum(axis=1, keepdims=True)
            even = exists / exists.sum()
            moves.append(np.where(total > 0, kept / np.where(total > 0, total, 1.0), even))
        return moves

    def ends(self, moves: Sequence[Floats]) -> list[Floats]:
        """Return the chance that the sequence ends at each history, by length from 1 to N."""
        reach, ends = np.ones(1), []
        for t in range(self.N):
            reach = (reach[:, None] * moves[t][:, : self.J]).ravel()
            ends.append(reach * moves[t + 1][:, self.J])
        return ends

    def update(self, moves: Sequence[Floats], payoff: Sequence[Floats]) -> None:
        """Add the regrets of what was played, cut at 0.

        Parameters
        ----------
        moves : sequence of ndarray
            As `moves` returns them.
        payoff : sequence of ndarray, shape (J^t,)
            What is paid if the sequence ends at a history, by length t from 1 to N.
        """
        below: Floats = np.zeros((self.J**self.N, self.J))
        for t in reversed(range(self.N + 1)):
            end = payoff[t - 1] if t else np.zeros(1)
            paid = np.concatenate([below, end[:, None]], axis=1)
            mixed = (moves[t] * paid).sum(axis=1)
            regrets = self.of_length[t]
            np.maximum(regrets + mixed[:, None] - paid, 0.0, out=regrets)
            if t:
                below = mixed.reshape(-1, self.J)
