"""Total utility is monotone over allocations, and submodular if utilities are concave.

An element is an allocation of one slot: the workers of every job. F of a set of elements is the
total utility of all their workers, truncated at each job's budget. Theorem 6 rests on this.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.terms import JobTerms

from .tiny import tiny

SEED = st.integers(0, 10**6)


def total(jobs: list[JobTerms], allocations) -> float:
    """Return F, with u_i(min(z, K_i)): workers beyond a budget can be removed again."""
    z = np.sum(allocations, axis=0) if len(allocations) else np.zeros(len(jobs), dtype=int)
    return sum(float(job.utility[min(n, job.max_total)]) for job, n in zip(jobs, z, strict=True))


def drawn(seed: int, kind: str):
    """Return jobs, two nested sets of allocations, and one more allocation."""
    rng = np.random.default_rng(seed)
    jobs = generate.contended(rng, jobs=5, servers=4, utility=kind).terms.jobs
    more = [[int(rng.integers(0, job.max_ring + 1)) for job in jobs] for _ in range(6)]
    small = int(rng.integers(0, 5))
    return jobs, more[:small], more[: int(rng.integers(small, 6))], more[5]


@given(SEED, st.sampled_from(["sigmoid", "sqrt", "log"]))
def test_more_allocations_are_never_worth_less(seed, kind):
    jobs, small, large, _ = drawn(seed, kind)
    assert total(jobs, small) <= total(jobs, large) + 1e-9


@given(SEED, st.sampled_from(["sqrt", "log"]))
def test_an_allocation_gains_less_after_more_others_if_utilities_are_concave(seed, kind):
    jobs, small, large, one = drawn(seed, kind)
    early = total(jobs, [*small, one]) - total(jobs, small)
    late = total(jobs, [*large, one]) - total(jobs, large)
    assert late <= early + 1e-9


@given(SEED)
def test_the_order_of_the_slots_does_not_matter(seed):
    jobs, _, large, one = drawn(seed, "sigmoid")
    assert total(jobs, [*large, one]) == total(jobs, [one, *reversed(large)])


def test_under_a_sigmoid_the_second_allocation_gains_more_than_the_first():
    # One worker of job 0 gains 0.0045 in the first slot and 99.99 in the second.
    jobs = tiny("h4_sigmoid_starvation").terms.jobs
    one = [1, 0]
    first = total(jobs, [one]) - total(jobs, [])
    second = total(jobs, [one, one]) - total(jobs, [one])
    assert first < 0.005 < 99 < second
