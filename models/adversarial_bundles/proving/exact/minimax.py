"""The double oracle: few sequences and a seller for them, until best responses meet."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...evaluate import optima
from ...instance import AdversarialBundlesInstance, AdversarialBundlesSolution
from ...subproblems.rounding import exact_chance
from ...subproblems.sellers import followed
from ..certificate import check_bound
from .master import History, Master

#: Sequences that join the program in one round. Tuned: `benchmarks/constants.py`.
AT_ONCE = 8


@method(
    kind="exact",
    reference="McMahan, Gordon and Blum 2003; Bosansky et al. 2014",
    formulation="sequence_form",
    backend="highs",
)
def minimax(
    instance: AdversarialBundlesInstance, limits: Limits, *, rounds: int = 1000
) -> MethodOutcome:
    """The game in sequence form on few sequences, to which worst sequences are added.

    Return a seller whose worst sequence is no worse than the best response to a lottery allows.

    1. The program (S1)-(S5) on the sequences so far gives a seller and, by its duals, a lottery
       over them; what the best seller earns from that is a bound.
    2. The seller is extended to all histories: it sells whatever fits, where nothing is known.
    3. All histories are followed; worst ones join the program, unless bound and seller meet.

    Parameters
    ----------
    instance : AdversarialBundlesInstance
    limits : Limits
        `time_s` stops between two rounds, `rel_gap` closes the bracket earlier.
    rounds : int, default 1000

    Raises
    ------
    ModelRefused
        If there are too many histories.

    References
    ----------
    H. B. McMahan, G. J. Gordon, A. Blum, "Planning in the Presence of Cost Functions Controlled by
    an Adversary", ICML 2003, 536-543. B. Bosansky, C. Kiekintveld, V. Lisy, M. Pechoucek, "An Exact
    Double-Oracle Algorithm for Zero-Sum Extensive-Form Games with Imperfect Information", Journal
    of Artificial Intelligence Research 51 (2014) 829-866.
    """
    if rounds < 1:
        raise ModelRefused(f"rounds: {rounds}, expected at least 1")
    whole, money = optima(instance)
    optimum = [np.asarray(best, dtype=float) / money for best in whole]
    master = Master(instance)
    for j in range(len(instance.types)):
        master.add([j])
    search: Search[dict[tuple[History, int], float]] = Search("min", limits)
    certificate = None
    played = 0
    while played < rounds:
        played += 1
        status = master.solve(search.clock.limits())
        if status is not Status.OPTIMAL or search.clock.expired:
            search.limit_hit = "time_s"
            break
        certificate = master.certificate()
        ratios = _ratios(instance, _extended(instance, master.chances()), optimum)
        search.offer(max(float(r.max()) for r in ratios), master.sales())
        if search.closes(master.value):
            break
        before = len(master.tree)
        for sequence in _worst(ratios, len(instance.types)):
            master.add(sequence)
        if len(master.tree) == before:
            break  # nothing is left to learn from
    if certificate is not None:
        proved = check_bound(instance, certificate)
        if proved is not None:
            search.prove(proved, certificate)
    if search.best is None:
        return search.outcome(None)
    seller = exact_seller(instance, search.best)
    return search.outcome(seller, rounds=played, histories=len(master.tree))


def exact_seller(
    instance: AdversarialBundlesInstance, known: Mapping[tuple[History, int], float]
) -> AdversarialBundlesSolution:
    """Return the seller with these probabilities of sales, who else sells whatever fits.

    Parameters
    ----------
    instance : AdversarialBundlesInstance
    known : mapping of (tuple of int, int) to float
        By history and stock, as a solver returned them.
    """
    stocks, types = instance.stocks, range(len(instance.types))
    held: dict[History, list[Fraction]] = {(): [Fraction(1)]}
    found: list[Fraction] = []
    for t in range(instance.horizon):
        after: dict[History, list[Fraction]] = {}
        for history, chances in held.items():
            for j in types:
                longer = (*history, j)
                left = after[longer] = [Fraction(0)] * len(stocks.of_round[t + 1])
                for s, most in enumerate(chances):
                    n, x = stocks.sold[t][s][j], Fraction(0)
                    if n >= 0 and most:
                        given = known.get((longer, s))
                        x = most if given is None else exact_chance(given, most)
                        left[n] += x
                    left[stocks.kept[t][s]] += most - x
                    found.append(x)
        held = after
    return AdversarialBundlesSolution(sale_probability=tuple(found))


def _extended(
    instance: AdversarialBundlesInstance, chances: Mapping[tuple[History, int], float]
) -> list[Floats]:
    """Return the chances of sales of all histories, 1 where nothing is known."""
    J, extended = len(instance.types), []
    for t, of_round in enumerate(instance.stocks.of_round[:-1]):
        extended.append(np.ones((J**t, J, len(of_round))))
    for (history, s), chance in chances.items():
        n = 0
        for j in history[:-1]:
            n = n * J + j
        extended[len(history) - 1][n, history[-1], s] = chance
    return extended


def _ratios(
    instance: AdversarialBundlesInstance, chances: list[Floats], optimum: list[Floats]
) -> list[Floats]:
    """Return OPT/ALG of all histories, by length."""
    value = np.array([float(kind.value) for kind in instance.types])
    earned: Floats = np.zeros(1)
    ratios = []
    for sold, best in zip(followed(instance, chances), optimum, strict=True):
        earned = (earned[:, None] + sold.sum(axis=2) * value).ravel()
        with np.errstate(divide="ignore"):
            ratios.append(best / earned)
    return ratios


def _worst(ratios: list[Floats], J: int) -> list[History]:
    """Return the worst histories, the worst first."""
    offsets = np.cumsum([0, *map(len, ratios)])
    every = np.concatenate(ratios)
    few = np.argpartition(-every, min(AT_ONCE, len(every)) - 1)[:AT_ONCE]
    found = []
    for i in few[np.argsort(-every[few], kind="stable")].tolist():
        t = int(np.searchsorted(offsets, i, side="right")) - 1
        n, types = i - int(offsets[t]), []
        for _ in range(t + 1):
            n, j = divmod(n, J)
            types.append(j)
        found.append(tuple(reversed(types)))
    return found
