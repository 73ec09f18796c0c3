"""GADGET: the optimum over all slots, and the ratios of online policies to it.

`certified`: settings of the paper on large clusters; utility, bound and time of `offline`.

`tight`: 10 servers, 20 slots, 60 urgent jobs, links narrower than many hops, five seeds;
`--link-factor` makes links even narrower. It shows the effect of each step of `offline`: the gap of
the relaxation with the construction heuristic alone; with rings exchanged; with cuts and further
totals; with CP-SAT deciding which totals can be reached; and all of it from the relaxation by ring
counts on.

`choices`: for every preset, in how many seeds all policies reach the bound of `offline`, so that
there is nothing to decide, and in how many each of them does.

`online`: ALG / OPT of Algorithm 1 and of the baselines against certified optima, mean and least
over the seeds. With `--literal` also Algorithm 2 solves the slots, which takes minutes.

Seconds in the tables are those of the processor; so are those of `--limit-s` with `--cpu`, by the
clock otherwise. `tight` also says whether a certificate proves the last bound, and with `--counted`
it leaves out all steps but the last.

Run `python benchmarks/gadget_offline.py [certified tight choices online]`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from processor_clock import processor_clock

from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.baselines.policies import drf, fifo, tiresias
from gadgetopt.models.gadget.data.generate.presets import (
    contended,
    paper,
    quickstart,
    tight,
    timed,
)
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.heuristics.gadget_greedy import gadget_greedy
from gadgetopt.models.gadget.heuristics.roundings import gadget_rounding
from gadgetopt.models.gadget.instance import GadgetInstance
from gadgetopt.models.gadget.proving.exact.offline import offline
from gadgetopt.models.gadget.proving.exact.slot_by_slot import (
    gadget_config_lp,
    gadget_exact,
)
from gadgetopt.system.result import Limits, MethodOutcome
from gadgetopt.trust.certificate import certified_bound

Method = Callable[..., MethodOutcome]

CPU = "--cpu"
#: Largest gap that counts as certified.
CLOSED = 1e-6
#: The jobs of `tight` need most of the work of their largest rings, over links with room for few
#: hops.
NARROW = {"link_factor": 0.4, "urgency": 0.8}

STEPS: dict[str, dict[str, Any]] = {
    "relaxation, construction": {
        "rounds": 1,
        "exchange_s": 0.0,
        "reach_s": 0.0,
        "search_s": 0.0,
        "count_rings": False,
    },
    "+ exchange": {"rounds": 1, "reach_s": 0.0, "search_s": 0.0, "count_rings": False},
    "+ cuts, other totals": {"reach_s": 0.0, "search_s": 0.0, "count_rings": False},
    "+ totals decided": {"search_s": 0.0, "count_rings": False},
    "rings counted": {},
}

POLICIES: dict[str, tuple[Method, dict[str, Any]]] = {
    "gadget, exact slots": (gadget_exact, {}),
    "gadget, configuration program": (gadget_config_lp, {}),
    "gadget, greedy slots": (gadget_greedy, {}),
    "gadget, greedy slots, utility as it is": (gadget_greedy, {"envelopes": False}),
    "fifo": (fifo, {}),
    "fifo, backfill": (fifo, {"backfill": True}),
    "drf": (drf, {}),
    "tiresias": (tiresias, {}),
}
LITERAL: dict[str, tuple[Method, dict[str, Any]]] = {
    "gadget, Algorithm 2": (gadget_rounding, {"rounding": "fill", "program": "highs"}),
    "gadget, Algorithm 2, no fill": (
        gadget_rounding,
        {"rounding": "violation_free", "program": "highs"},
    ),
}


def utility(instance: GadgetInstance, outcome: MethodOutcome) -> float:
    """Return the evaluator's value of a feasible solution."""
    found = evaluate(instance, outcome.solution)  # type: ignore[arg-type]
    if not found.feasible:
        raise AssertionError(f"not feasible: {found.violations[0]}")
    return float(found.objective or 0.0)


def solved(
    instance: GadgetInstance, limit_s: float, **options: Any
) -> tuple[float, float, float, MethodOutcome]:
    """Return value, gap above it and processor seconds, including derived constants."""
    begun = time.process_time()
    with processor_clock() if CPU in sys.argv else contextlib.nullcontext():
        outcome = offline(instance, Limits(time_s=limit_s), np.random.default_rng(0), **options)
    seconds = time.process_time() - begun
    value = utility(instance, outcome)
    gap = max(0.0, float(outcome.dual_bound or np.inf) / value - 1)
    return value, gap, seconds, outcome


def certified(arguments: argparse.Namespace) -> None:
    print("\n### Optima over all slots\n")
    print("| servers | slots | jobs | seed | utility | gap | s |\n" + "|---" * 7 + "|")
    for servers, slots, jobs in ((50, 200, 100), (50, 40, 1000), (50, 20, 700)):
        for seed in range(arguments.seeds):
            rng = np.random.default_rng(seed)
            instance = paper(rng, servers=servers, horizon_slots=slots, jobs=jobs)
            value, gap, seconds, _ = solved(instance, arguments.limit_s)
            size = f"{servers} | {slots} | {jobs:,} | {seed}"
            print(f"| {size} | {value:,.1f} | {gap:.1e} | {seconds:.2f} |", flush=True)


