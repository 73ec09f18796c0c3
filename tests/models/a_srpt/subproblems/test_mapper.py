"""Bounds on the times of mappings that need not be computed."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.random_jobs import random_type
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.models.a_srpt.mapping import fastest_mapping
from gadgetopt.models.a_srpt.subproblems.mapper import floor_among, split_floor

from ..hand_checked import H2
from .test_heavy_edge import capacities_for


@pytest.mark.parametrize("seed", range(60))
def test_no_mapping_is_faster_than_the_floors(seed):
    rng = np.random.default_rng(seed)
    job_type = random_type(rng, 12)
    times = mapping_times(
        job_type, H2.intra_bandwidth_gbytes_per_s, H2.inter_bandwidth_gbytes_per_s
    )
    capacities = capacities_for(rng, sum(job_type.replicas))
    fastest = fastest_mapping(times, capacities)
    assert floor_among(times, max(capacities)) <= fastest.units
    if max(capacities) < sum(job_type.replicas):
        assert split_floor(times) <= fastest.units


def test_floors_fall_with_room_to_the_time_on_one_server():
    for seed in range(20):
        job_type = random_type(np.random.default_rng(seed), 12)
        times = mapping_times(
            job_type, H2.intra_bandwidth_gbytes_per_s, H2.inter_bandwidth_gbytes_per_s
        )
        floors = [floor_among(times, room) for room in range(1, sum(job_type.replicas) + 1)]
        assert floors == sorted(floors, reverse=True)
        assert floors[0] <= times.longest
        assert floors[-1] == times.together
