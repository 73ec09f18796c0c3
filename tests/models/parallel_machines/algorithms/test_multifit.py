"""First-fit decreasing with a tree agrees with the naive one."""

from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.parallel_machines.algorithms.multifit import first_fit_decreasing

from ..brute_force import small_instances


def naive(instance, capacity_s):
    jobs_of = [[] for _ in range(instance.used_machines)]
    for j in instance.longest_first:
        for jobs in jobs_of:
            if sum(instance.processing_s[i] for i in (*jobs, j)) <= capacity_s:
                jobs.append(j)
                break
        else:
            return None
    return jobs_of


@given(instance=small_instances(9), capacity_s=st.integers(1, 400))
def test_each_job_is_on_the_first_machine_with_room(instance, capacity_s):
    assert first_fit_decreasing(instance, capacity_s) == naive(instance, capacity_s)
