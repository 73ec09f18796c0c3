"""The virtual machine: H3 to the digit, the definition, and the optimality of SRPT."""

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest

from gadgetopt.models.a_srpt.algorithms import plain
from gadgetopt.models.a_srpt.algorithms.virtual_machine import (
    RULES,
    VirtualMachine,
    virtual_completions,
    virtual_run,
)


def drawn(seed, jobs=8):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 15, size=jobs).tolist(), rng.integers(1, 10, size=jobs).tolist()


def test_h3():
    """Sizes 16, 2, 4: J1 runs 0-4, J2 4-6, J3 6-10, J1 10-22."""
    completion, pieces = virtual_run([0, 4, 4], [16, 2, 4])
    assert completion == [22, 6, 10]
    assert pieces == [(0, 4, 0), (4, 6, 1), (6, 10, 2), (10, 22, 0)]


@pytest.mark.parametrize("seed", range(40))
def test_srpt_is_that_of_the_definition(seed):
    release, work = drawn(seed)
    assert virtual_completions(release, work) == plain.virtual_completions(release, work)


@pytest.mark.parametrize("seed", range(15))
def test_srpt_is_optimal(seed):
    """Among preemptive schedules by any priority list, which include an optimal one."""
    release, work = drawn(seed, jobs=5)

    def by_list(order):
        left, now, total = dict(enumerate(work)), 0, 0
        while left:
            there = [j for j in order if j in left and release[j] <= now]
            if there:
                left[there[0]] -= 1
                if not left[there[0]]:
                    del left[there[0]]
                    total += now + 1
            now += 1
        return total

    best = min(by_list(order) for order in permutations(range(5)))
    assert sum(virtual_completions(release, work)) == best


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(10))
def test_every_rule_does_all_work_and_never_idles_while_there_is_some(rule, seed):
    release, work = drawn(seed)
    weight = [Fraction(1 + j % 3) for j in range(len(work))]
    completion, pieces = virtual_run(release, work, weight, rule)
    done = [0] * len(work)
    for start, end, j in pieces:
        assert release[j] <= start < end <= completion[j]
        done[j] += end - start
    assert done == work
    assert all(a[1] <= b[0] for a, b in pairwise(pieces))
    for (_, idle, _), (busy, _, _) in pairwise(pieces):
        assert not any(release[j] < busy and completion[j] > idle for j in range(len(work))) or (
            idle == busy
        )


def test_wspt_keeps_to_the_first_ratio_where_wsrpt_looks_at_what_is_left():
    """Job 0 has 10 units of work, 9 done when job 1 of 5 units and equal weight arrives."""
    release, work = [0, 9], [10, 5]
    assert virtual_completions(release, work, rule="wspt") == [15, 14]
    assert virtual_completions(release, work, rule="wsrpt") == [10, 15]


def test_an_arrival_at_the_moment_of_a_completion_preempts_nothing():
    machine = VirtualMachine("wspt")
    machine.add(0, 0, 4)
    machine.add(1, 4, 1, Fraction(100))
    assert machine.next_completion == 4
    assert machine.complete() == 0
    assert machine.next_completion == 5
