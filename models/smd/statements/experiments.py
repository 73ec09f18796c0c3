"""Parameters and figures of the paper's experiments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from gadgetopt.pieces.rounding import shrink_factor
from gadgetopt.pieces.uniform_sums import log10_probability
from gadgetopt.system.declaring import statement
from gadgetopt.trust.statements import Finding

#: Largest utility gamma_1 of a job in the experiments: uniform on 1 to 100.
GAMMA_1 = (1, 100)

#: Resources, and so packing rows of a job.
ROWS = 4

#: Plotted totals of SMD, by jobs.
FIGURE_8 = {"Figure 8": (50, 3393)}
FIGURES_9_10 = {"Figure 9": (200, 13991), "Figure 10": (200, 16101)}

#: A figure that is less likely than 10 to this power is called not reproducible.
UNLIKELY = -4

#: Linear programs that nobody solves: 30 years of 10^6 a second.
IMPOSSIBLE = 10**15


@statement(
    source="Theorem 6, its probability, beside Lemma 4",
    statement="a rounding fails with probability delta/8 at most",
    grade="contradiction",
    repair="delta/2, so that the theorem has (1 - (delta/2)^F)^I",
    proof="Lemma 4 bounds one row by delta/2r, r = 4; any of the r rows may fail",
)
def theorem_6_probability() -> Finding:
    """Failures of all rows, each with the probability that Lemma 4 has for one."""
    row = Fraction(1, 2 * ROWS)
    attempt = ROWS * row
    shown = f"one row fails with up to {row} delta, one of {ROWS} with up to {attempt} delta"
    return Finding(attempt <= row, shown)


@statement(
    source="the experiments with M_delta = 1",
    statement="M_delta = 1 is a value of TR(28), so that Theorem 6 covers the experiments",
    grade="contradiction",
    repair="B2 covers them if a failed rounding is rounded down",
    proof=(
        "with A > 0, 1 + A/2 < sqrt(A^2/4 + A) + 1, as the squares of A/2 and the root "
        "show; B2 in models/smd/guarantees/ratios.py"
    ),
)
def shrink_of_one() -> Finding:
    """M_delta for wider and wider jobs, with the largest delta."""
    values = {width: shrink_factor(ROWS, width, 1.0) for width in (1, 100, 10**4, 10**6)}
    told = ", ".join(f"{value:.6f} for W_b = {width:g}" for width, value in values.items())
    return Finding(max(values.values()) >= 1, f"M_delta with delta = 1: {told}; always below 1")


@statement(
    source="the experiments with epsilon_2 = 0.01 and 50 jobs",
    statement="Algorithm 3 as printed can be run with this precision",
    grade="not reproducible",
    repair=(
        "k = 2 or 3, with the ratio that Theorem 3 has for it; or the exact knapsack, "
        "which k = 50 amounts to"
    ),
    proof="Theorem 3 in its instance form, k/(k + R)",
)
def sets_of_algorithm_3() -> Finding:
    """The sets that Algorithm 3 enumerates."""
    jobs, eps = 50, Fraction(1, 100)
    k = min(jobs, math.ceil(ROWS * (1 - eps) / eps))
    count = sum(math.comb(jobs, size) for size in range(k + 1))
    shown = f"k = min({jobs}, {math.ceil(ROWS * (1 - eps) / eps)}) = {k}: {count:.3g} sets, a "
    return Finding(count <= IMPOSSIBLE, shown + "linear program for each that fits")


def _figure(plotted: Mapping[str, tuple[int, int]]) -> Finding:
    """How likely the sum of all upper bounds is to reach the plotted totals."""
    powers = {
        name: log10_probability(jobs, *GAMMA_1, total) for name, (jobs, total) in plotted.items()
    }
    told = ", ".join(f"10^{power:.1f} ({name})" for name, power in powers.items())
    shown = f"the sum of all upper bounds reaches the plotted total with probability at most {told}"
    return Finding(max(powers.values()) > UNLIKELY, shown)


@statement(
    source="Figure 8, 50 synchronous jobs",
    statement="a total utility of 3393 comes from the printed ranges",
    grade="not reproducible",
    repair="ratios between methods are compared, not values",
    proof="no job is worth more than its gamma_1; gadgetopt/pieces/uniform_sums.py",
)
def figure_8() -> Finding:
    """Fifty jobs."""
    return _figure(FIGURE_8)


@statement(
    source="Figures 9 and 10, 200 jobs",
    statement="total utilities of 13991 and 16101 come from the printed ranges",
    grade="not reproducible",
    repair="ratios between methods are compared, not values",
    proof="no job is worth more than its gamma_1; gadgetopt/pieces/uniform_sums.py",
)
def figures_9_10() -> Finding:
    """Two hundred jobs."""
    return _figure(FIGURES_9_10)
