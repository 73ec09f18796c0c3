"""Adversarial online allocation: what the trained networks are worth, certified.

No study measures policies that it trains itself.

For k = 1, 2, 5, 10 units and N = 3k buyers of five levels from 1 to 4 the networks are trained, and
the policy's worst ratio is proved over all sequences, beside the optimum, regret minimisation where
histories are at most 20,000, and the rules of the theory. The last column trains against the
adversary's network alone. With `--updates` the game of the quickstart is trained from several
seeds, the seller updated for every action or for the drawn ones.

Run `python benchmarks/adversarial_online_training.py [--units 1 2 5 10] [--rounds 100]`, or with
`--updates [--seeds 0 1 2]`; trainings go on where they were stopped.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from gadgetopt.models.adversarial_online.policy.instance import AdversarialOnlinePolicyInstance
from gadgetopt.models.adversarial_online.subproblems.grids import geometric
from gadgetopt.runs.training import train
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

POLICY = problem("adversarial_online_policy")
RULES = ("cfr", "greedy", "exponential", "finite_table", "exponential_draw", "share_policy")


def ratio(instance: AdversarialOnlinePolicyInstance, method: str) -> str:
    """Return a policy's exact worst ratio."""
    found = solve(Document(POLICY, "instance", "game", instance), method, Limits())
    return "-" if found.objective is None else f"{float(found.objective):.4f}"


#: Parameters of the trainings that `--updates` compares.
UPDATES = {
    "learned": {},
    "net alone": {"answered": 0.0},
    "net alone, drawn actions": {"answered": 0.0, "every_action": False},
}


def updates(seeds: list[int], out: Path) -> None:
    """Print the exact worst ratios of the trainings of `UPDATES`, a row a seed."""
    trainer = POLICY.trainers[0]
    game = AdversarialOnlinePolicyInstance(
        levels=tuple(geometric(3, 4)), capacity_units=2, horizon=5
    )
    print(f"Worst ratio over all sequences, exact; optimum {ratio(game, 'minimax')}, ", end="")
    print(f"regret minimisation {ratio(game, 'cfr')}\n")
    print("seed" + "".join(f"{name:>28}" for name in UPDATES))
    for seed in seeds:
        cells = []
        for name, changed in UPDATES.items():
            path = out / f"{name.replace(' ', '_').replace(',', '')}_seed{seed}.npz"
            parameters = {**trainer.parameters, **trainer.presets["quickstart"], **changed}
            train(POLICY, trainer, parameters, seed, path)
            cells.append(ratio(game, f"learned:policy={path}"))
        print(f"{seed:>4}" + "".join(f"{cell:>28}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[1, 2, 5, 10])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("trained"))
    parser.add_argument("--updates", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.updates:
        updates(given.seeds, given.out)
        return
    trainer = POLICY.trainers[0]
    print("Worst ratio over all sequences, exact; N = 3k, levels 1, 1.41, 2, 2.83, 4\n")
    heads = ("optimal", "learned", "seconds", *RULES, "net alone", "seconds")
    print("  k" + "".join(f"{head:>17}" for head in heads))
    for k in given.units:
        game = AdversarialOnlinePolicyInstance(
            levels=tuple(geometric(5, 4)), capacity_units=k, horizon=3 * k
        )
        cells = [ratio(game, "minimax")]
        learned = []
        for answered in (0.5, 0.0):
            parameters = {
                **trainer.parameters,
                "units": k,
                "horizon": 3 * k,
                "rounds": given.rounds,
                "answered": answered,
            }
            out = given.out / f"k{k}_answered{answered}.npz"
            begin = time.perf_counter()
            train(POLICY, trainer, parameters, 0, out)
            seconds = time.perf_counter() - begin
            learned.append([ratio(game, f"learned:policy={out}"), f"{seconds:.0f}"])
        cells += [*learned[0], *(ratio(game, rule) for rule in RULES), *learned[1]]
        print(f"{k:>3}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
