"""Pseudo-Boolean proofs by the solver Exact, which runs in a process of its own.

Exact (J. Devriendt; PyPI `exact`) is under the AGPL, version 3, and comes with the optional extra
`prove`. Nothing that checks a proof uses it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gadgetopt.proofs.model import Model
from gadgetopt.proofs.pseudo_boolean.elaboration import NotElaborated, elaborate
from gadgetopt.proofs.pseudo_boolean.encoding import Formula, encode, proof_lines

#: Models of more columns are left to other proofs: there the solver has never been of use.
#: Tuned: `benchmarks/constants.py`.
MOST_COLUMNS = 5_000
#: Longer logs are not read; elaborating one takes about a second for each megabyte.
#: Tuned: `benchmarks/constants.py`.
MOST_LOG_BYTES = 40_000_000
#: Seconds that the process may take beyond its limit, to start and to write its files.
#: Tuned: `benchmarks/constants.py`.
GRACE_S = 10.0


@cache
def is_installed() -> bool:
    """Return True if the solver is there."""
    return importlib.util.find_spec("exact") is not None


def prove(
    model: Model, limit_s: float, cutoff: int | None = None, elaborate_s: float | None = None
) -> list[str] | None:
    """Return the lines of a proof of a model's optimum; None if the solver did not find one.

    Parameters
    ----------
    model : Model
        Pure integer.
    limit_s : float
        Limit of the solver's search, in seconds.
    cutoff : int, optional
        Costs of a known solution, in the model's units; bounds columns that have no bound.
    elaborate_s : float, optional
        Limit of making the solver's log a proof; by default that of the search.

    Raises
    ------
    ModelRefused
        If the model is no pseudo-Boolean formula.
    """
    if len(model.integer) > MOST_COLUMNS:
        return None
    formula = encode(model, cutoff)
    with tempfile.TemporaryDirectory(prefix="gadgetopt-") as folder:
        source, log = Path(folder, "model.opb"), Path(folder, "log")
        source.write_text("".join(f"{line}\n" for line in opb(formula)), encoding="ascii")
        words = [sys.executable, "-m", "gadgetopt.proofs.pseudo_boolean.exact"]
        arguments = [str(source), str(log), str(limit_s), str(MOST_LOG_BYTES)]
        try:
            subprocess.run(
                [*words, *arguments],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=4 * limit_s + GRACE_S,  # the machine may have other work
                check=True,
            )
            with (
                Path(f"{log}.formula").open(encoding="ascii") as logged_formula,
                Path(f"{log}.proof").open(encoding="ascii") as log_lines,
            ):
                end_s = time.process_time() + (limit_s if elaborate_s is None else elaborate_s)
                steps = elaborate(
                    formula, logged_formula, log_lines, lambda: time.process_time() > end_s
                )
                return proof_lines(cutoff, steps)
        except (subprocess.SubprocessError, OSError, NotElaborated):
            return None


def opb(formula: Formula) -> Iterator[str]:
    """Yield the lines of a formula in the OPB format of the pseudo-Boolean competitions.

    Literals are variables: a negation is written as its coefficient's and the degree's change.
    """
    yield f"* #variable= {formula.variables} #constraint= {len(formula.constraints)}"
    yield f"min: {''.join(f'{a:+d} x{v} ' for a, v in formula.objective)};"
    for terms, degree in formula.constraints:
        signed = ((a if x > 0 else -a, abs(x)) for x, a in terms.items())
        left = "".join(f"{a:+d} x{variable} " for a, variable in signed)
        yield f"{left}>= {degree - sum(a for x, a in terms.items() if x < 0)} ;"
