"""Ratios of placements to certified optima, and what training does to them.

No study measures policies that it trains itself, several from one cloning.

Policies are trained for every seed and kept in a folder (those that are there are used). The table
is of random batches that no training saw, on 2 racks of 4 servers of 4 GPUs, a third of them at
each of three loads: mean ratio at each load and over all, that of the worst seed (of the training,
or of a method's random numbers), and the largest ratio of any batch. Where an optimum is not closed
in a minute, its bound stands in for it. Then the error of two regressions of slowdowns.

Run `python benchmarks/marl_ratios.py [--seeds 5] [--batches 100] [--folder DIR] [--train-only]`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.models.marl.placement.algorithms.learned import learned
from gadgetopt.models.marl.placement.baselines.rules import by_rule
from gadgetopt.models.marl.placement.data.learning.actor_critic import actor_critic
from gadgetopt.models.marl.placement.data.learning.cloning import clone
from gadgetopt.models.marl.placement.data.learning.examples import (
    LOADS,
    draw,
)
from gadgetopt.models.marl.placement.data.learning.linear import linear
from gadgetopt.models.marl.placement.data.learning.rollouts import rollouts
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.heuristics.learned_variants import learned_lookahead
from gadgetopt.models.marl.placement.heuristics.lns import lns
from gadgetopt.models.marl.placement.heuristics.local_search import local_search
from gadgetopt.models.marl.placement.instance import PlacementInstance
from gadgetopt.models.marl.subproblems.rules import RULES
from gadgetopt.pieces.learning.interference_model import (
    Model,
    Perceptron,
    Samples,
    additive,
    drawn,
    left_out_error,
    ridge,
    saturating,
)
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.system.training import About, Training, write_arrays
from gadgetopt.trust.run import solve

PROBLEM = problem("marl_placement")
RACKS, SERVERS_PER_RACK = 2, 4
#: Trainings after cloning share its rounds, and all the same optimal placements.
AFTER = {"rollouts": rollouts, "actor_critic": actor_critic}
POLICIES = ("start", "linear", "clone", "actor_critic", "rollouts")
#: Choices tried for each task, and of how many seeds: it takes half a second a batch.
LOOKAHEAD, LOOKAHEAD_SEEDS = 3, 2


def train(seed: int, folder: Path) -> Iterator[str]:
    """Train the policies of a seed that the folder lacks; yield what was done."""
    if all(_file(folder, name, seed).exists() for name in POLICIES):
        return
    cloned = clone(seed)
    _write(folder, "start", seed, cloned)
    begin = time.perf_counter()
    rows = [cloned.round(k, _stream(seed, k)) for k in range(cloned.rounds)]
    _write(folder, "clone", seed, cloned)
    yield _said("clone", seed, rows, begin)
    for name, begins in AFTER.items():
        begin = time.perf_counter()
        training = begins(seed)
        training.restore(cloned.state())
        rows = [training.round(k, _stream(seed, k)) for k in range(cloned.rounds, training.rounds)]
        _write(folder, name, seed, training)
        yield _said(name, seed, rows, begin)
    begin = time.perf_counter()
    score = linear(seed)
    score.lessons.restore(cloned.lessons.state())
    first = score.lesson_rounds
    rows = [score.round(k, _stream(seed, k)) for k in range(first, score.rounds)]
    _write(folder, "linear", seed, score)
    yield _said("linear", seed, rows, begin)


def ratios(seeds: int, batches: int, folder: Path) -> Iterator[str]:
    """Yield the table."""
    instances = [
        draw(np.random.default_rng([10**6, k]), RACKS, SERVERS_PER_RACK, LOADS[k % len(LOADS)])
        for k in range(batches)
    ]
    begin = time.perf_counter()
    solved = [
        solve(Document(PROBLEM, "instance", f"batch {k}", i), "price_and_close", Limits(60.0))
        for k, i in enumerate(instances)
    ]
    best = [float(r.bound if r.bound is not None else 0) for r in solved]
    closed = sum(r.status == "optimal" for r in solved)
    yield (
        f"{closed} of {batches} optima closed in {time.perf_counter() - begin:.0f} s; "
        f"{np.mean([len(i.jobs) for i in instances]):.1f} jobs in the mean\n"
    )
    loads = " | ".join(f"load {load:g}" for load in LOADS)
    yield f"| method | {loads} | mean | worst seed | largest | s per batch |"
    yield "|---|" + "---:|" * (len(LOADS) + 4)
    for name, run, times in _methods(seeds, folder):
        begin = time.perf_counter()
        found = np.array([
            [_ratio(run(i, seed), i, b) for i, b in zip(instances, best, strict=True)]
            for seed in range(times)
        ])  # fmt: skip
        seconds = (time.perf_counter() - begin) / found.size
        of_load = [np.nanmean(found[:, k :: len(LOADS)]) for k in range(len(LOADS))]
        cells = [*of_load, np.nanmean(found), np.nanmean(found, axis=1).max(), np.nanmax(found)]
        left = int(np.isnan(found).sum())
        note = f" (no placement: {left} of {found.size})" if left else ""
        yield f"| {name}{note} | " + " | ".join(f"{c:.3f}" for c in cells) + f" | {seconds:.3f} |"


Run = Callable[[PlacementInstance, int], Any]


def _methods(seeds: int, folder: Path) -> Iterator[tuple[str, Run, int]]:
    """Yield name, `(instance, seed) -> outcome` and number of seeds."""
    rng = np.random.default_rng
    for order in ("fifo", "big"):
        for rule in RULES:
            times = seeds if rule == "random" else 1
            yield (
                f"`{rule}`, {order}",
                lambda i, s, r=rule, o=order: by_rule(i, Limits(), rng(s), r, o),
                times,
            )
    for name in POLICIES:
        yield (
            f"learned: {name}",
            lambda i, s, n=name: learned(i, Limits(), policy=str(_file(folder, n, s))),
            seeds,
        )  # fmt: skip
    yield (
        f"learned: rollouts, lookahead {LOOKAHEAD} ({min(LOOKAHEAD_SEEDS, seeds)} seeds)",
        lambda i, s: learned_lookahead(
            i, Limits(), policy=str(_file(folder, "rollouts", s)), lookahead=LOOKAHEAD
        ),
        min(LOOKAHEAD_SEEDS, seeds),
    )
    yield "`local_search`", lambda i, s: local_search(i, Limits(), rng(s)), seeds
    yield "`lns`, 30 rounds", lambda i, s: lns(i, Limits(), rng(s), rounds=30), seeds


def interference(seeds: int) -> Iterator[str]:
    """Yield errors of regressions of slowdowns, on samples that were left out."""
    yield "| law | noise | samples | mean slowdown | ridge | network |"
    yield "|---|---:|---:|---:|---:|---:|"
    for number in (100, 400):
        for noise in (0.0, 0.05):
            for law_name, bent in (("sum of pairs", False), ("saturating at 0.8", True)):
                rows = []
                for seed in range(seeds):
                    rng = np.random.default_rng(seed)
                    table = rng.uniform(0.05, 0.6, size=(4, 4))
                    law = saturating(table, 0.8) if bent else additive(table)
                    samples = drawn(rng, law, 4, number, 3, noise)
                    fits: tuple[Callable[[Samples], Model], ...] = (
                        lambda some: additive(ridge(some)),
                        Perceptron,
                    )
                    errors = [
                        left_out_error(samples, fit, np.random.default_rng(seed)) for fit in fits
                    ]
                    rows.append([samples.slowdown.mean(), *errors])
                cells = " | ".join(f"{x:.3f}" for x in np.mean(rows, axis=0))
                yield f"| {law_name} | {noise:g} | {number} | {cells} |"


def _ratio(outcome: Any, instance: PlacementInstance, best: float) -> float:
    if outcome.solution is None:
        return float("nan")
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return float(evaluation.objective or 0) / best


def _stream(seed: int, k: int) -> np.random.Generator:
    return np.random.default_rng([seed, k])


def _file(folder: Path, name: str, seed: int) -> Path:
    return folder / f"{name}_{seed}.npz"


def _write(folder: Path, name: str, seed: int, training: Training) -> None:
    declared = {t.name: t for t in PROBLEM.trainers}["clone" if name == "start" else name]
    about = About(PROBLEM.name, declared.name, dict(declared.parameters), seed, training.rounds)
    write_arrays(_file(folder, name, seed), about, training.policy())


def _said(name: str, seed: int, rows: list[Any], begin: float) -> str:
    held_out = [row["held_out_excess"] for row in rows if "held_out_excess" in row]
    return (
        f"seed {seed}, {name}: {len(rows)} rounds in {time.perf_counter() - begin:.0f} s, excess "
        f"of what is held out {held_out[0]:.3f} at first, {min(held_out):.3f} at best"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--train-only", type=int, nargs="*", help="seeds; no table")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    wanted = range(given.seeds) if given.train_only is None else given.train_only
    for seed in wanted:
        for line in train(seed, folder):
            print(line, flush=True)
    if given.train_only is None:
        for line in ratios(given.seeds, given.batches, folder):
            print(line, flush=True)
        print()
        for line in interference(given.seeds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
