"""The differencing method on the textbook example and on random instances."""

from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.parallel_machines.algorithms.differencing import difference


def test_the_textbook_example():
    # 8, 7, 6, 5, 4 on two machines: differences 1, then 6, 5, 4, 1 -> 1, then 4, 1, 1 -> 3, then 2:
    # loads 16 and 14, where 15 is optimal.
    groups = difference((8, 7, 6, 5, 4), 2)
    assert sorted(sum((8, 7, 6, 5, 4)[j] for j in jobs) for jobs in groups) == [14, 16]


@given(times=st.lists(st.integers(1, 50), min_size=1, max_size=12), machines=st.integers(1, 6))
def test_every_job_is_on_one_machine(times, machines):
    groups = difference(times, machines)
    assert len(groups) == machines
    assert sorted(j for jobs in groups for j in jobs) == list(range(len(times)))
