"""Policies for jobs that arrive at the sizes of a protocol: optima, bounds, several schedulers.

No study measures policies that it trains itself.

All sizes share one cluster's table of interference, so that a policy can be used at every size. In
`small` 6 jobs arrive at 2 servers of 2 GPUs, in `medium` 10 at 2 servers of 4: ratios are to
certified optima, of jobs that stay and of jobs that may move, and instances that are not closed in
`--time-limit` seconds are left out (a line says how many) but in a column of its own, where a
certified bound stands in for the optimum. In `large` 40 jobs arrive at 8 servers of 4 GPUs, and
ratios are to a certified bound; in `events` 200 in continuous time, and ratios are to the best rule
of each instance. `topologies` trains on four servers in two racks, in a fat tree, VL2 and BCube,
and tests every policy on all of them.

Rows are means over the seeds of the training and 40 instances that no training saw; an interval of
95 % comes from 2,000 samples of both seeds and instances. Policies of all sizes are trained on
`small`, as optimal plans of more jobs take long.

What was computed stands in `--folder`, each training and each instance of each row, and is not
computed again: a run that was stopped goes on, and one with more seeds or instances does the rest.

Run `python benchmarks/marl_protocol.py [small] [medium] [large] [events] [topologies]
[--seeds 5] [--instances 40] [--folder DIR]`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
from marl_arrivals import JUDGES, RESAMPLED, optimum, play, rule_value, value_of, world_of
from marl_events import TimedQueue, simulate

from gadgetopt.models.marl.queueing.data.learning.lessons import HELD_OUT
from gadgetopt.models.marl.queueing.data.learning.worlds import Knows
from gadgetopt.models.marl.queueing.heuristics.order_search import order_search
from gadgetopt.models.marl.queueing.heuristics.patient import PatientQueue, patient
from gadgetopt.models.marl.queueing.instance import QueueingInstance
from gadgetopt.models.marl.queueing.subproblems.policy_queue import SHAPES, read_weights
from gadgetopt.models.marl.queueing.subproblems.queue import JobQueue
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.runs.training import train
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.system.training import find_trainer
from gadgetopt.trust.run import solve

PROBLEM = problem("marl_queueing")
#: Parameters of each world.
SIZES: dict[str, dict[str, Any]] = {
    "small": {"jobs": 6, "servers": 2, "gpus": 2, "slots": 12},
    "medium": {"jobs": 10, "servers": 2, "gpus": 4, "slots": 14, "slots_between": 0.7},
    "large": {"jobs": 40, "servers": 8, "gpus": 4, "slots": 40, "slots_between": 0.25},
    "events": {"jobs": 200, "servers": 8, "gpus": 4, "slots": 120, "slots_between": 0.25},
}
SQUARE = {"jobs": 6, "servers": 4, "gpus": 2, "slots": 12}
TOPOLOGIES = ("racks", "fat_tree", "vl2", "bcube")
#: Parameters of trainings. Policies of all sizes are trained on two small servers, `pair`: optimal
#: plans of more jobs take long; `alone` is the same with one scheduler, and `fours` has servers of
#: 4 GPUs, with up to three neighbours.
WORLDS: dict[str, dict[str, Any]] = {
    "pair": SIZES["small"],
    "alone": {**SIZES["small"], "agents": 1},
    "fours": {**SIZES["small"], "gpus": 4},
    **{topology: {**SQUARE, "topology": topology} for topology in TOPOLOGIES},
}
TRAININGS = {
    "trained as 1 agent": "alone",
    "trained on 4 GPUs": "fours",
}
AGENTS = (1, 2, 4)
ARMS: tuple[str, ...] = get_args(Knows)
RULES = [
    (rule, order) for rule in ("pack", "lb", "lif", "greedy_jct") for order in ("fifo", "srpt")
]
PATIENCE = (1.5, 2.0)
#: How a policy is played: its value, and the share of its decisions to wait.
Play = Callable[[QueueingInstance, Mapping[str, Floats], Team], tuple[float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=(*SIZES, "topologies"), default=["small"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--instances", type=int, default=40)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, default=Path("trained"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(asked.folder / "protocol.jsonl")
    for part in asked.parts:
        study = Study(part, asked.seeds, asked.instances, asked.time_limit, asked.folder, kept)
        print(f"\n## {part}\n")
        {"large": large, "events": events, "topologies": topologies}.get(part, exact)(study)


class Kept:
    """Numbers by what they are of, in a file: a line each, written when it is known."""

    def __init__(self, path: Path) -> None:
        self._path, self._known = path, dict[str, list[float]]()
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            self._known[row["of"]] = row["numbers"]

    def get(self, of: str, find: Callable[[], Iterable[float]]) -> list[float]:
        """Return what is known of something, or find it."""
        if of not in self._known:
            self._known[of] = [float(number) for number in find()]
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"of": of, "numbers": self._known[of]}) + "\n")
        return self._known[of]


@dataclass(frozen=True)
class Study:
    """A part of the protocol; seeds, instances, seconds for an optimum, and what is kept where."""

    part: str
    seeds: int
    instances: int
    time_s: float
    folder: Path
    kept: Kept

    def drawn(self, **world: Any) -> list[QueueingInstance]:
        """Return instances that no training sees, with all of the world's jobs."""
        made = world_of(**world)
        found: list[QueueingInstance] = []
        stream = HELD_OUT
        while len(found) < self.instances:
            instance = made.draw(np.random.default_rng([JUDGES, stream]))
            found += [instance] if len(instance.jobs) == world["jobs"] else []
            stream += 1
        return found

    def optima(self, name: str, instances: list[QueueingInstance]) -> tuple[Floats, Bools]:
        """Return certified optima, or bounds; and which are optima."""
        found = [
            self.kept.get(f"{name} {self.time_s} {k}", lambda i=i: optimum(i, self.time_s))
            for k, i in enumerate(instances)
        ]
        return np.array([value for value, _ in found]), np.array([not at for _, at in found])

    def policy(self, arm: str, seed: int, world: str) -> tuple[dict[str, Floats], Team]:
        """Return the weights of an arm, trained on a world if its file is not there."""
        trainer = find_trainer(PROBLEM, "linear" if arm == "linear" else "actor_critic")
        changed = WORLDS[world]
        given = {**trainer.parameters, **changed}
        if arm == "untrained":
            weights = network.start(np.random.default_rng(seed), SHAPES)
            return weights, Team(given["agents"], given["order"])
        given |= {"knows": arm} if arm in ARMS else {}
        name = "-".join(map(str, (*changed.values(), arm, seed)))
        train(PROBLEM, trainer, given, seed, self.folder / f"{name}.npz")
        return read_weights(str(self.folder / f"{name}.npz"))

    def played(
        self,
        name: str,
        instances: list[QueueingInstance],
        arm: str,
        *,
        agents: int = 0,
        world: str = "pair",
        play: Play = play,
    ) -> tuple[Floats, float]:
        """Return values, a row a seed, and the share of decisions to wait."""
        numbers, policy = [], cache(self.policy)
        for seed in range(self.seeds):

            def found(instance: QueueingInstance, seed: int = seed) -> tuple[float, float]:
                weights, team = policy(arm, seed, world)
                return play(instance, weights, Team(agents or team.agents, team.order))

            of = f"{name} {arm} {world} {agents} {seed}"
            numbers.append(
                [
                    self.kept.get(f"{of} {k}", lambda i=i, f=found: f(i))
                    for k, i in enumerate(instances)
                ]
            )
        values, waits = np.moveaxis(np.array(numbers), -1, 0)
        return values, float(waits.mean())

    def each(
        self, name: str, instances: list[QueueingInstance], row: Callable[[QueueingInstance], float]
    ) -> Floats:
        """Return a number of each instance, of one row."""
        kept = (self.kept.get(f"{name} {k}", lambda i=i: [row(i)]) for k, i in enumerate(instances))
        return np.array([[number for (number,) in kept]])

    def ruled(self, name: str, instances: list[QueueingInstance]) -> dict[str, Floats]:
        """Return the values of rules and searches, of one row each."""
        found: dict[str, Callable[[QueueingInstance], float]] = {}
        for rule, order in RULES:
            found[f"{rule}, {order}"] = lambda i, r=rule, o=order: rule_value(i, r, o)
        for patience in PATIENCE:
            found[f"patient {patience}, srpt"] = lambda i, p=patience: value_of(
                i, patient(i, Limits(), patience=p).solution
            )
        found["order_search (knows all jobs)"] = lambda i: value_of(
            i, order_search(i, Limits(), np.random.default_rng(0)).solution
        )
        return {row: self.each(f"{name} {row}", instances, f) for row, f in found.items()}


