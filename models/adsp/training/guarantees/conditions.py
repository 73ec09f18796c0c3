r"""The conditions of Theorem 2, as far as they can be checked.

The theorem (recalled): for convex losses with bounded gradients and step sizes
:math:`\eta_t \propto 1 / \sqrt t`, if the commits of any two workers never differ by more than a
constant, the regret is :math:`O(\sqrt T)`, so that its mean vanishes. What can be said:

* *Convex*: yes for both tasks, ridge and softmax regression.
* *Step sizes*: no. The simulator, as the authors' code in effect, keeps them; so the theorem does
  not apply as it stands, and its regret is not promised of any run here.
* *Bounded gradients*: cannot be checked beforehand; not over all models for ridge regression.
* *Bounded difference*: cannot be checked for ever. On a run, `spreads` gives the largest difference
  in each quarter of it. Beforehand, a rate that some worker cannot reach makes its commits fall
  behind ever more, whether it catches up or not (trap 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import AdspTrainingInstance
    from ..simulator import Run


def is_convex(_instance: AdspTrainingInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True: the losses of both tasks are convex."""
    return True


def step_sizes_fall(_instance: AdspTrainingInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return False: step sizes stay as they are."""
    return False


def rates_in_reach(instance: AdspTrainingInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if every worker can commit as often as the largest rate offered asks."""
    return largest_rate_in_reach(instance) >= instance.choices.max_commits


@guarantee(
    name="Theorem 2",
    statement="regret O(sqrt T) if commits stay within a bounded difference (no ratio)",
    reference="Hu, Wang and Wu 2020, Theorem 2 (recalled)",
    standing="claimed",
    methods=("adsp", "adsp_plus", "adsp_plus_plus"),
    assumptions={
        "convex loss": is_convex,
        "step sizes like 1/sqrt(t)": step_sizes_fall,
        "every rate offered is in reach": rates_in_reach,
    },
)
def no_ratio(_instance: AdspTrainingInstance, _parameters: Mapping[str, Any]) -> None:
    """Return None: the theorem promises no ratio."""
    return


def largest_rate_in_reach(instance: AdspTrainingInstance) -> int:
    """Return the most commits in a period that every worker can make."""
    period = decimal_rational(instance.check_period_s)
    return min(
        period // (decimal_rational(w.step_time_s) + decimal_rational(w.comm_time_s))
        for w in instance.workers
    )


def spreads(run: Run) -> list[int]:
    """Return the largest difference of commits in each quarter of a run, from its log."""
    commits = [0] * len(run.commits)
    found = [0, 0, 0, 0]
    for commit in run.log:
        commits[commit.worker] += 1
        quarter = min(3, 4 * commit.arrive // max(1, run.ticks))
        found[quarter] = max(found[quarter], max(commits) - min(commits))
    return found
