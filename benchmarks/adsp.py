"""ADSP: the threshold sweep, the simulator, and the online search.

No study measures single functions, or what a simulated training spends on waiting.

Run `python benchmarks/adsp.py [PART...]`. `sweep`: the exact rates of many workers, with the time
of their certificate's check, beside a sweep with a heap as it is usually written; `simulator`:
events a second; `curve`: the time to the target over the rate; `online`: ADSP's search and what it
was compared with against the best fixed rate, over seeds; `digits`: the same on a classification
task. One thread. Seconds of `sweep` and `simulator` are the processor's, which other load does not
change much; the others are simulated. Exact methods and rules are compared by the studies
`adsp_*.toml`.
"""

from __future__ import annotations

import argparse
import heapq
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gadgetopt.models.adsp.rates.data.generate.presets import uniform
from gadgetopt.models.adsp.rates.instance import AdspRatesInstance
from gadgetopt.models.adsp.rates.proving.certificate.check import check_bound
from gadgetopt.models.adsp.rates.proving.exact.sweep import sweep
from gadgetopt.models.adsp.training.data.generate.presets import paper as paper_training
from gadgetopt.models.adsp.training.data.generate.presets import (
    quickstart,
    slow,
)
from gadgetopt.models.adsp.training.evaluate import components
from gadgetopt.models.adsp.training.instance import (
    Adacomm,
    Adsp,
    AdspTrainingInstance,
    Bsp,
    FixedAdacomm,
    Policy,
    Rate,
    Ssp,
)
from gadgetopt.models.adsp.training.simulator import replace_convergence, simulate
from gadgetopt.models.adsp.training.tasks import task_of
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.search.clock import Clock
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

PARTS = ("sweep", "simulator", "curve", "online", "digits")


def solved(instance: AdspRatesInstance) -> Result:
    """Return the judged result of the exact rates."""
    document = Document(problem("adsp_rates"), "instance", "drawn", instance)
    return solve(document, "exact_rates", Limits(60.0))


