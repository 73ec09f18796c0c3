"""A newcomer's first hour, by the words of README and the pages alone, with its times.

No study measures how long an installation takes and whether the pages' commands work.

Every step is a block of commands or a file of a page, unchanged. It runs in a copy of the checkout
and an empty environment: installation, the first comparison, Python, an instance from a CSV file, a
heuristic in ten lines, the sweep with its LaTeX table, the report, and the site. A step that ends
with an error ends the hour, and the script exits with 1.

Run `python benchmarks/newcomer.py [--python python3.13] [--steps 5]`; it prints a row a step, with
seconds on the wall and of processor time. The site's step needs Python 3.11 or later with the extra
`docs`, which it installs; the package index is reached for both installations.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """What a newcomer does next: blocks of pages that are files, then one that is run.

    Attributes
    ----------
    what : str
        In words.
    page : str
        The page, from the root of the checkout.
    run : str
        How the block or the command in a sentence begins that is run: commands of a shell, or a
        program if the block's language is python.
    files : tuple[tuple[str, str, str], ...]
        Files to write before: name, page, and how the block begins that is the file.
    """

    what: str
    page: str
    run: str
    files: tuple[tuple[str, str, str], ...] = ()


LATEX = "gadgetopt summary sweep.sqlite --by param_jobs --methods 'sjf_bco,lpt*' --format latex"
MINE = ("mine.py", "docs/own_method.md", "# mine.py")
STEPS = (
    Step("install", "README.md", "pip install '.[report]'"),
    Step("first comparison", "README.md", "gadgetopt compare instances/quickstart"),
    Step("the same in Python", "README.md", "import gadgetopt"),
    Step(
        "own CSV file",
        "docs/own_data.md",
        "gadgetopt import table",
        (("jobs.csv", "docs/own_data.md", "user,num_gpus"),),
    ),
    Step("compare on it", "docs/own_data.md", "gadgetopt compare mine"),
    Step("own heuristic", "docs/own_method.md", "gadgetopt compare instances/quickstart", (MINE,)),
    Step("sweep of 400 runs", "docs/afternoon.md", "gadgetopt compare --generate"),
    Step("LaTeX table of it", "docs/afternoon.md", LATEX),
    Step("report", "docs/report.md", "gadgetopt report runs.sqlite"),
    Step("site", "README.md", "pip install '.[docs]'"),
)


def main() -> int:
    """Do the steps and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter to begin with")
    parser.add_argument("--steps", type=int, default=len(STEPS), help="only the first steps")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return first_hour(Path(folder), given.python, STEPS[: given.steps])


def first_hour(folder: Path, python: str, steps: tuple[Step, ...]) -> int:
    """Do the steps in a folder and return 1 if one fails."""
    checkout, environment = folder / "checkout", folder / "environment"
    copied = f"git -C '{ROOT}' archive --format=tar HEAD | tar -x -C '{checkout}'"
    checkout.mkdir()
    subprocess.run(copied, shell=True, check=True)
    subprocess.run([python, "-m", "venv", environment], check=True)
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    clean |= {"PATH": path, "NUMBA_CACHE_DIR": str(folder / "numba")}
    version = subprocess.check_output([environment / "bin" / "python", "-V"], text=True).strip()
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {version}, {os.cpu_count()} cores, {platform.machine()}\n"
    )
    print("| step | page | s | processor s |\n|---|---|---:|---:|")
    for step in steps:
        for name, page, begins in step.files:
            (checkout / name).write_text(block(page, begins)[1], encoding="utf-8")
        words, text = block(step.page, step.run)
        command = ["python", "-"] if words == "python" else ["bash", "-e", "-o", "pipefail", "-"]
        began, before = time.monotonic(), _processor_s()
        done = subprocess.run(
            command,
            input=text,
            cwd=checkout,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
        )
        took, used = time.monotonic() - began, _processor_s() - before
        print(f"| {step.what} | {step.page} | {took:.0f} | {used:.0f} |", flush=True)
        if done.returncode:
            print(f"\n{step.what}: exit code {done.returncode}\n{text}", file=sys.stderr)
            print(done.stdout[-2000:], done.stderr[-4000:], sep="\n", file=sys.stderr)
            return 1
    return 0


def block(page: str, begins: str) -> tuple[str, str]:
    """Return the language and the text of the block of a page that begins so.

    A command that stands in a sentence, between backquotes, is a block, too; a block of the shell
    that shows what is printed has `$` before its commands.

    Raises
    ------
    LookupError
        If the page has none.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    for language, body in FENCE.findall(text):
        lines = [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ")]
        shown = "\n".join(lines) + "\n" if lines else body
        if shown.startswith(begins):
            return language, shown
    for command in _in_sentences(text):
        if command.startswith(begins):
            return "", f"{command}\n"
    raise LookupError(f"{page}: no block begins with {begins!r}")


def _in_sentences(text: str) -> Iterator[str]:
    for found in re.findall(r"`([^`]+)`", FENCE.sub("", text)):
        yield " ".join(found.split())


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
