"""Sellers of bundles in games of too many histories: between which ratios their worst case lies.

No study judges sellers that cannot be written out, or policies that it trains itself.

The games of the trainer's presets `quickstart`, `units` and `given_back` go on for more requests,
up to 16,777,216 histories, of which the certified methods refuse to look at every one. Judged are
the rules, the network that ships for the short game, taken over as it is, and for nine requests of
the quickstart one that is trained there, preset `longer`. Below is a sequence that was found, with
what the seller earns from it, exact; above the bound that is proved in integers by histories that
are followed and an adversary that sees the draws of the rest; "draws seen" is that adversary's
alone. Both are rounded away from each other. No longer game is easier for the seller, so the
optimum of the short one is a bound on what any seller can reach.

Run `python benchmarks/adversarial_bundles_larger.py [--followed 20000]`; the training goes on where
it was stopped.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from adversarial_bundles_training import BUNDLES, TRAINER, game_of

from gadgetopt.models.adversarial_bundles.algorithms.learned import SHIPPED, network
from gadgetopt.models.adversarial_bundles.baselines.posted import drawn_rules, exponential_rule
from gadgetopt.models.adversarial_bundles.instance import AdversarialBundlesInstance
from gadgetopt.models.adversarial_bundles.proving.bounds.interval import (
    FOLLOWED,
    SummarySeller,
    worst_interval,
)
from gadgetopt.models.adversarial_bundles.subproblems.networks import (
    PARTS,
    Sight,
    chances_of_summaries,
)
from gadgetopt.models.adversarial_bundles.subproblems.sellers import parts_by_stock
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.runs.training import train
from gadgetopt.system.training import read_policy

#: Requests of the longer games.
HORIZONS = {"quickstart": (5, 9, 12), "units": (6, 8, 10), "given_back": (5, 9, 12)}


#: Presets of the trainer for some of them.
TRAINED = {("quickstart", 9): "longer"}


def sellers(
    preset: str, game: AdversarialBundlesInstance, sight: Sight, out: Path
) -> dict[str, SummarySeller]:
    """Return the sellers that are judged."""
    shares, rules = drawn_rules(game)
    unit = common_denominator(shares)
    of_rules = [parts_by_stock(game, rule) for rule in rules]
    drawn = [np.concatenate(row, axis=2) for row in zip(*of_rules, strict=True)]
    files = {"learned": SHIPPED[preset]}
    longer = TRAINED.get((preset, game.horizon))
    if longer is not None:
        files["trained here"] = out / f"{longer}.npz"
        parameters = {**TRAINER.parameters, **TRAINER.presets[longer]}
        train(BUNDLES, TRAINER, parameters, 0, files["trained here"])
    learned = {}
    for name, path in files.items():
        read = read_policy(str(path), "adversarial_bundles", ("networks",))
        learned[name] = SummarySeller(chances_of_summaries(sight, network(read, sight)), PARTS)
    return {
        "greedy": SummarySeller(parts_by_stock(game, lambda _stock, _j: True), 1),
        "exponential": SummarySeller(parts_by_stock(game, exponential_rule(game)), 1),
        "drawn_price": SummarySeller(drawn, 1, tuple(int(share * unit) for share in shares)),
        **learned,
    }


def below(x: Fraction | None) -> str:
    """Return a bound from below, rounded down."""
    return "inf" if x is None else f"{math.floor(x * 10**4) / 10**4:.4f}"


def above(x: Fraction | None) -> str:
    """Return a bound from above, rounded up."""
    return "-" if x is None else f"{math.ceil(x * 10**4) / 10**4:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=tuple(HORIZONS), choices=tuple(HORIZONS))
    parser.add_argument("--followed", type=int, default=FOLLOWED)
    parser.add_argument("--out", type=Path, default=Path("trained"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    heads = ("at least", "at most", "draws seen", "seconds")
    row = f"{'game':>12}{'N':>4}{'histories':>13}{'summaries':>11}{'seller':>13}"
    print(row + "".join(f"{head:>12}" for head in heads))
    for preset in given.games:
        for horizon in HORIZONS[preset]:
            game = game_of(preset).model_copy(update={"horizon": horizon})
            game = AdversarialBundlesInstance.model_validate(game.model_dump())
            sight = Sight(game)
            count = len(game.types) ** horizon
            for name, seller in sellers(preset, game, sight, given.out).items():
                begin = time.process_time()
                found = worst_interval(game, sight.summaries, seller, followed=given.followed)
                seconds = time.process_time() - begin
                row = f"{preset:>12}{horizon:>4}{count:>13,}{len(sight.summaries):>11,}{name:>13}"
                cells = below(found.lower), above(found.upper), above(found.draws_seen)
                print(
                    row + "".join(f"{cell:>12}" for cell in (*cells, f"{seconds:.1f}")), flush=True
                )


if __name__ == "__main__":
    main()
