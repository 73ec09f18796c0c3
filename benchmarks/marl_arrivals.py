"""Policies for jobs that arrive, by what their training knows of interference, beside optima.

No study measures policies that it trains itself.

`models`: for each seed a policy is trained on one cluster with its true slowdowns, with a ridge
regression and with a network fitted to 100 samples with noise, and without any interference. All
are judged by the truth, on instances that no training saw: jobs that stay where they start, 2
servers of 3 GPUs. The table has the mean over the seeds of the mean ratio to the optimum, that of
the worst seed, the largest ratio of an instance, and the share of decisions that let a job wait.
Where the optimum is not closed in `--time-limit` seconds its bound stands in for it, and a line
says how often. Then the differences to the training without interference, mean of all pairs of
seed and instance, with an interval of 95 % from 2,000 samples of the instances. Last come the
errors of both regressions over all neighbourhoods. With `--law saturates` the truth is no sum;
`--jobs` arrive, and a training clones `--examples` plans.

`large`: the policy that comes with the library on 40 jobs and 8 servers of 4 GPUs, with one, two
and four agents, beside rules; ratios to a certified bound.

Run `python benchmarks/marl_arrivals.py [models|large] [--law sum] [--seeds 2]
[--instances 24] [--jobs 6] [--examples 16] [--folder DIR]`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np

from gadgetopt.models.marl.queueing.baselines.rules import by_rule
from gadgetopt.models.marl.queueing.data.learning.lessons import HELD_OUT
from gadgetopt.models.marl.queueing.data.learning.worlds import (
    Knows,
    Law,
    World,
)
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.heuristics.order_search import order_search
from gadgetopt.models.marl.queueing.heuristics.patient import patient
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
from gadgetopt.pieces.learning.interference_model import additive
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
    parser.add_argument("what", nargs="?", choices=("models", "large"))
    parser.add_argument("--law", choices=get_args(Law), default="sum")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--instances", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--examples", type=int, default=16)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        study = Study(asked.seeds, asked.instances, asked.examples, asked.time_limit, folder)
        study.folder.mkdir(parents=True, exist_ok=True)
        if asked.what == "large":
            large(study)
        else:
            models(study, asked.law, asked.jobs)


@dataclass(frozen=True)
class Study:
    """Seeds of trainings, instances, plans to clone, seconds for each optimum, policies' folder."""

    seeds: int
    instances: int
    examples: int
    time_s: float
    folder: Path

    def drawn(self, world: World) -> list[QueueingInstance]:
        """Return instances that no training sees."""
        rng = np.random.default_rng
        return [world.draw(rng([JUDGES, HELD_OUT + k])) for k in range(self.instances)]

    def optima(self, instances: list[QueueingInstance]) -> Floats:
        """Return optima, or bounds where they are not closed in time; say how often."""
        found, is_open = zip(*(optimum(i, self.time_s) for i in instances), strict=True)
        print(f"bounds in the place of optima: {sum(is_open)} of {len(instances)}\n")
        return np.array(found)


def world_of(**changed: Any) -> World:
    """Return the world of a training with default parameters but for some."""
    given = {**find_trainer(PROBLEM, "actor_critic").parameters, **changed}
    return World(**{field.name: given[field.name] for field in fields(World)})


def models(study: Study, law: Law, jobs: int) -> None:
    world, number = world_of(law=law, jobs=jobs), study.instances
    instances = study.drawn(world)
    optima = study.optima(instances)
    print("| method | mean ratio | worst seed | worst instance | waits |")
    print("|---|---|---|---|---|")
    rows = {}
    for rule in ("pack", "lb", "lif", "greedy_jct"):
        for order in ("fifo", "srpt"):
            values = [rule_value(i, rule, order) for i in instances]
            rows[f"{rule}, {order}"] = np.array([values]) / optima
    for patience in (1.25, 1.5, 2.0):
        waiting = [patient(i, Limits(), patience=patience).solution for i in instances]
        values = [value_of(i, s) for i, s in zip(instances, waiting, strict=True)]
        rows[f"patient {patience}, srpt"] = np.array([values]) / optima
    searched = [order_search(i, Limits(), np.random.default_rng(0)).solution for i in instances]
    values = [value_of(i, s) for i, s in zip(instances, searched, strict=True)]
    rows["order_search"] = np.array([values]) / optima
    for name, ratios in rows.items():
        print_row(name, ratios, None)

    found: dict[str, Floats] = {}
    for arm in ("untrained", "cloned", *ARMS):
        ratios, waits = [], []
        for seed in range(study.seeds):
            weights, team = policy_of(study, arm, seed, law=law, jobs=jobs)
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
    print_errors(world)


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


