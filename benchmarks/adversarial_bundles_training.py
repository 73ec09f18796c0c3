"""Sellers of bundles: what the trained networks are worth, certified.

No study measures policies that it trains itself.

The games of the trainer's presets `quickstart` (two resources, four bundles, five requests),
`units` (two units of one resource, five values, six requests) and `given_back` (bundles of which
some are kept for three rounds) are trained: with exact worst sequences beside the adversary's
network, against that network alone as in the paper, and against it with the update for drawn
prices. The worst ratio of every seller is exact over all sequences; beside it the optimum, regret
minimisation over all histories, the best seller without a draw, and the rules.

Run `python benchmarks/adversarial_bundles_training.py [--games quickstart] [--seeds 0 1 2]`;
trainings go on where they were stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from gadgetopt.models.adversarial_bundles.data.learning.training import GAMES
from gadgetopt.models.adversarial_bundles.instance import AdversarialBundlesInstance
from gadgetopt.runs.training import train
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

BUNDLES = problem("adversarial_bundles")
TRAINER = BUNDLES.trainers[0]
RULES = (
    "minimax",
    "cfr",
    "deterministic",
    "greedy",
    "exponential",
    "fixed_prices",
    "drawn_price",
)

#: Parameters of the trainings that are compared.
TRAININGS = {
    "learned": {},
    "net alone": {"answered": 0.0},
    "net alone, drawn": {"answered": 0.0, "every_action": False},
}


def game_of(preset: str) -> AdversarialBundlesInstance:
    """Return the game of a preset of the trainer."""
    parameters = {**TRAINER.parameters, **TRAINER.presets[preset]}
    draw, rng = GAMES[parameters["game"]], np.random.default_rng(parameters["game_seed"])
    return draw(rng, horizon=parameters["horizon"], units=parameters["units"])


def ratio(game: AdversarialBundlesInstance, method: str) -> str:
    """Return a seller's exact worst ratio."""
    found = solve(Document(BUNDLES, "instance", "game", game), method, Limits())
    return "-" if found.objective is None else f"{float(found.objective):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    games = ("quickstart", "units", "given_back")
    parser.add_argument("--games", nargs="+", default=games, choices=games)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("trained"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    print("Worst ratio over all sequences, exact")
    for name in given.games:
        game = game_of(name)
        print(f"\n{name}")
        print("".join(f"{rule:>15}" for rule in RULES))
        print("".join(f"{ratio(game, rule):>15}" for rule in RULES), flush=True)
        print("seed" + "".join(f"{training:>20}" for training in TRAININGS))
        for seed in given.seeds:
            cells = []
            for training, changed in TRAININGS.items():
                written = training.replace(", ", "_").replace(" ", "_")
                path = given.out / f"{name}_{written}_seed{seed}.npz"
                parameters = {**TRAINER.parameters, **TRAINER.presets[name], **changed}
                train(BUNDLES, TRAINER, parameters, seed, path)
                cells.append(ratio(game, f"learned:policy={path}"))
            print(f"{seed:>4}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
