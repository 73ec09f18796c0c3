"""The statements, checked on counterexamples."""

from __future__ import annotations

from gadgetopt.pieces.pipeline.pivot_latency import head_load_tail_s, latency_s, pivot_of
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, objective, run, tested_ratio


@statement(
    source="Eq. 1, the pipeline latency",
    statement="the latency of a plan is the time of its iteration",
    grade="refuted",
    repair="the largest of the bounds L_Q of a plan; the time of a schedule beside it",
    proof="head, load and tail of every stage: (L2) in models/dapple/README.md",
    command="compare {} --methods dapple,exact_plans",
    reconstructed=True,
)
def latency_is_attained(document: Document) -> Finding:
    """The planner's plan and order, and the latency over the least bound."""
    return tested_ratio(document, "latency is attained", "dapple", "exact_plans")


@statement(
    source="planning by the latency",
    statement="the plan of the least latency is the fastest",
    grade="refuted",
    repair="all plans below the incumbent, each scheduled: exact_plans",
    proof="a plan whose bound L_Q is not below the incumbent cannot improve it",
    command="compare {} --methods dapple,exact_plans",
    reconstructed=True,
)
def latency_ranks_plans(document: Document) -> Finding:
    """The planner's choice beside the best plan."""
    return tested_ratio(document, "latency ranks plans", "dapple", "exact_plans")


@statement(
    source="theorem of this project on rounds",
    statement="least_bound takes at most 2 + (4S - 4)/M times the optimum",
    proof="models/dapple/guarantees/ratios.py",
    command="compare {} --methods least_bound,exact_plans",
    reconstructed=True,
)
def rounds(document: Document) -> Finding:
    """The plan of the least bound beside the optimum."""
    return tested_ratio(document, "least bound in rounds", "least_bound", "exact_plans")


def _shop(document: Document) -> Shop:
    """Return the times of the planner's plan."""
    plan = run(document, "dapple").solution
    if plan is None:
        raise RuntimeError(f"{document.name}: the planner finds no plan")
    return shop_of(
        document.data,
        Plan(
            stage_layers=plan.stage_layers,  # type: ignore[attr-defined]
            stage_devices=plan.stage_devices,  # type: ignore[attr-defined]
        ),
    )


@statement(
    source="Eq. 2, the rule of the pivot",
    statement="the rule picks the stage that dominates the latency",
    grade="refuted",
    repair="the sum in the rule runs to Q, not to Q - 1; or the Q of the largest bound",
    proof=(
        "without AllReduce that comparison is the one of the two latencies: "
        "gadgetopt/pieces/pipeline/pivot_latency.py"
    ),
    command="compare {} --methods dapple,dapple_reading,exact_plans",
    reconstructed=True,
)
def pivot(document: Document) -> Finding:
    """The stage that the rule picks, and the latency around every stage and link."""
    shop = _shop(document)
    times, M = (shop.fwd, shop.bwd, shop.allreduce), shop.num_microbatches
    picked = pivot_of(*times, M)
    around = [float(x * shop.unit) for x in head_load_tail_s(*times, M)]
    largest = max(range(len(around)), key=around.__getitem__)
    told = ", ".join(f"{x:g}" for x in around)
    shown = f"bounds around stages and links: {told}; the rule picks {picked}, not {largest}"
    return Finding(around[picked] == around[largest], shown)


@statement(
    source="Eq. 1, the case s = Q of the ending phase, in one of two readings",
    statement="E_s(Q) = -(B_Q + ... + B_s) for s = Q, too",
    grade="ambiguous",
    repair="E_s(Q) = B_s + ... + B_Q for s <= Q",
    proof=(
        "the last backward block of Q ends B_Q after it starts: "
        "gadgetopt/pieces/pipeline/pivot_latency.py"
    ),
    command="solve {} --method exact_plans",
    reconstructed=True,
)
def ending_of_the_pivot(document: Document) -> Finding:
    """One stage and one microbatch: forward, backward and AllReduce one after the other."""
    shop = _shop(document)
    (f,), (b,), (a,) = (
        [float(x * shop.unit) for x in times] for times in (shop.fwd, shop.bwd, shop.allreduce)
    )
    read = f + (shop.num_microbatches - 1) * (f + b) + (a - b)
    derived = float(latency_s((f,), (b,), (a,), shop.num_microbatches, 0))
    best = objective(document, "exact_plans")
    shown = (
        f"F = {f:g}, B = {b:g}, AR = {a:g}: {read:g} in that reading, {derived:g} in the other, "
        f"and the optimum is {best:g}"
    )
    return Finding(read >= best, shown)
