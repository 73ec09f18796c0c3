"""Groups of servers find the cheapest server of a group, and of equal ones the lowest."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.search.groups_by_cost import GroupsByCost

KINDS, SERVERS = 2, 150


@given(seed=st.integers(0, 10**6))
def test_first_is_the_lowest_server_that_costs_no_more(seed):
    rng = np.random.default_rng(seed)
    groups = GroupsByCost(KINDS)
    of = {}
    for _ in range(3 * SERVERS):
        s = int(rng.integers(SERVERS))
        groups.discard(s)
        of.pop(s, None)
        if rng.random() < 0.7:
            room = (int(rng.integers(2)), int(rng.integers(4)), int(rng.integers(12)))
            suffered, done = rng.integers(2, size=KINDS) / 7, rng.integers(3, size=KINDS) / 7
            groups.add(s, room, suffered, done.tolist())
            of[s] = (*room, *suffered.tolist()), done.tolist()
    for kind in range(KINDS):
        columns = (groups.racks, groups.free_gpus, groups.free_cpus)
        suffered = [groups.suffered(k).tolist() for k in range(KINDS)]
        keys = list(zip(*(c.tolist() for c in columns), *suffered, strict=True))
        least = groups.least_done(kind).tolist()
        assert {key for key, d in zip(keys, least, strict=True) if d < np.inf} == {
            key for key, _ in of.values()
        }
        for row, key in enumerate(keys):
            if least[row] == np.inf:
                continue
            costs = {s: (0.3 + done[kind]) + 0.1 for s, (k, done) in of.items() if k == key}
            assert (0.3 + least[row]) + 0.1 == min(costs.values())
            for most in costs.values():
                named = min(s for s, cost in costs.items() if cost <= most)
                assert groups.first(row, kind, 0.3, 0.1, most) == named
