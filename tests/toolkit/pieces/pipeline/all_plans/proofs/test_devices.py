"""The GPUs of stages that a check goes through, against all GPUs of all stages."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.proofs import devices
from gadgetopt.pieces.pipeline.all_plans.proofs.devices import MergingMachines, devices_of, divided
from gadgetopt.pieces.pipeline.cluster import MatrixCluster, TwoLevelCluster
from gadgetopt.pieces.pipeline.communication import allreduce_factor, transfer_factor
from gadgetopt.pieces.pipeline.instance import PipelineInstance

from ...examples import instances, layers


def gone_through(instance):
    """Replicas, speed and AllReduce of each stage, and links, of all sequences of choices."""
    rules, found = devices_of(instance), set()

    def extend(state, so_far):
        for choice in rules.choices(state):
            kind = rules.kinds.values[choice.kind]
            link = rules.links.values[choice.link] if choice.link >= 0 else Fraction(0)
            longer = (*so_far, (kind.replicas, 1 / kind.speed, kind.allreduce, link))
            found.add(longer)
            extend(choice.after, longer)

    extend(rules.start, ())
    return found


def of_all_gpus(instance):
    """The same of all ways to give GPUs to stages."""
    gpus, found = range(instance.num_gpus), set()
    speeds = instance.cluster.gpu_speeds
    for stages in range(1, instance.num_gpus + 1):
        for owner in itertools.product(range(stages + 1), repeat=instance.num_gpus):
            sets = [[v for v in gpus if owner[v] == n] for n in range(stages)]
            if not all(sets):
                continue
            sequence = []
            for n, some in enumerate(sets):
                link = transfer_factor(instance, sets[n - 1], some) if n else Fraction(0)
                slow = 1 / sum(speeds[v] for v in some)
                sequence.append((len(some), slow, allreduce_factor(instance, some), link))
            found.add(tuple(sequence))
    return found


def no_longer(some, others):
    """True if stages have as many GPUs, and no time is longer."""
    return len(some) == len(others) and all(
        a[0] == b[0] and all(x <= y for x, y in zip(a, b, strict=True))
        for a, b in zip(some, others, strict=True)
    )


@settings(max_examples=40)
@given(instances(1, 1, 3))
def test_nothing_is_gone_through_that_does_not_exist_and_nothing_better_is_left_out(instance):
    found, every = gone_through(instance), of_all_gpus(instance)
    assert found <= every
    if not isinstance(devices_of(instance), MergingMachines):
        assert found == every
    for sequence in every - found:
        assert any(no_longer(other, sequence) for other in found)


@settings(max_examples=40)
@given(instances(1, 1, 3))
def test_no_link_is_of_other_seconds_per_byte(instance):
    rules = devices_of(instance)
    for sequence in of_all_gpus(instance):
        for (last, *_), (r, *_, link) in itertools.pairwise(sequence):
            assert link in rules.links_between(last, r)


def test_machines_of_one_speed_are_merged():
    cluster = TwoLevelCluster(
        gpus_per_machine=(2, 2, 1), intra_bytes_per_s=12.0, inter_bytes_per_s=1.0
    )
    instance = PipelineInstance(
        layers=layers([1], [1], [1], []), num_microbatches=1, cluster=cluster
    )
    found, every = gone_through(instance), of_all_gpus(instance)
    assert found <= every
    best = [s for s in every if not any(no_longer(o, s) for o in every if o != s)]
    assert set(best) <= found
    assert len(found) < len(every)


def test_numbers_are_those_of_others_some_of_them_divided():
    assert divided((2, 2, 1), (3, 2))
    assert divided((2, 2, 1), (4, 1))
    assert divided((2, 1, 1, 1), (3, 2))
    assert not divided((3, 3), (4, 2))
    assert not divided((3, 1, 1), (2, 2, 1))


def test_too_many_are_refused(monkeypatch):
    b = tuple(tuple(float(u != v) for v in range(11)) for u in range(11))
    instance = PipelineInstance(
        layers=layers([1], [1], [1], []),
        num_microbatches=1,
        cluster=MatrixCluster(bandwidth_bytes_per_s=b),
    )
    with pytest.raises(ModelRefused, match="11 GPUs of arbitrary bandwidths"):
        devices_of(instance)
    cluster = TwoLevelCluster(gpus_per_machine=(4, 4), intra_bytes_per_s=1.0, inter_bytes_per_s=2.0)
    machines = devices_of(instance.model_copy(update={"cluster": cluster}))
    monkeypatch.setattr(devices, "MOST_CHOICES", 10)
    with pytest.raises(ModelRefused, match="more than 10 choices"):
        list(machines.choices(machines.start))
