r"""Exact numbers of the linear models: :math:`k_i(n)`, :math:`\tau_i(n)`, momentum terms."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational

from ..instance import AdspRatesInstance, MomentumCap


class ExactNumbers:
    """Steps of the workers as rationals, from the decimals of the instance."""

    def __init__(self, instance: AdspRatesInstance):
        self.most: tuple[int, ...] = tuple(instance.most_commits)
        self.period_s: Fraction = decimal_rational(instance.check_period_s)
        self.step_s: list[Fraction] = [decimal_rational(w.step_time_s) for w in instance.workers]
        comm_s = [decimal_rational(w.comm_time_s) for w in instance.workers]
        #: Steps that a commit costs each worker.
        self.commit_steps: list[Fraction] = [
            c / t for c, t in zip(comm_s, self.step_s, strict=True)
        ]

    def steps(self, i: int, n: int) -> Fraction:
        """Return k_i(n), the steps of worker i in a period with n commits."""
        return self.period_s / self.step_s[i] - n * self.commit_steps[i]

    def local_steps(self, i: int, n: int) -> Fraction:
        """Return tau_i(n), the steps of worker i between two commits."""
        return self.period_s / (n * self.step_s[i]) - self.commit_steps[i]

    def mean_steps(self, commits: int | None = None) -> Fraction:
        """Return S where every worker commits so often; by default as often as it can."""
        given = self.most if commits is None else (commits,) * len(self.most)
        return sum((self.steps(i, n) for i, n in enumerate(given)), Fraction(0)) / len(given)

    def most_local_steps(self, commits: int) -> Fraction:
        """Return theta where every worker commits so often."""
        return max(self.local_steps(i, commits) for i in range(len(self.most)))

    def momentum_shares(self, model: MomentumCap) -> list[Fraction]:
        """Return which part of the momentum allowed each worker takes with one commit.

        With n commits it is 1/n of that. A single worker takes none.
        """
        m, cap = len(self.most), decimal_rational(model.max_momentum)
        if m == 1:
            return [Fraction(0)]
        most = cap / (1 - cap) * Fraction(m, m - 1)
        whole = decimal_rational(model.scale) * self.period_s / most
        return [whole * t if model.reading == "speed" else whole / t for t in self.step_s]
