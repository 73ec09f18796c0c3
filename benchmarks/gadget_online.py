"""GADGET online: time per slot as clusters and numbers of jobs grow.

No study measures the slots of a run one by one.

Each row is a whole run of Algorithm 1 with the near-linear slot heuristic on the paper's settings,
with one server per ten jobs. It shows the active jobs of the fullest slot, its time, the mean time
per slot, and microseconds per active job, which should not grow.

Run `python benchmarks/gadget_online.py [--largest 10000]`.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from gadgetopt.models.gadget.algorithms.temporal_greedy import temporal_greedy
from gadgetopt.models.gadget.data.generate.presets import paper
from gadgetopt.models.gadget.heuristics.slot_greedy import slot_greedy
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.subproblems.max_ring import largest_rings
from gadgetopt.system.result import Limits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000, help="jobs of the largest row")
    parser.add_argument("--slots", type=int, default=40)
    arguments = parser.parse_args()
    print("| servers | jobs | slots | prepare s | most active | longest ms | mean ms | us/active |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    sizes = [n for n in (300, 1_000, 3_000, 10_000, 30_000, 100_000) if n <= arguments.largest]
    for jobs in sizes:
        rng = np.random.default_rng(1)
        servers = jobs // 10
        instance = paper(rng, jobs=jobs, servers=servers, horizon_slots=arguments.slots)
        begun = time.perf_counter()
        terms = instance.terms
        tables = [envelope(job.utility) for job in terms.jobs]
        largest = largest_rings(terms)
        prepared = time.perf_counter() - begun
        run = temporal_greedy(
            terms,
            lambda problem, _rng, _limits: slot_greedy(problem),
            rng,
            Limits(),
            tables=tables,
            largest=largest,
        )
        cells = (
            f"{servers}",
            f"{jobs}",
            f"{terms.horizon}",
            f"{prepared:.2f}",
            f"{run.active.max()}",
            f"{1e3 * run.slot_s.max():.1f}",
            f"{1e3 * run.slot_s.mean():.1f}",
            f"{1e6 * run.slot_s.sum() / max(1, run.active.sum()):.1f}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
