"""The statements, checked on witness instances."""

from __future__ import annotations

from typing import Literal

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed, no_better, objective

from ..instance import OneflowActorsSolution


def _period_s(document: Document, *slots: int, dispatch: Literal["fcfs", "deep"] = "fcfs") -> float:
    """Return the period with so many slots under a rule."""
    solution = OneflowActorsSolution(slots=slots, dispatch=dispatch)
    return float(document.problem.evaluate(document.data, solution).components["period_s"])


@statement(
    source="OneFlow's rule, first come first served",
    statement="one slot more never lowers the throughput",
    grade="refuted",
    repair="true if the order on every stream is fixed: the slot only makes waits shorter",
    proof="with the slot more the actor that is ready first is another one",
    command="compare {} --methods one,two,close_gap",
    reconstructed=True,
)
def more_slots(document: Document) -> Finding:
    """Two slots in the first register, then also in the third."""
    few_s, more_s = _period_s(document, 2, 1, 1), _period_s(document, 2, 1, 2)
    return Finding(
        more_s <= few_s,
        f"slots 2, 1, 1: period {few_s:.6g} s; slots 2, 1, 2: {more_s:.6g} s",
    )


@statement(
    source="the Improver, its period",
    statement="slots by longest ways attain the period for which they are chosen",
    grade="refuted",
    repair="that period is a lower bound; a short branch may have to wait for a long one",
    proof="the ways bound lifetimes, not the waiting where branches meet",
    command="compare {} --methods improver,close_gap",
    reconstructed=True,
)
def improver_attains(document: Document) -> Finding:
    """The Improver beside the optimum."""
    return no_better(document, "improver", "close_gap")


@statement(
    source="schedules that repeat every microbatch",
    statement="an order with one firing of each actor is as good as any",
    grade="refuted",
    repair="true where every actor has a stream of its own",
    proof="two firings in a window let a stream take turns that one firing cannot",
    command="compare {} --methods improver,close_gap",
    reconstructed=True,
)
def one_firing_suffices(document: Document) -> Finding:
    """The best order of one firing beside a rule."""
    any_order = objective(document, "close_gap")
    one = objective(changed(document, window=1), "close_gap")
    shown = f"any order: throughput {any_order:.6g}, one firing of each actor: {one:.6g}"
    return Finding(one >= any_order, shown)
