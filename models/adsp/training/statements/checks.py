"""The statement, checked on a simulated run."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed

from ..guarantees.conditions import largest_rate_in_reach, spreads
from ..instance import Rate
from ..simulator import simulate

#: Commits of every worker in a period.
RATE = 8


@statement(
    source="Delta C = C_target - c, the condition of Theorem 2",
    statement=(
        "workers that commit what is missing to a common target stay within a constant "
        "of each other"
    ),
    grade="refuted",
    repair="they do if every worker can make the rate, at most Gamma/(t + O) in a period",
    proof="models/adsp/training/guarantees/conditions.py: rates_in_reach",
    command="solve {} --method adsp",
    reconstructed=True,
)
def commits_stay_close(document: Document) -> Finding:
    """The most by which commits differ in each quarter of a run that never converges."""
    with_target, without = (
        spreads(
            simulate(
                changed(document, target_factor=1.0, catch_up=catch_up).data,
                Rate(commits=RATE),
                keep_log=True,
            )
        )
        for catch_up in (True, False)
    )
    within = largest_rate_in_reach(document.data)
    aimed, free = (", ".join(map(str, each)) for each in (with_target, without))
    shown = (
        f"rate {RATE}, in reach {within}: largest difference in the four quarters {aimed} with the "
        f"target, {free} without"
    )
    return Finding(with_target[-1] <= with_target[0], shown)
