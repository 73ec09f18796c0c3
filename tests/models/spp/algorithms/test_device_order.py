"""RDO on clusters of machines and by hand."""

import itertools

import numpy as np
import pytest

from gadgetopt.models.spp.algorithms.block_costs import bandwidth_matrix
from gadgetopt.models.spp.algorithms.device_order import rdo
from gadgetopt.models.spp.data.generate.presets import (
    fat_tree,
)

from ..brute_force import e2


def test_fast_pairs_stand_next_to_each_other():
    # The minimum cut parts {0, 2} from {1, 3}; all junctions are 2, so the orders stay as they are.
    assert rdo(bandwidth_matrix(e2())) == (0, 2, 1, 3)


@pytest.mark.parametrize("machines", [2, 3, 4, 7])
@pytest.mark.parametrize(
    ("gpus", "fast"), [(1, 100.0), (2, 12.0), (4, 100.0), (4, 12.0), (6, 12.0)]
)
def test_machines_stay_together_whatever_single_gpus_the_cuts_take(machines, gpus, fast):
    # 4 x 4 with 100 and 10: a GPU costs 3 * 100 + 12 * 10 = 420, a machine 4 * 12 * 10 = 480.
    owner = np.repeat(np.arange(machines), gpus)
    rng = np.random.default_rng(machines * gpus)
    owner = rng.permutation(owner)
    b = np.where(owner[:, None] == owner, fast, 10.0)
    order = rdo(b)
    assert sorted(order) == list(range(machines * gpus))
    changes = sum(owner[u] != owner[v] for u, v in itertools.pairwise(order))
    assert changes == machines - 1


def test_racks_and_machines_stay_together():
    instance = fat_tree(np.random.default_rng(0), racks=2, machines=3, gpus_per_machine=2)
    order = np.array(rdo(bandwidth_matrix(instance)))
    for size in (2, 6):
        owner = order // size
        assert np.count_nonzero(np.diff(owner)) == 12 // size - 1
