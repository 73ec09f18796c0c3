"""Trees that prove a bound: branch and bound with a known target, each leaf made exact.

The target is known before the search, so the order of the nodes does not matter for the size of the
tree, and depth first keeps the solver's basis warm. Whatever happens, the result is a proof: what
is still open when the time is up becomes a leaf with the duals of its parent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import BetterPoint
from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.proofs.leaves import best_leaf, sparse_duals
from gadgetopt.proofs.lemmas.gomory import Rounds
from gadgetopt.proofs.lemmas.implied_bounds import bounded, open_sides
from gadgetopt.proofs.lemmas.mixed_rounding import MixedRounding
from gadgetopt.proofs.lemmas.products import ProductLemmas
from gadgetopt.proofs.lemmas.reduced_costs import priced
from gadgetopt.proofs.lemmas.splits import Lemma, form_words
from gadgetopt.proofs.lemmas.work import Work
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import Box, Rejected, leaf_bound
from gadgetopt.proofs.tree_search import TreeSearch, TreeText
from gadgetopt.search.clock import Clock
from gadgetopt.search.steps import FIRST_S, GROWTH, first_step_s
from gadgetopt.solvers.exact_optimum.incumbents import exact_incumbent
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.model import Model
    from gadgetopt.proofs.tree_kernel import Row
    from gadgetopt.solvers.standard_form import StandardForm

#: Share of the distance between two values of the objective by which a leaf must pass the lower.
#: Tuned: `benchmarks/constants.py`.
BEYOND = Fraction(1, 10**6)
#: Part of the target by which a proof may miss it; what a leaf need not reach of the distance.
#: By definition.
MISSED, NOT_REACHED = Fraction(CLOSED_GAP) / 2, 1 - BEYOND

#: Part of the time for a tree without cuts before others are tried, and the most for making cuts.
#: Tuned: `benchmarks/constants.py`.
PLAIN, CUTS = 0.15, 0.3
#: Seconds below which the tree without cuts is not left before its part is over, and that part:
#: setting up cuts takes longer than a tree of a few leaves. Tuned: `benchmarks/proofs.py`.
NO_TURNS_S, PLAIN_FIRST = 0.4, 0.9
#: Part of such a proof's time after which a few rounds show what cuts are worth, and the lemmas
#: that they may take for each second of it. Tuned: `benchmarks/proofs.py`.
PROBED, LEMMAS_A_S = 0.45, 160
#: Seconds below which the first step of a tree without cuts is all of its part; what of the tree
#: must be done then for it to go on, and up to which part of the time: cuts would cost it more.
#: Tuned: `benchmarks/proofs.py`.
SOON_S, UNDER_WAY, GOES_ON = 4.0, 0.02, 0.45
#: Part of the root's gap that cuts close where the tree without them has to wait.
#: Tuned: `benchmarks/constants.py`.
HELPFUL = 0.5
#: The same where the last rounds gained: they are gone on with first. Tuned:
#: `benchmarks/proofs.py`.
PROMISING = 0.25
#: Part of a step for a tree with cuts that making them may take. Tuned: `benchmarks/constants.py`.
CUTS_OF_STEP = 0.5
#: Part of the last tree's time after which it is asked whether it will end; part of it until it is
#: asked again; part of what it is to prove above its root's bound that it gives up if it will not.
#: Tuned: `benchmarks/constants.py`.
HOPEFUL, LOOK, LOWER = 0.6, 0.05, 0.3
#: More than any `sum(costs * x)`: what each leaf must prove where nothing is to be feasible.
#: By definition.
ENDLESS = Fraction(10**300)
#: Optima of relaxations that are made exact at most, where the target is a claim.
#: Tuned: `benchmarks/constants.py`.
OFFERS = 5
#: Leaves of a tree before it is begun anew with reduced costs. Tuned: `benchmarks/constants.py`.
FEW = 8
#: A shorter time counts as this long there: other proofs take a twentieth of a second to start.
#: Tuned: `benchmarks/constants.py`.
SHORT_S = 1 / 3


def root_proof(model: Model, duals: Floats) -> TreeText | None:
    """Return the proof of one leaf that duals of the relaxation give; None if they give none.

    Parameters
    ----------
    duals : ndarray of float, shape (rows,)
        In the model's own sense, as in `SolverOutcome.row_duals`.
    """
    unit = float(model.scale) if model.sense == "min" else -float(model.scale)
    made = best_leaf(Box(model, list(model.rows)), model.costs, sparse_duals(duals * unit), [])
    return None if made is None else TreeText(["tree", made[0]], 1)


def bounds_proof(model: Model, target: Fraction) -> TreeText | None:
    """Return the proof of a target by the bounds of the columns alone; None if it takes more."""
    try:
        bound = leaf_bound(Box(model, []), model.costs, 1, 1, [], [])
    except Rejected:
        return None
    # What is needed is less than the target, and takes longer to tell than the rest of the proof.
    if bound is None or (bound < target and bound < need_for(model, target)):
        return None
    return TreeText(["tree", "l 0 1"], 1)


def need_for(model: Model, target: Fraction) -> Fraction:
    """Return what each leaf must prove so that the tree proves a target to tolerance.

    Parameters
    ----------
    target : Fraction
        A `sum(costs * x)`, such as that of the incumbent.
    """
    step = gcd(*model.costs[1])
    slack = abs(target) * MISSED
    lattice = step > 0 and all(model.integer[j] for j in model.costs[0])
    if lattice and step > 2 * slack:
        return target - step * NOT_REACHED
    return target - slack


def infeasibility_proof(
    form: StandardForm, model: Model, left_s: Callable[[], float], is_claimed: bool = False
) -> TreeText | None:
    """Return a proof that a model has no solution; None if none is found in time.

    The relaxations are solved without costs, which have no part in such a proof and only keep the
    search from what is nearly infeasible.

    Raises
    ------
    ModelRefused
        If HiGHS does not accept the model.
    BetterPoint
        If the search meets a feasible point, where infeasibility is a claim.
    KeyboardInterrupt
        At Ctrl-C.
    """
    crossed = _crossed(model)
    if crossed is not None:
        return TreeText(crossed, 1)
    exact = replace(form.exact, costs={}, offset=0)
    free = replace(form, c=np.zeros(len(form.columns)), offset=0.0, exact=exact)
    tree = TreeProof(free, model._replace(costs=([], [])), None, left_s, is_claimed)
    if not tree.grow_plain():
        tree.grow()
    if tree.interrupted:
        raise KeyboardInterrupt
    return tree.text() if tree.is_whole else None


def _crossed(model: Model) -> list[str] | None:
    """Return the proof by one column or row whose sides exclude each other; None without one."""
    row = f"{len(model.rows)} 1"  # the lemma
    for j, (low, high) in enumerate(zip(model.lower, model.upper, strict=True)):
        if low is not None and high is not None and low > high:
            return [f"lemma {j} 1", "l 0 1", "tree", f"l 0 0 {row}"]
    for i, (columns, coefficients, low, high, unit) in enumerate(model.rows):
        if low is not None and high is not None and low > high:
            form = form_words((columns, coefficients))
            lemma = " ".join(["lemma", *form])
            return [lemma, f"l 0 1 {i} {unit}", "tree", f"l 0 0 {i} -{unit} {row}"]
    return None


class TreeProof:
    """A tree that grows to a proof of a target, in steps between which others may be tried.

    Parameters
    ----------
    form : StandardForm
        The compiled model.
    model : Model
        The same model in exact numbers.
    target : Fraction or None
        The least `sum(costs * x)` that is worth proving, such as the incumbent's; None to prove
        that nothing is feasible.
    left_s : callable
        Returns the seconds that are left, when all steps end. Those of a step are of work that is
        counted, so that it finds the same in every run. Ctrl-C ends a step, too.
    is_claimed : bool
        Whether a `BetterPoint` is to be raised, by whatever grows the tree, where the search meets
        a feasible point that refutes the target.
    by_turns : bool, optional
        Whether the trees without and with cuts grow by turns; else the one with cuts grows last.
        Those that have little time do not, if it is not given.
    is_waited_for : bool, optional
        Whether other searches wait for each step to end, so that no step is longer than asked, and
        those that have little time grow by turns, too.

    Raises
    ------
    ModelRefused
        If HiGHS does not accept the model.
    """

    def __init__(
        self,
        form: StandardForm,
        model: Model,
        target: Fraction | None,
        left_s: Callable[[], float],
        is_claimed: bool = False,
        by_turns: bool | None = None,
        is_waited_for: bool = False,
    ) -> None:
        #: How many points may still be made exact, to see whether one refutes the target.
        self._offers = OFFERS if is_claimed else 0
        self.form, self.left_s, self.work = form, left_s, Work()
        self.need = ENDLESS if target is None else need_for(model, target)
        self.whole_s = left_s()
        self._first = bounded(model, target)
        self.model = self._first.model
        self._plain = self._search()
        #: Whether the tree without cuts has been begun anew with reduced costs, if they are of use.
        self._is_settled = False
        self._cut: TreeSearch | None = None
        self._rounds: Rounds | None = None
        #: Of the rounds, those that no tree has yet.
        self._lemmas: list[Lemma] = []
        #: Seconds of work that making cuts has taken, and all work when its part is over.
        self._cuts_s, self._after_cuts_s = 0.0, 0.0
        #: Whether Ctrl-C has ended the search; what was found is kept.
        self.interrupted = False
        if by_turns is None:
            by_turns = is_waited_for or self.whole_s >= NO_TURNS_S
        self._by_turns = by_turns
        #: Whether the first step of the tree without cuts is all of its part.
        self._is_soon = self.whole_s < SOON_S and not is_waited_for
        part = PLAIN * max(self.whole_s, SHORT_S) if self._by_turns else PLAIN_FIRST * self.whole_s
        #: Seconds of work that the tree without cuts has left of its part.
        self.plain_s = part

    def grow_plain(self, most_s: float = math.inf) -> bool:
        """Grow a tree without cuts for at most its part of the work; return True if it is whole.

        Where cuts close much of the root's gap, or part of it and gain, it waits for the tree with
        cuts.
        """
        if self._cuts_help or (self._cuts_gain and self._closed >= PROMISING):
            return False
        if not self._by_turns and self._cuts_are_better():
            self.plain_s = 0.0
            return False
        begin, is_soon = self.work.seconds, self._is_soon
        whole = self._grown(begin + (self.plain_s if is_soon else min(most_s, self.plain_s)))
        if is_soon and not whole and self._plain.done >= UNDER_WAY:
            whole = self._grown(GOES_ON * self.whole_s)
        self.plain_s -= self.work.seconds - begin
        self.interrupted |= self._plain.interrupted
        return whole

    def _cuts_are_better(self) -> bool:
        """Return whether the tree without cuts is open after a part of the time, and cuts help.

        A few rounds of them show it, which are gone on with if the tree stays open.
        """
        begin, target = self.work.seconds, self._target
        if self._rounds is not None or self._grown(PROBED * self.whole_s) or self.left_s() <= 0:
            return False
        self.plain_s -= self.work.seconds - begin
        try:
            self._make_cuts(CUTS * self.whole_s, LEMMAS_A_S * self.whole_s)
        except KeyboardInterrupt:
            self.interrupted = True
        rounds = self._rounds
        closes = rounds is not None and rounds.is_fast(target, LEMMAS_A_S * self.whole_s)
        return self.interrupted or closes

    def _grown(self, work_s: float) -> bool:
        """Grow the tree without cuts until all work is so much; return True if it is whole."""
        goes_on, tree = self._until(work_s), self._plain
        if not self._is_settled:
            tree.run(lambda: goes_on() and tree.leaves < FEW)
            self._settle()
        return self._plain.run(goes_on)

    def _until(self, work_s: float) -> Callable[[], bool]:
        """Return what lets a step go on until all work is so much, or the time is up."""
        return lambda: self.work.seconds < work_s and self.left_s() > 0

    @property
    def _cuts_help(self) -> bool:
        """Whether cuts close much of the root's gap."""
        return self._cut is not None and self._closed >= HELPFUL

    @property
    def _closed(self) -> float:
        """The part of the root's gap that cuts close."""
        return 0.0 if self._rounds is None else self._rounds.closed(self._target)

    @property
    def _cuts_gain(self) -> bool:
        """Whether the last rounds of cuts closed much, and there is time for more."""
        rounds = self._rounds
        is_timely = self._cuts_s < CUTS * self.whole_s
        return is_timely and rounds is not None and rounds.gains(self._target)

    @property
    def _target(self) -> float:
        """What is needed, in the relaxation's units."""
        return float(self.need) / self.model.scale

    def grow_cut(self, most_s: float) -> bool:
        """Grow a tree with cuts, if they help, for so much work; return True if it is whole."""
        if not self._by_turns and math.isfinite(most_s):
            return False
        goes_on = self._until(self.work.seconds + most_s)
        try:
            self._make_cuts(CUTS_OF_STEP * most_s)
            if self._cuts_gain:
                self._make_cuts(most_s)
            if self._lemmas:
                self._cut, self._lemmas = self._search(self._lemmas, prices=True), []
            tree, whole = self._cut, False
            if tree is not None:
                is_last = math.isinf(most_s)
                whole = tree.run(self._contented(tree) if is_last else goes_on)
        except KeyboardInterrupt:  # between two nodes, or while cuts are made
            self.interrupted, whole = True, False
        self.interrupted |= self._cut is not None and self._cut.interrupted
        return whole

    def grow(self) -> None:
        """Grow a tree with cuts, if they help, or the one without until it is whole."""
        self.grow_cut(math.inf)
        tree = self._cut
        if self.interrupted or (tree is not None and tree.need >= self.need):
            return
        try:
            self._plain.run(self._contented(self._plain))
        except KeyboardInterrupt:
            self.interrupted = True
        self.interrupted |= self._plain.interrupted

    def _contented(self, tree: TreeSearch) -> Callable[[], bool]:
        """Return what lets the last tree go on, and aims lower where it would not end in time.

        A tree that is broken off proves little more than its root: nodes near it are still open.
        """
        whole_s = since_s = self.left_s()
        next_s, done = (1 - HOPEFUL) * whole_s, tree.done

        def goes_on() -> bool:
            nonlocal since_s, next_s, done
            left_s = self.left_s()
            if left_s < min(next_s, since_s) and self.need < ENDLESS:
                rate = (tree.done - done) / (since_s - left_s)
                if 1 - tree.done > rate * left_s:
                    tree.lower(LOWER)
                since_s, next_s, done = left_s, left_s - LOOK * whole_s, tree.done
            return True

        return goes_on

    def _relaxation(self) -> Relaxation:
        lp = Relaxation(self.form, self.left_s, self.work)
        if self._first.has_cut:
            lp.add_free_row(self.model.rows[-1])
        if sides := list(open_sides(self.model)):
            lp.lean(sides)
        return lp

    def _search(self, lemmas: Sequence[Lemma] = (), *, prices: bool = False) -> TreeSearch:
        lp = self._relaxation()
        return TreeSearch(self.model, lp, self.need, lemmas, prices, self._offered)

    def _offered(self, x: Floats) -> None:
        """Raise a `BetterPoint` if an optimum of a relaxation, made exact, refutes the target."""
        if self._offers <= 0:
            return
        self._offers -= 1
        clock = Clock(Limits(time_s=max(0.0, self.left_s())))
        integers = np.where(self.form.integer, np.rint(x), x)
        exact = exact_incumbent(self.form, integers, clock, seed=0)
        if exact is not None and self.model.least(exact.objective) < self.need:
            raise BetterPoint(exact.values)

    def _settle(self) -> None:
        """Begin the tree without cuts anew if many columns are fixed at the reduced costs."""
        if not self._plain.open or self._plain.leaves < FEW or self._plain.interrupted:
            return
        self._is_settled = True
        root = Box(self.model, list(self.model.rows))
        if priced(self.model, root, sparse_duals(self._plain.root), self.need) is not None:
            self._plain = self._search(prices=True)

    def _make_cuts(self, most_s: float, most: float = math.inf) -> None:
        """Make cuts, and more if the time for them was too short before."""
        seconds = min(most_s, CUTS * self.whole_s) - self._cuts_s
        if seconds <= 0 or (self._rounds is not None and self._rounds.is_over):
            return
        begin = self.work.seconds
        self._after_cuts_s = begin + seconds
        self._rounds = self._rounds or self._new_rounds()
        self._lemmas = self._rounds.lemmas(self._target, most) or self._lemmas
        self._cuts_s += self.work.seconds - begin

    def _new_rounds(self) -> Rounds:
        def left_s() -> float:
            return min(self.left_s(), self._after_cuts_s - self.work.seconds)

        products = ProductLemmas(self.model)
        rounding = MixedRounding(self.model, left_s, self.work)

        def others(x: Floats, rows: Sequence[Row]) -> list[Lemma]:
            return products.violated(x, rows) or rounding.violated(x, rows)

        lp, is_short = self._relaxation(), not self._by_turns and self.need < ENDLESS
        return Rounds(self.model, lp, others, rounding.of_tableau, left_s, is_short)

    @property
    def is_whole(self) -> bool:
        """Whether some tree proves what is needed."""
        trees = [tree for tree in (self._plain, self._cut) if tree is not None and tree.lines]
        return any(not tree.open and tree.need >= self.need for tree in trees)

    def text(self) -> TreeText | None:
        """Return the stronger proof there is, after what is open has become leaves."""
        for tree in (self._plain, self._cut):
            if tree is not None:
                tree.end()
        trees = [tree for tree in (self._plain, self._cut) if tree is not None and tree.lines]
        if not trees:
            return None
        text = max(trees, key=lambda tree: tree.need).text()
        rounds = self._rounds
        closed = rounds.closed(self._target) if rounds is not None and rounds.bounds else None
        return TreeText([*self._first.lines, *text.lines], text.leaves, closed)


def tree_proof(
    form: StandardForm, model: Model, target: Fraction, left_s: Callable[[], float]
) -> TreeText | None:
    """Return a proof of a target, or of the best bound found when the time is up; see `TreeProof`.

    Raises
    ------
    ModelRefused
        If HiGHS does not accept the model.
    """
    tree = TreeProof(form, model, target, left_s)
    step_s = min(FIRST_S, first_step_s(tree.whole_s))  # no others wait for their turn
    while tree.plain_s > 0 and left_s() > 0:
        if tree.grow_plain(step_s) or tree.interrupted or tree.grow_cut(step_s):
            return tree.text()
        step_s *= GROWTH
    if not tree.interrupted:
        tree.grow()
    return tree.text()


def seconds_left(seconds: float) -> Callable[[], float]:
    """Return a function that counts wall-clock seconds down from now."""
    end = time.perf_counter() + seconds
    return lambda: end - time.perf_counter()
