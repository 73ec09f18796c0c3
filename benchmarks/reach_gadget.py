"""GADGET: what each family closes now, what it closed before, and what plain solvers do with it.

A row is a question to a family of instances. It names the method and the way it worked before;
both answer in the same run. `closed` counts seeds whose value is within 1e-6 of the best known
upper bound, the gap is the mean distance to it in percent, `voucher` says who vouches for that
bound, and the last column says how often both ways gave the same rings.

`gadget`: Algorithm 2 over all slots. Before, HiGHS, the plain solver here, solved the augmented
program of every slot; now it has a closed form. Bounds are those of `offline`.

`gadget_narrow`: all slots where links are narrower than many a hop (`tight` with
`link_factor=0.2`, `urgency=0.8`). Before, `offline` with `count_rings=false`; now as it is; the
plain solvers are the exact model `tree` by HiGHS and the CP-SAT model `cp_tree`. Every way has
`--limit-s` seconds of the processor. The bound is the best of the row's ways, and the voucher says
for how many seeds `offline` verified the bound that it closed with.

Run `python benchmarks/reach_gadget.py [gadget gadget_narrow] [--seeds 3] [--limit-s 20]`. To add a
family, write a function that takes the number of seeds and the limit and returns rows, and list it
in FAMILIES.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from processor_clock import interrupt_after, processor_clock

from gadgetopt.models.gadget.data.generate.presets import (
    contended,
    graph,
    paper,
    tight,
)
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.heuristics.roundings import gadget_rounding
from gadgetopt.models.gadget.instance import GadgetInstance, GadgetSolution
from gadgetopt.models.gadget.proving.exact.offline import offline
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

#: Largest gap that counts as closed.
CLOSED = 1e-6


@dataclass
class Way:
    """How one way of answering did, seed by seed.

    Attributes
    ----------
    gaps : list of float
        Distance to the bound, relative to the bound.
    seconds : list of float
    """

    gaps: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def note(self, value: float, bound: float, seconds: float) -> None:
        """Add the answer for one seed."""
        self.gaps.append(max(0.0, bound - value) / abs(bound) if bound else 0.0)
        self.seconds.append(seconds)

    def cells(self) -> list[str]:
        """Return share closed, mean gap and mean time."""
        closed = sum(gap <= CLOSED for gap in self.gaps)
        share, gap = f"{closed}/{len(self.gaps)}", f"{100 * np.mean(self.gaps):.2f}"
        return [share, gap, f"{np.mean(self.seconds):.2f}"]


@dataclass
class Row:
    """One line of the table; `plain` names the plain solver, `same` counts equal answers.

    `plainly` has how plain solvers did, by their names.
    """

    family: str
    voucher: str
    plain: str = ""
    before: Way = field(default_factory=Way)
    now: Way = field(default_factory=Way)
    plainly: dict[str, Way] = field(default_factory=dict)
    same: int = 0

    def text(self) -> str:
        """Return the row in Markdown."""
        cells = [self.family, f"{len(self.now.gaps)}", *self.before.cells(), *self.now.cells()]
        same = f"{self.same}/{len(self.now.gaps)}"
        plain = [f"{name}: {', '.join(way.cells())}" for name, way in self.plainly.items()]
        return f"| {' | '.join([*cells, self.voucher, self.plain or '; '.join(plain), same])} |"


#: Columns of the table; plain solvers have share closed, gap and seconds.
HEADER = (
    "| family | seeds | closed before | gap % | s | closed now | gap % | s | voucher "
    "| plain solver | same rings |"
)

Make = Callable[[np.random.Generator], GadgetInstance]

GADGET: dict[str, tuple[Make, str]] = {
    "gadget, paper, 40 jobs": (lambda rng: paper(rng, jobs=40), "fill"),
    "gadget, paper, 100 jobs": (lambda rng: paper(rng, jobs=100), "fill"),
    "gadget, contended, 60 jobs": (contended, "fill"),
    "gadget, contended, 60 jobs, no fill": (contended, "violation_free"),
    "gadget, tight, 60 jobs": (tight, "fill"),
    "gadget, tight, 60 jobs, no fill": (tight, "violation_free"),
    "gadget, graph, 6 jobs": (
        lambda rng: graph(rng, jobs=6, servers=6, horizon_slots=4),
        "fill",
    ),
}


def gadget(seeds: int, _limit_s: float) -> Iterator[Row]:
    """Algorithm 1 with Algorithm 2, whose augmented program HiGHS solves, or has a closed form."""
    for family, (make, rounding) in GADGET.items():
        row = Row(family, "`offline`", "is `before`")
        for seed in range(seeds):
            instance = make(np.random.default_rng(seed))
            best = offline(instance, Limits(time_s=20.0), np.random.default_rng(0))
            bound = float(best.dual_bound or np.inf)
            sizes = []
            for way, program in ((row.before, "highs"), (row.now, "closed_form")):
                begun = time.perf_counter()
                found = gadget_rounding(
                    instance,
                    Limits(),
                    np.random.default_rng(seed),
                    rounding=rounding,  # type: ignore[arg-type]
                    program=program,  # type: ignore[arg-type]
                )
                seconds = time.perf_counter() - begun
                solution = found.solution
                assert isinstance(solution, GadgetSolution)
                checked = evaluate(instance, solution)
                if not checked.feasible:
                    raise AssertionError(f"not feasible: {checked.violations[0]}")
                way.note(float(checked.objective or 0.0), bound, seconds)
                sizes.append(sorted((r.slot, r.job, len(r.servers)) for r in solution.rings))
            row.same += sizes[0] == sizes[1]
        yield row


NARROW_PLAIN = ("tree@highs", "cp_tree")


def gadget_narrow(seeds: int, limit_s: float) -> Iterator[Row]:
    """All slots with narrow links, rings counted or not, and exact models by plain solvers."""
    row = Row("gadget, tight, narrow links", "")
    row.plainly = {f"`{name}`": Way() for name in NARROW_PLAIN}
    verified = 0
    for seed in range(seeds):
        instance = tight(np.random.default_rng(seed), link_factor=0.2, urgency=0.8)
        runs: list[tuple[Way, Result, float]] = []
        for way, method in (
            (row.before, "offline:count_rings=false"),
            (row.now, "offline"),
            *zip(row.plainly.values(), NARROW_PLAIN, strict=True),
        ):
            begun = time.process_time()
            result = _solved(instance, method, limit_s, plain=method in NARROW_PLAIN)
            runs.append((way, result, time.process_time() - begun))
        bound = min(float(run.bound) for _, run, _ in runs if run.bound is not None)
        for way, run, seconds in runs:
            way.note(float(run.objective or 0.0), bound, seconds)
        now = runs[1][1]
        row.same += runs[0][1].solution == now.solution
        verified += str(now.bound_voucher) == "verified" and now.status.value == "optimal"
    row.voucher = f"verified {verified}/{seeds}"
    yield row


def _solved(instance: GadgetInstance, method: str, limit_s: float, *, plain: bool) -> Result:
    """Return what a method finds in so many processor seconds."""
    document = Document(problem("gadget"), "instance", "narrow", instance)
    if plain:
        with interrupt_after(limit_s):
            return solve(document, method)
    with processor_clock():
        return solve(document, method, Limits(time_s=limit_s))


FAMILIES: dict[str, Callable[[int, float], Iterator[Row]]] = {
    "gadget": gadget,
    "gadget_narrow": gadget_narrow,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit-s", type=float, default=20.0)
    arguments = parser.parse_args()
    for name in arguments.families:
        if name not in FAMILIES:
            parser.error(f"{name}: not one of {', '.join(FAMILIES)}")
    print(f"{HEADER}\n{'|---' * HEADER.count(' | ')}|---|")
    for name in arguments.families or FAMILIES:
        for row in FAMILIES[name](arguments.seeds, arguments.limit_s):
            print(row.text(), flush=True)


if __name__ == "__main__":
    main()