def narrow(arguments: argparse.Namespace) -> None:
    narrow_links = {**NARROW, "link_factor": arguments.link_factor}
    print(f"\n### 10 servers, 20 slots, 60 jobs, narrow links {narrow_links}; gap, % (s)\n")
    steps = dict([*STEPS.items()][-1:]) if arguments.counted else STEPS
    print("| seed | " + " | ".join(steps) + " | utility | cuts | ruled out | proved |")
    print("|---" * (len(steps) + 5) + "|")
    for seed in range(arguments.seeds):
        instance = tight(np.random.default_rng(seed), **narrow_links)
        cells = []
        for options in steps.values():
            value, gap, seconds, outcome = solved(instance, arguments.limit_s, **options)
            cells.append(f"{100 * gap:.2f} ({seconds:.1f})")
        notes = outcome.notes
        proof = outcome.certificate
        proved = None if proof is None else certified_bound(PROBLEM, instance, proof)
        above = np.inf if proved is None else float(proved) / value - 1
        cells += [f"{value:,.1f}", str(notes["cuts"]), str(notes["totals_ruled_out"])]
        cells.append("yes" if above <= CLOSED else f"{100 * above:.2f} %")
        print(f"| {seed} | " + " | ".join(cells) + " |", flush=True)


CHOICES: dict[str, Callable[[np.random.Generator], GadgetInstance]] = {
    "paper, 40 jobs": lambda rng: paper(rng, jobs=40),
    "paper, 100 jobs": lambda rng: paper(rng, jobs=100),
    "paper, 100 jobs, worker-slots": lambda rng: paper(rng, jobs=100, budget_units="worker_slots"),
    "contended, 60 jobs": contended,
    "timed": timed,
    "tight": tight,
    "quickstart": quickstart,
}
KINDS = ("gadget, greedy slots", "tiresias", "drf", "fifo, backfill", "fifo")


def choices(arguments: argparse.Namespace) -> None:
    print(f"\n### Seeds of {arguments.seeds} in which a policy is optimal (mean ALG / bound)\n")
    print("| preset | all policies | " + " | ".join(KINDS) + " |\n" + "|---" * 7 + "|")
    for name, make in CHOICES.items():
        ratios = []
        for seed in range(arguments.seeds):
            instance = make(np.random.default_rng(seed))
            best, gap, _, _ = solved(instance, arguments.limit_s)
            row = []
            for kind in KINDS:
                method, options = POLICIES[kind]
                limits = Limits(time_s=arguments.limit_s)
                outcome = method(instance, limits, np.random.default_rng(seed), **options)
                row.append(utility(instance, outcome) / (best * (1 + gap)))
            ratios.append(row)
        met = np.array(ratios)
        reached = met >= 1 - CLOSED
        cells = [f"{n} ({x:.3f})" for n, x in zip(reached.sum(0), met.mean(0), strict=True)]
        print(f"| {name} | {reached.all(1).sum()} | " + " | ".join(cells) + " |", flush=True)


def online(arguments: argparse.Namespace) -> None:
    print("\n### ALG / OPT over all slots, mean (least)\n")
    cases: dict[str, Callable[[np.random.Generator], GadgetInstance]] = {
        "8 servers, 60 jobs": contended,
        "8 servers, 100 jobs": lambda rng: contended(rng, jobs=100),
        "5 servers, 100 jobs": lambda rng: contended(rng, servers=5, jobs=100),
        "the same, sqrt": lambda rng: contended(rng, servers=5, jobs=100, utility="sqrt"),
        "narrow links": lambda rng: tight(rng, **NARROW),
    }
    policies = POLICIES | (LITERAL if arguments.literal else {})
    table: dict[str, list[str]] = {name: [] for name in policies}
    heads = []
    for case, make in cases.items():
        ratios: dict[str, list[float]] = {name: [] for name in policies}
        for seed in range(arguments.seeds):
            instance = make(np.random.default_rng(seed))
            best, gap, _, _ = solved(instance, arguments.limit_s)
            if gap > CLOSED:
                continue
            for name, (method, options) in policies.items():
                limits = Limits(time_s=arguments.limit_s)
                outcome = method(instance, limits, np.random.default_rng(seed), **options)
                ratios[name].append(utility(instance, outcome) / best)
        counted = len(next(iter(ratios.values())))
        heads.append(f"{case} ({counted} of {arguments.seeds} certified)")
        for name, measured in ratios.items():
            cell = f"{np.mean(measured):.3f} ({min(measured):.3f})" if measured else ""
            table[name].append(cell)
    print("| policy | " + " | ".join(heads) + " |\n" + "|---" * (len(heads) + 1) + "|")
    for name, cells in table.items():
        print(f"| {name} | " + " | ".join(cells) + " |")


SECTIONS = {"certified": certified, "tight": narrow, "choices": choices, "online": online}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sections", nargs="*", help=f"some of {', '.join(SECTIONS)}; default all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit-s", type=float, default=60.0)
    parser.add_argument("--link-factor", type=float, default=NARROW["link_factor"], help="of tight")
    parser.add_argument("--counted", action="store_true", help="only the last step of tight")
    parser.add_argument(CPU, action="store_true", help="limits in seconds of the processor")
    parser.add_argument("--literal", action="store_true", help="with Algorithm 2 on every slot")
    arguments = parser.parse_args()
    for name in arguments.sections or SECTIONS:
        SECTIONS[name](arguments)


if __name__ == "__main__":
    main()
