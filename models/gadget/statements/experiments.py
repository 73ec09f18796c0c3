"""Units and figures of the paper's experiments."""

from __future__ import annotations

import itertools

from gadgetopt.numbers.dimensions import unit
from gadgetopt.pieces.uniform_sums import log10_probability
from gadgetopt.system.declaring import declarations, described, statement
from gadgetopt.trust.statements import Finding

from ..baselines import policies

#: Figure 4: jobs, and the plotted total utility of GADGET.
FIGURE_4 = {40: 2831, 60: 4331, 80: 4910, 100: 5519}

#: Largest N_i, the number of workers that a job asks for.
MOST_WORKERS = 5

#: A figure that is less likely than 10 to this power is called not reproducible.
UNLIKELY = -4


@statement(
    source="the utility of energy efficiency",
    statement="minus an increasing quadratic cost of power is a non-decreasing utility",
    grade="contradiction",
    repair="a gain for every iteration is added",
    proof=("none is needed: with gain g and cost c the utility g x - c x^2 grows up to g / 2c"),
)
def energy() -> Finding:
    """Minus the cost, over ten numbers of iterations and ten costs."""
    worths = [[-cost * x * x for x in range(11)] for cost in range(1, 11)]
    grows = any(b > a for row in worths for a, b in itertools.pairwise(row))
    first = ", ".join(map(str, worths[0][:3]))
    growth = "it increases somewhere" if grows else "it never increases"
    shown = (
        f"with a cost of x^2 the utility is {first} at x = 0, 1, 2; with costs of 1 to 10 {growth}"
    )
    return Finding(all(b >= a for row in worths for a, b in itertools.pairwise(row)), shown)


@statement(
    source="the budgets of the experiments, (3)",
    statement="F_i, a number of iterations, limits a sum of worker-slots",
    grade="dimensions",
    repair=("zeta_i times the worker-slots is compared with F_i, or F_i is read as worker-slots"),
    proof="both readings have one unit on both sides; presets: budget_units",
)
def budget_units() -> Finding:
    """The two sides of (3) in the experiments."""
    worker_slot, iteration = unit("worker-slot"), unit("iteration")
    left, right = worker_slot, iteration
    read = (iteration / worker_slot) * worker_slot
    shown = f"the sum is in units of {left}, F_i in {right}; zeta_i times the sum in {read}"
    return Finding(left == right, shown)


@statement(
    source="the baselines' numbers of workers",
    statement="the baselines' fixed numbers of workers, 1 to 10, respect N_i <= 5",
    grade="contradiction",
    repair="the fixed number is cut to N_i; an option takes it as printed",
    proof="min(w, N_i) <= N_i",
)
def baseline_workers() -> Finding:
    """The largest number of workers of a job, and of a baseline's draw."""
    drawn = max(
        d.part(described(policy, "method")).parameters.get("most_workers", 0)
        for policy in vars(policies).values()
        for d in declarations(policy)
    )
    shown = f"jobs have at most {MOST_WORKERS} workers, the baselines draw from 1 to {drawn}"
    return Finding(drawn <= MOST_WORKERS, shown)


@statement(
    source="Figure 4, total utility of GADGET with 40 to 100 jobs",
    statement="totals of 2831, 4331, 4910 and 5519 come from priorities of 1 to 100",
    grade="not reproducible",
    repair="shapes and ratios to a certified optimum are compared, not values",
    proof="no utility exceeds its priority; gadgetopt/pieces/uniform_sums.py",
)
def figure_4() -> Finding:
    """How likely the sum of all priorities is to reach each plotted total."""
    powers = {n: log10_probability(n, 1, 100, total) for n, total in FIGURE_4.items()}
    told = ", ".join(f"10^{power:.1f} with {n} jobs" for n, power in powers.items())
    shown = f"the sum of all priorities reaches the plotted total with probability at most {told}"
    return Finding(min(powers.values()) > UNLIKELY, shown)
