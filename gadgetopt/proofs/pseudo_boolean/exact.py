"""Runs the solver Exact on a pseudo-Boolean formula; a process of its own, and no part of a check.

    python -m gadgetopt.proofs.pseudo_boolean.exact FORMULA.opb PREFIX SECONDS MOST_BYTES

Exact leaves its log in PREFIX.formula and PREFIX.proof (VeriPB, version 1.1). Its options hold for
a whole process, and its files are complete only when the solver is deleted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str]) -> None:
    """Solve a formula in the OPB format; all its variables are x1, x2, ..., in order."""
    from exact import Exact

    source, prefix, limit_s, most_bytes = arguments
    _limit_files(int(most_bytes))
    options = {"proof-log": prefix, "proof-assumptions": "0", "seed": "1", "verbosity": "0"}
    solver = Exact(list(options.items()))
    lines = Path(source).read_text(encoding="ascii").splitlines()
    variables = int(lines[0].split()[2])
    for variable in range(1, variables + 1):
        solver.addVariable(f"x{variable}", 0, 1)
    # The objective comes first: Exact leaves out of it what its constraints have fixed.
    solver.setObjective(_terms(lines[1].split()[1:-1]), True, 0)
    for line in lines[2:]:
        *terms, _, degree, _ = line.split()
        solver.addConstraint(_terms(terms), True, int(degree), False, 0)
    solver.runFull(True, float(limit_s))
    del solver


def _limit_files(most_bytes: int) -> None:
    """End this process when it writes a file of more bytes, where the system can do that."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


def _terms(words: Sequence[str]) -> list[tuple[int, str]]:
    return [(int(a), x) for a, x in zip(words[::2], words[1::2], strict=True)]


if __name__ == "__main__":
    main(sys.argv[1:])
