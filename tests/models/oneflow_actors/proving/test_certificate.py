"""No proof is above the optimum, whoever wrote it; the hand-checked bounds; what is no proof."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.oneflow_actors.data.generate.presets import layered, pipeline
from gadgetopt.models.oneflow_actors.evaluate import evaluate
from gadgetopt.models.oneflow_actors.proving.bounds.best import proofs
from gadgetopt.models.oneflow_actors.proving.certificate import (
    Cycles,
    OneflowActorsCertificate,
    Wait,
    Ways,
    WeightedCycle,
    WeightedStream,
    Work,
    check_bound,
)
from gadgetopt.models.oneflow_actors.subproblems.dispatch import RULES
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..conftest import solved
from ..hand_checked import H5, H11, H13, H14, h3, h8, ruled
from ..random_cases import all_slots, random_instance


def bound(instance, proof):
    return check_bound(instance, OneflowActorsCertificate(proof=proof))


def periods(instance):
    """Return the lower bounds on the period, in the order of their proofs."""
    found = [bound(instance, proof) for proof in proofs(instance, Clock(Limits()))]
    return [1 / x for x in found if x is not None]


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (h3(4), [4, 7, 7]),
        (h3(5), [4, 6, 5]),
        (h3(8), [4, 4]),
        (H5, [3, 3]),
        (h8(1), [5, 8, 8]),
        (H11, [6, 6]),
        (H13, [6, 6]),
        (H14, [10, 10]),
    ],
)
def test_load_ways_and_cycles(instance, expected):
    assert periods(instance) == pytest.approx(expected, rel=1e-6)


def test_the_cycles_of_memory_for_five_bytes():
    # 3/25 of the first register's cycle and 1/25 of the second's: (3 x 6 + 7) / 25 over
    # (3 R0 + R1) / 25, which is at most 5 / 25 in 5 bytes: a period of 5 s.
    def cycle(weight, register, consumer):
        kinds = ("item", "slot")
        waits = (Wait(kind=k, register_number=register, consumer=consumer) for k in kinds)
        return WeightedCycle(weight=Fraction(weight, 25), waits=tuple(waits))

    assert bound(h3(5), Cycles(cycles=(cycle(3, 0, 1), cycle(1, 1, 2)))) == Fraction(1, 5)


def test_memory_of_a_pipeline_and_its_least_periods():
    expected = {8: 18, 12: 9, 16: 6, 20: Fraction(9, 2), 24: Fraction(18, 5), 28: 3, 32: 3}
    for capacity, period in expected.items():
        assert max(periods(pipeline(None, capacity=capacity))) == period


def test_no_proof_is_above_what_a_rule_attains():
    rng = np.random.default_rng(21)
    for n in range(40):
        finite = {"num_microbatches": 1 + n % 4} if n % 3 == 0 else {}
        instance = random_instance(rng, **finite)
        best = max(
            (
                float(value)
                for slots in all_slots(instance)
                for rule in RULES
                if (value := evaluate(instance, ruled(slots, rule)).objective) is not None
            ),
            default=0.0,
        )
        for proof in (*proofs(instance, Clock(Limits())), *random_proofs(rng, instance)):
            proved = bound(instance, proof)
            assert proved is None or float(proved) >= best * (1 - 1e-12), proof


def random_proofs(rng, instance):
    """Yield proofs that somebody could have written: cycles of single registers, any weights."""
    for e, register in enumerate(instance.registers):
        for c in register.consumers:
            waits = tuple(Wait(kind=k, register_number=e, consumer=c) for k in ("item", "slot"))
            weights = [Fraction(int(x), 7) for x in rng.integers(0, 9, size=2)]
            yield Cycles(
                cycles=(WeightedCycle(weight=weights[0], waits=waits),),
                streams=(WeightedStream(weight=weights[1], stream=0),),
            )
            if not register.initial:
                way = (e, register.producer, c)
                yield Ways(ways=(way,), register_number=e, slots=int(rng.integers(1, 4)))
    yield Work(actors=(int(rng.integers(len(instance.actors))),))


def test_bounds_hold_on_layers_and_most_gaps_close():
    rng = np.random.default_rng(22)
    closed = 0
    for n in range(12):
        instance = layered(rng, streams=0 if n % 2 else 3)
        result = solved(instance, time_s=20)
        assert result.objective is not None
        assert float(result.objective) <= float(result.bound) * (1 + 1e-9)
        closed += result.status.value == "optimal"
    assert closed >= 8


@pytest.mark.parametrize(
    ("proof", "match"),
    [
        (Cycles(streams=(WeightedStream(weight=Fraction(1), stream=5),)), "there are 3"),
        (Ways(ways=((0, 1, 2),), register_number=0, slots=1), "has no item of actor 1"),
        (Ways(ways=((0, 0),), register_number=0, slots=1), "at least two actors"),
        (Ways(ways=((0, 0, 1, 2),), register_number=0, slots=1), "does not read register"),
    ],
)
def test_what_is_no_proof_is_named(proof, match):
    with pytest.raises(ValueError, match=match):
        bound(h3(5), proof)


def test_work_of_actors_of_different_streams_is_no_proof():
    finite = h3(5).model_copy(update={"num_microbatches": 4})
    with pytest.raises(ValueError, match="of one stream"):
        bound(finite, Work(actors=(0, 1)))
    assert bound(finite, Work(actors=(1,))) == Fraction(4, 2 + 4 * 4 + 3)
    assert bound(finite, Cycles(streams=(WeightedStream(weight=Fraction(1), stream=0),))) is None
