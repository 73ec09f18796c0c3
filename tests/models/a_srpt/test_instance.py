"""Instances: derived numbers, and the sentences that refuse bad ones."""

from fractions import Fraction

import pytest
from pydantic import ValidationError

from gadgetopt.models.a_srpt.features import features
from gadgetopt.models.a_srpt.instance import Job, size

from .hand_checked import H1, H4, alpha_max_s, cluster, one_stage


def test_h4_durations():
    """J4: alpha^min = 0.1 + 0.09 (2 ticks), alpha^max = 0.1 + 0.9 (10 ticks)."""
    assert H4.alpha_min_s == (1, Fraction(19, 100))
    assert alpha_max_s(H4) == (1, 1)
    assert H4.min_ticks.tolist() == [6, 8, 10, 2]
    assert H4.max_ticks.tolist() == [6, 8, 10, 10]


def test_a_network_is_shared_by_the_gpus_of_the_largest_server():
    assert H4.inter_bandwidth_gbytes_per_s == 1
    assert H4.model_copy(update={"nic_share": "full"}).inter_bandwidth_gbytes_per_s == 2


def test_an_iteration_without_any_time_takes_one_tick():
    instance = cluster((2,), 10, 2, (one_stage(2, 0, 0),), (Job(job_type=0, num_iterations=9),))
    assert instance.min_ticks.tolist() == instance.max_ticks.tolist() == [1]


def test_whole_weights_are_the_weights_at_their_scale():
    jobs = (
        Job(job_type=0, num_iterations=1, weight=Fraction(1, 2)),
        Job(job_type=0, num_iterations=1, weight=Fraction(2, 3)),
    )
    instance = cluster((2,), 10, 2, (one_stage(1),), jobs)
    assert (instance.weight_scale, instance.whole_weights.tolist()) == (6, [3, 4])


@pytest.mark.parametrize(
    ("update", "sentence"),
    [
        ({"nic_bandwidth_gbytes_per_s": Fraction(30)}, "expected no more than the 10 GB/s within"),
        ({"job_types": (one_stage(5),)}, "needs 5 GPUs, but the cluster has 4"),
        ({"jobs": (Job(job_type=3, num_iterations=1),)}, "expected less than the 1 job types"),
        ({"tick_s": Fraction(1, 10**20)}, "use longer ticks"),
    ],
)
def test_an_impossible_instance_is_refused_with_a_sentence(update, sentence):
    with pytest.raises(ValidationError, match=sentence):
        H1.model_copy(update=update)


def test_size_and_features_of_h4():
    assert size(H4) == {"jobs": 4, "job_types": 2, "servers": 2, "gpus": 4, "largest_job_gpus": 2}
    found = features(H4)
    assert found["load"] == 28 / 24
    assert found["worst_slowdown"] == 5
    assert found["heavy_share"] == 0.25
    assert found["wide_share"] == 0
