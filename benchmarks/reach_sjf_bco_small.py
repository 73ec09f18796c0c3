"""Reach of SJF-BCO on small contended instances: the ladder without and with the priced search.

For every instance of the preset `contended_small`, one after the other in the same run and within
the same limit of processor time: the ladder without its priced search (before; not with `--now`)
and the ladder (now). Cells are the optimum, or bound..makespan and the gap in percent of the bound,
and seconds of processor time; compiling is not counted. Every schedule is evaluated. `voucher` says
what proves the bound of `now`: `verified` is a certificate that was checked again, `solver` a claim
of a search or CP-SAT. `states` are those that the search visited.

Run `python benchmarks/reach_sjf_bco_small.py [--sizes 5x3,6x3,8x4,10x5] [--count 10]
[--first 0] [--time-limit 30] [--now]`. Sizes are jobs x servers; instances come from seed 0.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial

from processor_clock import processor_clock, processor_s

import gadgetopt
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance, SjfBcoSolution
from gadgetopt.models.sjf_bco.proving.certificate.check import check_bound
from gadgetopt.models.sjf_bco.proving.exact.ladder import ladder
from gadgetopt.system.result import Limits, MethodOutcome

HEADER = "| instance | before | s | now | s | voucher | closed by | states |"


@dataclass(frozen=True)
class Run:
    """A run of the ladder, its schedule evaluated and its certificate checked."""

    found: MethodOutcome
    bound: int
    makespan: int
    seconds: float
    verified: bool

    @property
    def closed(self) -> bool:
        """Return True if the bound is the makespan."""
        return self.bound == self.makespan

    @property
    def interval(self) -> str:
        """Return the optimum, or bound, makespan and gap."""
        if self.closed:
            return f"{self.makespan}"
        gap = 100 * (self.makespan - self.bound) / self.bound
        return f"{self.bound}..{self.makespan}, {gap:.1f} %"


def run(instance: SjfBcoInstance, limits: Limits, *, priced: bool) -> Run:
    """Run the ladder."""
    begun = processor_s()
    with processor_clock():
        found = ladder(instance, limits, priced=priced)
    seconds = processor_s() - begun
    assert isinstance(found.solution, SjfBcoSolution)
    checked = evaluate(instance, found.solution)
    if not checked.feasible:
        raise AssertionError(f"not feasible: {checked.violations[0]}")
    bound = int(found.dual_bound or 0)
    verified = False
    if found.certificate is not None:
        verified = check_bound(instance, found.certificate) == bound
    return Run(found, bound, int(checked.objective or 0), seconds, verified)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default="5x3,6x3,8x4,10x5")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--first", type=int, default=0, help="instance to begin with")
    parser.add_argument("--now", action="store_true")
    arguments = parser.parse_args()
    limits = Limits(time_s=arguments.time_limit)
    print(f"{HEADER}\n{'|---' * 8}|")
    summary = []
    for size in arguments.sizes.split(","):
        jobs, servers = map(int, size.split("x"))
        drawn = partial(gadgetopt.generate, "sjf_bco", "contended_small", seed=0)
        before, now = [], []
        for k, document in enumerate(drawn(count=arguments.count, jobs=jobs, servers=servers)):
            if k < arguments.first:
                continue
            if not arguments.now:
                before.append(run(document.data, limits, priced=False))
            now.append(new := run(document.data, limits, priced=True))
            search = new.found.notes.get("priced_search", {})
            cells = [
                f"{jobs} x {servers}, {k}",
                *([before[-1].interval, f"{before[-1].seconds:.1f}"] if before else ["-", "-"]),
                new.interval,
                f"{new.seconds:.1f}",
                "verified" if new.verified else "solver",
                str(new.found.notes["closed_by"] or "-"),
                f"{search.get('nodes', 0):,}",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)
        seconds = sorted(r.seconds for r in now)
        closed_before = sum(r.closed for r in before) if before else "-"
        summary.append(
            f"| {jobs} x {servers} | {closed_before} | {sum(r.closed for r in now)}"
            f" | {sum(r.closed and r.verified for r in now)} | {seconds[len(seconds) // 2]:.1f},"
            f" {seconds[-1]:.1f} |"
        )
    print("\n| jobs x servers | closed before | closed now | verified | s: median, max |")
    print("|---|---|---|---|---|")
    print("\n".join(summary))


if __name__ == "__main__":
    main()
