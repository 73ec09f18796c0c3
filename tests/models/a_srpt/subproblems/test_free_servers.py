"""The bucket queue selects the servers that the plain rule selects, however it came about."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.algorithms.plain import select_servers
from gadgetopt.models.a_srpt.subproblems.free_servers import FreeServers


@pytest.mark.parametrize("seed", range(20))
def test_selection_is_that_of_the_plain_rule_after_any_changes(seed):
    rng = np.random.default_rng(seed)
    capacity = [int(c) for c in rng.integers(1, 9, size=int(rng.integers(1, 12)))]
    servers = FreeServers(capacity)
    held = []
    for _ in range(60):
        if held and rng.uniform() < 0.5:
            servers.release([held.pop(int(rng.integers(len(held))))])
        else:
            m = int(rng.integers(len(capacity)))
            if servers.free[m]:
                gpus = int(rng.integers(1, servers.free[m] + 1))
                servers.take([(m, gpus)])
                held.append((m, gpus))
        assert servers.total == sum(servers.free)
        if servers.total:
            need = int(rng.integers(1, servers.total + 1))
            assert servers.consolidated(need) == select_servers(servers.free, ((1, need),), True)
            assert servers.fragmented(need) == select_servers(servers.free, ((1, need),), False)
