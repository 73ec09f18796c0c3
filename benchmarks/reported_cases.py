"""Inputs that once got a wrong answer: `python benchmarks/reported_cases.py FOLDER`.

No study knows the right answer of a case.

The folder holds `models/`, `public/` and `toolkit/`. Prints for each case the right answer and what
is said now; the exit code is 1 if one is wrong. Each right value is also a test of its room, with
an input of its own. About five minutes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Seconds after which a command counts as late.
LATE_S = 120


@dataclass(frozen=True)
class Said:
    """What a command said: its exit code, its text, and the seconds it took.

    Attributes
    ----------
    processor_s : float
        Of the command and the processes that it waited for: what a busy machine does not change.
    """

    code: int
    text: str
    time_s: float
    processor_s: float = 0.0


def said(*words: object, within_s: float = LATE_S) -> Said:
    """Run Python with these words and return what it said; code 124 if it was late."""
    start, before_s = time.perf_counter(), processor_s()
    command = [sys.executable, *map(str, words)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=within_s, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return Said(124, f"not ended after {within_s:g} s", within_s)
    time_s = time.perf_counter() - start
    return Said(done.returncode, done.stdout + done.stderr, time_s, processor_s() - before_s)


def processor_s() -> float:
    """Return the processor seconds of all processes that have ended under this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def gadgetopt(*words: object, within_s: float = LATE_S) -> Said:
    """Run the command line."""
    return said("-m", "gadgetopt", *words, within_s=within_s)


def solved(*words: object) -> tuple[str, dict[str, object]]:
    """Return one line on a solve, and its row."""
    answer = gadgetopt("solve", *words, "--json")
    try:
        row, _ = json.JSONDecoder().raw_decode(answer.text[answer.text.index("{") :])
    except ValueError:
        return last_line(answer), {}
    line = f"{row['status']} {row['objective']}, bound {row['bound']} ({row['bound_voucher']})"
    return line, row


def last_line(answer: Said) -> str:
    """Return the last line that a command printed."""
    lines = [line for line in answer.text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"exit code {answer.code}"


Row = tuple[str, str, str, bool]


def models(folder: Path) -> Iterator[Row]:
    """Yield the cases of systems."""
    methods = {
        "marl_one_job": ("patterns@highs", "assignment@highs", "class_patterns@highs"),
        "dapple_plain": ("joint@highs",),
        "spp_one_layer": ("joint@highs", "bound@highs", "load@highs"),
        "bgl_branch_and_cut_path4": ("branch_and_cut",),
        "bgl_order_search_two_requests": ("order_search",),
        "a_srpt_three_long_jobs": ("decomposition",),
    }
    for name, names in methods.items():
        for method in names:
            line, row = solved(folder / f"{name}.json", "--method", method)
            yield f"{name} {method}", "optimal", line, row.get("status") == "optimal"
    name = "adsp_rates_one_hot_tangents_highs_1"
    line, row = solved(folder / f"{name}.json", "--method", "one_hot_tangents@highs")
    yield f"{name} one_hot_tangents@highs", "a bound", line, row.get("bound") is not None
    quickstart = Path(__file__).parent.parent / "instances" / "quickstart"
    for instance in (folder / "oneflow_third.json", quickstart / "oneflow_sbp.json"):
        yield from never_refuted(instance)
    both = gadgetopt("verify", folder / "bgl_both_ways.json", folder / "bgl_both_ways_sol.json")
    yield "bgl_both_ways", "as schema and page say: once", last_line(both), both.code == 0
    line, row = solved(
        quickstart / "marl_placement.json", "--method", "assignment_nonconvex@scip", "--seed", 0
    )
    right = not (row.get("status") == "optimal" and row["objective"] > 613)  # type: ignore[operator]
    yield (
        "marl_placement assignment_nonconvex@scip",
        "not optimal 617.708",
        line,
        bool(row) and right,
    )
    yield from long_horizon(folder / "sjf_bco_long_horizon.json")


def never_refuted(instance: Path) -> Iterator[Row]:
    """Yield whether an optimum refutes a bound that was verified."""
    with tempfile.TemporaryDirectory() as held:
        proof, optimum = Path(held, "proof.json"), Path(held, "optimum.json")
        gadgetopt("solve", instance, "--method", "aggregated_lp@highs", "--certificate", proof)
        gadgetopt("solve", instance, "--out", optimum)
        answer = gadgetopt("verify", instance, optimum, "--bound", proof)
    name = f"{instance.stem} aggregated_lp@highs"
    right = answer.code == 0 and "refuted" not in answer.text
    yield name, "a verified bound, not refuted", last_line(answer), right


def long_horizon(instance: Path) -> Iterator[Row]:
    """Yield whether budgets of proofs hold where models are large.

    Judged is the processor time, which a busy machine does not change, against half of the time
    that budget and grace allow, and that a line is printed every few seconds.
    """
    with tempfile.TemporaryDirectory() as held:
        store = Path(held, "runs.sqlite")
        words = ("--method", "ladder", "--time-limit", 40, "--certify", 40)
        answer = gadgetopt("solve", instance, *words, within_s=300)
        yield budget("solve --certify 40", answer, 90, speaks_every_s=15)
        gadgetopt("compare", instance, "--methods", "ladder", "--time-limit", 30, "--store", store)
        answer = gadgetopt("certify", store, "--budget", 5, within_s=300)
        yield budget("certify --budget 5", answer, 30, speaks_every_s=15)


def budget(command: str, answer: Said, within_s: float, speaks_every_s: float) -> Row:
    """Return whether a command kept its budget, in processor time, and said what it did."""
    lines = answer.text.splitlines()
    spoke = len(lines) > answer.time_s / speaks_every_s
    right = answer.code != 124 and answer.processor_s < within_s / 2 and spoke
    line = f"{last_line(answer)[:90]}; processor {answer.processor_s:.0f} s, {answer.time_s:.0f} s"
    return f"sjf_bco_long_horizon {command}", f"{within_s / 2:g} s, with words", line, right


def public(folder: Path) -> Iterator[Row]:
    """Yield the cases of solvers, proofs and importers."""
    expected = {
        "scip_disjunction": ("refused by all", lambda t: t.count("ModelRefused") == 3),
        "scip_small_row": ("0.19211699", lambda t: t.count("optimal 19211699/100000000") == 2),
        "scip_constant_row": ("infeasible", lambda t: t.count("infeasible") == 2),
        "scip_infinite_cost": ("names the objective", lambda t: t.count("InputError gain") == 2),
        "fixed_fraction": ("the same of all", lambda t: t.count("infeasible") == 3),
        "highs_below_optimum": ("9", lambda t: "highs optimal 9 " in t),
        "endless_integers": ("infeasible", lambda t: t.count("infeasible") == 3),
    }
    for name, (right, holds) in expected.items():
        answer = said(folder / f"{name}.py")
        yield name, right, last_line(answer), holds(answer.text)
    answer = said(folder / "scaled_rows_family.py", 0, 125, within_s=600)
    lines = answer.text.splitlines()
    wrong = [line for line in lines if "WRONG" in line.upper()]
    yield "scaled_rows_family", "every line ok", last_line(answer), answer.code == 0 and not wrong
    yield from vipr_files(folder / "vipr")
    yield from topologies(folder / "topo")
    yield from files(folder)


def vipr_files(folder: Path) -> Iterator[Row]:
    """Yield what the reader of VIPR files proves: min x0 + x1, 2 x0 + 2 x1 >= 3, both in 0..5."""
    import pyomo.environ as pyo

    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.vipr_files.reader import proved_by_vipr
    from gadgetopt.solvers.standard_form import compile_model

    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], domain=pyo.Integers, bounds=(0, 5))
    m.row = pyo.Constraint(expr=2 * m.x[0] + 2 * m.x[1] >= 3)
    m.cost = pyo.Objective(expr=m.x[0] + m.x[1])
    model = exact_model(compile_model(m))
    proofs = ("plain", "last_use_zero", "redundant_after")
    for name in (*proofs, "forged_too_strong", "lin_incomplete"):
        lines = (folder / f"{name}.vipr").read_text(encoding="utf-8").splitlines()
        try:
            proved, line = proved_by_vipr(model, lines), ""
        except ValueError as error:
            proved, line = None, str(error)
        expected = 2 if name in proofs else None
        right = proved == expected and (expected is not None or line != "")
        yield f"vipr/{name}", str(expected or "refused"), line or str(proved), right