def exact(study: Study) -> None:
    """Print ratios to certified optima."""
    part = study.part
    instances = study.drawn(**SIZES[part])
    stays, closed = study.optima(f"{part} stays", instances)
    moving = [i.model_copy(update={"migration": True}) for i in instances]
    moves, closed_too = study.optima(f"{part} moves", moving)
    both = closed & closed_too
    print(f"optima closed: {closed.sum()} of {len(instances)} of jobs that stay, "
          f"{closed_too.sum()} of jobs that may move, {both.sum()} both")  # fmt: skip
    staying = stays[both] / moves[both]
    print(f"price of staying: mean {staying.mean():.4f}, largest {staying.max():.4f}\n")
    rows: dict[str, tuple[Floats, float | None]] = {
        name: (values, None) for name, values in study.ruled(part, instances).items()
    }
    for arm in ("untrained", "linear", *ARMS):
        rows[f"learned, {arm}"] = study.played(part, instances, arm)
    for arm in ("linear", "table"):
        rows[f"learned, {arm}, used by 1 agent"] = study.played(part, instances, arm, agents=1)
    for name, world in TRAININGS.items():
        rows[f"learned, table, {name}"] = study.played(part, instances, "table", world=world)
    ratios = {name: values / stays for name, (values, _) in rows.items()}
    more = [] if closed.all() else ["all, bounds where open"]
    print_head("optimum of jobs that stay", "of jobs that may move", *more)
    for name, (values, share) in rows.items():
        seconds = [(values / moves)[:, closed_too], *(ratios[name] for _ in more)]
        print_row(name, ratios[name][:, closed], share, *seconds)
    print_differences({name: of_row[:, closed] for name, of_row in ratios.items()})


