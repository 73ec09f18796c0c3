"""What is known exactly of a folder of model files: points, bounds, and that there are none.

No study proves what is claimed of files that belong to no system.

    python benchmarks/any_model_claims.py [--backend highs] [--solver 10] [--within 5] [FOLDER]

Each file that is read is solved in at most `--solver` seconds. Then the claim is proved in at most
`--within`: the objective of the incumbent as a bound, or that nothing is feasible, or that the
model is unbounded. The incumbent is exact if its rows, bounds and integers hold in rational
numbers. All seconds are of the processor; a bound counts only as the kernel finds it.

The last lines count models with a verified bound or status, and exact incumbents.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import simplest_rational
from gadgetopt.proofs.model import Model
from gadgetopt.proofs.named_form import standard_form
from gadgetopt.proofs.ray_kernel import check_unbounded
from gadgetopt.proofs.rays import ray_proof
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.reading.lp import read_lp
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.text import Unreadable, text_of
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import infeasibility_proof, tree_proof
from gadgetopt.solvers import import_backend
from gadgetopt.solvers.linear import solve_form
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.system.result import Limits, Status

COLLECTION = Path(__file__).parents[2] / "shared" / "data" / "mip"
SUFFIXES = (".mps", ".mps.gz", ".lp")
#: Folders with files that are for readers only.
LEFT_OUT = ("readers",)


class Known(NamedTuple):
    """What is known of one model."""

    outcome: SolverOutcome
    is_exact: bool
    verified: str
    solve_s: float
    proof_s: float


def main() -> None:
    """Print a row for each model, then the counts."""
    options = argparse.ArgumentParser()
    options.add_argument("folder", nargs="?", type=Path, default=COLLECTION)
    options.add_argument("--backend", default="highs")
    options.add_argument("--solver", type=float, default=10.0)
    options.add_argument("--within", type=float, default=5.0)
    asked = options.parse_args()
    if not asked.folder.is_dir():
        print(f"{asked.folder} is not there: nothing is measured")
        return
    import_backend(asked.backend)
    print("| model | status | objective | exact | verified | solve s | proof s |")
    print("|---|---|---:|---|---|---:|---:|", flush=True)
    rows = []
    for path, named in models(asked.folder):
        try:
            known = known_of(named, asked.backend, asked.solver, asked.within)
        except ModelRefused as error:
            print(f"| {path.name} | refused: {error} | | | | | |", flush=True)
            continue
        rows.append(known)
        objective = known.outcome.objective
        print(
            f"| {path.relative_to(asked.folder)} | {known.outcome.status} "
            f"| {'' if objective is None else f'{float(objective):.10g}'} "
            f"| {'yes' if known.is_exact else 'no' if objective is not None else ''} "
            f"| {known.verified} | {known.solve_s:.2f} | {known.proof_s:.2f} |",
            flush=True,
        )
    with_point = [known for known in rows if known.outcome.objective is not None]
    exact = sum(known.is_exact for known in with_point)
    verified = sum(bool(known.verified) for known in rows)
    print(f"\n{len(rows)} models: {verified} with a verified bound or status")
    print(f"{len(with_point)} incumbents: {exact} of them exact")


def models(folder: Path) -> Iterator[tuple[Path, NamedModel]]:
    """Yield the files of a folder that are read, each with its model."""
    for path in sorted(folder.rglob("*")):
        if not path.name.endswith(SUFFIXES) or path.parent.name in LEFT_OUT:
            continue
        read = read_lp if path.name.endswith(".lp") else read_mps
        try:
            yield path, read(text_of(path), "zero")
        except Unreadable:
            continue


def known_of(named: NamedModel, backend: str, solver_s: float, within_s: float) -> Known:
    """Return what is known of a model after a solve and a search for proofs."""
    form, model = standard_form(named), named.model
    begin = time.process_time()
    outcome = solve_form(form, backend, Limits(time_s=solver_s), 0)
    solved = time.process_time()
    point = exact_point(form, outcome)
    is_exact = point is not None and is_feasible(model, point)
    end = solved + within_s
    verified = claim(form, model, outcome, lambda: end - time.process_time())
    return Known(outcome, is_exact, verified, solved - begin, time.process_time() - solved)


def claim(
    form: StandardForm, model: Model, outcome: SolverOutcome, left_s: Callable[[], float]
) -> str:
    """Return what is proved of a model, in words; empty if nothing is."""
    if outcome.status is Status.UNBOUNDED:
        lines = ray_proof(form, model, left_s)
        if lines is None:
            return ""
        check_unbounded(model, lines)
        return "unbounded"
    if outcome.objective is None:
        text = infeasibility_proof(form, model, left_s)
        if text is not None and proved(model, text.lines) is None:
            return "infeasible"
        if outcome.bound is None:
            return ""
    value = outcome.bound if outcome.objective is None else outcome.objective
    assert value is not None
    text = tree_proof(form, model, model.least(simplest_rational(value)), left_s)
    least = None if text is None else proved(model, text.lines)
    return "" if least is None else f"{float(model.bound(least)):.10g}"


def exact_point(form: StandardForm, outcome: SolverOutcome) -> list[Fraction] | None:
    """Return an incumbent in rational numbers, if it is known so."""
    if outcome.exact_values is not None or outcome.values is None:
        return outcome.exact_values
    return [Fraction(x) for x in outcome.values.tolist()] if form.integer.all() else None


def is_feasible(model: Model, point: list[Fraction]) -> bool:
    """Return True if a point satisfies every row, bound and integrality exactly."""
    columns = zip(point, model.integer, model.lower, model.upper, strict=True)
    return all(
        (not whole or x.denominator == 1) and is_between(x, low, high)
        for x, whole, low, high in columns
    ) and all(
        is_between(
            sum(
                (a * point[j] for j, a in zip(row.columns, row.coefficients, strict=True)),
                Fraction(0),
            ),
            row.lower,
            row.upper,
        )
        for row in model.rows
    )


def is_between(x: Fraction, low: int | Fraction | None, high: int | Fraction | None) -> bool:
    """Return True if a number is between two sides, of which either may be missing."""
    return (low is None or low <= x) and (high is None or x <= high)


if __name__ == "__main__":
    main()
