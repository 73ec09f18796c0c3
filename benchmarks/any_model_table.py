"""What is claimed of any model, in one table: what was asked of the machine, and what it answered.

No study reads files that no method can use, or counts lines of a checker.

    python benchmarks/any_model_table.py FOLDER [--changes 4000] [--only reading kernel ...]

FOLDER holds model files. A row is what the last lines say of a script or test that measures one
thing, which can be run alone; `--changes` is how many changed proofs and texts are tried. The exit
code is 1 if one of them fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from gadgetopt.proofs import tree_kernel
from gadgetopt.proofs.reading.model_files import read_model
from gadgetopt.proofs.reading.text import Unreadable

HERE = Path(__file__).parent
PROOFS = "tests/toolkit/proofs"
#: Last lines of a script that are shown.
LINES = 4
SUFFIXES = (".mps", ".lp", ".nl", ".mps.gz", ".mps.bz2", ".lp.gz")


def main() -> int:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--changes", type=int, default=4000)
    options.add_argument("--only", nargs="*", default=None)
    asked = options.parse_args()
    folder, python = str(asked.folder), sys.executable
    test = [python, "-m", "pytest", "-q", "-n", "0"]
    commands = {
        "speed of reading": [python, "model_reading.py"],
        "bounds and exact points": [python, "any_model_claims.py", folder],
        "share proved": [python, "any_model.py", folder],
        "wrong answers": [python, "wrong_answers.py"],
        "changed proofs": [*test, f"{PROOFS}/test_forging.py"],
        "changed model files": [*test, f"{PROOFS}/reading/test_damaged.py"],
        "stopped comparison": [python, "interrupted_comparison.py"],
    }
    print("| what | found |\n|---|---|")
    found = {"reading": reading(asked.folder), "kernel": kernel()}
    failed = False
    for what in [*found, *commands]:
        if asked.only is not None and what.split()[0] not in asked.only:
            continue
        if what in commands:
            code, found[what] = measured(commands[what], asked.changes)
            failed |= code != 0
        print(f"| {what} | {found[what]} |", flush=True)
    return int(failed)


def reading(folder: Path) -> str:
    """Return how many files are read, and how many refused in one line."""
    counts: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        if path.name.endswith(SUFFIXES):
            try:
                read_model(path)
                counts["read"] += 1
            except Unreadable as error:
                counts["refused in one line" if "\n" not in str(error) else "refused"] += 1
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


def kernel() -> str:
    """Return the length of the checker of tree proofs."""
    text = Path(str(tree_kernel.__file__)).read_text(encoding="utf-8")
    return f"{len(text.splitlines())} lines, comments included"


def measured(command: list[str], changes: int) -> tuple[int, str]:
    """Return the exit code of a script or test, and what its last lines say."""
    program = [str(HERE / part) if (HERE / part).is_file() else part for part in command]
    # The readers' test changes each of its four texts ten times as often as this number says.
    many = {"GADGETOPT_FORGE": str(changes), "GADGETOPT_FUZZ": str(max(1, changes // 40))}
    done = subprocess.run(
        program,
        cwd=HERE.parent,
        env=os.environ | many,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return done.returncode, f"failed with exit code {done.returncode}"
    if "pytest" in command:
        return 0, f"{changes:,} changes: passed"
    if "wrong_answers.py" in command:
        return 0, "all proofs and points hold"
    lines = done.stdout.rstrip().split("\n\n")[-1].splitlines()[-LINES:]
    return 0, "; ".join(" ".join(line.strip("|- ").split()) for line in lines)


if __name__ == "__main__":
    sys.exit(main())
