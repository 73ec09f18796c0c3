"""The GPUs of stages that a check goes through, against all GPUs of all stages."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.proofs import devices
from gadgetopt.pieces.pipeline.all_plans.proofs.devices import (
    MergingMachines,
    State,
    devices_of,
    divided,
)
from gadgetopt.pieces.pipeline.cluster import MatrixCluster, TwoLevelCluster
from gadgetopt.pieces.pipeline.communication import allreduce_factor, transfer_factor
from gadgetopt.pieces.pipeline.instance import PipelineInstance

from ...examples import instances, layers


def gone_through(instance):
    """Replicas, speed and AllReduce of each stage, and links, of all sequences of choices."""
    rules = devices_of(instance)
    return gone_through_from(rules, rules.start)


def gone_through_from(rules, start):
    """The same of the stages that follow a state."""
    found = set()

    def extend(state, so_far):
        for choice in rules.choices(state):
            kind = rules.kinds.values[choice.kind]
            link = rules.links.values[choice.link] if choice.link >= 0 else Fraction(0)
            longer = (*so_far, (kind.replicas, 1 / kind.speed, kind.allreduce, link))
            found.add(longer)
            extend(choice.after, longer)

    extend(start, ())
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


#: Machines, and how the bandwidth of a transfer is shared.
MERGED = [
    ((2, 2, 1), "pair_slice"),
    ((3, 2), "min_end"),
    ((2, 1, 1, 1), "pair_slice"),
    ((3, 1), "simple"),
    ((4,), "pair_slice"),
]


@pytest.mark.parametrize(("sizes", "model"), MERGED)
def test_a_state_that_may_replace_another_takes_no_longer(sizes, model):
    """Whatever follows the other state, something no longer follows this one."""
    cluster = TwoLevelCluster(gpus_per_machine=sizes, intra_bytes_per_s=12.0, inter_bytes_per_s=1.0)
    rules = devices_of(
        PipelineInstance(
            layers=layers([1], [1], [1], []), num_microbatches=1, cluster=cluster, comm_model=model
        )
    )
    assert isinstance(rules, MergingMachines)
    states, waiting = {rules.start}, [rules.start]
    while waiting:
        after = {choice.after for choice in rules.choices(waiting.pop())}
        waiting += after - states
        states |= after
    follows = {state: gone_through_from(rules, state) for state in states}
    replaced = 0
    for state, other in itertools.permutations(states - {rules.start}, 2):
        grounds = rules.ground(state), rules.ground(other)
        if rules.family(grounds[0]) != rules.family(grounds[1]) or state.last < other.last:
            continue
        if rules.may_replace(*grounds):
            replaced += 1
            for sequence in follows[other]:
                assert any(no_longer(better, sequence) for better in follows[state])
    assert replaced


def test_what_may_replace_what():
    rules = devices_of(
        PipelineInstance(
            layers=layers([1], [1], [1], []),
            num_microbatches=1,
            cluster=TwoLevelCluster(
                gpus_per_machine=(4, 4, 4), intra_bytes_per_s=12.0, inter_bytes_per_s=1.0
            ),
        )
    )

    def may_replace(one, other):
        return rules.may_replace(*(rules.ground(State(groups, 1)) for groups in (one, other)))

    joined, apart = ((0, 4, 0),), ((0, 2, 0), (0, 2, 0))
    assert may_replace(joined, apart)
    assert not may_replace(apart, joined)
    # The last stage has a machine to itself: its free GPUs must stay where a transfer is fast.
    own = ((0, 2, 1), (0, 2, 0))
    assert may_replace(own, apart)
    assert not may_replace(apart, own)
    assert not may_replace(joined, own)
    assert may_replace(((0, 4, 1),), own)
    assert may_replace(((0, 3, 1), (0, 1, 0)), ((0, 2, 1), (0, 1, 0), (0, 1, 0)))
    assert not may_replace(((0, 2, 1), (0, 2, 0)), ((0, 3, 1), (0, 1, 0)))


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
