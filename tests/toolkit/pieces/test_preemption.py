"""Jackson's preemptive schedule, by hand and against all subsets of jobs."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.pieces.preemption import preemptive_makespan

NUMBERS = st.integers(0, 9)
JOBS = st.lists(st.tuples(NUMBERS, st.integers(1, 9), NUMBERS), min_size=1, max_size=6)


def test_jacksons_schedule_preempts():
    # A long job starts at 0; at 1 one with tail 10 comes: 1 + 2 + 10; the long one ends at 7.
    assert preemptive_makespan([(0, 5, 0), (1, 2, 10)]) == 13
    assert preemptive_makespan([(0, 5, 8), (1, 2, 10)]) == 15


@given(jobs=JOBS)
def test_the_makespan_is_that_of_the_worst_subset(jobs):
    # Of any jobs: the least head, all lengths, the least tail; one subset attains the makespan.
    subsets = itertools.chain.from_iterable(
        itertools.combinations(jobs, n + 1) for n in range(len(jobs))
    )
    worst = max(
        min(head for head, _, _ in some)
        + sum(length for _, length, _ in some)
        + min(tail for _, _, tail in some)
        for some in subsets
    )
    assert preemptive_makespan(jobs) == worst
