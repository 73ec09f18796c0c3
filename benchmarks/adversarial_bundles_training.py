"""Sellers of bundles: what the trained networks are worth, certified.

No study measures policies that it trains itself.

The quickstart's game of two resources, four bundles and five requests is trained from several
seeds: with exact worst sequences beside the adversary's network, against that network alone as in
the paper, and against it with the update for drawn prices. The worst ratio of every seller is exact
over all sequences; beside it the optimum, the best seller without a draw, and the rules.

Run `python benchmarks/adversarial_bundles_training.py [--seeds 0 1 2]`; trainings go on where they
were stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from gadgetopt.models.adversarial_bundles.data.generate.presets import quickstart
from gadgetopt.runs.training import train
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

BUNDLES = problem("adversarial_bundles")
RULES = ("minimax", "deterministic", "greedy", "exponential", "fixed_prices", "drawn_price")

#: Parameters of the trainings that are compared.
TRAININGS = {
    "learned": {},
    "net alone": {"answered": 0.0},
    "net alone, drawn": {"answered": 0.0, "every_action": False},
}


def ratio(method: str) -> str:
    """Return a seller's exact worst ratio."""
    game = quickstart(np.random.default_rng(0))
    found = solve(Document(BUNDLES, "instance", "game", game), method, Limits())
    return "-" if found.objective is None else f"{float(found.objective):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("trained"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    print("Worst ratio over all sequences, exact\n")
    print("".join(f"{rule:>15}" for rule in RULES))
    print("".join(f"{ratio(rule):>15}" for rule in RULES), flush=True)
    print("\nseed" + "".join(f"{name:>20}" for name in TRAININGS))
    trainer = BUNDLES.trainers[0]
    for seed in given.seeds:
        cells = []
        for name, changed in TRAININGS.items():
            path = given.out / f"{name.replace(', ', '_').replace(' ', '_')}_seed{seed}.npz"
            parameters = {**trainer.parameters, **trainer.presets["quickstart"], **changed}
            train(BUNDLES, trainer, parameters, seed, path)
            cells.append(ratio(f"learned:policy={path}"))
        print(f"{seed:>4}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
