"""GADGET: frequency of poor or overloaded draws in the rounding of Algorithm 2, beside the bounds.

No study counts the draws of a rounding.

For slots of the paper's cluster this draws many times from one decomposition and prints measured
probabilities: that a draw reaches less than a third of the relaxation, that a server or link
exceeds beta or gamma times its capacity, and that it exceeds the capacity itself. Beside them stand
the bounds of Theorem 8, and beta and gamma. "rej." is the probability that Algorithm 2 rejects a
draw, "T slots" is Theorem 10's bound on the probability that a server exceeds beta in any slot of
the horizon.

Run `python benchmarks/gadget_rounding.py [--draws 10000]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from gadgetopt.models.gadget.algorithms.lp_rs_mde import ALPHA, relax
from gadgetopt.models.gadget.algorithms.mapping_rounding import draw
from gadgetopt.models.gadget.data.generate.presets import (
    contended,
    paper,
)
from gadgetopt.models.gadget.guarantees.ratios import (
    POOR_DRAW,
    horizon_violation_bound,
    rejection_bound,
)
from gadgetopt.models.gadget.instance import GadgetInstance
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.subproblems.slot_problem import slot_problem
from gadgetopt.system.result import Limits


def study(name: str, instance: GadgetInstance, draws: int, seed: int) -> None:
    terms = instance.terms
    tables = [envelope(job.utility) for job in terms.jobs]
    problem = slot_problem(terms, terms.horizon, [0] * len(terms.jobs), tables)
    relaxed = relax(problem, Limits(), program="highs")
    weighted = relaxed.decomposition.mappings
    samples = draw(problem, weighted, draws, np.random.default_rng(seed))
    value = np.array([sample.value for sample in samples])
    node = np.array([sample.node_factor for sample in samples])
    link = np.array([sample.link_factor for sample in samples])
    beta, gamma = relaxed.factors.beta[0], relaxed.factors.gamma
    servers, links = max(3, len(terms.servers)), max(3, len(terms.links))
    cells = (
        f"{name:22}",
        f"{np.mean(value < ALPHA * relaxed.value):7.4f}",
        f"{POOR_DRAW:7.4f}",
        f"{np.mean(node >= beta):8.4f}",
        f"{servers**-3:8.1e}",
        f"{np.mean(link >= gamma):8.4f}",
        f"{links**-3:8.1e}",
        f"{np.mean((value < ALPHA * relaxed.value) | (node >= beta) | (link >= gamma)):7.4f}",
        f"{rejection_bound(servers, links):7.4f}",
        f"{horizon_violation_bound(servers, terms.horizon):8.1e}",
        f"{np.mean((node > 1) | (link > 1)):8.4f}",
        f"{node.max():6.2f}",
        f"{beta:6.1f}",
        f"{link.max():6.2f}",
        f"{gamma:6.1f}",
    )
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10_000, help="draws of each slot")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(
        "| slot                   | P(poor) | bound   | P(>beta) | bound    | P(>gamma)| bound    "
        "| P(rej.) | bound   | T slots  | P(>1)    | node   | beta   | link   | gamma  |"
    )
    print(f"|{'-' * 24}|" + "|".join(["---"] * 14) + "|")
    rng = np.random.default_rng(arguments.seed)
    for jobs in (10, 30, 50):
        study(f"paper, {jobs} jobs", paper(rng, jobs=jobs), arguments.draws, arguments.seed)
    for jobs in (20, 60):
        instance = contended(rng, jobs=jobs)
        study(f"8 servers, {jobs} jobs", instance, arguments.draws, arguments.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
