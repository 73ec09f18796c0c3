"""The statements, checked on counterexamples."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed, objective, run

from ..instance import OneFlowSbpInstance

EXACT = "branch_and_bound"


@statement(
    source="Table 2 as an objective",
    statement="the plan that moves the fewest bytes is a good plan",
    grade="refuted",
    repair="compute or memory belongs in the objective or in a limit",
    proof="a group on which every device computes everything sends nothing: B to B is 0",
    command="compare {} --methods all_broadcast,megatron,branch_and_bound",
    reconstructed=True,
)
def transfer_alone(document: Document) -> Finding:
    """The plan of the fewest bytes, without and with a price of compute."""
    instance: OneFlowSbpInstance = document.data
    priced = changed(document, costs={**instance.costs.model_dump(), "compute_ratio": "1/5"})
    free = objective(document, EXACT)
    same = run(document, "all_broadcast").objective
    plain, best = objective(priced, "all_broadcast"), objective(priced, EXACT)
    shown = (
        f"the least volume is {free:g}, that of all broadcast {same}; with 1/5 an operation all "
        f"broadcast costs {plain:g}, the optimum {best:g}"
    )
    return Finding(free != same or plain <= best, shown)


@statement(
    source="Table 2 beside the released source",
    statement="the compiler's costs are the volumes of the table",
    grade="contradiction",
    repair="two tables: `paper` and `oneflow`",
    proof="the source charges 1 for slicing and forbids conversions into partial values",
    command="solve {}",
    reconstructed=True,
)
def volumes_of_the_compiler(document: Document) -> Finding:
    """The same conversion by both tables."""
    instance: OneFlowSbpInstance = document.data
    costs = [
        objective(
            changed(document, costs={**instance.costs.model_dump(), "boxing_table": table}), EXACT
        )
        for table in ("paper", "oneflow")
    ]
    shown = (
        f"B to S0 costs {costs[0]:g} by our table of the paper, {costs[1]:g} by that of the source"
    )
    return Finding(costs[0] == costs[1], shown)
