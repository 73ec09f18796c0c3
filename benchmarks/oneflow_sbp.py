"""OneFlow SBP: shapes of optimal plans, and optima with a memory limit.

No study describes plans by their labels and collectives, or sets a memory limit that follows from
an optimum.

- `shapes`: which parallelism is best by batch (data, hybrid, Megatron), and how far data
  parallelism and Megatron are from the optimum;
- `memory`: perceptrons with a memory limit 30 % between the least memory and that of the optimum.

Run `python benchmarks/oneflow_sbp.py [shapes memory]`. Methods are compared by the studies
`oneflow_*.toml`.
"""

from __future__ import annotations

import argparse
from collections import Counter

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
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

PROBLEM = problem("oneflow_sbp")
RNG = np.random.default_rng(0)

#: Batches of the shapes, for perceptrons of four layers of this width.
BATCHES, WIDTH, LAYERS = (32, 128, 512, 1024, 2048, 4096, 8192, 16384), 1024, 4
#: Seconds of a method with a memory limit.
LIMIT_S = 20.0


def solved(instance: OneFlowSbpInstance, method: str, limit_s: float | None = LIMIT_S, gap=0.0):
    limits = Limits(time_s=limit_s, rel_gap=gap)
    return solve(Document(PROBLEM, "instance", "drawn", instance, {}), method, limits)


def limited(layers: int) -> OneFlowSbpInstance:
    """Return a perceptron whose memory limit is 30 % between the least and the optimum's memory."""
    drawn = presets.paper(np.random.default_rng(1), layers=layers)
    free = evaluate(drawn, elimination(drawn, Limits()).solution).components["memory_bytes"]
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


def cost_of(instance: OneFlowSbpInstance, method) -> float:
    solution = method(instance).solution
    return float(evaluate(instance, solution).objective)


def by_batch() -> None:
    print(
        "| batch | optimum | weights | all-reduces | others | data parallel | Megatron | greedy |"
    )
    print("|---|---|---|---|---|---|---|---|")
    widths = ",".join([str(WIDTH)] * (LAYERS + 1))
    for batch in BATCHES:
        instance = presets.mlp_train(RNG, widths=widths, batch=batch, devices=8)
        outcome = elimination(instance, Limits())
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


def shapes() -> None:
    print(
        f"\nPerceptrons of {LAYERS} layers of width {WIDTH} on 8 devices; costs over the optimum\n"
    )
    by_batch()


COMMANDS = {"shapes": shapes, "memory": memory}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    for name in parser.parse_args().commands:
        COMMANDS[name]()


if __name__ == "__main__":
    main()
