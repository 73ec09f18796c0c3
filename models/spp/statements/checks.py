"""The statements, checked on counterexamples."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, no_better, run, tested_ratio


@statement(
    source="the partition by load, PRM",
    statement="the plan of the least largest load is the fastest",
    grade="refuted",
    repair="all plans below the incumbent, each scheduled: exact_spp",
    proof="a plan whose bound is not below the incumbent cannot improve it",
    command="compare {} --methods spp,exact_spp",
    reconstructed=True,
)
def load_is_not_time(document: Document) -> Finding:
    """The plan of the least load beside the fastest one."""
    return no_better(document, "spp", "exact_spp")


@statement(
    source="the order of the blocks, PE",
    statement="its order is the best of the plan",
    grade="refuted",
    repair="at most 1 + (4S - 4)/M times the best, plus AllReduce",
    proof="G1, G3: models/spp/guarantees/ratios.py",
    command="compare {} --methods spp,exact_spp",
    reconstructed=True,
)
def channel_order(document: Document) -> Finding:
    """Two orders of the only plan with a chance."""
    plans = [run(document, method).solution for method in ("spp", "exact_spp")]
    same = len({plan.stage_layers for plan in plans if plan is not None}) == 1  # type: ignore[attr-defined]
    found = no_better(document, "spp", "exact_spp")
    return found if same else Finding(None, f"{found.shown}, with another plan")


@statement(
    source="the order of the devices, RDO",
    statement="the bandwidths alone tell in which order GPUs take stages",
    grade="refuted",
    repair="the theorem is stated for equal GPUs",
    proof="G5: models/spp/guarantees/ratios.py",
    command="compare {} --methods spp,exact_spp",
    reconstructed=True,
)
def links_order_gpus(document: Document) -> Finding:
    """The stages on the GPUs in the order of their links, and in the other."""
    return no_better(document, "spp", "exact_spp")


@statement(
    source="the approximation ratio, reconstructed",
    statement="SPP is within (2 + (4S - 4)/M) Phi of the optimum",
    proof="models/spp/guarantees/ratios.py",
    command="compare {} --methods spp,exact_spp",
    reconstructed=True,
)
def spp(document: Document) -> Finding:
    """SPP beside the optimum."""
    return tested_ratio(document, "SPP", "spp", "exact_spp")
