"""The pool relaxation solved by questions of cost, each answered by dynamic programming over time.

Whether there is a schedule of some cost is asked for costs that rise towards the best known
(`state_search`). Each answer "no" is a bound with a certificate.
"""

from __future__ import annotations

import math

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock

from ...relaxations import Pool
from ..start_costs import better_starts
from .state_search import StateSearch

#: Questions of cost between the bound and the best schedule known, at equal distances.
#: Tuned: `benchmarks/constants.py`.
QUESTIONS = 4
#: States that a search may look at; those of the first question, by how much they may grow from it
#: to the second, and how far growth may exceed what it was before.
#: Tuned: `benchmarks/constants.py`.
MOST_STATES, FIRST_STATES, FIRST_GROWTH, FASTER = 2 * 10**7, 10**5, 100.0, 5.0


def improved_by_states(
    pool: Pool, prices: Floats, value: int, clock: Clock, most_states: int = MOST_STATES
) -> tuple[int, Ints | None]:
    """Prove a bound of the pool, or find its optimum, as far as few states suffice.

    Whether there is a schedule of some cost is asked for costs that rise towards the best known.
    States grow by about the same factor from one question to the next, so the questions end when
    the last one is expected to have too many.

    Parameters
    ----------
    pool : Pool
    prices : array of float, shape (ticks,)
        Of a GPU-tick, in the objective's unit.
    value : int
        Of the best schedule known, times the weight scale.
    clock : Clock
    most_states : int
        That a search may look at.

    Returns
    -------
    bound : int
        Proved, times the weight scale; `value` if no schedule is better.
    starts : array of int, shape (jobs,), or None
        Of an optimal schedule, if it is better than `value`.
    """
    left = better_starts(pool, prices, value)
    least = math.ceil(left.bound)
    bound, states, growth, allowed = least, 0, FIRST_GROWTH, float(FIRST_STATES)
    for question in range(1, QUESTIONS + 1):
        below = least + (value - least) * question // QUESTIONS
        if below <= bound and below < value:
            continue
        left = better_starts(pool, prices, below)
        if left.none_better:
            bound = below
            continue
        search = StateSearch(pool, left, below)
        if not search.run(min(most_states, int(allowed)), clock):
            break
        if search.starts is not None:
            return int(pool.weight @ (search.starts + pool.duration)), search.starts
        bound = below
        if states:
            growth = max(1.0, search.states / states)
            if search.states * growth ** (QUESTIONS - question) > most_states:
                break
        states = search.states
        allowed = max(FIRST_STATES, FASTER * growth * states)
    return bound, None
