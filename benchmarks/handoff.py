"""Time to pass a large Pyomo model to HiGHS: our compiler against Pyomo's two interfaces.

No study measures how a model is passed to a solver, where nothing is solved.

The model is a time-indexed schedule of jobs on a cluster with more than 400,000 nonzeros. The time,
measured in one process and alternating between the contenders, begins with the finished Pyomo model
and ends with a `highspy.Highs` object that holds the whole model and has not started to solve:

- ours: `compile_model` (terms collected exactly, bounds, ranges) and `pass_form`;
- Pyomo appsi: `pyomo.contrib.appsi.solvers.Highs().set_instance(model)`;
- Pyomo solver: `pyomo.contrib.solver.solvers.highs.Highs().set_instance(model)`.

`set_instance` is what both of Pyomo's interfaces call at the beginning of `solve` on a new model.
They are persistent: part of their time goes into maps that let a later solve update the model
instead of passing it again. A single solve, which is measured here, pays for that, too. Importing
and constructing the solver classes is not timed.

Run `python benchmarks/handoff.py`. It exits with 1 if ours takes more than 0.35 of the time of the
faster of the other two.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable

import pyomo.environ as pyo
from pyomo.contrib.appsi.solvers import Highs as AppsiHighs
from pyomo.contrib.solver.solvers.highs import Highs as SolverHighs

from gadgetopt.solvers.highs import pass_form
from gadgetopt.solvers.standard_form import compile_model

LARGEST_RATIO = 0.35


def schedule(jobs: int, slots: int, capacity: int = 64, seed: int = 0) -> pyo.ConcreteModel:
    """Build the time-indexed model: start every job once, never exceed the capacity.

    min sum w_j (t + p_j) x_jt  s.t.  sum_t x_jt = 1,  sum of g_j x_js over running jobs <= G.
    """
    rng = random.Random(seed)
    duration = [rng.randint(5, 27) for _ in range(jobs)]
    gpus = [rng.choice([1, 2, 4, 8]) for _ in range(jobs)]
    weight = [rng.randint(1, 9) for _ in range(jobs)]
    model = pyo.ConcreteModel()
    model.J, model.T = pyo.RangeSet(0, jobs - 1), pyo.RangeSet(0, slots - 1)
    model.x = pyo.Var(model.J, model.T, domain=pyo.Binary)

    @model.Constraint(model.J)
    def starts_once(m: pyo.ConcreteModel, j: int) -> object:
        return sum(m.x[j, t] for t in m.T) == 1

    @model.Constraint(model.T)
    def fits(m: pyo.ConcreteModel, t: int) -> object:
        running = (
            gpus[j] * m.x[j, s] for j in m.J for s in range(max(0, t - duration[j] + 1), t + 1)
        )
        return sum(running) <= capacity

    model.cost = pyo.Objective(
        expr=sum(weight[j] * (t + duration[j]) * model.x[j, t] for j in model.J for t in model.T)
    )
    return model


def ours(model: pyo.ConcreteModel) -> tuple[int, int]:
    highs = pass_form(compile_model(model))
    return highs.getNumCol(), highs.getNumNz()


def appsi(model: pyo.ConcreteModel) -> None:
    AppsiHighs().set_instance(model)


def contrib_solver(model: pyo.ConcreteModel) -> None:
    SolverHighs().set_instance(model)


def seconds(hand_over: Callable[[pyo.ConcreteModel], object], model: pyo.ConcreteModel) -> float:
    gc.collect()
    start = time.perf_counter()
    hand_over(model)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=160)
    parser.add_argument("--slots", type=int, default=160)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    model = schedule(arguments.jobs, arguments.slots)
    columns, nonzeros = ours(model)
    contenders = {"gadgetopt": ours, "pyomo appsi": appsi, "pyomo contrib.solver": contrib_solver}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(arguments.repetitions):
        for name, hand_over in contenders.items():
            times[name].append(seconds(hand_over, model))
    median = {name: statistics.median(measured) for name, measured in times.items()}
    print(f"{columns:,} columns, {nonzeros:,} nonzeros, {arguments.repetitions} repetitions\n")
    print("| interface            | median s | min s | ours / this |")
    print("|----------------------|---------:|------:|------------:|")
    for name, measured in times.items():
        ratio = median["gadgetopt"] / median[name]
        print(f"| {name:20} | {median[name]:8.3f} | {min(measured):5.3f} | {ratio:11.2f} |")
    ratio = median["gadgetopt"] / min(median["pyomo appsi"], median["pyomo contrib.solver"])
    print(f"\nratio to the faster of the other two: {ratio:.2f} (at most {LARGEST_RATIO})")
    return 0 if ratio <= LARGEST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
