"""What the first second costs: starting commands, and compiling inner loops for the first time.

No study measures what happens before a method begins.

The first table has the processor time and the largest memory of commands, solver processes
included, each the least of three; bytecode is kept in a folder of its own, as an installation has
it. The second has, for every system, the processor seconds in which the loops of its default
methods are compiled, on its quickstart instance and one of the preset `paper`, into a cache that is
empty at first, those in which they are read from it in a new process, numba included; then the
same for all systems in one process, which imports numba once, with an empty cache; and then the
functions that were compiled for several types of arguments. By it the prices of machine code are
set (`gadgetopt/numbers/compiled.py`): loops are compiled here whatever they have to do.

Run `python benchmarks/start.py [--only SYSTEM ...] [--no-loops]`; with `--sizes` it prints instead
the megabytes of every package of its environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from gadgetopt.numbers import compiled
from gadgetopt.numbers.compiling import listening
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.generation import Series, documents_of
from gadgetopt.system.registry import problem_names
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

#: Commands, by what is told of them.
COMMANDS: Mapping[str, Sequence[str]] = {
    "--help": ("--help",),
    "list": ("list",),
    "list SYSTEM": ("list", "sjf_bco"),
    "solve by a heuristic": ("solve", "quickstart/parallel_machines.json", "--method", "lpt"),
    "solve by HiGHS": ("solve", "quickstart/knapsack.json", "--method", "direct@highs"),
    "solve by CP-SAT": ("solve", "quickstart/knapsack.json", "--method", "direct@cpsat"),
}

#: How often a command is measured.
TIMES = 3

#: Seconds for each method whose loops are to be compiled; compiling does not count.
SOLVE_S = 2.0


def cost(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Return the processor seconds and the largest memory in MB of a command and its processes."""
    measured = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], capture_output=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss)\n"
    )
    asked = [sys.executable, "-c", measured, sys.executable, "-m", "gadgetopt", *command]
    done = subprocess.run(asked, capture_output=True, text=True, env=environment, check=True)
    seconds, kilobytes = map(float, done.stdout.split())
    return seconds, kilobytes / 1024


def commands(folder: str) -> None:
    """Print what commands cost."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"{'command':24} {'processor s':>12} {'MB':>6}")
    for name, command in COMMANDS.items():
        asked = [str(library() / word) if word.endswith(".json") else word for word in command]
        cost(asked, environment)  # writes the bytecode
        found = [cost(asked, environment) for _ in range(TIMES)]
        print(
            f"{name:24} {min(s for s, _ in found):12.2f} {max(m for _, m in found):6.0f}",
            flush=True,
        )


def compiled_here(names: Sequence[str]) -> None:
    """Run the default methods of systems and print what was compiled, as JSON."""
    began_s, spent_s = [0.0], [0.0]

    def at_numba(event: str, _: float) -> None:
        if event == "reading":
            began_s[0] = time.process_time()
        elif event != "compiling":
            spent_s[0] += time.process_time() - began_s[0]

    compiled.READ_S = compiled.COMPILE_S = 0.0  # also where little is asked of them
    with listening(at_numba):
        for name in names:
            small = read_instance(library() / "quickstart" / f"{name}.json")
            for instance in (small, next(documents_of(Series(system=name, preset="paper")))):
                for method in instance.problem.default_methods:
                    solve(instance, method, Limits(time_s=SOLVE_S))
    print(json.dumps({"seconds": spent_s[0], "signatures": signatures()}))


def signatures() -> dict[str, int]:
    """Return the number of types of arguments for which each loop was compiled here."""
    if "numba" not in sys.modules:
        return {}
    found = {
        f"{loop.__module__}.{loop.plain.__qualname__}": loop.signatures
        for loop in compiled.all_loops()
    }
    return {name: count for name, count in found.items() if count}


def loops(names: Sequence[str], folder: str) -> None:
    """Print what is compiled for systems, each into the cache that those before it left."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/loops"}
    total_s, several = [0.0, 0.0], dict[str, int]()
    print(f"\n{'system':32} {'compiled, s':>12} {'read, s':>8} {'loops':>6}")
    for name in names:
        compiling, reading = (told([name], environment) for _ in range(2))
        both = compiling["seconds"], reading["seconds"]
        total_s = [before + now for before, now in zip(total_s, both, strict=True)]
        several |= {n: max(k, several.get(n, 0)) for n, k in compiling["signatures"].items()}
        print(f"{name:32} {both[0]:12.1f} {both[1]:8.1f} {len(compiling['signatures']):6}")
        sys.stdout.flush()
    print(f"{'all':32} {total_s[0]:12.1f} {total_s[1]:8.1f} {len(several):6}")
    alone = {**environment, "NUMBA_CACHE_DIR": f"{folder}/loops_of_all"}
    both = tuple(told(names, alone)["seconds"] for _ in range(2))
    print(f"{'all in one process':32} {both[0]:12.1f} {both[1]:8.1f}", flush=True)
    for name, count in sorted(several.items(), key=lambda item: -item[1]):
        if count > 1:
            print(f"  {count} types of arguments: {name}")


def sizes() -> None:
    """Print the megabytes of the files of every installed package, the largest first."""
    found = {}
    for package in distributions():
        files = (Path(str(package.locate_file(file))) for file in package.files or ())
        found[package.name.lower()] = sum(f.stat().st_size for f in files if f.is_file()) / 1e6
    for name, megabytes in sorted(found.items(), key=lambda item: -item[1]):
        print(f"{name:32} {megabytes:8.1f}")
    print(f"{'all':32} {sum(found.values()):8.1f}")


def told(names: Sequence[str], environment: Mapping[str, str]) -> Any:
    """Return what a process of its own tells of the loops of systems."""
    asked = [sys.executable, __file__, "--loops-of", *names]
    done = subprocess.run(asked, capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout.strip().split("\n")[-1])


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", nargs="*", default=problem_names())
    parser.add_argument("--no-loops", action="store_true")
    parser.add_argument("--sizes", action="store_true", help="of the installed packages, only")
    parser.add_argument("--loops-of", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.sizes:
        sizes()
        return
    if given.loops_of:
        compiled_here(given.loops_of)
        return
    with tempfile.TemporaryDirectory() as folder:
        commands(folder)
        if not given.no_loops:
            loops(given.only, folder)


if __name__ == "__main__":
    main()
