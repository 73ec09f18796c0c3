"""The statements, checked on counterexamples."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed, no_better, objective


def _load_s(document: Document) -> float:
    """Return the work of the busiest device."""
    stages, counts = document.data.stages, document.data.microbatches
    return max(
        float(sum(counts[s] * (stages[s].fwd_s + stages[s].input_grad_s + stages[s].weight_grad_s)
                  for s in mine))
        for mine in document.data.stages_of_device
    )  # fmt: skip


@statement(
    source="the title's claim, read as one of the makespan",
    statement="with memory for 2P - 1 microbatches ZB-H2 has no bubble: no device is ever idle",
    grade="ambiguous",
    repair="the period from step to step has none; a step lasts (P - 1) f longer than its work",
    proof="the last device waits for P - 1 forwards: (B1) in models/pipeline_schedules/README.md",
    command="compare {} --methods zb_h2,close_gap",
    reconstructed=True,
)
def zero_bubble(document: Document) -> Finding:
    """Makespan and period of ZB-H2 beside the work of a device."""
    makespan_s, work_s = objective(document, "zb_h2"), _load_s(document)
    period_s = objective(changed(document, objective="period"), "zb_h2")
    shown = (
        f"ZB-H2: makespan {makespan_s:.6g} s, period {period_s:.6g} s, a device works "
        f"{work_s:.6g} s"
    )
    return Finding(makespan_s <= work_s, shown)


@statement(
    source="ZB-H2 beside ZB-H1",
    statement="the longer warm-up of ZB-H2 never ends the step later than ZB-H1",
    grade="refuted",
    repair="fewer warm-up forwards where M < 2P - 1; for the period the longer warm-up is no loss",
    proof="a gradient waits for a forward more, and too few microbatches follow to gain it back",
    command="compare {} --methods zb_h1,zb_h2,close_gap",
    reconstructed=True,
)
def more_warm_up(document: Document) -> Finding:
    """ZB-H2 beside ZB-H1 where there are few microbatches."""
    return no_better(document, "zb_h2", "zb_h1")


@statement(
    source="ZB-H1's published bubble, (P - 1)(F + I - W)",
    statement="no schedule within 1F1B's memory is shorter than ZB-H1, if stages are equal",
    grade="holds",
    proof="(B4) in models/pipeline_schedules/README.md",
    command="compare {} --methods zb_h1,close_gap",
    reconstructed=True,
)
def h1_is_optimal(document: Document) -> Finding:
    """ZB-H1 beside the optimum."""
    return no_better(document, "zb_h1", "close_gap")
