"""SPP: formulations, and ratios of SPP and of its competitors to certified optima.

Two tables of random instances, solved in this process on one thread:

- `ladder`: variables, rows, bound of the linear relaxation and seconds of HiGHS for each
  formulation, with the searches of ours that compute the same number below;
- `ratios`: iteration time over the optimum, mean and worst, by preset.

Run `python benchmarks/spp.py [ladder ratios] [--time-limit 30] [--seeds 8]`. Exact plans and
schedules are in `benchmarks/pipeline.py`, large instances in `benchmarks/pipeline_scale.py`.
"""

from __future__ import annotations

import argparse

import numpy as np
import pyomo.environ as pyo

from gadgetopt.models.spp.data.generate import presets
from gadgetopt.models.spp.instance import SppInstance
from gadgetopt.solvers import highs
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.declaration import resolved
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

PROBLEM = problem("spp")

#: Name, layers, machines of two GPUs, microbatches.
LADDER = (("8 layers, 4 GPUs, M = 6", 8, 2, 6), ("12 layers, 6 GPUs, M = 4", 12, 3, 4))
OURS = ("least_load", "plan_bound", "exact_spp", "cp_joint")
RATIOS = (
    ("2 x 4 GPUs", "paper", {"machines": 2, "gpus_per_machine": 4, "microbatches": 8}),
    ("4 x 4 GPUs", "paper", {"machines": 4, "gpus_per_machine": 4, "microbatches": 16}),
    ("any links, 6 GPUs", "arbitrary", {"gpus": 6, "layers": 16, "microbatches": 8}),
    ("three levels, 8 GPUs", "fat_tree", {"layers": 16, "microbatches": 8}),
    ("late parameters, 2 x 4", "large_parameters", {"microbatches": 16}),
)
CONTENDERS = (
    "spp",
    "spp:tie_break=bound",
    "dapple",
    "pipedream",
    "data_parallel",
    "gpipe",
    "hetpipe",
)


def ladder(time_limit_s: float) -> None:
    """Print the formulations on one instance each."""
    for name, layers, machines, M in LADDER:
        rng = np.random.default_rng(5)
        instance = presets.paper(
            rng, layers=layers, machines=machines, gpus_per_machine=2, microbatches=M
        )
        print(f"| {name} | variables | rows | LP bound, s | bound, s | seconds |")
        print("|---|---:|---:|---:|---:|---:|")
        for formulation in PROBLEM.formulations:
            model = resolved(formulation.build)(instance)
            form = compile_model(model)
            relaxed = _relaxation(resolved(formulation.build)(instance))
            result = _solved(instance, f"{formulation.name}@highs", time_limit_s)
            print(
                f"| `{formulation.name}` | {len(form.columns):,} | {len(form.rows):,} | "
                f"{relaxed:.6f} | {_bound(result)} | {_took(result)} |",
                flush=True,
            )
        for method in OURS:
            result = _solved(instance, method, time_limit_s)
            print(f"| `{method}` | | | | {_bound(result)} | {_took(result)} |", flush=True)
        print()


def ratios(seeds: int, time_limit_s: float) -> None:
    """Print iteration times over optima."""
    print("| instances | optima certified | " + " | ".join(f"`{c}`" for c in CONTENDERS) + " |")
    print("|---|---:|" + "---:|" * len(CONTENDERS))
    for name, preset, parameters in RATIOS:
        found: dict[str, list[float]] = {c: [] for c in CONTENDERS}
        certified = 0
        for seed in range(seeds):
            draw = getattr(presets, preset)
            instance = draw(np.random.default_rng(seed), **parameters)
            best = _solved(instance, "exact_spp", time_limit_s)
            if best.status is not Status.OPTIMAL or best.objective is None:
                continue
            certified += best.bound_voucher == "verified"
            for method in CONTENDERS:
                result = _solved(instance, method, time_limit_s)
                if result.objective is not None:
                    found[method].append(float(result.objective / best.objective))
        cells = [f"{np.mean(r):.3f}, {max(r):.3f}" if r else "refused" for r in found.values()]
        print(f"| {name} | {certified} of {seeds} | " + " | ".join(cells) + " |", flush=True)


def _relaxation(model: pyo.ConcreteModel) -> float:
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    outcome = highs.solve_form(compile_model(model), Limits(time_s=60))
    return float("nan") if outcome.objective is None else float(outcome.objective)


def _solved(instance: SppInstance, method: str, time_limit_s: float) -> Result:
    document = Document(PROBLEM, "instance", "benchmark", instance)
    return solve(document, method, Limits(time_s=time_limit_s))


def _bound(result: Result) -> str:
    return "" if result.bound is None else f"{float(result.bound):.6f}"


def _took(result: Result) -> str:
    return f"{result.time_s:.2f}" if result.limit_hit is None else "open"


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["ladder", "ratios"])
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--seeds", type=int, default=8)
    asked = parser.parse_args()
    if "ladder" in asked.tables:
        ladder(asked.time_limit)
    if "ratios" in asked.tables:
        ratios(asked.seeds, asked.time_limit)


if __name__ == "__main__":
    main()
