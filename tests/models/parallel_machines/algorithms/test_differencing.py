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


def loads_by_sorting(times, machines):
    """Loads after differencing, written as it is told: all machines of all schedules are sorted."""
    schedules = [[time, *[0] * (machines - 1)] for time in times]
    serial = list(range(len(times)))  # of equal differences the older schedule is taken
    while len(schedules) > 1:
        order = sorted(
            range(len(schedules)),
            key=lambda k: (schedules[k][-1] - schedules[k][0], serial[k]),
        )
        first, second = schedules[order[0]], schedules[order[1]]
        joined = [a + b for a, b in zip(first, reversed(second), strict=True)]
        rest = [k for k in range(len(schedules)) if k not in order[:2]]
        schedules = [*(schedules[k] for k in rest), sorted(joined, reverse=True)]
        serial = [*(serial[k] for k in rest), max(serial) + 1]
    return schedules[0]


@given(times=st.lists(st.integers(1, 50), min_size=1, max_size=60), machines=st.integers(1, 40))
def test_loads_are_those_of_sorting_all_machines_at_each_join(times, machines):
    groups = difference(times, machines)
    loads = sorted((sum(times[j] for j in jobs) for jobs in groups), reverse=True)
    assert loads == loads_by_sorting(times, machines)
