"""The statements, checked on counterexamples."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_method
from gadgetopt.trust.statements import Finding, no_better, objective, tested_ratio

from ..guarantees.guide import guide_of
from ..instance import ASrptInstance


@statement(
    source="Lemma 1, read for durations rounded to ticks",
    statement="with every duration at its longest OPT is at most rho OPT, rho of seconds",
    grade="refuted",
    repair="rho of durations in ticks",
    proof="stretch an optimal schedule by it: models/a_srpt/guarantees/ratios.py",
    command="compare {} --methods scattered,decomposition",
    reconstructed=True,
)
def lemma_1_in_seconds(document: Document) -> Finding:
    """Durations of 0.95 s, which take 1 tick at best and 2 at worst."""
    return tested_ratio(document, "Lemma 1, not rounded", "scattered", "decomposition")


@statement(
    source="Lemma 1",
    statement="with every duration at its longest OPT is at most rho OPT, rho of ticks",
    proof="models/a_srpt/guarantees/ratios.py",
    command="compare {} --methods scattered,decomposition",
    reconstructed=True,
)
def lemma_1_in_ticks(document: Document) -> Finding:
    """The same jobs with the ratio of ticks."""
    return tested_ratio(document, "Lemma 1", "scattered", "decomposition")


@statement(
    source="Theorem 1, reconstructed",
    statement=(
        "the sum of completion times is at most [eta (1 + sigma G') + rho] OPT + (1 + "
        "sigma G') times the sum of delays"
    ),
    proof="models/a_srpt/guarantees/guide.py",
    command="compare {} --methods a_srpt:predictor=oracle,decomposition",
    reconstructed=True,
)
def theorem_1(document: Document) -> Finding:
    """A-SRPT with exact predictions beside the optimum."""
    return tested_ratio(document, "Theorem 1", "a_srpt:predictor=oracle", "decomposition")


@statement(
    source="the virtual machine with the durations of the heavy-edge mapping",
    statement="its total completion time is a lower bound on the optimum",
    grade="refuted",
    repair=("at most eta times the optimum, eta the ratio of its durations to the least ones"),
    proof=("Lemma 2 in models/a_srpt/guarantees/guide.py; with the least durations it is B1"),
    command="compare {} --methods srpt_bound,decomposition",
    reconstructed=True,
)
def guide_is_a_bound(document: Document) -> Finding:
    """The virtual completions of A-SRPT with exact predictions."""
    instance: ASrptInstance = document.data
    parameters = find_method(document.problem, "a_srpt").all_parameters
    known = [job.num_iterations for job in instance.jobs]
    virtual = sum(guide_of(instance, known, parameters).completion) / instance.total_gpus
    best = objective(document, "decomposition")
    shown = f"virtual completion times add up to {virtual:g} ticks, the optimum is {best:g}"
    return Finding(virtual <= best, shown)


@statement(
    source="the heavy-edge mapping",
    statement="keeping the heaviest edges inside servers makes the fastest iterations",
    grade="refuted",
    repair="the exact mapping, or the best of several",
    proof="enumeration of the mappings of a job: models/a_srpt/README.md, formulations",
    command="compare {} --methods a_srpt,a_srpt:mapping=exact,decomposition",
    reconstructed=True,
)
def heavy_edge(document: Document) -> Finding:
    """A-SRPT with the mapping and with the exact one."""
    return no_better(document, "a_srpt:mapping=heavy_edge", "a_srpt:mapping=exact")
