"""The command line of the checker in one file."""

from __future__ import annotations

import sys
from pathlib import Path

from gadgetopt.proofs.checker.verdict import check

USAGE = """usage: python check_bound.py MODEL PROOF
       python check_bound.py PROOF.vipr

MODEL is a file in MPS, LP or .nl (packed by gzip or bzip2 or not), or an exact model as text.
PROOF is a certificate, the lines of a tree proof, or a VIPR file.
It exits with 0 if the proof proves a bound, 1 if not, and 2 if a file cannot be read."""


def run_checker(arguments: list[str]) -> int:
    """Check what the arguments name, print what is proved, and return the exit code."""
    if len(arguments) not in (1, 2) or any(word.startswith("-") for word in arguments):
        print(USAGE)
        return 2
    *models, proof = map(Path, arguments)
    try:
        verdict = check(proof, models[0] if models else None)
    except (OSError, ValueError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    print(*verdict.sentences, sep="\n")
    return 0 if verdict.proves else 1
