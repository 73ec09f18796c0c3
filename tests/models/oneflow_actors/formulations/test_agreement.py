"""Brute force, both models over the period, the models of a finite run: one optimum."""

import os
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.oneflow_actors.evaluate import evaluate
from gadgetopt.models.oneflow_actors.events import event_graph

from ..conftest import solved
from ..hand_checked import H1, H2, H4, H5, H9, H10, H11, H13, H14, h3, h8, ordered
from ..random_cases import all_decisions, all_slots, random_instance

#: Instances of each test; `GADGETOPT_RANDOM=300` takes more.
COUNT = int(os.environ.get("GADGETOPT_RANDOM", "12"))


def exact(result):
    return None if result.objective is None else Fraction(result.objective)


@pytest.mark.parametrize(
    ("instance", "window", "period"),
    [
        (H1, 1, 3),
        (H2, 1, 4),
        (h3(4), 1, 7),
        (h3(5), 1, 6),
        (h3(8), 1, 4),
        (H4, 1, 4),
        (H5, 1, 3),
        (h8(1), 1, 8),
        (h8(2), 1, 5),
        (H9, 1, 4),
        (H10, 1, 4),
        (H11, 1, Fraction(13, 2)),
        (H13, 1, 6),
        (H14, 1, 15),
        (H14, 2, Fraction(21, 2)),
    ],
)
def test_hand_checked_optima(instance, window, period):
    result = solved(instance.model_copy(update={"window": window}), "cyclic@highs")
    assert result.status.value == "optimal"
    assert 1 / exact(result) == period


def test_one_firing_is_a_restriction_with_two_slots_each():
    registers = tuple(r.model_copy(update={"least": 2, "most": 2}) for r in H10.registers)
    fixed = H10.model_copy(update={"registers": registers})
    for window, period in ((1, 5), (2, 4)):
        result = solved(fixed.model_copy(update={"window": window}), "cyclic@highs")
        assert 1 / exact(result) == period


def test_models_over_the_period_agree_with_all_decisions():
    rng = np.random.default_rng(11)
    for n in range(COUNT):
        instance = random_instance(rng)
        registers = tuple(
            r.model_copy(update={"most": max(3, r.fewest)}) for r in instance.registers
        )
        instance = instance.model_copy(update={"registers": registers, "window": 1})
        values = (evaluate(instance, d).objective for d in all_decisions(instance, shifts=1))
        best = max((v for v in values if v is not None), default=None)
        result = solved(instance, "cyclic@highs")
        assert exact(result) == best, instance
        if n % 4 == 0:
            for other in ("cyclic@scip", "bilinear@scip"):
                again = solved(instance, other)
                assert again.objective is None or float(again.objective) == pytest.approx(
                    float(best)
                )
        default = solved(instance)
        assert default.objective is None or Fraction(default.objective) == best


def test_without_shared_streams_every_way_agrees():
    rng = np.random.default_rng(12)
    for _ in range(COUNT):
        instance = random_instance(rng, shared=False)
        registers = tuple(
            r.model_copy(update={"most": max(3, r.fewest)}) for r in instance.registers
        )
        instance = instance.model_copy(update={"registers": registers})
        periods = [
            graph.period()[0]
            for slots in all_slots(instance)
            if (graph := event_graph(instance, slots, None)).deadlock() is None
        ]
        best = min(periods, default=None)
        result = solved(instance)
        assert (None if result.objective is None else 1 / exact(result)) == best
        if best is not None:
            assert result.status.value == "optimal"


def test_models_of_a_finite_run_agree_with_each_other_and_the_default():
    rng = np.random.default_rng(13)
    for _ in range(COUNT):
        instance = random_instance(rng, actors=3, num_microbatches=int(rng.integers(1, 4)))
        registers = tuple(
            r.model_copy(update={"most": max(3, r.fewest)}) for r in instance.registers
        )
        instance = instance.model_copy(update={"registers": registers})
        found = {m: exact(solved(instance, m)) for m in ("cp", "disjunctive@highs", "close_gap")}
        assert len(set(found.values())) == 1, found


def test_the_order_of_a_window_is_what_the_integers_say():
    # Two actors of one stream, the second a round behind: the decoded order has its period.
    rng = np.random.default_rng(14)
    for window in (1, 2):
        for _ in range(COUNT // 2):
            instance = random_instance(rng, window=window)
            result = solved(instance, "cyclic@highs")
            if result.objective is None:
                continue
            solution = result.solution
            again = evaluate(instance, ordered(solution.slots, *solution.orders))
            assert again.objective == result.objective
            assert float(result.objective) == pytest.approx(float(result.bound))


@pytest.mark.parametrize(
    ("method", "field"),
    [("cyclic@highs", "window"), ("bilinear@scip", "window"), ("cp", "num_microbatches")],
)
def test_a_model_of_another_kind_is_refused_by_name(method, field):
    result = solved(H2, method)
    assert result.status.value == "not_applicable"
    assert field in result.reason
