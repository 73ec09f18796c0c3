"""Policies for jobs that arrive, by what their training knows of interference, beside optima.

No study measures policies that it trains itself.

For each seed a policy is trained on one cluster with its true table of interference, with a ridge
regression and with a network fitted to 100 samples with noise, and without any interference. All
are judged by the truth, on instances that no training saw: jobs that stay where they start, 2
servers of 3 GPUs. The table has the mean over the seeds of the mean ratio to the optimum, that of
the worst seed, the largest ratio of an instance, and the share of decisions that let a job wait.
Where the optimum is not closed in `--time-limit` seconds its bound stands in for it, and a line
says how often. Then the differences to the training without interference, mean of all pairs of
seed and instance, with an interval of 95 % from 2,000 samples of the instances. Last come the
errors of both regressions over all neighbourhoods.

Run `python benchmarks/marl_arrivals.py [--seeds 2] [--instances 24] [--folder DIR]`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import numpy as np

from gadgetopt.models.marl.queueing.baselines.rules import by_rule
from gadgetopt.models.marl.queueing.data.learning.actor_critic import HELD_OUT
from gadgetopt.models.marl.queueing.data.learning.worlds import Knows, World
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.heuristics.order_search import order_search
from gadgetopt.models.marl.queueing.instance import QueueingInstance
from gadgetopt.models.marl.queueing.subproblems.policy_queue import (
    SHAPES,
    Choice,
    PolicyQueue,
    read_weights,
)
from gadgetopt.models.marl.queueing.subproblems.slots import plan
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.numbers.arrays import Floats
from gadgetopt.runs.training import train
from gadgetopt.search.clock import Clock
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.system.training import find_trainer
from gadgetopt.trust.run import solve

PROBLEM = problem("marl_queueing")
ARMS: tuple[Knows, ...] = get_args(Knows)
#: Seed of the instances, beside those of all trainings; samples of a bootstrap. By definition.
JUDGES, RESAMPLED = 10**6, 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--instances", type=int, default=24)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        measure(asked.seeds, asked.instances, asked.time_limit, asked.folder or Path(scratch))


def measure(seeds: int, number: int, time_s: float, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    trainer = find_trainer(PROBLEM, "actor_critic")
    given = trainer.parameters
    names = ("cluster", "jobs", "servers", "gpus", "slots", "slots_between")
    world = World(**{name: given[name] for name in names})
    instances = [world.draw(np.random.default_rng([JUDGES, HELD_OUT + k])) for k in range(number)]
    optima, open_ = zip(*(optimum(instance, time_s) for instance in instances), strict=True)
    print(f"bounds in the place of optima: {sum(open_)} of {number}\n")

    print("| method | mean ratio | worst seed | worst instance | waits |")
    print("|---|---|---|---|---|")
    rows = {}
    for rule in ("pack", "lb", "lif", "greedy_jct"):
        for order in ("fifo", "srpt"):
            values = [rule_value(i, rule, order) for i in instances]
            rows[f"{rule}, {order}"] = np.array([values]) / optima
    searched = [order_search(i, Limits(), np.random.default_rng(0)).solution for i in instances]
    values = [value_of(i, s) for i, s in zip(instances, searched, strict=True)]
    rows["order_search"] = np.array([values]) / optima
    for name, ratios in rows.items():
        print_row(name, ratios, None)

    found: dict[str, Floats] = {}
    for arm in ("untrained", "cloned", *ARMS):
        ratios, waits = [], []
        for seed in range(seeds):
            weights, team = policy_of(arm, seed, folder)
            played = [play(i, weights, team) for i in instances]
            ratios.append([value / best for (value, _), best in zip(played, optima, strict=True)])
            waits.append(np.mean([share for _, share in played]))
        found[arm] = np.array(ratios)
        print_row(f"learned, {arm}", found[arm], float(np.mean(waits)))

    print("\n| knows | mean ratio less that of none | 95 % |")
    print("|---|---|---|")
    rng = np.random.default_rng(0)
    for arm in ARMS:
        if arm != "none":
            less = (found[arm] - found["none"]).mean(axis=0)
            drawn = less[rng.integers(number, size=(RESAMPLED, number))].mean(axis=1)
            low, high = np.percentile(drawn, [2.5, 97.5])
            print(f"| {arm} | {less.mean():+.4f} | {low:+.4f} to {high:+.4f} |")
    print_errors(world, given)


def optimum(instance: QueueingInstance, time_s: float) -> tuple[float, bool]:
    """Return the optimum, or its bound and True."""
    document = Document(PROBLEM, "instance", "drawn", instance, {})
    result = solve(document, "search_and_close", Limits(time_s=time_s))
    return float(result.bound), result.status.value != "optimal"


def value_of(instance: QueueingInstance, solution: object) -> float:
    """Return the mean completion time of a plan; infinite if there is none."""
    value = None if solution is None else evaluate(instance, solution).objective
    return np.inf if value is None else float(value)


def rule_value(instance: QueueingInstance, rule: str, order: str) -> float:
    outcome = by_rule(instance, Limits(), np.random.default_rng(0), rule, order)
    return value_of(instance, outcome.solution)


def play(
    instance: QueueingInstance, weights: Mapping[str, Floats], team: Team
) -> tuple[float, float]:
    """Return the value of a policy's plan, and the share of its decisions to wait."""
    told: list[Choice] = []
    queue = PolicyQueue(instance, weights, team, tell=told.append)
    solution = plan(instance, queue, Clock())
    waits = np.mean([c.chosen == len(c.allowed) - 1 for c in told])
    return value_of(instance, solution), float(waits)


def policy_of(arm: str, seed: int, folder: Path) -> tuple[dict[str, Floats], Team]:
    """Return the weights of an arm, trained if its file is not there."""
    trainer = find_trainer(PROBLEM, "actor_critic")
    if arm == "untrained":
        team = Team(trainer.parameters["agents"], trainer.parameters["order"])
        return network.start(np.random.default_rng(seed), SHAPES), team
    changed = {"updates": 0} if arm == "cloned" else {"knows": arm}
    path = folder / f"{arm}-{seed}.npz"
    if not path.exists():
        train(PROBLEM, trainer, {**trainer.parameters, **changed}, seed, path)
    return read_weights(str(path), "actor_critic")


def print_row(name: str, ratios: Floats, waits: float | None) -> None:
    each = ratios.mean(axis=1)
    share = "" if waits is None else f"{waits:.0%}"
    print(f"| {name} | {each.mean():.3f} | {each.max():.3f} | {ratios.max():.3f} | {share} |")


def print_errors(world: World, given: Mapping[str, object]) -> None:
    """Print the root mean square errors of both models over all neighbourhoods."""
    truth = world.table()
    print("\n| knows | error of a slowdown |")
    print("|---|---|")
    for arm in ("ridge", "network", "none"):
        known = world.known(arm, given["samples"], given["noise"])
        table = known.get("interference")
        measured = {(m.victim, m.neighbours): m.slowdown for m in known.get("measured", ())}
        off = []
        for victim in range(len(truth)):
            for around in world.neighbourhoods():
                right = sum(a * n for a, n in zip(truth[victim], around, strict=True))
                said = measured.get((victim, around))
                if table is not None:
                    said = sum(a * n for a, n in zip(table[victim], around, strict=True))
                off.append(float(said - right))
        print(f"| {arm} | {np.sqrt(np.mean(np.square(off))):.3f} |")


if __name__ == "__main__":
    main()