def policy_of(study: Study, arm: str, seed: int, **changed: Any) -> tuple[dict[str, Floats], Team]:
    """Return the weights of an arm, trained if its file is not there."""
    trainer = find_trainer(PROBLEM, "actor_critic")
    if arm == "untrained":
        team = Team(trainer.parameters["agents"], trainer.parameters["order"])
        return network.start(np.random.default_rng(seed), SHAPES), team
    more = {"updates": 0} if arm == "cloned" else {"knows": arm}
    name = "-".join(map(str, (*changed.values(), arm, seed)))
    path = study.folder / f"{name}.npz"
    # A training that was stopped goes on where it was; one that is over costs nothing.
    given = {**trainer.parameters, "examples": study.examples, **changed, **more}
    train(PROBLEM, trainer, given, seed, path)
    return read_weights(str(path))


def large(study: Study) -> None:
    """Print ratios on many jobs to a certified bound, by number of agents."""
    world = world_of(jobs=40, servers=8, gpus=4, slots=40, slots_between=0.25)
    instances = study.drawn(world)
    bounds = []
    for instance in instances:
        document = Document(PROBLEM, "instance", "drawn", instance, {})
        bounds.append(float(solve(document, "srpt", Limits()).bound))
    print("| method | mean ratio | worst instance | waits |")
    print("|---|---|---|---|")
    for rule in ("lb", "lif", "greedy_jct"):
        values = np.array([rule_value(i, rule, "srpt") for i in instances]) / bounds
        print(f"| {rule}, srpt | {values.mean():.3f} | {values.max():.3f} | |")
    waiting = [patient(i, Limits()).solution for i in instances]
    values = np.array([value_of(i, s) for i, s in zip(instances, waiting, strict=True)]) / bounds
    print(f"| patient 1.5, srpt | {values.mean():.3f} | {values.max():.3f} | |")
    weights, team = read_weights("")
    for agents in (1, 2, 4):
        played = [play(i, weights, Team(agents, team.order)) for i in instances]
        values = np.array([value for value, _ in played]) / bounds
        waits = np.mean([share for _, share in played])
        print(f"| {agents} agents | {values.mean():.3f} | {values.max():.3f} | {waits:.0%} |")


def print_row(name: str, ratios: Floats, waits: float | None) -> None:
    each = ratios.mean(axis=1)
    share = "" if waits is None else f"{waits:.0%}"
    print(f"| {name} | {each.mean():.3f} | {each.max():.3f} | {ratios.max():.3f} | {share} |")


def print_errors(world: World) -> None:
    """Print the root mean square errors of the models over all neighbourhoods."""
    given = find_trainer(PROBLEM, "actor_critic").parameters
    pairs = [(v, around) for v in range(len(world.table())) for around in world.neighbourhoods()]
    victims, counts = (np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True))
    truth = world.truth()(victims, counts)
    print("\n| knows | error of a slowdown |")
    print("|---|---|")
    for arm in ("ridge", "network", "none"):
        known = world.known(arm, given["samples"], given["noise"])
        table = np.array([[float(a) for a in row] for row in known["interference"]])
        measured = {(m.victim, m.neighbours): float(m.slowdown) for m in known["measured"]}
        sums = additive(table)(victims, counts)
        said = [measured.get(pair, total) for pair, total in zip(pairs, sums, strict=True)]
        print(f"| {arm} | {np.sqrt(np.mean(np.square(said - truth))):.3f} |")


if __name__ == "__main__":
    main()
