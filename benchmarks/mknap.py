"""Public multi-dimensional and multiple-choice knapsacks: our exact method and the plain models.

Every problem is solved in this process on one thread under one time limit by

- ours: `gadgetopt.pieces.knapsack.core.cg_core`, whose proofs are by enumeration in exact
  arithmetic, except those counted in the column "HiGHS's word";
- CP-SAT and HiGHS on the plain model, with one binary variable per item and default settings.

Times are wall-clock seconds; unproved problems count with the time limit. "best" counts the
problems on which the value found equals the best of the three and of the file's stated value.

Run `python benchmarks/mknap.py [mknap1 mknap2 mknapcb1 mmkp]`. OR-Library's files (mknap1.txt,
mknap2.txt, mknapcb1.txt) are expected in the folder orlib, Khan's (I01 to I06) in the folder mmkp,
of ../shared/data beside the repository or of --data.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gadgetopt.models.knapsack.data.importers.reading import NamedKnapsack, read_mmkp, read_orlib
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.system.result import Limits

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = ("mknap1", "mknap2", "mknapcb1", "mmkp")

CONTENDERS: dict[str, Callable[[Knapsack, Limits], CoreResult]] = {
    "ours": cg_core,
    "CP-SAT": lambda knapsack, limits: solve_mip(knapsack, "cpsat", limits),
    "HiGHS": lambda knapsack, limits: solve_mip(knapsack, "highs", limits),
}


@dataclass(frozen=True)
class Run:
    """A result and its time."""

    result: CoreResult
    time_s: float


def problems(data: Path, name: str) -> Iterator[NamedKnapsack]:
    if name == "mmkp":
        for path in sorted((data / "mmkp").glob("I[0-9]*")):
            yield from read_mmkp(path).problems
    else:
        yield from read_orlib(data / "orlib" / f"{name}.txt").problems


def solve(knapsack: Knapsack, method: str, limit_s: float) -> Run:
    begun = time.perf_counter()
    result = CONTENDERS[method](knapsack, Limits(time_s=limit_s))
    return Run(result, time.perf_counter() - begun)


def described(run: Run) -> str:
    if run.result.optimal:
        return f"{run.time_s:8.2f}"
    gap = run.result.bound - run.result.value
    return f"{f'gap {gap:.4g}':>8}"


def compare(data: Path, name: str, limit_s: float, most: int | None, methods: list[str]) -> None:
    print(f"\n{name}: seconds to a proof, or the gap after {limit_s:g} s\n")
    print("| problem       |    optimum | " + " | ".join(f"{m:>8}" for m in methods) + " |")
    print("|---------------|-----------:|" + "|".join("-" * 9 + ":" for _ in methods) + "|")
    runs: dict[str, list[Run]] = {method: [] for method in methods}
    best: list[float] = []
    for i, problem in enumerate(problems(data, name)):
        if most is not None and i >= most:
            break
        whole = scaled(problem.instance)
        row = {method: solve(whole.knapsack, method, limit_s) for method in methods}
        for method, run in row.items():
            runs[method].append(run)
        value = max(run.result.value for run in row.values())
        stated = float(problem.stated.get("stated_optimum") or 0) / float(whole.unit)
        best.append(max(value, stated))
        closed = any(run.result.optimal for run in row.values())
        optimum = f"{'' if closed else '>='}{float(whole.profit(value)):.10g}"
        cells = " | ".join(described(row[method]) for method in methods)
        print(f"| {problem.name:13} | {optimum:>10} | {cells} |", flush=True)
    print(f"\n| {name:10} | proved | best | total s | longest s | HiGHS's word |")
    print("|------------|-------:|-----:|--------:|----------:|-------------:|")
    for method in methods:
        done = runs[method]
        proved = sum(run.result.optimal for run in done)
        found = sum(run.result.value >= value - 1e-6 for run, value in zip(done, best, strict=True))
        words = sum(run.result.optimal and "HiGHS" in run.result.proof for run in done)
        total, longest = sum(r.time_s for r in done), max((r.time_s for r in done), default=0.0)
        cells = (
            f"{method:10}",
            f"{proved:3}/{len(done):<2}",
            f"{found:4}",
            f"{total:7.1f}",
            f"{longest:9.2f}",
            f"{words if method == 'ours' else '':>12}",
        )
        print(f"| {' | '.join(cells)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; all if none")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with orlib and mmkp")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per problem")
    parser.add_argument("--problems", type=int, help="only so many of each set")
    parser.add_argument("--methods", nargs="+", choices=CONTENDERS, default=[*CONTENDERS])
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sets if name not in SETS]
    if unknown:
        parser.error(f"{unknown[0]}: not one of {', '.join(SETS)}")
    if not arguments.data.exists():
        parser.error(f"{arguments.data}: no such folder; give the files' with --data")
    for name in arguments.sets or SETS:
        compare(arguments.data, name, arguments.time_limit, arguments.problems, arguments.methods)
    return 0


if __name__ == "__main__":
    sys.exit(main())
