"""Each two methods compared instance by instance, and whether chance explains the difference."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import agrees, as_double
from gadgetopt.reporting.chance import holm, signed_rank
from gadgetopt.reporting.geometric_means import SHIFT_S
from gadgetopt.reporting.summary import chosen
from gadgetopt.reporting.summary.cross_table import CrossTable
from gadgetopt.reporting.summary.groups import by_instance
from gadgetopt.reporting.summary.outcomes import Outcome
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import Entry
from gadgetopt.system.registry import sense_of

if TYPE_CHECKING:
    import pandas as pd

Measure = Literal["objective", "time"]
MEASURES: tuple[str, ...] = get_args(Measure)

#: The difference of a method without a solution to one with: more than any relative difference.
NO_SOLUTION = 3.0

#: The columns of the table after `system`.
COLUMNS = (
    "method",
    "other",
    "instances",
    "better",
    "worse",
    "equal",
    "median_difference",
    "p",
    "p_holm",
)

#: What the table says, by measure.
MEANINGS = {
    "objective": "difference: of the objectives relative to the larger, negative where the method "
    "is better; one without a solution is worse than any with one.",
    "time": "difference: of log(seconds + 1), negative where the method is faster; failed and "
    "stopped runs count with their time limit.",
}
TEST = (
    "p: Wilcoxon's signed-rank test over the instances, two-sided, zeros split; corrected for all "
    "pairs of a system after Holm. Seeds count as their mean."
)


def pairwise_tests(
    runs: Path | str | Sequence[Entry],
    measure: str = "objective",
    *,
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
) -> pd.DataFrame:
    """Return a row for each two methods of a system: who is better how often, and the p-value.

    Instances are the pairs of Wilcoxon's signed-rank test, those on which both methods were run.
    They should be drawn independently of each other; fewer than six can show nothing at 5 %.

    Parameters
    ----------
    runs : path or sequence of Entry
        A store, or the entries of a comparison.
    measure : "objective" or "time"
    systems, methods, instances : sequence of str
        Only these, as `gadgetopt.summary` takes them.

    Returns
    -------
    pandas.DataFrame
        `system`, `method` and `other`, the number of `instances`, those on which the method is
        `better`, `worse` and `equal`, the `median_difference`, `p`, and `p_holm`, which is
        corrected for all pairs of the system after Holm (1979).

    Raises
    ------
    InputError
        If there is no such store, measure, system, method or instance.
    """
    import pandas as pd

    if measure not in MEASURES:
        raise InputError(f"--tests: {measure!r} is not one of {', '.join(MEASURES)}")
    table = ratios(runs) if isinstance(runs, Path | str) else list(runs)
    rows: list[dict[str, Any]] = []
    for system, found in _by_system(chosen(table, systems, methods, instances)).items():
        of = _relative if measure == "objective" else _logarithmic
        own = [_row(a, b, found[a], found[b], of) for a, b in combinations(found, 2)]
        corrected = holm([row["p"] for row in own])
        rows += [
            {"system": system, **row, "p_holm": p} for row, p in zip(own, corrected, strict=True)
        ]
    return pd.DataFrame(rows, columns=["system", *COLUMNS])


#: The outcomes of a method by instance, with the sense there: 1 to minimise, -1 to maximise.
_Outcomes = dict[str, tuple[Outcome, int]]


def _by_system(table: Sequence[Entry]) -> dict[str, dict[str, _Outcomes]]:
    """Return the outcomes of each system's methods, methods of bounds left out."""
    out: defaultdict[str, defaultdict[str, _Outcomes]] = defaultdict(lambda: defaultdict(dict))
    for (system, fingerprint), (first, outcomes) in by_instance(table).items():
        sign = 1 if sense_of(first.result) == "min" else -1
        for method, outcome in outcomes.items():
            if outcome.runs and not outcome.bound_only:
                out[system][method][fingerprint] = outcome, sign
    return {system: dict(methods) for system, methods in out.items()}


def _row(
    method: str,
    other: str,
    of_method: _Outcomes,
    of_other: _Outcomes,
    difference: Callable[[Outcome, Outcome, int], float],
) -> dict[str, Any]:
    both = [name for name in of_method if name in of_other]
    differences = [
        difference(of_method[name][0], of_other[name][0], of_method[name][1]) for name in both
    ]
    from statistics import median

    return {
        "method": method,
        "other": other,
        "instances": len(both),
        "better": sum(d < 0 for d in differences),
        "worse": sum(d > 0 for d in differences),
        "equal": sum(d == 0 for d in differences),
        "median_difference": median(differences) if differences else math.nan,
        "p": signed_rank(differences),
    }


def _relative(a: Outcome, b: Outcome, sign: int) -> float:
    """Return the difference of two objectives relative to the larger; 0 where they agree."""
    if a.objective is None or b.objective is None:
        return NO_SOLUTION * ((a.objective is None) - (b.objective is None))
    if agrees(a.objective, b.objective):
        return 0.0
    x, y = as_double(a.objective), as_double(b.objective)
    return sign * (x - y) / max(abs(x), abs(y))


def _logarithmic(a: Outcome, b: Outcome, _: int) -> float:
    return math.log(a.time_s + SHIFT_S) - math.log(b.time_s + SHIFT_S)


def as_text(frame: pd.DataFrame, measure: str) -> list[CrossTable]:
    """Return the tests as the table of each system."""
    heads = ("method", "other", "inst.", "better", "worse", "equal", "median diff.", "p", "p Holm")
    out = []
    for system, rows in frame.groupby("system", sort=False):
        cells = tuple(
            (
                *(str(row[name]) for name in COLUMNS[:6]),
                _difference(float(row["median_difference"]), measure),
                _probability(float(row["p"])),
                _probability(float(row["p_holm"])),
            )
            for row in rows.to_dict("records")
        )
        out.append(CrossTable(str(system), heads, cells, 2))
    return out


def _difference(x: float, measure: str) -> str:
    if math.isnan(x):
        return ""
    if measure == "time":
        return f"x {math.exp(x):.3g}"
    return "no solution" if abs(x) == NO_SOLUTION else f"{100 * x:+.3g} %"


def _probability(p: float) -> str:
    if math.isnan(p):
        return ""
    return "<0.0001" if p < 1e-4 else f"{p:.4f}"