def large(study: Study) -> None:
    """Print ratios to a certified bound, by number of schedulers."""
    instances = study.drawn(**SIZES["large"])

    def bound(instance: QueueingInstance) -> float:
        document = Document(PROBLEM, "instance", "drawn", instance, {})
        return max(float(solve(document, how, Limits()).bound) for how in ("alone", "srpt"))

    bounds = study.each("large bound", instances, bound)
    rows: dict[str, tuple[Floats, float | None]] = {
        name: (values, None) for name, values in study.ruled("large", instances).items()
    }
    print_by_schedulers(study, instances, rows, bounds, "bound", play)


def events(study: Study) -> None:
    """Print ratios to the best rule where jobs arrive and end at any time."""
    instances = study.drawn(**SIZES["events"])
    queues: dict[str, Callable[[QueueingInstance], JobQueue]] = {
        f"{rule}, {order}": lambda i, r=rule, o=order: JobQueue(i, r, o, np.random.default_rng(0))
        for rule, order in RULES
    }
    for patience in PATIENCE:
        queues[f"patient {patience}, srpt"] = lambda i, p=patience: PatientQueue(i, "srpt", p)

    rows: dict[str, tuple[Floats, float | None]] = {
        name: (study.each(f"events {name}", instances, lambda i, m=make: mean_s(i, m(i))), None)
        for name, make in queues.items()
    }
    best = np.min([values for values, _ in rows.values()], axis=0)
    print_by_schedulers(study, instances, rows, best, "best rule of each instance", play_events)


def mean_s(instance: QueueingInstance, queue: JobQueue) -> float:
    """Return the mean completion time of a queue in continuous time."""
    runs = simulate(instance, queue)
    return np.inf if runs is None else float(np.mean([run.completion_s for run in runs]))


def play_events(
    instance: QueueingInstance, weights: Mapping[str, Floats], team: Team
) -> tuple[float, float]:
    """Return the value of a policy in continuous time, and the share of its decisions to wait."""
    waited: list[bool] = []
    queue = TimedQueue(
        instance, weights, team, tell=lambda c: waited.append(c.chosen == len(c.allowed) - 1)
    )
    return mean_s(instance, queue), float(np.mean(waited))


def print_by_schedulers(
    study: Study,
    instances: list[QueueingInstance],
    rows: dict[str, tuple[Floats, float | None]],
    beside: Floats,
    what: str,
    how: Play,
) -> None:
    """Print ratios of rules, and of policies by the number of schedulers that use them."""
    part = study.part
    for arm in ("untrained", "linear", "none"):
        rows[f"learned, {arm}"] = study.played(part, instances, arm, play=how)
    for agents in AGENTS:
        rows[f"learned, table, {agents} agents"] = study.played(
            part, instances, "table", agents=agents, play=how
        )
    for name, world in TRAININGS.items():
        rows[f"learned, table, {name}"] = study.played(
            part, instances, "table", world=world, play=how
        )
    print_head(what)
    for name, (values, waits) in rows.items():
        print_row(name, values / beside, waits)
    print_differences({name: values / beside for name, (values, _) in rows.items()})


