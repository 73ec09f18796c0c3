"""Trees that prove a bound: branch and bound with a known target, each leaf made exact.

The target is known before the search, so the order of the nodes does not matter for the size of the
tree, and depth first keeps the solver's basis warm. Whatever happens, the result is a proof: what
is still open when the time is up becomes a leaf with the duals of its parent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.proofs.branching import Branching, ends
from gadgetopt.proofs.gomory import Lemma, Rounds, without_unused
from gadgetopt.proofs.leaves import Dual, best_leaf, bounding_leaf, infeasible_leaf
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import Box

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.model import Form, Model
    from gadgetopt.solvers.standard_form import StandardForm

#: Share of the distance between two values of the objective by which a leaf must pass the lower
#: one, and relative size of the doubles' noise.
BEYOND, NOISE = Fraction(1, 10**6), 1e-12


#: Part of the time for a tree without cuts, and the most for making cuts.
PLAIN, CUTS = 0.15, 0.15


@dataclass(frozen=True)
class TreeText:
    """The lines of a proof, and its number of leaves."""

    lines: list[str]
    leaves: int


def root_proof(model: Model, duals: Floats) -> TreeText | None:
    """Return the proof of one leaf that duals of the relaxation give; None if they give none.

    Parameters
    ----------
    duals : ndarray of float, shape (rows,)
        In the model's own sense, as in `SolverOutcome.row_duals`.
    """
    unit = float(model.scale) if model.sense == "min" else -float(model.scale)
    made = best_leaf(Box(model, list(model.rows)), model.costs, _sparse(duals * unit), [])
    return None if made is None else TreeText(["tree", made[0]], 1)


def need_for(model: Model, target: Fraction) -> Fraction:
    """Return what each leaf must prove so that the tree proves a target to tolerance.

    Parameters
    ----------
    target : Fraction
        A `sum(costs * x)`, such as that of the incumbent.
    """
    step = gcd(*model.costs[1])
    slack = abs(target) * Fraction(CLOSED_GAP) / 2
    lattice = step > 0 and all(model.integer[j] for j in model.costs[0])
    if lattice and step > 2 * slack:
        return target - step + BEYOND * step
    return target - slack


class TreeProof:
    """A tree that grows to a proof of a target, in two steps between which others may be tried.

    Parameters
    ----------
    form : StandardForm
        The compiled model.
    model : Model
        The same model in exact numbers.
    target : Fraction
        The least `sum(costs * x)` that is worth proving, such as the incumbent's.
    left_s : callable
        Returns the seconds that are left. Ctrl-C ends a step, too.

    Raises
    ------
    ModelRefused
        If HiGHS does not accept the model.
    """

    def __init__(
        self, form: StandardForm, model: Model, target: Fraction, left_s: Callable[[], float]
    ) -> None:
        self.form, self.model, self.left_s = form, model, left_s
        self.need, self.whole_s = need_for(model, target), left_s()
        self._plain = _Search(model, Relaxation(form, left_s), self.need)
        self._cut: _Search | None = None
        #: Whether Ctrl-C has ended the search; what was found is kept.
        self.interrupted = False

    def grow_plain(self) -> bool:
        """Grow a tree without cuts for a part of the time; return True if it is whole."""
        whole = self._plain.run(lambda: self.left_s() > (1 - PLAIN) * self.whole_s)
        self.interrupted |= self._plain.interrupted
        return whole

    def grow(self) -> None:
        """Grow a tree with cuts, if they help, or the one without until it is whole."""
        try:
            self._grow_with_cuts()
        except KeyboardInterrupt:  # between two nodes, or while cuts are made
            self.interrupted = True
        trees = [self._plain] if self._cut is None else [self._plain, self._cut]
        self.interrupted |= any(tree.interrupted for tree in trees)

    def _grow_with_cuts(self) -> None:
        cuts_s = CUTS * self.whole_s
        end_s = self.left_s() - cuts_s
        rounds = Rounds(self.model, Relaxation(self.form, lambda: self.left_s() - end_s))
        lemmas = rounds.lemmas(float(self.need) / self.model.scale)
        if lemmas:
            self._cut = _Search(self.model, Relaxation(self.form, self.left_s), self.need, lemmas)
            self._cut.run()
            if self._cut.interrupted or self._cut.need >= self.need:
                return
        if not self._plain.interrupted:
            self._plain.run()

    def text(self) -> TreeText | None:
        """Return the stronger proof there is, after what is open has become leaves."""
        for tree in (self._plain, self._cut):
            if tree is not None:
                tree.end()
        trees = [tree for tree in (self._plain, self._cut) if tree is not None and tree.lines]
        return max(trees, key=lambda tree: tree.need).text() if trees else None


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
    if not tree.grow_plain():
        tree.grow()
    return tree.text()


@dataclass
class _Node:
    """A split on the path, and the duals of the node that was split, None if it has none."""

    words: list[str]
    duals: Floats | None
    left: bool = True


class _Search:
    def __init__(self, model: Model, lp: Relaxation, need: Fraction, lemmas: Sequence[Lemma] = ()):
        self.model, self.lp, self.need = model, lp, need
        self.form: Form = model.costs
        self.box = Box(model, [*model.rows, *(lemma.row for lemma in lemmas)])
        for lemma in lemmas:
            lp.add_row(lemma.row)
        self.branching = Branching(model)
        self.path: list[_Node] = []
        #: By row that is split on: its splits on the path, the last one deciding.
        self.rows: dict[int, list[int]] = {}
        self.lemmas = lemmas
        self.lines: list[str] = []
        self.leaves = 0
        #: Whether there are open nodes, and whether they are to become leaves as they are.
        self.open = True
        self.ended = False
        #: Whether Ctrl-C was the reason.
        self.interrupted = False
        #: Duals of the node where the search is, and of the root.
        self.duals: Floats | None = None
        self.root: Floats = np.zeros(len(model.rows))

    def run(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Grow the tree until it is whole, or while a condition holds; return True if it is whole.

        It has no lines if not even its root has a leaf.
        """
        while self.open and (goes_on() or self.ended):
            line = self._line()
            if line is None:
                self.lines = []
                return True
            self.lines.append(line)
            if not line.startswith("l "):
                self._enter(line)
                continue
            self.leaves += 1
            while self.path and not self.path[-1].left:
                self._leave()
            if self.path:
                self._turn()
            else:
                self.open = False
        return not self.open

    def end(self) -> None:
        """Make leaves of all open nodes."""
        self.ended = self.ended or self.open
        self.run()

    def text(self) -> TreeText:
        """Return the proof."""
        lemmas, tree = without_unused(self.lemmas, self.lines, len(self.model.rows))
        return TreeText([*(x for lemma in lemmas for x in lemma.lines), "tree", *tree], self.leaves)

    def _line(self) -> str | None:
        """Return the leaf or the split of the node where the search is."""
        try:
            self.ended = self.ended or (bool(self.path) and self.lp.left_s() <= 0)
            self.duals = None
            return self._weakest() if self.ended else self._searched()
        except KeyboardInterrupt:
            self.ended = self.interrupted = True
            return self._weakest()

    def _searched(self) -> str | None:
        solved = self.lp.solve()
        if solved.infeasible and solved.ray is not None:
            line = infeasible_leaf(self.box, *self._exactly(solved.ray))
            if line is not None:
                return line
        target = float(self.need) / self.model.scale
        duals = None if solved.duals is None else solved.duals * float(self.model.scale)
        if duals is not None and solved.objective >= target - NOISE * abs(target):
            made = bounding_leaf(self.box, self.form, *self._exactly(duals), self.need)
            if made is not None:
                return made[0]
        if not self.path:
            self.root = duals if duals is not None else self.root
            if solved.x is None and self.lp.left_s() <= 0:
                return self._weakest()
        line = None
        if solved.x is not None:
            line = self.branching.split(self.box, self.lp, solved.x, solved.objective, target)
        self.duals = duals
        return line or self._any_split(solved.x) or self._weakest()

    def _weakest(self) -> str | None:
        """Return a leaf that need not reach the target; then no other leaf need pass it either."""
        parents = self.path[-1].duals if self.path else None
        for duals in (self.duals, parents, self.root):
            made = None
            if duals is not None:
                made = best_leaf(self.box, self.form, *self._exactly(duals))
            if made is not None:
                self.need = min(self.need, made[1])
                return made[0]
        return None

    def _any_split(self, x: Floats | None) -> str | None:
        """Return a split on a column that is not fixed, where the relaxation suggests none."""
        for j in self.branching.integers.tolist():
            low, high = self.box.lower[j], self.box.upper[j]
            if low is None or high is None or low >= high:
                continue
            middle = (int(low) + int(high)) // 2
            at = middle if x is None else min(max(round(x[j]), int(low)), int(high) - 1)
            return f"b {j} {at}"
        return None

    def _exactly(self, duals: Floats) -> tuple[list[Dual], list[Dual]]:
        """Return the duals of rows, and those that belong to splits on rows."""
        rows, splits = dict(_sparse(duals)), []
        for i, along in self.rows.items():
            y = rows.get(i, 0.0)
            # A split's left side is an upper side, its right side a lower one.
            for t in reversed(along):
                if y and self.box.splits[t][2 if y > 0 else 3] is not None:
                    splits.append((t, rows.pop(i)))
                    break
        return list(rows.items()), splits

    # -- the path --------------------------------------------------------------------------------

    def _enter(self, line: str) -> None:
        words = line.split()
        self.box.split(words)
        self.path.append(_Node(words, self.duals))
        if words[0] == "g":
            self.rows.setdefault(int(words[1]), []).append(len(self.box.splits) - 1)
        self._apply(words)

    def _turn(self) -> None:
        self.box.turn()
        self.path[-1].left = False
        self._apply(self.path[-1].words)

    def _leave(self) -> None:
        words = self.path.pop().words
        self.box.leave()
        if words[0] == "g":
            self.rows[int(words[1])].pop()
        self._apply(words)

    def _apply(self, words: list[str]) -> None:
        """Give the relaxation the bounds that now hold for the column or row of a split."""
        at = int(words[1])
        if words[0] == "b":
            self.lp.bound_column(at, *ends(self.box, at))
            return
        _, _, low, high, unit = self.box.rows[at]
        sides = [-np.inf if low is None else low / unit, np.inf if high is None else high / unit]
        for t in self.rows[at]:
            below, above = self.box.splits[t][2:4]
            sides[0] = sides[0] if below is None else max(sides[0], float(below))
            sides[1] = sides[1] if above is None else min(sides[1], float(above))
        self.lp.bound_row(at, *sides)


def _sparse(duals: Floats) -> list[Dual]:
    used = np.flatnonzero(np.isfinite(duals) & (duals != 0))
    return [(int(i), float(duals[i])) for i in used]


def seconds_left(seconds: float) -> Callable[[], float]:
    """Return a function that counts wall-clock seconds down from now."""
    end = time.perf_counter() + seconds
    return lambda: end - time.perf_counter()
