"""Placement rules on many tasks, queues in continuous time, and what knowing interference is worth.

No study measures rules alone, or a simulator, which is no method.

- `scale`: processor seconds of every rule for a thousand to a hundred thousand tasks on servers of
  12 GPUs, ten tasks a server; the exponent of the growth from one size to the next;
  large-neighbourhood search for a while, with what it saves. Then the event simulator.
- `shape`: mean completion time over that of large-neighbourhood search, at three loads and two
  prices of crossing racks, mean of random instances; and of queues in continuous time.

Run `python benchmarks/marl_scale.py scale` or `... shape [--seeds 10]`.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator

import numpy as np
from marl_events import simulate

from gadgetopt.models.marl.placement.baselines.rules import by_rule
from gadgetopt.models.marl.placement.data.generate.presets import leaf_spine
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.heuristics.lns import lns
from gadgetopt.models.marl.placement.instance import PlacementInstance
from gadgetopt.models.marl.queueing.data.generate.presets import poisson
from gadgetopt.models.marl.queueing.subproblems.queue import JobQueue
from gadgetopt.models.marl.subproblems.rules import RULES
from gadgetopt.system.result import Limits

SIZES = (1_000, 10_000, 100_000)
#: Seconds of the search on every size.
SEARCH_S = 20.0


def scale(most: int) -> Iterator[str]:
    """Yield a table of rules by the number of tasks, and one of queues."""
    yield "| tasks | servers | jobs | " + " | ".join(RULES) + " | lns, improvement on greedy_jct |"
    yield "|" + "---:|" * (4 + len(RULES))
    before: dict[str, tuple[int, float]] = {}
    for tasks in [size for size in SIZES if size <= most]:
        instance = _batch(tasks)
        cells = []
        objective: dict[str, float] = {}
        for rule in RULES:
            rng, begin = np.random.default_rng(0), time.process_time()
            outcome = by_rule(instance, Limits(), rng, rule, "fifo")
            seconds = time.process_time() - begin
            if outcome.solution is not None:
                objective[rule] = float(evaluate(instance, outcome.solution).objective or 0)
            cells.append(f"{seconds:.2f} s{_exponent(before, rule, instance.num_tasks, seconds)}")
        found = lns(instance, Limits(time_s=SEARCH_S), np.random.default_rng(0), rounds=10**6)
        saved = "-"
        if found.solution is not None and "greedy_jct" in objective:
            reached = float(evaluate(instance, found.solution).objective or 0)
            saved = f"{1 - reached / objective['greedy_jct']:.1%} in {SEARCH_S:g} s"
        yield _row(instance.num_tasks, len(instance.servers), len(instance.jobs), *cells, saved)
    yield ""
    yield "| jobs over time | servers | events | lif, fifo | lif, srpt | greedy_jct, srpt |"
    yield "|---:|---:|---:|---:|---:|---:|"
    before = {}
    for tasks in [size for size in SIZES if size <= most]:
        jobs = tasks // 2
        racks = max(1, jobs // 500)
        instance = poisson(
            np.random.default_rng(0),
            jobs=jobs,
            racks=racks,
            servers_per_rack=20,
            slots=10**6,
            slots_per_job=10.0,
            slots_between=10.0 / (16 * racks),
        )
        cells = []
        for rule, order in (("lif", "fifo"), ("lif", "srpt"), ("greedy_jct", "srpt")):
            queue = JobQueue(instance, rule, order, np.random.default_rng(0))
            begin = time.process_time()
            simulate(instance, queue)
            seconds = time.process_time() - begin
            name = f"{rule} {order}"
            cells.append(f"{seconds:.2f} s{_exponent(before, name, jobs, seconds)}")
        yield _row(len(instance.jobs), len(instance.servers), 2 * len(instance.jobs), *cells)


def shape(seeds: int) -> Iterator[str]:
    """Yield tables of completion times over those of large-neighbourhood search."""
    yield "| load | crossing racks | " + " | ".join(RULES) + " |"
    yield "|---:|---:|" + "---:|" * len(RULES)
    for load in (0.4, 0.7, 1.0):
        for times in (1, 5):
            ratios: dict[str, list[float]] = {rule: [] for rule in RULES}
            for seed in range(seeds):
                instance = _crossing(np.random.default_rng([seed, round(10 * load)]), load, times)
                best = _placed(instance, None, seed)
                for rule in RULES:
                    reached = _placed(instance, rule, seed)
                    if best and reached:
                        ratios[rule].append(reached / best)
            cells = [f"{np.mean(r):.3f}" if r else "-" for r in ratios.values()]
            yield _row(load, f"x {times}", *cells)
    yield ""
    yield "| jobs in the cluster | " + " | ".join(RULES) + " |"
    yield "|---:|" + "---:|" * len(RULES)
    for crowd in (0.5, 1.0, 1.5):
        means: dict[str, list[float]] = {rule: [] for rule in RULES}
        for seed in range(seeds):
            rng = np.random.default_rng([seed, round(10 * crowd)])
            instance = poisson(
                rng,
                jobs=200,
                racks=2,
                servers_per_rack=4,
                slots=10**5,
                slots_per_job=10.0,
                slots_between=10.0 / (16 * crowd),
            )
            for rule in RULES:
                queue = JobQueue(instance, rule, "srpt", np.random.default_rng(seed))
                runs = simulate(instance, queue)
                assert runs is not None
                means[rule].append(float(np.mean([run.completion_s for run in runs])))
        cells = [
            f"{np.mean(np.array(m) / np.array(means['greedy_jct'])):.3f}" for m in means.values()
        ]
        yield _row(crowd, *cells)


def _batch(tasks: int) -> PlacementInstance:
    servers = tasks // 10
    return leaf_spine(
        np.random.default_rng(0),
        jobs=tasks // 2,
        racks=max(1, servers // 100),
        servers_per_rack=min(100, servers),
        gpus=12,
    )


def _crossing(rng: np.random.Generator, load: float, times: int) -> PlacementInstance:
    instance = leaf_spine(rng, jobs=60, racks=4, servers_per_rack=4, load=load)
    jobs = tuple(
        job.model_copy(update={"cross_comm_s": times * job.cross_comm_s}) for job in instance.jobs
    )
    return instance.model_copy(update={"jobs": jobs})


def _placed(instance: PlacementInstance, rule: str | None, seed: int) -> float | None:
    """Return the objective of a rule, or of the search without one."""
    rng = np.random.default_rng(seed)
    if rule is None:
        solution = lns(instance, Limits(), rng).solution
    else:
        solution = by_rule(instance, Limits(), rng, rule, "fifo").solution  # type: ignore[arg-type]
    return None if solution is None else float(evaluate(instance, solution).objective or 0)


def _exponent(before: dict[str, tuple[int, float]], name: str, number: int, seconds: float) -> str:
    """Return by which power the seconds have grown since the size before."""
    text = ""
    if name in before:
        old, old_seconds = before[name]
        text = f" (n^{math.log(seconds / old_seconds) / math.log(number / old):.2f})"
    before[name] = number, seconds
    return text


def _row(*cells: object) -> str:
    return "| " + " | ".join(f"{c:,}" if isinstance(c, int) else str(c) for c in cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("scale", "shape"))
    parser.add_argument("--tasks", type=int, default=SIZES[-1], help="most tasks of `scale`")
    parser.add_argument("--seeds", type=int, default=10, help="instances a row of `shape`")
    options = parser.parse_args()
    lines = scale(options.tasks) if options.command == "scale" else shape(options.seeds)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