def topologies(study: Study) -> None:
    """Print a row for every topology trained on, a column for every topology tested on."""
    on = {t: study.drawn(**SQUARE, topology=t) for t in TOPOLOGIES}
    optima, closed = {}, {}
    for t, instances in on.items():
        optima[t], closed[t] = study.optima(f"topology {t}", instances)
    print("optima closed: " + ", ".join(f"{t} {closed[t].sum()} of {len(on[t])}" for t in on))
    print("\n| trained on | " + " | ".join(TOPOLOGIES) + " |")
    print("|---|" + "---:|" * len(TOPOLOGIES))

    def cells(ratios: Mapping[str, Floats]) -> str:
        return " | ".join(f"{ratios[t].mean():.3f} ({ratios[t].max():.2f})" for t in TOPOLOGIES)

    found: dict[str, dict[str, Floats]] = {}
    for source in (*TOPOLOGIES, "untrained"):
        arm, world = ("table", source) if source in TOPOLOGIES else (source, TOPOLOGIES[0])
        found[source] = {}
        for target, instances in on.items():
            values, _ = study.played(f"topology {target}", instances, arm, world=world)
            found[source][target] = values / optima[target]
        print(f"| {source} | {cells(found[source])} |")
    rules = {t: study.ruled(f"topology {t}", instances) for t, instances in on.items()}
    for rule in rules[TOPOLOGIES[0]]:
        of_rule = {t: rules[t][rule] / optima[t] for t in TOPOLOGIES}
        print(f"| {rule} | {cells(of_rule)} |")
    print("\n| tested on, trained there | mean | 95 % |")
    print("|---|---|---|")
    for target in TOPOLOGIES:
        here = found[target][target]
        elsewhere = np.mean([found[s][target] for s in TOPOLOGIES if s != target], axis=0)
        print(f"| {target}, less the mean of those trained elsewhere | "
              f"{with_interval(here - elsewhere)} |")  # fmt: skip
    for target in TOPOLOGIES:
        of_rules = {
            rule: row / optima[target]
            for rule, row in rules[target].items()
            if "search" not in rule
        }
        best = min(of_rules, key=lambda rule: float(of_rules[rule].mean()))
        less = found[target][target] - of_rules[best]
        print(f"| {target}, less {best} | {with_interval(less)} |")


def print_head(first: str, *others: str) -> None:
    more = "".join(f" mean ratio, {other} |" for other in others)
    print(f"| method | mean ratio, {first} | worst seed | worst instance | waits |{more}")
    print("|---|---:|---:|---:|---:|" + "---:|" * len(others))


def print_row(name: str, ratios: Floats, waits: float | None, *others: Floats) -> None:
    share = "" if waits is None else f"{waits:.0%}"
    worst = f"{ratios.mean(axis=1).max():.3f} | {ratios.max():.3f}"
    more = "".join(f" {other.mean():.3f} |" for other in others)
    print(f"| {name} | {ratios.mean():.3f} | {worst} | {share} |{more}", flush=True)


def print_differences(ratios: Mapping[str, Floats]) -> None:
    """Print paired differences: to knowing nothing, of schedulers, to rules, and to patience."""
    print("\n| difference of mean ratios, paired | mean | 95 % |")
    print("|---|---|---|")
    names = [name for name in ratios if name.startswith("learned")]
    rules = {
        name: float(of_row.mean())
        for name, of_row in ratios.items()
        if not name.startswith(("learned", "order_search"))
    }
    best = min(rules, key=rules.__getitem__)
    waiting = min((name for name in rules if name.startswith("patient")), key=rules.__getitem__)
    trained = "learned, table" if "learned, table" in ratios else "learned, table, 2 agents"
    knowing = [trained, "learned, ridge", "learned, network"]
    pairs = [(name, "learned, none") for name in knowing if name in ratios]
    pairs += [
        (name, trained) for name in names if name.startswith("learned, table") and name != trained
    ]
    pairs += [(name, best) for name in names]
    if waiting != best:
        pairs += [(name, waiting) for name in names if "linear" in name or "table" in name]
    for name, other in pairs:
        print(f"| {name} less {other} | {with_interval(ratios[name] - ratios[other])} |")


def with_interval(less: Floats) -> str:
    """Return the mean of a table of seeds and instances, and an interval over samples of both."""
    rng = np.random.default_rng(0)
    seeds, instances = less.shape
    drawn = [
        less[
            np.ix_(rng.integers(seeds, size=seeds), rng.integers(instances, size=instances))
        ].mean()
        for _ in range(RESAMPLED)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{less.mean():+.4f} | {low:+.4f} to {high:+.4f}"


if __name__ == "__main__":
    main()
