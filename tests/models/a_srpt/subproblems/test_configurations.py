"""Ways to put a job on servers."""

from itertools import product

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.a_srpt.instance import ASrptInstance, Job, JobType
from gadgetopt.models.a_srpt.subproblems.configurations import Configurations
from gadgetopt.pieces.knapsack.bins import arrangements


@pytest.mark.parametrize("capacities", [(), (3,), (1, 2, 3), (2, 2, 2, 1), (4, 1, 1)])
@pytest.mark.parametrize("total", range(8))
def test_arrangements_are_all_there_are(total, capacities):
    every = [row for row in product(*(range(c + 1) for c in capacities)) if sum(row) == total]
    assert list(arrangements(total, capacities)) == sorted(every, reverse=True)


def test_a_job_has_a_place_on_each_of_many_servers():
    instance = ASrptInstance(
        gpus_per_server=(2,) * 1500,
        intra_bandwidth_gbytes_per_s=10,
        nic_bandwidth_gbytes_per_s=2,
        job_types=(JobType(replicas=(1,), stage_time_s=(1,), gradient_gbytes=(0,)),),
        jobs=(Job(job_type=0, num_iterations=1),),
    )
    assert len(Configurations(instance).of(0)) == 1500
    with pytest.raises(ModelRefused, match="more than 1499 ways"):
        Configurations(instance, 1499)
