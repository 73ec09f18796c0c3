r"""The evaluator: replay of the prices on a sequence, and the offline optimum of it, in rationals.

.. math:: \max_v\ OPT(v) / ALG(v) \quad \text{or} \quad \max_v\ OPT(v) - ALG(v),

with at most N requests v. ALG is the expected welfare of the prices, over their one draw.
"""

from __future__ import annotations

from collections.abc import Iterator

from gadgetopt.system.result import Evaluation, Violation

from ..subproblems.offline import offline_optimum
from ..subproblems.replay import expected_welfare
from .instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution


def evaluate(
    instance: AdversarialOnlineSequenceInstance, solution: AdversarialOnlineSequenceSolution
) -> Evaluation:
    """Recompute the ratio or the regret that a sequence inflicts on the prices.

    Returns
    -------
    Evaluation
        The objective is the ratio or the regret; None if an arrival has no type, or if the prices
        earn nothing and the ratio is infinite. Components: both welfares, and the ratio and the
        regret where they are defined.
    """
    violations = tuple(_violations(instance, solution))
    if violations:
        return Evaluation(None, violations)
    kinds = [instance.types[j] for j in solution.arrivals]
    values = [kind.value for kind in kinds]
    demands = [kind.demand for kind in kinds]
    earned = expected_welfare(instance.policy, values, demands)
    optimum = offline_optimum(instance.capacity, values, demands)
    components = {"welfare": earned, "offline_welfare": optimum, "regret": optimum - earned}
    if earned:
        components["ratio"] = optimum / earned
    elif instance.payoff == "ratio":
        infinite = Violation("finite_ratio", "the prices earn nothing", optimum)
        return Evaluation(None, (infinite,), components)
    return Evaluation(components[instance.payoff], (), components)


def _violations(
    instance: AdversarialOnlineSequenceInstance, solution: AdversarialOnlineSequenceSolution
) -> Iterator[Violation]:
    arrivals = solution.arrivals
    if not arrivals:
        yield Violation("empty_sequence", "arrivals", 1)
    if len(arrivals) > instance.horizon:
        yield Violation("horizon", "arrivals", len(arrivals) - instance.horizon)
    for t, j in enumerate(arrivals):
        if j >= len(instance.types):
            yield Violation("unknown_type", f"arrivals[{t}]", j - len(instance.types) + 1)
