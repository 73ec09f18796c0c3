"""Networks trained against each other: certified, and the same from the same seed."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.runs.training import train
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ...brute_force import game, run

PROBLEM = problem("adversarial_online_policy")
PARAMETERS = {
    **PROBLEM.trainers[0].parameters,
    "units": 1,
    "levels": 3,
    "horizon": 3,
    "batch": 32,
    "rounds": 3,
}


def trained(out, seed=0, **limits):
    pytest.importorskip("torch")
    return train(PROBLEM, PROBLEM.trainers[0], PARAMETERS, seed, out, Limits(**limits))


def test_the_certified_ratio_of_the_curve_is_that_of_the_policy(tmp_path):
    done = trained(tmp_path / "policy.npz")
    assert done.finished
    found = run(game([1, 2, 4], 1, 3), f"learned:policy={tmp_path / 'policy.npz'}")
    assert float(found.objective) == pytest.approx(done.curve[-1]["best_ratio"])
    assert found.bound == 2
    assert found.objective >= 2
    assert run(game([1, 2, 4], 2, 3), f"learned:policy={tmp_path / 'policy.npz'}").refused
    assert run(game([1, 2, 4], 1, 3), "learned").refused


def test_the_policy_that_ships_is_near_the_optimum_of_the_quickstart():
    found = run(game([1, 2, 4], 2, 5), "learned")
    assert Fraction(15, 8) <= found.objective < Fraction(15, 8) * Fraction(103, 100)


def test_a_stopped_training_goes_on_to_the_same_policy(tmp_path):
    trained(tmp_path / "whole.npz")
    for _ in range(3):
        trained(tmp_path / "parts.npz", time_s=1e-9)
    trained(tmp_path / "parts.npz")
    with np.load(tmp_path / "whole.npz") as one, np.load(tmp_path / "parts.npz") as other:
        for name in one.files:
            assert (one[name] == other[name]).all(), name


def test_an_update_for_drawn_prices_learns_too_and_is_the_same_from_the_same_seed(tmp_path):
    pytest.importorskip("torch")
    parameters = {**PARAMETERS, "rounds": 12, "answered": 0.0, "every_action": False}
    curves = [
        train(PROBLEM, PROBLEM.trainers[0], parameters, 0, tmp_path / name, Limits()).curve
        for name in ("one.npz", "other.npz")
    ]
    assert curves[0] == curves[1]
    found = run(game([1, 2, 4], 1, 3), f"learned:policy={tmp_path / 'one.npz'}")
    # Its optimum is 2, and no table of fixed prices is better than 4.
    assert 2 <= found.objective < 4
