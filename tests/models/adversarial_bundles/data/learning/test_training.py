"""Networks trained against each other: what they see, certified, the same from the same seed."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.adversarial_bundles.algorithms.learned import SHIPPED, learned, network
from gadgetopt.models.adversarial_bundles.data.generate.presets import quickstart
from gadgetopt.models.adversarial_bundles.data.learning.training import GAMES
from gadgetopt.models.adversarial_bundles.evaluate import evaluate, worst_case
from gadgetopt.models.adversarial_bundles.proving.bounds.interval import (
    SummarySeller,
    worst_interval,
)
from gadgetopt.models.adversarial_bundles.subproblems.networks import (
    PARTS,
    Sight,
    chances_of_summaries,
    rounded_seller,
)
from gadgetopt.models.adversarial_bundles.subproblems.sellers import worst_of_chances, written_out
from gadgetopt.pieces.learning.networks import initial_weights
from gadgetopt.runs.training import train
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.system.training import read_policy

from ...brute_force import game, histories, offline, random_game, run

PROBLEM = problem("adversarial_bundles")
PARAMETERS = {**PROBLEM.trainers[0].parameters, "horizon": 2, "batch": 16, "rounds": 3}
RNG = np.random.default_rng(0)


def trained(out, **changed):
    pytest.importorskip("torch")
    limits = Limits(time_s=changed.pop("time_s", None))
    return train(PROBLEM, PROBLEM.trainers[0], {**PARAMETERS, **changed}, 0, out, limits)


def test_the_certified_ratio_of_the_curve_is_that_of_the_policy(tmp_path):
    done = trained(tmp_path / "policy.npz")
    assert done.finished
    found = run(quickstart(RNG, horizon=2), f"learned:policy={tmp_path / 'policy.npz'}")
    assert float(found.objective) == pytest.approx(done.curve[-1]["best_ratio"])
    assert found.objective >= Fraction(7, 4)
    other = run(quickstart(RNG, horizon=3), f"learned:policy={tmp_path / 'policy.npz'}")
    assert other.refused
    assert "trained for another game, whose horizon differ" in other.reason


def test_in_games_of_too_many_histories_what_is_certified_is_the_bound_above(tmp_path):
    # 4^9 histories: the seller cannot be written out, but its worst case lies in an interval.
    path = tmp_path / "policy.npz"
    done = trained(path, horizon=9, rounds=2)
    instance = quickstart(RNG, horizon=9)
    sight = Sight(instance)
    read = read_policy(str(path), "adversarial_bundles", ("networks",))
    seller = SummarySeller(chances_of_summaries(sight, network(read, sight)), PARTS)
    found = worst_interval(instance, sight.summaries, seller)
    assert Fraction(11, 6) <= found.lower <= found.upper  # the optimum of five requests
    assert float(found.upper) == pytest.approx(done.curve[-1]["best_ratio"])
    refused = run(instance, f"learned:policy={path}")
    assert refused.refused
    assert "histories" in refused.reason


@pytest.mark.parametrize("every_action", [True, False])
def test_a_stopped_training_goes_on_to_the_same_policy(tmp_path, every_action):
    trained(tmp_path / "whole.npz", every_action=every_action)
    for _ in range(3):
        trained(tmp_path / "parts.npz", every_action=every_action, time_s=1e-9)
    trained(tmp_path / "parts.npz", every_action=every_action)
    with np.load(tmp_path / "whole.npz") as one, np.load(tmp_path / "parts.npz") as other:
        for name in one.files:
            assert (one[name] == other[name]).all(), name


def game_of(preset):
    """The game of a preset of the trainer."""
    parameters = {**PROBLEM.trainers[0].parameters, **PROBLEM.trainers[0].presets[preset]}
    sizes = {name: parameters[name] for name in ("horizon", "units")}
    return GAMES[parameters["game"]](np.random.default_rng(parameters["game_seed"]), **sizes)


@pytest.mark.parametrize(
    ("preset", "optimum", "percent"),
    [("quickstart", "11/6", 4), ("units", "2", 6), ("given_back", "103/54", 6)],
)
def test_the_policies_that_ship_are_near_the_optimum_of_their_games(preset, optimum, percent):
    assert SHIPPED[preset].stat().st_size < 60_000
    found = run(game_of(preset), "learned")
    best = Fraction(optimum)
    assert best <= found.objective < best * Fraction(100 + percent, 100)
    with np.load(SHIPPED[preset]) as shipped:
        above, below = shipped["certified_ratio"].tolist()
    assert found.objective == pytest.approx(above / below, abs=1e-3)


@pytest.mark.parametrize("preset", SHIPPED)
def test_a_policy_that_ships_is_refused_for_other_games(preset):
    instance = game_of(preset)
    for other in (
        instance.model_copy(update={"horizon": instance.horizon - 1}),
        instance.model_copy(update={"capacity": tuple(c + 1 for c in instance.capacity)}),
        instance.model_copy(update={"types": instance.types[:-1]}),
    ):
        assert run(other, "learned").refused
        found = run(other, f"learned:policy={SHIPPED[preset]}")
        assert found.refused
        assert "trained for another game" in found.reason
    assert run(game((2, 2), [(1, (1, 0))], 5), "learned").refused


def test_a_file_that_promises_too_much_is_refused(tmp_path):
    with np.load(SHIPPED["quickstart"]) as shipped:
        arrays = {name: shipped[name] for name in shipped.files}
    arrays["certified_ratio"] = np.array([3.0, 2.0])
    np.savez(tmp_path / "forged.npz", **arrays)
    with pytest.raises(
        InputError, match=r"certified_ratio: 1\.5, but on \d requests the seller has"
    ):
        learned(quickstart(RNG), policy=str(tmp_path / "forged.npz"))


def test_what_the_networks_see_by_hand():
    # Two units of one resource, kept for two rounds or for good; before the third of four requests.
    instance = game((2,), [(2, (1,), 2), (5, (1,)), (3, (1,), 2)], 4)
    sight = Sight(instance)
    before = np.array([[2, 0]])
    seen = sight.seller(before, np.array([1]))[0]
    s = instance.stocks.of_round[2].index(((1,), (0,)))  # the second request was sold to
    free, back = 1 / 2, [1 / 2] * 4  # one unit is free, the other back after a round
    over, asked, rounds = 2 / 4, 1 / 2, 4 / 4
    highest = [3 / 5, 0.0]  # of two rounds; of those kept for good
    optimum = float(offline(instance, (2, 0))) / (5 * 4)
    assert seen[s] == pytest.approx([free, *back, over, asked, rounds, *highest, optimum])
    adversary = sight.adversary(np.array([[2, 0, -1, -1]]), 2)[0]
    counts = [1 / 4, 0, 1 / 4]
    assert adversary == pytest.approx([2 / 4, 1, 0, 0, *counts, optimum])


@pytest.mark.parametrize("seed", range(10))
def test_a_higher_value_is_never_sold_to_less_probably_and_optima_are_right(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    sight = Sight(instance)
    weights = initial_weights(rng, sight.seller_inputs, sight.num_prices + 1)
    weights["w3"] *= 100  # far from equal chances
    seller = rounded_seller(sight, weights)
    assert not [v for v in evaluate(instance, seller).violations if v.constraint != "finite_ratio"]
    every = histories(instance)
    rows = np.full((len(every), instance.horizon), -1)
    for row, h in zip(rows, every, strict=True):
        row[: len(h)] = h
    assert sight.optimum_of(rows) == pytest.approx([float(offline(instance, h)) for h in every])
    first = dict(zip(every, seller.sale_probability[: len(instance.types)], strict=False))
    for alike in instance.prices_alike:
        chances = [first[(j,)] for j in alike]
        assert chances == sorted(chances)


@pytest.mark.parametrize("seed", range(20))
def test_the_worst_of_chances_is_that_of_the_evaluator(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    J, of_round = len(instance.types), instance.stocks.of_round
    parts = [rng.integers(0, 7, size=(J**t, J, len(s))) for t, s in enumerate(of_round[:-1])]
    seller = written_out(instance, parts, 6)
    sequence, ratio = worst_of_chances(instance, parts, 6)
    worst = worst_case(instance, seller)
    assert ratio == (worst.offline_welfare / worst.welfare if worst.welfare else None)
    assert len(sequence) >= 1
