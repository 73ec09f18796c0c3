"""GADGET: algorithms of a slot against certified optima (Figure 7), also with scarce links.

No study solves slots that are cut out of whole runs, by parts of methods.

`ratios`: one slot of 10 to 150 jobs on 50 servers, with the concave envelopes' gains of jobs before
any training. Per size, over several instances: number of certified optima and widest interval of
the others, time of the slowest, and ALG / OPT of Algorithm 2 with its rounding that keeps
capacities (one sample, the best of 100, then filled up), of the configuration program's rounding,
and of the greedy slot heuristic. Up to 50 jobs Algorithm 2 solves the augmented program literally.

`trajectory`: whole runs of Algorithm 1 with Algorithm 2, each slot against its certified optimum. A
run takes about a minute, nearly all of it HiGHS on the augmented program; there are five sizes.

Run `python benchmarks/gadget.py [ratios trajectory]`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable

import numpy as np

from gadgetopt.models.gadget.algorithms.lp_rs_mde import relax
from gadgetopt.models.gadget.algorithms.mapping_rounding import fill, violation_free
from gadgetopt.models.gadget.algorithms.temporal_greedy import temporal_greedy
from gadgetopt.models.gadget.data.generate.presets import (
    paper,
    slot,
)
from gadgetopt.models.gadget.heuristics.roundings import rounded_slot
from gadgetopt.models.gadget.heuristics.slot_greedy import slot_greedy
from gadgetopt.models.gadget.instance import GadgetInstance
from gadgetopt.models.gadget.proving.bounds.config_lp import config_lp
from gadgetopt.models.gadget.proving.exact.slot_solver import (
    SlotResult,
    solve_slot,
)
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.subproblems.max_ring import largest_rings
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping, SlotProblem, slot_problem
from gadgetopt.system.result import Limits

#: Most jobs for which the augmented program of Algorithm 2 is solved.
LITERAL = 50


def last_slot(instance: GadgetInstance, concave: bool = True) -> SlotProblem:
    """Return the problem of the last slot, with all jobs present and untrained."""
    terms = instance.terms
    tables = [envelope(job.utility) for job in terms.jobs] if concave else None
    done = [0] * len(terms.jobs)
    return slot_problem(terms, terms.horizon, done, tables, largest_rings(terms))


def worth(problem: SlotProblem, mappings: Iterable[Mapping]) -> float:
    gains = {x.job.index: x.gain for x in problem.jobs}
    return float(sum(gains[mapping.job][mapping.size] for mapping in mappings))


def certified(problem: SlotProblem, limit_s: float) -> tuple[SlotResult, float]:
    begun = time.perf_counter()
    result = solve_slot(problem, Limits(time_s=limit_s), np.random.default_rng(0))
    return result, time.perf_counter() - begun


def ratios(count: int, limit_s: float) -> None:
    print("\nratios: ALG / OPT of one slot on 50 servers; means\n")
    print(
        "| jobs | preset | certified | widest % | slowest s | Alg. 2, 1 | best of 100 | filled "
        "| config. | greedy |"
    )
    print("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for jobs in (10, 20, 30, 40, 50, 100, 150):
        for name, scarce in (("paper", None), ("plenty", False), ("scarce", True)):
            rows, closed, widest, slowest = [], 0, 0.0, 0.0
            for seed in range(count):
                rng = np.random.default_rng(seed)
                if scarce is None:
                    instance = paper(rng, jobs=jobs)
                else:
                    instance = slot(rng, jobs=jobs, scarce=scarce)
                problem = last_slot(instance)
                result, time_s = certified(problem, limit_s)
                closed += result.closed
                widest = max(widest, 1 - result.value / result.bound)
                slowest = max(slowest, time_s)
                values = [np.nan] * 3
                if jobs <= LITERAL:
                    weighted = relax(problem, Limits(), program="highs").decomposition.mappings
                    one = violation_free(problem, weighted, 1, np.random.default_rng(seed), 1)
                    many = violation_free(problem, weighted, 100, np.random.default_rng(seed))
                    values = [worth(problem, x) for x in (one, many, fill(problem, many))]
                weighted = config_lp(problem, Limits(time_s=limit_s)).mappings
                rounded = violation_free(problem, weighted, 30, np.random.default_rng(seed))
                values += [worth(problem, rounded), worth(problem, slot_greedy(problem))]
                rows.append([value / result.bound for value in values])
            mean = np.mean(rows, axis=0)
            cells = [
                f"{jobs}",
                name,
                f"{closed}/{count}",
                f"{100 * widest:.2f}",
                f"{slowest:.2f}",
                *("" if np.isnan(x) else f"{x:.3f}" for x in mean),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


def trajectory(count: int, limit_s: float) -> None:
    print("\ntrajectory: ALG / OPT of every slot of whole runs, 50 servers, 200 slots\n")
    print("| jobs | slots with jobs | certified | mean ratio | worst |")
    print("|---:|---:|---:|---:|---:|")
    for jobs in (10, 20, 30, 40, 50):
        met = [
            x for seed in range(count) for x in one_run(np.random.default_rng(seed), jobs, limit_s)
        ]
        ratio = np.array([ratio for ratio, _ in met])
        closed = sum(closed for _, closed in met)
        print(
            f"| {jobs} | {len(met)} | {closed} | {ratio.mean():.4f} | {ratio.min():.4f} |",
            flush=True,
        )


def one_run(rng: np.random.Generator, jobs: int, limit_s: float) -> list[tuple[float, bool]]:
    """Run Algorithm 1; return each slot's ratio to its optimum and whether that is certified."""
    instance = paper(rng, jobs=jobs)
    terms = instance.terms
    met: list[tuple[float, bool]] = []

    def solve(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        if not problem.jobs:
            return []
        result, _ = certified(problem, limit_s)
        chosen = rounded_slot(
            problem, limits, rng, rounding="violation_free", attempts=1, program="highs"
        )
        if result.bound > 0:
            met.append((worth(problem, chosen) / result.bound, result.closed))
        return chosen

    tables = [envelope(job.utility) for job in terms.jobs]
    temporal_greedy(terms, solve, rng, Limits(), tables=tables, largest=largest_rings(terms))
    return met


SECTIONS = {"ratios": ratios, "trajectory": trajectory}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--instances", type=int, default=3, help="of each size")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds per optimum")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"{unknown[0]}: not one of {', '.join(SECTIONS)}")
    for name in arguments.sections or SECTIONS:
        SECTIONS[name](arguments.instances, arguments.time_limit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
