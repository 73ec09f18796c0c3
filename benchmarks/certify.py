"""A study of a thousand runs with and without proofs of bounds, and one that is interrupted.

No study measures studies from outside, or interrupts one.

Every run is of an exact formulation on a generated instance. The study is done three times by the
command line: without proofs; with `--certify 1x`; with it again, but Ctrl-C comes when half of the
runs are stored, and the same command is then given once more. Printed are the seconds of each, how
many bounds are verified, and how many of the runs stored before Ctrl-C are there afterwards as they
were. Seconds are of the processor, those of all processes together, and of the clock.

Run `python benchmarks/certify.py [--runs 1000]`.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from gadgetopt.system.result import Status, Voucher

#: Systems with the formulations that are run, each on instances of the preset `quickstart`.
STUDY = {
    "knapsack": ("direct@highs", "direct@cpsat"),
    "parallel_machines": ("arc_flow@highs", "patterns@highs", "assignment@highs"),
    "bgl_resources": ("tables@highs",),
    "gadget": ("tree@highs", "circulation@highs"),
    "marl_queueing": ("time_slotted@highs",),
    "oneflow_sbp": ("aggregated@highs",),
}
LIMITS = ("--time-limit", "5", "--workers", "2", "--no-details")


def main() -> None:
    """Print the three studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    count = -(-runs // sum(map(len, STUDY.values())))
    with tempfile.TemporaryDirectory() as folder:
        plain, proved, broken = (Path(folder, f"{name}.sqlite") for name in ("a", "b", "c"))
        command = commands(Path(folder), count)
        seconds = [study(command, plain), study(command, proved, "--certify", "1x")]
        for label, store, (wall_s, cpu_s) in zip(
            ("without proofs", "--certify 1x"), (plain, proved), seconds, strict=True
        ):
            print(f"{label}: {wall_s:.0f} s, processor {cpu_s:.0f} s, {told(store)}", flush=True)
        wall, cpu = (b / a for a, b in zip(*seconds, strict=True))
        print(f"ratio: {wall:.2f}, processor {cpu:.2f}")
        total = len(rows(proved))
        before = interrupted(command, broken, total // 2)
        study(command, broken, "--certify", "1x")
        after = rows(broken)
        kept = sum(after.get(key) == row for key, row in before.items())
        print(
            f"interrupted with {len(before)} runs stored: {kept} of them are kept as they were, "
            f"{len(after)} of {total} are there in the end, {told(broken)}"
        )


def commands(folder: Path, count: int) -> list[list[str]]:
    """Return a command for each system, all on the same instances."""
    out = []
    for system, methods in STUDY.items():
        place = folder / system
        words = ["generate", system, "--count", str(count), "--out", str(place)]
        subprocess.run([sys.executable, "-m", "gadgetopt", *words], check=True, capture_output=True)
        out.append(["compare", str(place), "--methods", ",".join(methods), *LIMITS])
    return out


def study(commands: list[list[str]], store: Path, *more: str) -> tuple[float, float]:
    """Run a study into a store and return its wall-clock and processor seconds."""
    begin, used = time.perf_counter(), sum(os.times()[2:4])
    for words in commands:
        call = [sys.executable, "-m", "gadgetopt", *words, "--store", str(store), *more]
        subprocess.run(call, check=True, capture_output=True)
    return time.perf_counter() - begin, sum(os.times()[2:4]) - used


def interrupted(commands: list[list[str]], store: Path, most: int) -> dict[str, tuple[object, ...]]:
    """Begin a study with proofs, press Ctrl-C once so many runs are stored; return those stored."""
    for words in commands:
        call = [sys.executable, "-m", "gadgetopt", *words, "--store", str(store), "--certify", "1x"]
        begun = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while begun.poll() is None:
            time.sleep(0.2)
            if len(rows(store)) >= most:
                begun.send_signal(signal.SIGINT)
                begun.wait()
                return rows(store)
    return rows(store)


def rows(store: Path) -> dict[str, tuple[object, ...]]:
    """Return the stored runs by their key."""
    if not store.exists():
        return {}
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        try:
            found = database.execute("select * from runs").fetchall()
        except sqlite3.OperationalError:  # not made yet
            return {}
    return {row[0]: row for row in found}


def told(store: Path) -> str:
    """Return how many runs of a store are there, and how many of their bounds are verified."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        found = Counter(database.execute("select status, bound_voucher from runs").fetchall())
    verified = sum(k for (_, voucher), k in found.items() if voucher == Voucher.VERIFIED)
    optimal = sum(k for (status, _), k in found.items() if status == Status.OPTIMAL)
    return f"{sum(found.values())} runs, {optimal} optimal, {verified} bounds verified"


if __name__ == "__main__":
    main()
