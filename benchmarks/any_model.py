"""Proofs of the optima of a folder of mixed-integer programs: seconds, leaves and gaps, as a table.

No study measures proofs of files, where no method runs.

    python benchmarks/any_model.py [--within 10] [--times FILE] [--only NAME ...] [FOLDER]

Each model file of the folder that is a mixed-integer program is solved by HiGHS on one thread in at
most `--solver` seconds, then its optimum is proved by a tree in at most `--within`. The optimum is
that of the table of the folder's `README.md`, if it has one, else HiGHS's value. Each model has a
process of its own; all times are its processor seconds. `--times` names a file in which HiGHS's
times are kept from run to run.

A gap is relative to the optimum; that of the root is the part of the distance between the linear
relaxation and the optimum that cuts close before the tree begins.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from gadgetopt.numbers.tolerance import simplest_rational
from gadgetopt.proofs.named_form import standard_form
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.reading.lp import read_lp
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.text import Unreadable, text_of
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import tree_proof
from gadgetopt.solvers.highs import solve_form
from gadgetopt.system.result import Limits, Status

COLLECTION = Path(__file__).parents[2] / "shared" / "data" / "mip"
SUFFIXES = (".mps", ".mps.gz", ".lp")
#: A gap that counts as none, and the most entries of a model that counts for the shares.
CLOSED, MOST_ENTRIES = 1e-9, 10_000
#: How many times HiGHS's time a proof may take to count, and the least seconds that it may.
TIMES = 10
#: Seconds of a model's process beyond its limits, for reading and for the check.
BEYOND_S = 120


def main() -> None:
    """Print a row for each model, then the shares."""
    options = argparse.ArgumentParser()
    options.add_argument("folder", nargs="?", type=Path, default=COLLECTION)
    options.add_argument("--within", type=float, default=10.0)
    options.add_argument("--solver", type=float, default=60.0)
    options.add_argument("--times", type=Path)
    options.add_argument("--only", nargs="*")
    options.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.one:
        print(json.dumps(measured(asked.folder, json.load(sys.stdin), asked)))
        return
    if not asked.folder.is_dir():
        print(f"{asked.folder} is not there: nothing is measured")
        return
    known = json.loads(asked.times.read_text()) if asked.times and asked.times.exists() else {}
    print(
        "| model | rows x columns | entries | HiGHS s | proof s | check s | leaves | kB "
        "| root % | gap % | times HiGHS |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    optima = dict(listed_optima(asked.folder))
    told = []
    for path in model_files(asked.folder, asked.only):
        name = str(path.relative_to(asked.folder))
        row = in_own_process(path, {"optimum": optima.get(name), **known.get(name, {})}, asked)
        if "solver_s" in row:
            known[name] = {key: row[key] for key in ("solver_s", "objective")}
        if asked.times:
            asked.times.write_text(json.dumps(known, indent=1))
        if row.get("left_out"):
            continue
        told.append(row)
        print(line_of(name, row), flush=True)
    print_shares(told, asked.within)


def model_files(folder: Path, only: list[str] | None) -> Iterator[Path]:
    """Yield the model files of a folder, the small ones first."""
    found = [path for path in folder.rglob("*") if path.name.endswith(SUFFIXES)]
    for path in sorted(found, key=lambda path: (path.stat().st_size, path.name)):
        if not only or path.name.split(".")[0] in only:
            yield path


def listed_optima(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files and optima of a folder's table, where these are numbers."""
    readme = folder / "README.md"
    for line in readme.read_text().splitlines() if readme.exists() else ():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and re.match(r"-?\d", cells[-1]):
            yield cells[0], cells[-1].split()[0]


def in_own_process(path: Path, given: dict[str, Any], asked: argparse.Namespace) -> dict[str, Any]:
    """Return what a process of its own measures of a model."""
    limits = ["--within", str(asked.within), "--solver", str(asked.solver)]
    command = [sys.executable, __file__, "--one", *limits, str(path)]
    try:
        run = subprocess.run(
            command,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
            timeout=10 * (asked.within + asked.solver) + BEYOND_S,
        )
    except subprocess.TimeoutExpired:
        return {**given, "failed": "took too long"}
    if run.returncode:
        return {**given, "failed": (run.stderr.strip().splitlines() or ["died"])[-1]}
    return dict(json.loads(run.stdout))


