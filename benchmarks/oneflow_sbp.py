"""OneFlow SBP: optima at scale beside solvers, and the shapes that they show.

Tables of instances solved in this process on one thread:

- `shapes`: which parallelism is best by batch (data, hybrid, Megatron), how far data parallelism
  and Megatron are from the optimum, and optima on a line of devices beside those on a hierarchy;
- `exact`: perceptrons of 69 to 100,000 operators by the models, CP-SAT and elimination, with the
  gaps of the linear relaxations;
- `memory`: the same with a memory limit 30 % between the least memory and that of the optimum;
- `agreement`: 500 random small instances by enumeration, by all models and by branch and bound;
- `transformer`: a transformer of 48 layers on a hierarchy of 4 x 8 devices, the certified optimum
  and all strategies.

Run `python benchmarks/oneflow_sbp.py [exact memory ...]`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

from gadgetopt.models.oneflow_sbp.algorithms.inference import compiler_greedy
from gadgetopt.models.oneflow_sbp.baselines import strategies
from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpInstance, OneFlowSbpSolution
from gadgetopt.models.oneflow_sbp.labels import label_text
from gadgetopt.models.oneflow_sbp.pictures.phases import phase_of
from gadgetopt.models.oneflow_sbp.proving.exact.elimination import elimination
from gadgetopt.models.oneflow_sbp.proving.lagrangian import Pricing
from gadgetopt.models.oneflow_sbp.subproblems.label_graph import label_graph
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.models.oneflow_sbp.brute_force import brute_force, random_instance

PROBLEM = problem("oneflow_sbp")
#: Methods beside which the optimum of the large transformer is shown.
CONTENDERS = (
    "branch_and_bound",
    "auto_parallel",
    "compiler_greedy",
    "data_parallel",
    "megatron",
    "model_parallel_col",
    "model_parallel_row",
    "all_broadcast",
)
RNG = np.random.default_rng(0)

#: Batches of the shapes, for perceptrons of four layers of this width.
BATCHES, WIDTH, LAYERS = (32, 128, 512, 1024, 2048, 4096, 8192, 16384), 1024, 4
#: Seeds and layers of the perceptrons on a line and on a hierarchy.
SEEDS, LAYERS_OF_BOTH = range(6), 10


#: Perceptrons of the exact table, and the largest that each kind of method is given.
EXACT_LAYERS, MILP_LAYERS, WEAK_LAYERS, LIMIT_S = (10, 50, 200, 800, 3000, 14285), 200, 50, 20.0
#: Random small instances by each method, and by SCIP.
RANDOM, RANDOM_QUADRATIC = 500, 100


def solved(instance: OneFlowSbpInstance, method: str, limit_s: float | None = LIMIT_S, gap=0.0):
    limits = Limits(time_s=limit_s, rel_gap=gap)
    return solve(Document(PROBLEM, "instance", "drawn", instance, {}), method, limits)


def shown(result) -> str:
    if result.refused:
        return "refused"
    if str(result.status) == "optimal":
        return f"{result.time_s:.2f}"
    gap = "no solution" if result.gap is None else f"gap {100 * result.gap:.2g} %"
    return f"{gap} after {result.time_s:.0f}"


def exact() -> None:
    print(
        "\n| layers | operators | edges | (3) HiGHS | LP gap | weak HiGHS | weak LP gap |", end=""
    )
    print(" CP-SAT level 1 | CP-SAT level 2 | elimination | branch and bound | verified |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for layers in EXACT_LAYERS:
        drawn = presets.paper(np.random.default_rng(1), layers=layers)
        cells = [str(layers), str(len(drawn.operators)), str(len(drawn.tables.edges))]
        eliminated, searched = (solved(drawn, m, None) for m in ("elimination", "branch_and_bound"))
        optimum = float(searched.objective)
        for method, relaxation, most in (
            ("aggregated@highs", "aggregated_lp@highs", MILP_LAYERS),
            ("weak@highs", "weak_lp@highs", WEAK_LAYERS),
        ):
            if layers > most:
                cells += ["", ""]
                continue
            bound = solved(drawn, relaxation).bound
            cells.append(shown(solved(drawn, method)))
            cells.append(f"{100 * (1 - float(bound) / optimum):.2g} %")
        levels = [1, 2] if layers <= WEAK_LAYERS else [2] if layers <= MILP_LAYERS else []
        for level in (1, 2):
            call = f"cp_labels:linearization_level={level}" if level == 1 else "cp_labels"
            cells.append(shown(solved(drawn, call)) if level in levels else "")
        cells += [shown(eliminated), shown(searched), str(searched.bound_voucher)]
        print("| " + " | ".join(cells) + " |", flush=True)
        assert eliminated.objective == searched.objective == searched.bound


def limited(layers: int) -> OneFlowSbpInstance:
    """Return a perceptron whose memory limit is 30 % between the least and the optimum's memory."""
    drawn = presets.paper(np.random.default_rng(1), layers=layers)
    free = evaluate(drawn, elimination(drawn, Limits(), RNG).solution).components["memory_bytes"]
    least = Pricing(label_graph(drawn), 1, 2**26, lambda: False).least_memory(0)
    return drawn.model_copy(update={"memory_limit_bytes": least + 3 * (free - least) // 10})


def memory() -> None:
    print("\n| operators | method | asked gap | objective | gap | seconds | bound |")
    print("|---|---|---|---|---|---|---|")
    for method in ("branch_and_bound", "aggregated@highs", "cp_labels"):
        solved(limited(1), method)  # imports are not counted
    for layers, gap, methods in (
        (10, 0.0, ("branch_and_bound", "aggregated@highs", "cp_labels")),
        (50, 0.0, ("branch_and_bound", "cp_labels")),
        (50, 1e-3, ("branch_and_bound", "aggregated@highs", "cp_labels")),
        (200, 1e-3, ("branch_and_bound", "aggregated@highs", "cp_labels")),
        (200, 1e-4, ("branch_and_bound",)),
        (200, 0.0, ("branch_and_bound",)),
        (3000, 1e-3, ("branch_and_bound",)),
    ):
        drawn = limited(layers)
        for method in methods:
            result = solved(drawn, method, gap=gap)
            value = "" if result.objective is None else f"{float(result.objective):.9g}"
            reached = "" if result.gap is None else f"{100 * result.gap:.3g} %"
            print(
                f"| {len(drawn.operators)} | `{method}` | {100 * gap:g} % | {value} | {reached} | "
                f"{result.time_s:.2f} | {result.bound_voucher} |",
                flush=True,
            )


def agreement() -> None:
    methods = ("branch_and_bound", "aggregated@highs", "pairwise@highs", "cp_labels", "elimination")
    counts = Counter[str]()
    for seed in range(RANDOM):
        drawn = random_instance(seed)
        optimum = brute_force(drawn)
        kind = "capped" if drawn.memory_limit_bytes else "uncapped"
        counts[kind] += 1
        counts["shared boxing"] += drawn.shared_boxing
        counts["infeasible"] += optimum is None
        for method in (*methods, *(("quadratic@scip",) if seed < RANDOM_QUADRATIC else ())):
            result = solved(drawn, method)
            if result.refused:
                continue
            counts[method] += 1
            if optimum is None:
                assert str(result.status) == "infeasible", (seed, method)
            else:
                assert agrees(float(result.objective), float(optimum)), (seed, method)
    print("\nEqual to enumeration: " + ", ".join(f"{n} {what}" for what, n in counts.items()))


def cost_of(instance: OneFlowSbpInstance, method) -> float:
    solution = method(instance, Limits(), RNG).solution
    return float(evaluate(instance, solution).objective)


def by_batch() -> None:
    print(
        "| batch | optimum | weights | all-reduces | others | data parallel | Megatron | greedy |"
    )
    print("|---|---|---|---|---|---|---|---|")
    widths = ",".join([str(WIDTH)] * (LAYERS + 1))
    for batch in BATCHES:
        instance = presets.mlp_train(RNG, widths=widths, batch=batch, devices=8)
        outcome = elimination(instance, Limits(), RNG)
        best = float(outcome.dual_bound)
        weights, moved = plan_of(instance, outcome.solution)
        others = ", ".join(
            f"{n} {name}" for name, n in sorted(moved.items()) if name != "all_reduce"
        )
        ratios = (
            cost_of(instance, method) / best
            for method in (strategies.data_parallel, strategies.megatron, compiler_greedy)
        )
        cells = [
            f"{batch}",
            phase_of(instance, outcome.solution),
            weights,
            f"{moved['all_reduce']}",
            others.replace("_", "-") or "-",
            *(f"{ratio:.4f}" for ratio in ratios),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def plan_of(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> tuple[str, Counter[str]]:
    """Return the labels of the weights in order, and the number of collectives of each name."""
    from gadgetopt.models.oneflow_sbp.pictures.plan import conversion_of

    chosen = [k[x] for k, x in zip(instance.tables.signatures, solution.signature, strict=True)]
    weights = [
        label_text(s.output)
        for o, s in zip(instance.operators, chosen, strict=True)
        if o.kind == "variable"
    ]
    moved: Counter[str] = Counter()
    for edge in instance.tables.edges:
        names, cost = conversion_of(instance, solution, edge)
        if cost:
            moved.update(name.replace("-", "_") for name in names.split(", "))
    return " ".join(weights), moved


def line_and_hierarchy() -> None:
    print("| seed | optimum on 8 | on 2x4 | ratio | seconds on 8 | on 2x4 |")
    print("|---|---|---|---|---|---|")
    ratios = []
    for seed in SEEDS:
        costs, seconds = [], []
        for devices in ("8", "2x4"):
            rng = np.random.default_rng(seed)
            instance = presets.paper(rng, layers=LAYERS_OF_BOTH, devices=devices)
            start = time.perf_counter()
            outcome = elimination(instance, Limits(), RNG)
            seconds.append(time.perf_counter() - start)
            costs.append(float(outcome.dual_bound))
        ratios.append(costs[0] / costs[1])
        print(
            f"| {seed} | {costs[0]:.6g} | {costs[1]:.6g} | {ratios[-1]:.4f} | {seconds[0]:.2f} | "
            f"{seconds[1]:.2f} |",
            flush=True,
        )
    print(f"\nline over hierarchy: {min(ratios):.3f} to {max(ratios):.3f}")


def shapes() -> None:
    print(
        f"\nPerceptrons of {LAYERS} layers of width {WIDTH} on 8 devices; costs over the optimum\n"
    )
    by_batch()
    print(f"\nPerceptrons of {LAYERS_OF_BOTH} layers of random widths, batch 512, eight devices\n")
    line_and_hierarchy()


def transformer() -> None:
    drawn = presets.transformer(RNG, layers=48, batch=32, devices="4x8")
    print(f"\nTransformer of 48 layers on 4x8 devices: {len(drawn.operators)} operators, ", end="")
    print(f"{len(drawn.tables.edges)} edges, {sum(map(len, drawn.tables.signatures))} signatures\n")
    document = Document(PROBLEM, "instance", "transformer", drawn, {})
    results = {name: solve(document, name, Limits(time_s=60)) for name in CONTENDERS}
    best = Fraction(results["branch_and_bound"].bound)
    print("| method | cost | over the optimum | bound | GB on a device | seconds |")
    print("|---|---|---|---|---|---|")
    for name, result in results.items():
        used = result.evaluation.components["memory_bytes"] / 1e9
        bound = (
            "" if result.bound is None else f"{float(result.bound):.9g} ({result.bound_voucher})"
        )
        print(
            f"| `{name}` | {float(result.objective):.9g} | "
            f"{float(Fraction(result.objective) / best):.6f} | {bound} | {used:.1f} | "
            f"{result.time_s:.2f} |",
            flush=True,
        )


COMMANDS = {
    "exact": exact,
    "memory": memory,
    "agreement": agreement,
    "shapes": shapes,
    "transformer": transformer,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    for name in parser.parse_args().commands:
        COMMANDS[name]()


if __name__ == "__main__":
    main()