def topologies(folder: Path) -> Iterator[Row]:
    """Yield the rates of nvidia-smi's matrices, and the questions that they leave."""
    solvable = [
        ("dgx2_slice4_nv6", ("gpu=v100",), 100),
        ("h100x4_nv6_mesh", ("gpu=h100",), 300),
        ("gb200_4_nv18", ("gpu=gb200",), 600),
        ("v100x4_nv2_mesh", (), 100),
        ("dgx2_16_nv6", (), 80),
    ]
    for name, settings, right in solvable:
        with tempfile.TemporaryDirectory() as held:
            options = [word for setting in settings for word in ("--set", setting)]
            words = ("import", "nvidia_topo", folder / f"{name}.txt", "--out", held, *options)
            answer = gadgetopt(*words)
            made = sorted(Path(held).glob("*.json"))
            line, row = solved(made[0]) if made else (last_line(answer), {})
        yield f"topo/{name} {' '.join(settings)}", str(right), line, row.get("objective") == right
    for name in ("dgx2_slice4_nv6", "one_gpu", "rocm_weight_hops", "two_nodes"):
        with tempfile.TemporaryDirectory() as held:
            answer = gadgetopt("import", "nvidia_topo", folder / f"{name}.txt", "--out", held)
        yield f"topo/{name}", "one line, exit code 2", last_line(answer), answer.code == 2
    for name in ("escape_lost", "h100nvl_pairs"):
        with tempfile.TemporaryDirectory() as held:
            answer = gadgetopt("import", "nvidia_topo", folder / f"{name}.txt", "--out", held)
        yield f"topo/{name}", "imported", last_line(answer), answer.code in (0, 2)


def files(folder: Path) -> Iterator[Row]:
    """Yield what importers say of graphs."""
    for name, right in (("selfloop", 0), ("zero_based", 2), ("plain", 0), ("fmt011_ncon2", 0)):
        with tempfile.TemporaryDirectory() as held:
            path = folder / "graph" / f"{name}.graph"
            answer = gadgetopt(
                "import", "metis-graph", path, "--system", "bgl_partition", "--out", held
            )
        yield f"graph/{name}", f"exit code {right}", last_line(answer), answer.code == right


def toolkit(folder: Path) -> Iterator[Row]:
    """Yield the cases of stores."""
    store = folder / "damaged_traceback.sqlite"
    for command in ("summary", "status", "ratios"):
        answer = gadgetopt(command, store)
        right = answer.code == 2 and "Traceback" not in answer.text
        yield f"damaged_traceback {command}", "one line, exit code 2", last_line(answer), right


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    wrong = 0
    for room in (models, public, toolkit):
        for name, right, line, holds in room(folder / room.__name__):
            wrong += not holds
            print(f"{'ok' if holds else 'WRONG':6}{name}: {right}: {line[:160]}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