def measured(path: Path, given: dict[str, Any], asked: argparse.Namespace) -> dict[str, Any]:
    """Return what is measured of a model; only `left_out` if it is no mixed-integer program."""
    try:
        named = (read_lp if path.suffix == ".lp" else read_mps)(text_of(path))
    except Unreadable:
        return {"left_out": True}
    if not any(named.model.integer):
        return {"left_out": True}
    if "solver_s" not in given:
        given |= solved(named, asked.solver)
    model = named.model
    shape = [len(model.rows), len(model.integer), sum(len(row.columns) for row in model.rows)]
    out = {**given, "shape": shape}
    if given["objective"] is None and given["optimum"] is None:
        return out
    known = given["optimum"]
    optimum = Fraction(known) if known else Fraction(simplest_rational(given["objective"]))
    return {**out, **proof_of(named, optimum, asked.within)}


def solved(named: NamedModel, most_s: float) -> dict[str, Any]:
    """Return the seconds of HiGHS, and its objective if it closes the model."""
    form = standard_form(named)
    begin = time.process_time()
    outcome = solve_form(form, Limits(time_s=most_s), given={"threads": 1})
    seconds = time.process_time() - begin
    closed = outcome.status is Status.OPTIMAL and outcome.objective is not None
    return {"solver_s": seconds, "objective": outcome.objective if closed else None}


def proof_of(named: NamedModel, optimum: Fraction, within_s: float) -> dict[str, Any]:
    """Return what there is to tell of the proof of an optimum."""
    model, form = named.model, standard_form(named)
    begin = time.process_time()
    end = begin + within_s
    text = tree_proof(form, model, model.least(optimum), lambda: end - time.process_time())
    out: dict[str, Any] = {"proof_s": time.process_time() - begin}
    if text is None:
        return out
    out["root"] = text.closed
    begin = time.process_time()
    least = proved(model, text.lines)
    out["check_s"] = time.process_time() - begin
    if least is not None:
        # A bound beyond a solver's value refutes it.
        beyond = (
            optimum - model.bound(least) if model.sense == "min" else model.bound(least) - optimum
        )
        out["gap"] = float(max(0, beyond) / max(1, abs(optimum)))
    return {**out, "leaves": text.leaves, "bytes": sum(map(len, text.lines))}


def line_of(name: str, row: dict[str, Any]) -> str:
    """Return a model's row of the table."""
    if "failed" in row:
        return f"| {name} | {row['failed']} |"
    rows, columns, entries = row["shape"]
    ratio = row.get("proof_s", 0) / max(row["solver_s"], 1e-3)
    cells = [
        name,
        f"{rows} x {columns}",
        f"{entries}",
        f"{row['solver_s']:.2f}" + ("" if row["objective"] is not None else ", open"),
        _number(row.get("proof_s"), ".2f"),
        _number(row.get("check_s"), ".2f"),
        _number(row.get("leaves"), ",d"),
        _number(row.get("bytes"), ",.1f", 1e-3),
        _number(row.get("root"), ".0f", 100),
        "proved" if is_proved(row) else _number(row.get("gap"), ".3g", 100),
        f"{ratio:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _number(value: float | None, form: str, unit: float = 1) -> str:
    return "" if value is None else format(value if unit == 1 else value * unit, form)


def is_proved(row: dict[str, Any]) -> bool:
    """Return True if a proof reaches the optimum."""
    return bool(row.get("gap", 1.0) <= CLOSED)


def print_shares(told: list[dict[str, Any]], within_s: float) -> None:
    """Print which part of the models that HiGHS closes is proved, and how fast."""
    counted = [
        row
        for row in told
        if row.get("objective") is not None and row.get("shape", [0, 0, 0])[2] <= MOST_ENTRIES
    ]
    if not counted:
        return
    done = [row for row in counted if is_proved(row) and row["proof_s"] <= within_s]
    ratios = [row["proof_s"] / row["solver_s"] for row in counted if is_proved(row)]
    fast = sum(ratio <= TIMES for ratio in ratios)
    ratios += [float("inf")] * (len(counted) - len(ratios))
    print(f"\n{len(counted)} models of up to {MOST_ENTRIES:,} entries that HiGHS closes:")
    print(f"- proved within {within_s:g} s: {len(done)} ({len(done) / len(counted):.0%})")
    print(f"- proved within {TIMES} times HiGHS's time: {fast} ({fast / len(counted):.0%})")
    print(f"- median of proof's over HiGHS's time: {statistics.median(ratios):.2g}")


if __name__ == "__main__":
    main()
