"""Reach: what each family closes now, what it closed before, and what plain solvers do with it.

A row is a question to a family of instances. It names the method and the way it worked before;
both answer in the same run. `closed` counts seeds whose value is within 1e-6 of the best known
upper bound, the gap is the mean distance to it in percent, `voucher` says who vouches for that
bound, and the last column says how often both ways gave the same rings.

`gadget`: Algorithm 2 over all slots. Before, HiGHS, the plain solver here, solved the augmented
program of every slot; now it has a closed form. Bounds are those of `offline`.

Run `python benchmarks/reach.py [gadget] [--seeds 3]`. To add a family, write a function that takes
the number of seeds and returns rows, and list it in FAMILIES.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from gadgetopt.models.gadget.algorithms.gadget import gadget as algorithm_1
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.exact.offline import offline
from gadgetopt.models.gadget.generate.presets import contended, graph, paper, tight
from gadgetopt.models.gadget.instance import GadgetInstance, GadgetSolution

from gadgetopt.system.result import Limits

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
    """One line of the table; `plain` names the plain solver, `same` counts equal answers."""

    family: str
    voucher: str
    plain: str
    before: Way = field(default_factory=Way)
    now: Way = field(default_factory=Way)
    same: int = 0

    def text(self) -> str:
        """Return the row in Markdown."""
        cells = [self.family, f"{len(self.now.gaps)}", *self.before.cells(), *self.now.cells()]
        same = f"{self.same}/{len(self.now.gaps)}"
        return f"| {' | '.join([*cells, self.voucher, self.plain, same])} |"


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


def gadget(seeds: int) -> Iterator[Row]:
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
                found = algorithm_1(
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


FAMILIES: dict[str, Callable[[int], Iterator[Row]]] = {"gadget": gadget}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    for name in arguments.families:
        if name not in FAMILIES:
            parser.error(f"{name}: not one of {', '.join(FAMILIES)}")
    print(f"{HEADER}\n{'|---' * HEADER.count(' | ')}|---|")
    for name in arguments.families or FAMILIES:
        for row in FAMILIES[name](arguments.seeds):
            print(row.text(), flush=True)


if __name__ == "__main__":
    main()
