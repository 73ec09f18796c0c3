"""A-SRPT: how good forecasts are and what they cost, and the constants of the predictors.

No study chooses constants on a part of its jobs, or has what runs note of their predictions beside
ratios.

- `choose`: on the first third of the jobs of two instances that the table does not have, total
  completion time over that with the oracle, and the predictions' measures, for values of the
  shrinkage, the quantile for new groups, the cap of smearing, and the forest's smallest leaf.
- `table`: of the store that `gadgetopt compare benchmarks/a_srpt_forecasting.toml` writes, a row a
  predictor: its measures (`Forecasts`), the mean ratio to the bound, and the quotient by the
  oracle's run on the same instance, mean and 95 % bootstrap interval over the instances.

Run `python benchmarks/a_srpt_forecasting.py [choose table] [--store forecasting.sqlite]`.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np

from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.data.generate.presets import recurring
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.instance import ASrptInstance
from gadgetopt.models.a_srpt.subproblems import forest, predictors
from gadgetopt.runs.store import Store
from gadgetopt.system.result import Limits, MethodOutcome

#: Seeds of `choose`, which no instance of the study has.
SEEDS = (100, 101)
#: What `choose` tries: module, constant, values, and the predictor that reads it.
CHOICES = (
    (predictors, "SHRINKAGE", (0.03, 0.1, 0.3, 1.0, 3.0), "shrunk"),
    (predictors, "CAUTION", (0.5, 0.75, 0.9), "shrunk_cautious"),
    (predictors, "MOST_SMEARING", (2.0, 10.0, 50.0), "shrunk_smeared"),
    (forest, "RESIDUAL_LEAF", (1, 5, 20), "forest_residual"),
)
#: A run's objective and its notes.
Noted = tuple[float, dict[str, float]]
MEASURES = ("median_prediction_error", "within_twice", "predicted_work", "concordance")


def first_third(seed: int) -> ASrptInstance:
    """Return the jobs that arrive first of an instance like those of the study."""
    whole = recurring(np.random.default_rng(seed), jobs=1500, servers=16, load=1.2, groups=60)
    jobs = sorted(whole.jobs, key=lambda job: job.release_tick)[:500]
    return whole.model_copy(update={"jobs": tuple(jobs)})


def run(instance: ASrptInstance, predictor: str) -> tuple[float, MethodOutcome]:
    outcome = a_srpt(instance, Limits(), np.random.default_rng(0), predictor=predictor)
    return float(evaluate(instance, outcome.solution).objective or 0), outcome


def choose() -> None:
    """Print a row for every value of every constant."""
    print("| constant | value | over oracle | median error | within 2x | work | concordance |")
    print("|---|---|---|---|---|---|---|")
    instances = [first_third(seed) for seed in SEEDS]
    oracle = [run(instance, "oracle")[0] for instance in instances]
    for module, name, values, predictor in CHOICES:
        for value in values:
            with mock.patch.object(module, name, value):
                found = [run(instance, predictor) for instance in instances]
            ratio = statistics.mean(v / o for (v, _), o in zip(found, oracle, strict=True))
            cells = [statistics.mean(o.notes[m] for _, o in found) for m in MEASURES]
            numbers = " | ".join(f"{cell:.2f}" for cell in cells)
            print(f"| `{name}` | {value:g} | {ratio:.3f} | {numbers} |", flush=True)


def table(store: Path) -> None:
    """Print a row for every predictor of the study."""
    runs: defaultdict[tuple[str, str], dict[str, tuple[float, dict[str, float]]]] = defaultdict(
        dict
    )
    bounds: dict[str, float] = {}
    with Store(store) as opened:
        for stored in opened.runs():
            result = stored.result
            if result.method == "price_bound":
                bounds[result.instance] = float(result.bound)
            elif result.objective is not None:
                noise = result.parameters.get("noise_sd") or 0
                predictor = str(result.parameters.get("predictor", "oracle"))
                label = predictor + (f" {noise:g}" if noise else "")
                of = runs[result.method.partition(":")[0], label]
                of[result.instance] = float(result.objective), dict(result.notes)
    labels = [label for method, label in runs if method == "a_srpt"]
    methods = ("a_srpt", "a_srpt_workload")
    print(
        "| predictor | median error | within 2x | work | concordance "
        "| `a_srpt` | over oracle | `a_srpt_workload` | over oracle |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for label in labels:
        notes = [n for _, n in runs["a_srpt", label].values()]
        cells = [f"{statistics.mean(n[m] for n in notes):.2f}" for m in MEASURES]
        for method in methods:
            own, oracle = (runs.get((method, which), {}) for which in (label, "oracle"))
            over = [v / bounds[name] for name, (v, _) in own.items() if name in bounds]
            paired = [v / oracle[name][0] for name, (v, _) in own.items() if name in oracle]
            cells.append(f"{statistics.mean(over):.3f}" if over else "")
            cells.append(interval(paired) if paired else "")
        print(f"| `{label}` | {' | '.join(cells)} |")
    cold = [n["cold_share"] for _, n in runs["a_srpt", "oracle"].values()]
    print(
        f"\n{len(cold)} instances; {statistics.mean(cold):.0%} of the jobs come before any of "
        "their group has completed."
    )


def interval(values: Sequence[float]) -> str:
    """Return a mean with its 95 % bootstrap interval."""
    sample = np.array(values)
    drawn = np.random.default_rng(0).choice(sample, (10_000, len(sample))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{sample.mean():.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", default=[], choices=["choose", "table", []])
    parser.add_argument("--store", type=Path, default=Path("forecasting.sqlite"))
    options = parser.parse_args()
    for name in options.commands or ("choose", "table"):
        choose() if name == "choose" else table(options.store)


if __name__ == "__main__":
    main()
