r"""The evaluator: the worst case of a randomised policy over all sequences, in rationals.

.. math:: \min_\pi \max_h\ OPT(h) / ALG_\pi(h) \quad\text{or}\quad
          \min_\pi \max_h\ OPT(h) - ALG_\pi(h),

over all histories h of at most N levels. A tree of sale probabilities is walked through. Against a
lottery, the sequences are enumerated by what they lead to: the units that each table of the lottery
has sold, and the k largest levels, which determine the offline optimum. Of sequences that lead to
the same, the one on which the policy earns least decides. A policy that keeps a share of OPT earns
that share of every sequence; what has to be found out is whether it ever runs out of units, again
by enumerating the k largest levels. `sale_table` says how a table of sale probabilities is judged.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import compress

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from ..subproblems.offline import largest
from ..subproblems.prices import Lottery
from ..subproblems.replay import expected_welfare
from .instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution
from .sale_table import Worst, table_violations, welfare_of_table, worst_of_table

#: States of an enumeration, and histories of a tree, that are looked at.
#: Tuned: `benchmarks/constants.py`.
MOST_STATES = 10**6

#: Units sold by each table of a lottery, and the largest levels so far, from the smallest.
State = tuple[tuple[int, ...], tuple[int, ...]]


def evaluate(
    instance: AdversarialOnlinePolicyInstance, solution: AdversarialOnlinePolicySolution
) -> Evaluation:
    """Recompute the worst case of a policy, and which constraints the policy violates.

    Returns
    -------
    Evaluation
        The objective is the largest ratio or regret; None if the policy is none, or if its ratio is
        infinite. Components: length and welfares of a worst sequence.

    Raises
    ------
    ModelRefused
        If too many states would have to be enumerated.
    """
    violations = tuple(_violations(instance, solution))
    if violations:
        return Evaluation(None, violations)
    found = worst_case(instance, solution)
    regret = found.offline_welfare - found.welfare
    components: dict[str, Number] = {
        "worst_length": len(found.sequence),
        "worst_welfare": found.welfare,
        "worst_offline_welfare": found.offline_welfare,
    }
    missed = tuple(missed_predictions(instance, solution))
    if instance.payoff == "regret":
        return Evaluation(regret, missed, components)
    if not found.welfare:
        infinite = Violation("finite_ratio", "a sequence of no welfare", found.offline_welfare)
        return Evaluation(None, (infinite, *missed), components)
    return Evaluation(found.offline_welfare / found.welfare, missed, components)


def worst_case(
    instance: AdversarialOnlinePolicyInstance, solution: AdversarialOnlinePolicySolution
) -> Worst:
    """Return a worst sequence for a policy.

    Raises
    ------
    ModelRefused
        If too many states would have to be enumerated.
    """
    if solution.lottery:
        return _worst_of_lottery(instance, solution.lottery)
    if solution.kept_share is not None:
        return _worst_of_share(instance, solution.kept_share)
    if solution.sale_table is not None:
        return worst_of_table(instance, solution.sale_table)
    return _worst_of_tree(instance, solution.sale_probability)


def histories(instance: AdversarialOnlinePolicyInstance) -> int:
    """Return the number of histories of 1 to N levels."""
    return sum(len(instance.levels) ** t for t in range(1, instance.horizon + 1))


def _violations(
    instance: AdversarialOnlinePolicyInstance, solution: AdversarialOnlinePolicySolution
) -> Iterator[Violation]:
    if solution.lottery:
        wanted = [instance.capacity_units]
        for i, posted in enumerate(solution.lottery):
            if [len(table) for table in posted.prices] != wanted:
                yield Violation("one_price_a_unit", f"lottery[{i}].prices", 1)
        total = sum((posted.probability for posted in solution.lottery), Fraction(0))
        if total != 1:
            yield Violation("probabilities_sum_to_1", "lottery", abs(total - 1))
        return
    if solution.kept_share is not None:
        used = solution.kept_share * most_units(instance)
        if used > instance.capacity_units:
            yield Violation("capacity", "kept_share", used - instance.capacity_units)
        return
    if solution.sale_table is not None:
        yield from table_violations(instance, solution.sale_table)
        return
    given, nodes = len(solution.sale_probability), histories(instance)
    if given != nodes:
        yield Violation("one_probability_a_history", "sale_probability", abs(given - nodes))
        return
    J, k = len(instance.levels), instance.capacity_units
    sold = [Fraction(0)]
    at = 0
    for t in range(instance.horizon):
        sold = [before + solution.sale_probability[at + n] for n, before in _branches(sold, J)]
        at += J ** (t + 1)
        for n, units in enumerate(sold):
            if units > k:
                yield Violation("capacity", f"history {_digits(n, J, t + 1)}", units - k)


def _branches(of_histories: list[Fraction], J: int) -> Iterator[tuple[int, Fraction]]:
    """Yield the number of every history that is one longer, and what its prefix has."""
    for n, before in enumerate(of_histories):
        for j in range(J):
            yield n * J + j, before


def _digits(n: int, J: int, length: int) -> tuple[int, ...]:
    """Return the levels of the n-th history of a length."""
    levels = []
    for _ in range(length):
        n, j = divmod(n, J)
        levels.append(j)
    return tuple(reversed(levels))


def _worse(payoff: str, a: Worst, b: Worst) -> bool:
    """Return True if the first is worse for the policy."""
    if payoff == "regret":
        return a.offline_welfare - a.welfare > b.offline_welfare - b.welfare
    return a.offline_welfare * b.welfare > b.offline_welfare * a.welfare


def _worst_of_tree(
    instance: AdversarialOnlinePolicyInstance, sale_probability: Sequence[Fraction]
) -> Worst:
    """Return the worst history, by walking through all of them depth first."""
    if len(sale_probability) > MOST_STATES:
        raise ModelRefused(
            f"sale_probability: {len(sale_probability)} histories, expected at most {MOST_STATES}"
        )
    J, k, levels = len(instance.levels), instance.capacity_units, instance.levels
    offsets = [0]
    for t in range(1, instance.horizon):
        offsets.append(offsets[-1] + J**t)
    worst = Worst((), Fraction(1), Fraction(1))
    if instance.payoff == "regret":
        worst = Worst((), Fraction(0), Fraction(0))
    stack: list[tuple[tuple[int, ...], int, Fraction]] = [((), 0, Fraction(0))]
    while stack:
        history, n, welfare = stack.pop()
        t = len(history)
        for j in range(J):
            longer = (*history, j)
            earned = welfare + levels[j] * sale_probability[offsets[t] + n * J + j]
            found = Worst(longer, earned, largest(instance.values(longer), k))
            if not worst.sequence or _worse(instance.payoff, found, worst):
                worst = found
            if t + 1 < instance.horizon:
                stack.append((longer, n * J + j, earned))
    return worst


def _worst_of_lottery(instance: AdversarialOnlinePolicyInstance, lottery: Lottery) -> Worst:
    """Return the worst sequence, by enumerating what sequences lead to.

    Money is in integers: levels times their common denominator, weights of the tables likewise.
    """
    k, levels = instance.capacity_units, instance.levels
    scale = common_denominator(levels)
    whole = common_denominator(posted.probability for posted in lottery)
    weights = [int(posted.probability * whole) for posted in lottery]
    amounts = [int(level * scale) for level in levels]
    # accepts[i][u]: the lowest level that table i accepts with u units sold; with k sold, none.
    accepts = [
        [sum(1 for level in levels if level < price) for price in posted.prices[0]] + [len(levels)]
        for posted in lottery
    ]
    start: State = ((0,) * len(lottery), ())
    least: dict[State, int] = {start: 0}
    front = {start: 0}
    steps: list[dict[State, tuple[State, int]]] = []
    worst, worst_at = Worst((), Fraction(0), Fraction(0)), (0, start)
    for t in range(instance.horizon):
        after: dict[State, int] = {}
        came: dict[State, tuple[State, int]] = {}
        for before, welfare in front.items():
            sold, top = before
            for j, amount in enumerate(amounts):
                buys = [j >= accepts[i][u] for i, u in enumerate(sold)]
                best = list(top)
                insort(best, j)
                state = tuple(map(int.__add__, sold, buys)), tuple(best[-k:])
                earned = welfare + amount * sum(compress(weights, buys))
                if earned < after.get(state, earned + 1) and earned < least.get(state, earned + 1):
                    after[state], came[state] = earned, (before, j)
        least.update(after)
        if len(least) > MOST_STATES:
            raise ModelRefused(
                f"lottery: more than {MOST_STATES} states of {len(lottery)} tables against "
                f"{instance.horizon} buyers, expected fewer"
            )
        steps.append(came)
        for state, earned in after.items():
            optimum = Fraction(sum(amounts[j] for j in state[1]), scale)
            found = Worst((), Fraction(earned, scale * whole), optimum)
            if worst_at == (0, start) or _worse(instance.payoff, found, worst):
                worst, worst_at = found, (t + 1, state)
        front = after
    length, state = worst_at
    sequence: list[int] = []
    for came in reversed(steps[:length]):
        state, j = came[state]
        sequence.append(j)
    return replace(worst, sequence=tuple(reversed(sequence)))


def _worst_of_share(instance: AdversarialOnlinePolicyInstance, share: Fraction) -> Worst:
    """Return the sequence with the largest optimum: all ratios are alike, regrets grow with it."""
    top = len(instance.levels) - 1
    sequence = (top,) * min(instance.horizon, instance.capacity_units)
    optimum = largest(instance.values(sequence), instance.capacity_units)
    return Worst(sequence, share * optimum, optimum)


def most_units(instance: AdversarialOnlinePolicyInstance) -> Fraction:
    r"""Return the most units that keeping ALG at OPT takes, over all sequences.

    .. math:: \max_h \sum_t (OPT(h_t) - OPT(h_{t-1})) / v_t

    Raises
    ------
    ModelRefused
        If too many states would have to be enumerated.
    """
    k, levels = instance.capacity_units, instance.levels
    J = range(len(levels))
    # A buyer of level j replaces the smallest of the k largest levels, i, or a free unit.
    replaced = [[max(Fraction(0), 1 - levels[i] / levels[j]) for j in J] for i in J]
    scale = common_denominator(x for row in replaced for x in row)
    units = [[int(x * scale) for x in row] for row in replaced]
    most: dict[tuple[int, ...], int] = {(): 0}
    front = dict(most)
    looked_at = 0
    for _ in range(instance.horizon):
        after: dict[tuple[int, ...], int] = {}
        for top, used in front.items():
            full = len(top) == k
            for j in range(top[0] + 1 if full else 0, len(levels)):
                best = list(top[1:] if full else top)
                insort(best, j)
                state = tuple(best)
                total = used + (units[top[0]][j] if full else scale)
                if total > most.get(state, -1) and total > after.get(state, -1):
                    after[state] = total
        looked_at += len(front)
        if looked_at > MOST_STATES:
            raise ModelRefused(
                f"kept_share: more than {MOST_STATES} sets of {k} largest levels in "
                f"{instance.horizon} requests, expected fewer"
            )
        most.update(after)
        front = after
    return Fraction(max(most.values()), scale)


def missed_predictions(
    instance: AdversarialOnlinePolicyInstance, solution: AdversarialOnlinePolicySolution
) -> Iterator[Violation]:
    """Yield the predicted sequences on which the policy earns too small a share."""
    for i, sequence in enumerate(instance.predictions):
        assert instance.consistency is not None, "the instance has predictions"
        wanted = instance.consistency * largest(instance.values(sequence), instance.capacity_units)
        short = wanted - welfare_on(instance, solution, sequence)
        if short > 0:
            yield Violation("consistency", f"predictions[{i}]", short)


def welfare_on(
    instance: AdversarialOnlinePolicyInstance,
    solution: AdversarialOnlinePolicySolution,
    sequence: tuple[int, ...],
) -> Fraction:
    """Return the expected welfare of a policy on a sequence of levels."""
    values = instance.values(sequence)
    if solution.lottery:
        return expected_welfare(solution.lottery, values, [(1,)] * len(values))
    if solution.kept_share is not None:
        return solution.kept_share * largest(values, instance.capacity_units)
    if solution.sale_table is not None:
        return welfare_of_table(instance, solution.sale_table, sequence)
    J = len(instance.levels)
    welfare, offset, n = Fraction(0), 0, 0
    for t, j in enumerate(sequence):
        n = n * J + j
        welfare += values[t] * solution.sale_probability[offset + n]
        offset += J ** (t + 1)
    return welfare
