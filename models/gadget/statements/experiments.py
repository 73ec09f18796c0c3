"""Units and figures of the paper's experiments."""

from __future__ import annotations

import itertools

from gadgetopt.numbers.dimensions import unit
from gadgetopt.pieces.uniform_sums import log10_probability
from gadgetopt.trust.statements import Finding

from ..baselines import METHODS as BASELINES

#: Figure 4: jobs, and the plotted total utility of GADGET.
FIGURE_4 = {40: 2831, 60: 4331, 80: 4910, 100: 5519}

#: Largest N_i, the number of workers that a job asks for.
MOST_WORKERS = 5

#: A figure that is less likely than 10 to this power is called not reproducible.
UNLIKELY = -4


def energy() -> Finding:
    """Minus the cost, over ten numbers of iterations and ten costs."""
    worths = [[-cost * x * x for x in range(11)] for cost in range(1, 11)]
    grows = any(b > a for row in worths for a, b in itertools.pairwise(row))
    first = worths[0][:3]
    shown = f"-x^2 at 0, 1, 2 is {first}; it grows somewhere for a cost of 1 to 10: {grows}"
    return Finding(all(b >= a for row in worths for a, b in itertools.pairwise(row)), shown)


def budget_units() -> Finding:
    """The two sides of (3) in the experiments."""
    worker_slot, iteration = unit("worker-slot"), unit("iteration")
    left, right = worker_slot, iteration
    read = (iteration / worker_slot) * worker_slot
    shown = f"the sum is in units of {left}, F_i in {right}; zeta_i times the sum in {read}"
    return Finding(left == right, shown)


def baseline_workers() -> Finding:
    """The largest number of workers of a job, and of a baseline's draw."""
    drawn = max(int(method.parameters.get("most_workers", 0)) for method in BASELINES)
    shown = f"jobs have at most {MOST_WORKERS} workers, the baselines draw from 1 to {drawn}"
    return Finding(drawn <= MOST_WORKERS, shown)


def figure_4() -> Finding:
    """How likely the sum of all priorities is to reach each plotted total."""
    powers = {n: log10_probability(n, 1, 100, total) for n, total in FIGURE_4.items()}
    told = ", ".join(f"10^{power:.1f} with {n} jobs" for n, power in powers.items())
    shown = f"the sum of all priorities reaches the plotted total with probability at most {told}"
    return Finding(min(powers.values()) > UNLIKELY, shown)
