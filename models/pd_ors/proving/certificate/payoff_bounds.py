"""Upper bounds on what a job can gain at given prices, exact, for the checks of certificates.

For each job utilities and costs are counted in a small part of its largest utility, utilities
rounded up and costs of a worker and of a server rounded down. Costs of schedules are those of
`least_costs.py`. In a tree (`price_tree.py`) a job may be limited: to slots of completion, to
options of slots, and to be accepted. (Reconstructed.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import ROUNDING, ceiling, rationals
from gadgetopt.pieces.utility import sigmoid_above

from ...instance import TableUtility
from ...terms import JobTerms
from .least_costs import (
    NEVER,
    AtLeast,
    SlotRules,
    job_costs,
)

#: Integers of any size: dtype object.
Integers = npt.NDArray[np.object_]

#: Binary digits of the most that a job's workers and servers cost in one slot. By definition.
COST_BITS = 60

#: Utilities below this part of a job's largest one are not searched slot by slot.
#: Tuned: `benchmarks/constants.py`.
FAINT = Fraction(1, 2**50)


@dataclass(frozen=True)
class JobLimits:
    """The schedules of a job that are left at a place in a tree.

    Attributes
    ----------
    first, last : int
        Slots between which it completes.
    accepted : bool
        True if it is accepted and earns something.
    rules : tuple of (AtLeast, bool)
        As in `SlotRules`.
    """

    first: int
    last: int
    accepted: bool = False
    rules: tuple[tuple[AtLeast, bool], ...] = ()


@dataclass(frozen=True)
class Charge:
    """What a job pays for meeting a constraint, in parts of a common denominator."""

    of: AtLeast
    amount: int


def payoff_above(
    job: JobTerms,
    price: Integers,
    row: Sequence[int],
    denominator: int,
    worth: dict[int, Fraction],
    limits: JobLimits,
    charges: Sequence[Charge] = (),
) -> Fraction | None:
    """Return an upper bound on the payoff of a job; None if it has to be accepted and cannot be.

    Parameters
    ----------
    price : array of int, shape (slots, rows, resources)
        Per unit, times the denominator; not negative.
    row : sequence of int, shape (machines,)
    worth : dict of slot to Fraction
        `utilities_above` of the job.
    charges : sequence of Charge
        Not negative.
    """
    nothing = None if limits.accepted else Fraction(0)
    # A schedule that is done before the first slot costs no less than one that is done by it.
    by = {t: u for t, u in worth.items() if limits.first <= t <= limits.last and u > 0}
    if not by:
        return nothing
    most = max(by.values())
    last = max(by) if limits.accepted else max(t for t, u in by.items() if u > FAINT * most)
    faint = max((u for t, u in by.items() if t > last), default=Fraction(0))
    worker, server = price @ job.alpha.astype(object), price @ job.beta.astype(object)
    unit = most
    if limits.accepted:
        # It may have to pay more than it is worth.
        dearest = max(int(worker.max()), int(server.max()), *(c.amount for c in charges), 0)
        unit = max(unit, Fraction(dearest, denominator))
    # So many parts that what a whole batch costs stays in 64 bits. A worker that costs more than
    # the largest utility never pays for a job that may be rejected.
    parts = 1 << (COST_BITS - (2 * job.batch).bit_length())
    scale = parts / (unit * denominator)

    def scaled(amounts: Integers) -> Ints:
        least = amounts * scale.numerator // scale.denominator
        return np.asarray(np.minimum(least, parts + 1), dtype=np.int64)

    charged = scaled(np.array([c.amount for c in charges], dtype=object)).tolist()
    rules = SlotRules(limits.rules, [(c.of, x) for c, x in zip(charges, charged, strict=True) if x])
    each = scaled(worker)[:, row], scaled(server)[:, row]
    cost = job_costs(job, *each, last, rules)
    slots = [t for t in by if t <= last]
    if limits.accepted and all(cost[t] >= NEVER for t in slots):
        # Too dear to be counted, or impossible: what costs nothing tells.
        free = job_costs(job, 0 * each[0], 0 * each[1], last, SlotRules(limits.rules))
        if all(free[t] >= NEVER for t in slots):
            return None
    gain = max(ceiling(by[t] * parts / unit) - int(cost[t]) for t in slots)
    payoff = Fraction(gain) * unit / parts
    return payoff if limits.accepted else max(payoff, faint, Fraction(0))


def utilities_above(job: JobTerms, horizon: int) -> dict[int, Fraction]:
    """Return upper bounds on the utility of completing in each slot from the earliest on."""
    if job.earliest is None:
        return {}
    u = job.job.utility
    late = range(job.earliest - job.arrival, horizon - job.arrival + 1)
    if isinstance(u, TableUtility):
        values = rationals(u.values)
        above = [values[d] if d < len(values) else Fraction(0) for d in late]
    else:
        height, steepness, middle = rationals((u.theta1, u.theta2, u.theta3))
        above = []
        for d in late:
            above.append(sigmoid_above(height, steepness, Fraction(d), middle))
            if above[-1] <= FAINT * above[0]:
                break
        above += [above[-1]] * (len(late) - len(above))  # these are no larger
    return {job.arrival + d: x * (1 + ROUNDING) for d, x in zip(late, above, strict=True)}
