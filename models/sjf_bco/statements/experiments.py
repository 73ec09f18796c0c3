"""Settings and figures of the paper's experiments."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.declaring import statement
from gadgetopt.trust.statements import Finding

#: Printed sizes of jobs and servers, GPUs.
JOB_GPUS = (1, 2, 4, 8, 16, 32)
SERVER_GPUS = (4, 8, 16, 32)
#: Printed ranges: iterations of a job, and slots of an iteration and a job.
ITERATIONS = (1000, 6000)
ITERATION_SLOTS = (Fraction(1, 100), Fraction(5, 100))
EXECUTION_SLOTS = (50, 300)
#: Largest share of contention and overhead in an iteration.
EXTRA = Fraction(15, 100)

#: Read off the plots: makespan by size threshold (Figure 5) and by lambda at threshold 1 (Figure
#: 7), and the least completion time (Figure 4).
FIGURE_5 = {1: 626, 2: 564, 4: 541, 8: 535, 10: 700, 16: 749, 32: 736}
FIGURE_7 = {1: 1043, 2: 882, 4: 730, 8: 538}
#: Slots, read off Figure 4.
LEAST_COMPLETION = 14


@statement(
    source="the experiments: xi_1 = xi_2, extra time within 15 % of an iteration",
    statement="with these settings contention slows a job down",
    grade="contradiction",
    repair="a unit omega for xi_2, apart from xi_1, and k at least 1",
    proof="f > 1 needs k = xi_1 p > 1, which a small xi_2 does not forbid then",
)
def one_xi() -> Finding:
    """The largest xi that keeps the overhead within 15 %, and the contention it makes."""
    xi = EXTRA * max(ITERATION_SLOTS)
    k = xi * max(SERVER_GPUS)
    shown = (
        f"one server's overhead, xi slots, within 15 % of at most {float(max(ITERATION_SLOTS)):g} "
        f"slots: xi <= {float(xi):g}; then k = xi p <= {float(k):g} for up to {max(SERVER_GPUS)} "
        "jobs on a server, and f < 1 speeds all of them up"
    )
    return Finding(k > 1, shown)


@statement(
    source="Figure 5, size thresholds 8 and 10",
    statement="the makespans for the thresholds 8 and 10 are 535 and 700",
    grade="contradiction",
    repair="both thresholds give one run",
    proof="job sizes are powers of two, and none lies between 8 and 10",
)
def figure_5() -> Finding:
    """The jobs that the thresholds 8 and 10 tell apart."""
    between = [size for size in JOB_GPUS if 8 < size <= 10]
    shown = (
        f"of the sizes {', '.join(map(str, JOB_GPUS))} {len(between) or 'none'} lies between the "
        f"thresholds, so the runs are equal; plotted {FIGURE_5[8]} and {FIGURE_5[10]}"
    )
    return Finding(bool(between) or FIGURE_5[8] == FIGURE_5[10], shown)


@statement(
    source="Figures 5 and 7 at size threshold 1 and lambda 1",
    statement="the makespan with threshold 1 and lambda 1 is 626, and it is 1043",
    grade="contradiction",
    repair="the two figures have different settings that are not told",
    proof="the algorithm is deterministic: one setting has one makespan",
)
def figures_5_and_7() -> Finding:
    """The same setting in two figures."""
    shown = f"threshold 1, lambda 1: {FIGURE_5[1]} in Figure 5, {FIGURE_7[1]} in Figure 7"
    return Finding(FIGURE_5[1] == FIGURE_7[1], shown)


@statement(
    source="the range of execution times beside Figure 4",
    statement="execution times are 50 to 300 slots, and the first job completes after 14",
    grade="contradiction",
    repair="the other printed ranges allow 10 to 300 slots",
    proof=(
        "a completion is not before the execution time, and iterations times iteration "
        "time is in that range"
    ),
)
def least_completion() -> Finding:
    """Execution times by the other ranges, and the least completion time."""
    by_ranges = [int(f * t) for f, t in zip(ITERATIONS, ITERATION_SLOTS, strict=True)]
    shown = (
        f"execution times {EXECUTION_SLOTS[0]} to {EXECUTION_SLOTS[1]} slots, by iterations and "
        f"their times {by_ranges[0]} to {by_ranges[1]}; the first completion is after "
        f"{LEAST_COMPLETION} slots"
    )
    return Finding(min(EXECUTION_SLOTS) <= LEAST_COMPLETION, shown)
