"""How long a large model file takes to become an instance: processor time, memory, fingerprint.

No study measures what happens before its runs.

python benchmarks/model_reading.py             # a million entries
python benchmarks/model_reading.py --entries 100000
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import gadgetopt


def lines(columns: int, rows: int, per_column: int, rng: Random) -> Iterator[str]:
    """Yield the lines of an MPS file whose coefficients are decimals."""
    yield from ("NAME large", "ROWS", " N cost", *(f" L row{i}" for i in range(rows)), "COLUMNS")
    for j in range(columns):
        yield f" x{j} cost {rng.randint(1, 99)}"
        for i in rng.sample(range(rows), per_column):
            yield f" x{j} row{i} {rng.randint(1, 999) / 10}"
    yield from ("RHS", *(f" rhs row{i} 1000" for i in range(rows)), "ENDATA")


def main() -> None:
    """Write the file, read it, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    entries = parser.parse_args().entries
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.mps"
        made = lines(entries // 50, max(50, entries // 200), 50, Random(0))
        path.write_text("\n".join(made) + "\n", encoding="ascii")
        begin = time.process_time()
        document = gadgetopt.read(path)
        read = time.process_time()
        fingerprint = document.fingerprint
        end = time.process_time()
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"read {read - begin:.1f} s, fingerprint {end - read:.2f} s ({fingerprint[:8]})")
    print(f"memory {memory_mb} MB")


if __name__ == "__main__":
    main()
