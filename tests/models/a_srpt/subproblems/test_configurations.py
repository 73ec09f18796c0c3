"""Ways to put a job on servers."""

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.a_srpt.instance import ASrptInstance, Job, JobType
from gadgetopt.models.a_srpt.subproblems.configurations import Configurations


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