def seconds(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the processor's seconds of a call in one thread, and what it returns."""
    began = time.process_time()
    found = call(*arguments)
    return time.process_time() - began, found


def table(title: str, *columns: str) -> None:
    print(
        f"\n### {title}\n\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True
    )


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


# -- rates -------------------------------------------------------------------------------------


def heap_sweep(instance: AdspRatesInstance) -> float:
    """Return the optimum of the error bound by a heap of thresholds, window by window."""
    workers, model, period = instance.workers, instance.model, instance.check_period_s
    assert model.kind == "error_bound"
    most, m = instance.most_commits, len(workers)
    v, o = [1 / w.step_time_s for w in workers], [w.comm_time_s for w in workers]
    best = float("inf")
    for c in range(1, instance.last_window_start + 1):
        n, total = [c] * m, c * m
        steps = sum(v[i] * (period - c * o[i]) for i in range(m)) / m
        heap = [(-v[i] * (period / c - o[i]), i) for i in range(m)]
        heapq.heapify(heap)
        while True:
            top, i = heap[0]
            best = min(best, model.a / steps + model.b * (-top - 1))
            if n[i] + 1 > min(most[i], c + instance.window) or total + 1 > instance.cap:
                break
            n[i] += 1
            total += 1
            steps -= v[i] * o[i] / m
            heapq.heapreplace(heap, (-v[i] * (period / n[i] - o[i]), i))
    return best


def sweep_table(sizes: list[int]) -> None:
    table(
        "Threshold sweep, N = 30, window 6",
        "workers",
        "sweep: s",
        "us per worker",
        "heap: s",
        "ratio",
        "solve, judge, check: s",
        "check: s",
    )
    for m in sizes:
        instance = uniform(np.random.default_rng(0), workers=m)
        sum(instance.most_commits)
        sweep_s, swept = min((seconds(sweep, instance, Clock()) for _ in range(3)), key=_first)
        heap_s, by_heap = seconds(heap_sweep, instance)
        assert agrees(swept.value, by_heap)
        whole_s, result = seconds(solved, instance)
        check_s, bound = seconds(check_bound, instance, result.certificate)
        assert result.status == "optimal"
        assert agrees(float(bound), swept.value)
        row(
            f"{m:,}",
            f"{sweep_s:.3f}",
            f"{1e6 * sweep_s / m:.1f}",
            f"{heap_s:.2f}",
            f"{heap_s / sweep_s:.0f}",
            f"{whole_s:.2f}",
            f"{check_s:.2f}",
        )


def _first(pair: tuple[float, Any]) -> float:
    return pair[0]


# -- training ----------------------------------------------------------------------------------


def simulator_table() -> None:
    table(
        "Simulator, 18 workers, ridge regression of 20 weights",
        *("policy", "events", "s", "events a second", "1e6 events: s"),
    )
    instance = replace_convergence(paper_training(np.random.default_rng(0)))
    for policy, horizon in (
        (Rate(commits=1), 20_000.0),
        (Rate(commits=10), 20_000.0),
        (Adsp(), 20_000.0),
        (FixedAdacomm(local_steps=40), 20_000.0),
        (Ssp(slack=40), 40_000.0),
        (Bsp(), 40_000.0),
    ):
        long = instance.model_copy(update={"horizon_s": horizon})
        task_of(long)
        spent, made = seconds(simulate, long, policy)
        rate = made.events / spent
        row(policy.kind, f"{made.events:,}", f"{spent:.2f}", f"{rate:,.0f}", f"{1e6 / rate:.1f}")


def online_table(seeds: int, presets: dict[str, Callable[[np.random.Generator], Any]]) -> None:
    table(
        f"Time to the target over that of the best fixed rate, {seeds} seeds",
        *("training", "best rate: s", "its commits", "policy", "mean", "median", "worst"),
        *("waiting", "best of all"),
    )
    for name, preset in presets.items():
        instances = [preset(np.random.default_rng(seed)) for seed in range(seeds)]
        ratios: dict[str, list[float]] = {}
        waits: dict[str, list[float]] = {}
        best_times, best_rates, wins = [], [], {}
        for instance in instances:
            fixed = best_fixed(instance)
            assert fixed is not None
            best_s, commits = fixed
            best_times.append(best_s)
            best_rates.append(commits)
            times = {"best fixed rate": best_s}
            for policy in compared(instance):
                made = simulate(instance, policy)
                time_s = float(made.time_s) if made.converged else float("inf")
                times[policy.kind] = time_s
                ratios.setdefault(policy.kind, []).append(time_s / best_s)
                told = components(instance, made, 0.0)
                waits.setdefault(policy.kind, []).append(float(told["waiting_share"]))
            winner = min(times, key=lambda kind: times[kind])
            wins[winner] = wins.get(winner, 0) + 1
        head = [name, f"{statistics.mean(best_times):.0f}", f"{min(best_rates)}-{max(best_rates)}"]
        row(*head, "best fixed rate", 1, 1, 1, "0 %", wins.get("best fixed rate", 0))
        for kind, found in ratios.items():
            numbers = [statistics.mean(found), statistics.median(found), max(found)]
            share = f"{100 * statistics.mean(waits[kind]):.0f} %"
            row("", "", "", kind, *(f"{x:.3f}" for x in numbers), share, wins.get(kind, 0))


def curve_table(seeds: int) -> None:
    table(
        f"Seconds to the target of fixed rates and the spread of commits, mean of {seeds} seeds",
        *("commits in a period", "quickstart: s", "largest spread", "slow: s", "largest spread"),
    )
    presets = (quickstart, lambda rng: slow(rng, max_commits=30))
    for commits in (1, 2, 3, 4, 6, 8, 12, 16, 24):
        cells = []
        for preset in presets:
            drawn = [preset(np.random.default_rng(seed)) for seed in range(seeds)]
            made = [simulate(instance, Rate(commits=commits)) for instance in drawn]
            assert all(run.converged for run in made)
            cells.append(f"{statistics.mean(float(run.time_s) for run in made):.1f}")
            cells.append(str(max(run.max_spread for run in made)))
        row(commits, *cells)


def best_fixed(instance: AdspTrainingInstance) -> tuple[float, int] | None:
    """Return the time of the best fixed rate and its commits."""
    best = None
    for commits in range(1, instance.choices.max_commits + 1):
        made = simulate(
            instance, Rate(commits=commits), before=None if best is None else best[2].time_s
        )
        if made.converged and (best is None or made.time_s < best[2].time_s):
            best = float(made.time_s), commits, made
    return None if best is None else best[:2]


def compared(instance: AdspTrainingInstance) -> list[Policy]:
    steps = instance.choices.local_steps
    return [
        Adsp(),
        Adacomm(),
        *(FixedAdacomm(local_steps=tau) for tau in steps if tau == 40),
        *(Ssp(slack=slack) for slack in instance.choices.slacks),
        Bsp(),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[18, 500, 5000, 20_000, 100_000])
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    ridge = {
        "quickstart": quickstart,
        "slow": lambda rng: slow(rng, max_commits=12),
        "testbed, H = 2": paper_training,
        "testbed, H = 3.2": lambda rng: paper_training(rng, heterogeneity=3.2),
    }
    digits = {"digits, H = 2": lambda rng: paper_training(rng, task="digits")}
    jobs: dict[str, Callable[[], None]] = {
        "sweep": lambda: sweep_table(arguments.sizes),
        "simulator": simulator_table,
        "curve": lambda: curve_table(min(6, arguments.seeds)),
        "online": lambda: online_table(arguments.seeds, ridge),
        "digits": lambda: online_table(min(3, arguments.seeds), digits),
    }
    for part in arguments.parts:
        jobs[part]()


if __name__ == "__main__":
    main()
