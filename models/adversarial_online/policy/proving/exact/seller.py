r"""The seller's side of the double oracle: policies for all histories, and their worst sequences.

* `tree_policy`: on the histories of the master program its sale probabilities, elsewhere just
  enough to keep the master's ratio or regret. All histories are walked through, in arrays.
* `longest_lasting_share`: the policies that keep a share of OPT, for games whose histories nobody
  can list. The worst sequence is found by a dynamic program over the k largest levels.
* `worst_of_lottery`: a lottery over tables, by the dynamic program of `subproblems.adversary`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import common_denominator

from ....subproblems.adversary import worst_sequence
from ....subproblems.automaton import automaton
from ....subproblems.prices import Lottery
from ...instance import AdversarialOnlinePolicyInstance
from .master import Master


@dataclass(frozen=True)
class Response:
    """A policy's worst sequence and what it does to the policy."""

    sequence: tuple[int, ...]
    value: float | Fraction


def tree_policy(
    instance: AdversarialOnlinePolicyInstance, master: Master
) -> tuple[Floats, Response]:
    """Return the sale probabilities of all histories, and a worst one."""
    J, k = len(instance.levels), instance.capacity_units
    value = np.array([float(level) for level in instance.levels])
    ratio, target = instance.payoff == "ratio", master.value
    chosen: list[dict[int, float]] = [{} for _ in range(instance.horizon)]
    for history, x in zip(master.histories, master.probability, strict=True):
        number = 0
        for j in history:
            number = number * J + j
        chosen[len(history) - 1][number] = float(x)
    largest_k = np.zeros((1, k))  # ascending
    sold, earned = np.zeros(1), np.zeros(1)
    parts = []
    worst = Response((), 0.0 if not ratio else 1.0)
    for t in range(instance.horizon):
        n = len(sold) * J
        v = np.tile(value, len(sold))
        sold, earned = np.repeat(sold, J), np.repeat(earned, J)
        largest_k = np.repeat(largest_k, J, axis=0)
        largest_k[:, 0] = np.maximum(largest_k[:, 0], v)
        largest_k.sort(axis=1)
        optimum = largest_k.sum(axis=1)
        wanted = optimum / target if ratio else optimum - target
        x = (wanted - earned) / v
        numbers = np.fromiter(chosen[t].keys(), dtype=np.int64, count=len(chosen[t]))
        x[numbers] = np.fromiter(chosen[t].values(), dtype=float, count=len(chosen[t]))
        x = np.clip(x, 0.0, np.minimum(1.0, k - sold))
        sold, earned = sold + x, earned + v * x
        parts.append(x)
        harm = optimum / np.maximum(earned, 1e-300) if ratio else optimum - earned
        at = int(harm.argmax())
        if not worst.sequence or harm[at] > worst.value:
            worst = Response(_levels(at, J, t + 1), float(harm[at]))
        assert len(x) == n
    return np.concatenate(parts), worst


def _levels(number: int, J: int, length: int) -> tuple[int, ...]:
    levels = []
    for _ in range(length):
        number, j = divmod(number, J)
        levels.append(j)
    return tuple(reversed(levels))


def longest_lasting_share(instance: AdversarialOnlinePolicyInstance) -> Response:
    r"""Return the sequence on which keeping a share of OPT takes most units, with the ratio kept.

    A dynamic program over the k largest levels, which are all that OPT depends on: the best
    response to every policy that keeps a share. The ratio is that of the largest share that lasts.
    """
    k, levels = instance.capacity_units, instance.levels
    J = range(len(levels))
    growth = [[max(Fraction(0), 1 - levels[i] / levels[j]) for j in J] for i in J]
    scale = common_denominator(x for row in growth for x in row)
    units = [[int(x * scale) for x in row] for row in growth]
    Top = tuple[int, ...]
    steps: list[dict[Top, tuple[int, Top, int]]] = []  # units, where from, by which level
    most: dict[Top, int] = {(): 0}
    front = dict(most)
    for _ in range(instance.horizon):
        step: dict[Top, tuple[int, Top, int]] = {}
        for top, used in front.items():
            kept = top[1:] if len(top) == k else top
            for j in J:
                gain = scale if len(top) < k else units[top[0]][j]
                now = tuple(sorted((*kept, j)))
                total = used + gain
                if gain and total > max(most.get(now, -1), step[now][0] if now in step else -1):
                    step[now] = total, top, j
        if not step:
            break
        front = {top: total for top, (total, _, _) in step.items()}
        most.update(front)
        steps.append(step)
    total, length, top = max(
        (total, -n, top) for n, step in enumerate(steps) for top, (total, _, _) in step.items()
    )
    sequence = []
    for step in reversed(steps[: 1 - length]):
        _, top, j = step[top]
        sequence.append(j)
    return Response(
        tuple(reversed(sequence)),
        max(Fraction(1), Fraction(total, scale * instance.capacity_units)),
    )


def worst_of_lottery(
    instance: AdversarialOnlinePolicyInstance,
    lottery: Lottery,
    stop: Callable[[], bool],
) -> Response | None:
    """Return a worst sequence of a lottery, exactly; None if it was stopped or the ratio infinite.

    Raises
    ------
    ModelRefused
        If the tables have too many states.
    """
    levels = instance.levels
    a = automaton((instance.capacity_units,), levels, [(1,)] * len(levels), lottery)
    found = worst_sequence(a, instance.payoff, instance.horizon, stop)
    if found.tables is None or found.tables.stopped:
        return None
    regret = Fraction(found.offline - found.online, a.scale)
    ratio = instance.payoff == "ratio"
    return Response(found.arrivals, Fraction(found.offline, found.online) if ratio else regret)
