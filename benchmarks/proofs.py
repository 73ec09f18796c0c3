"""Proofs of the bounds of formulations: seconds, leaves, size and verdict beside plain HiGHS.

    python benchmarks/proofs.py [--within 10] [--time 60] PATH...

Each linear formulation of each instance is solved by HiGHS, then its bound is proved by a tree in
at most `--within` times as long (at least `--least` seconds). All times are processor seconds.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.tolerance import CLOSED_GAP, simplest_rational
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.files import packed
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import tree_proof
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import StandardForm, compile_model
from gadgetopt.system.files import find_instances, read_instance
from gadgetopt.system.result import Limits, Status


def main() -> None:
    """Print a row for each formulation that HiGHS closes, and the shares that are proved."""
    options = argparse.ArgumentParser()
    options.add_argument("paths", nargs="+")
    options.add_argument("--within", type=float, default=10.0)
    options.add_argument("--least", type=float, default=0.0)
    options.add_argument("--time", type=float, default=60.0)
    asked = options.parse_args()
    print(
        "| instance | formulation | rows x columns | HiGHS s | proof s | leaves | kB | check s | |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    verdicts: list[tuple[bool, bool]] = []
    for path in find_instances(asked.paths):
        document = read_instance(path)
        for formulation in document.problem.formulations:
            if formulation.model_class not in ("ILP", "MILP"):
                continue
            try:
                form = compile_model(formulation.build(document.data))
            except (ModelRefused, InputError, TriviallyInfeasibleError):
                continue
            label = f"{document.problem.name}/{document.name} | {formulation.name}"
            verdicts += measured(label, form, asked)
    if verdicts:
        within = sum(done for done, _ in verdicts)
        fast = sum(done and quick for done, quick in verdicts)
        print(
            f"\n{len(verdicts)} models that HiGHS closes: {within} proved "
            f"({within / len(verdicts):.0%}), {fast} in no more time than HiGHS "
            f"({fast / len(verdicts):.0%})"
        )


def measured(label: str, form: StandardForm, asked: argparse.Namespace) -> list[tuple[bool, bool]]:
    """Print a row and return whether the optimum is proved, and whether in the solver's time."""
    begin = time.process_time()
    try:
        outcome = solve_form(form, Limits(time_s=asked.time))
    except ModelRefused:
        return []
    solver_s = time.process_time() - begin
    if outcome.status is not Status.OPTIMAL or outcome.objective is None:
        return []
    begin = time.process_time()
    model = exact_model(form)
    end = begin + max(asked.least, asked.within * solver_s)
    target = model.least(simplest_rational(outcome.objective))
    text = tree_proof(form, model, target, lambda: end - time.process_time())
    proof_s = time.process_time() - begin
    size = f"{'x'.join(map(str, form.A.shape))}"
    if text is None:
        print(f"| {label} | {size} | {solver_s:.2f} | {proof_s:.2f} | | | | none |", flush=True)
        return [(False, False)]
    begin = time.process_time()
    least = proved(model, text.lines)
    check_s = time.process_time() - begin
    slack = Fraction(CLOSED_GAP) * max(abs(target), 1)
    done = least is not None and least >= target - slack
    verdict = "v" if done or least is None else f"{float(model.bound(least)):.6g}"
    print(
        f"| {label} | {size} | {solver_s:.2f} | {proof_s:.2f} | {text.leaves} "
        f"| {len(packed(text.lines)) / 1000:.1f} | {check_s:.2f} | {verdict} |",
        flush=True,
    )
    return [(done, proof_s <= solver_s)]


if __name__ == "__main__":
    main()
