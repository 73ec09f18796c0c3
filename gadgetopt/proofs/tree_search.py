"""One tree of a proof: depth first; bounds that follow from single rows are splits of their own.

A split that propagation makes has one side that a leaf of a single row closes. When the other side
is done and no leaf there used the new bound, the split and that leaf are left out of the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gadgetopt.proofs.branching import Branching, Node, ends
from gadgetopt.proofs.exactness.exact_leaves import ExactLeaves
from gadgetopt.proofs.leaves import (
    Leaves,
    row_leaf,
    sparse_duals,
    used_bounds,
)
from gadgetopt.proofs.lemmas.reduced_costs import Priced, priced
from gadgetopt.proofs.lemmas.splits import Lemma, without_unused
from gadgetopt.proofs.propagation import OBJECTIVE, PRICED, Propagation, Side, Tightening
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import Box

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.model import Form, Model

#: Duals: doubles, or integers over a divisor.
N = TypeVar("N", int, float)

#: Relative size of the doubles' noise. Tuned: `benchmarks/constants.py`.
NOISE = 1e-12


@dataclass(frozen=True)
class TreeText:
    """The lines of a proof, and its number of leaves.

    Attributes
    ----------
    closed : float or None
        The part of the gap between relaxation and target that cuts closed; None if none were made.
    """

    lines: list[str]
    leaves: int
    closed: float | None = None


class TreeSearch:
    """A tree that grows until each of its leaves proves what is needed, or is ended before.

    Parameters
    ----------
    model : Model
    lp : Relaxation
        Of the model; the tree's own.
    need : Fraction
        What each leaf must prove of `sum(costs * x)`.
    lemmas : sequence of Lemma
    prices : bool
        Whether columns may be fixed at the root's reduced costs.
    offer : callable, optional
        Given each optimum of a relaxation below the target whose integer columns are integers.
    """

    def __init__(
        self,
        model: Model,
        lp: Relaxation,
        need: Fraction,
        lemmas: Sequence[Lemma] = (),
        prices: bool = False,
        offer: Callable[[Floats], None] | None = None,
    ):
        self.model, self.lp, self.need = model, lp, need
        self.form: Form = model.costs
        self.box = Box(model, [*model.rows, *(lemma.row for lemma in lemmas)])
        for lemma in lemmas:
            lp.add_row(lemma.row)
        self._entries = sum(len(row[0]) for row in self.box.rows)
        self.of_duals = Leaves(self.box, self.form)
        self._exact = ExactLeaves(self)
        self._offer = offer
        self.path: list[Node] = []
        #: By row that is split on: its splits on the path, the last one deciding.
        self.rows: dict[int, list[int]] = {}
        #: By column and side: the splits on the path that have set the bound, the last one now.
        self.bounds: dict[tuple[int, bool], list[Node]] = {}
        #: Columns that are split on on the path, each with the number of these splits.
        self._bounded: dict[int, int] = {}
        self.lemmas = lemmas
        self._branching: Branching | None = None  # most trees are one leaf
        self.lines: list[str | None] = []
        self.leaves = 0
        #: Whether there are open nodes, and whether they are to become leaves as they are.
        self.open = True
        self.ended = False
        #: Whether Ctrl-C was the reason.
        self.interrupted = False
        #: Duals of the node where the search is, and of the root.
        self.duals: Floats | None = None
        self.root: Floats = np.zeros(len(model.rows))
        self._root_bound = float(need)
        # What propagation works on, made when the root is split; what it found and is not yet split
        # on; whether it has yet to look at the node where the search is.
        self._propagation: Propagation | None = None
        self._found: list[Tightening] = []
        self._conflict: Side | None = None
        self._is_new = True
        # Whether all that it found here did follow, so that what rests on it may.
        self._all_follow = True
        # The leaf of the split that propagation has just made, and whether it closes the left side;
        # how many splits on the path propagation made.
        self._closing_next: tuple[str, bool] | None = None
        self._prices = prices
        self._priced: Priced | None = None
        self._propagated = 0

    @property
    def branching(self) -> Branching:
        """What chooses splits."""
        if self._branching is None:
            self._branching = Branching(self.model)
        return self._branching

    @property
    def done(self) -> float:
        """The part of the tree that is done, if both sides of each split were alike."""
        part, share = 0.0, 1.0
        for node in self.path:
            if not node.closing:
                share /= 2
                part += 0.0 if node.left else share
        return part if self.open else 1.0

    def lower(self, part: float) -> None:
        """Be content with less: give up a part of what is needed above the root's bound."""
        over = self.need - Fraction(self._root_bound)
        self.need -= max(Fraction(0), over) * Fraction(part)

    def run(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Grow the tree until it is whole, or while a condition holds; return True if it is whole.

        It has no lines if not even its root has a leaf.
        """
        while self.open and (goes_on() or self.ended):
            is_closing = bool(self.path) and self.path[-1].closes_here
            line = self._line()
            if is_closing or self._closing_next is not None:
                self.lp.work.propagated()
            else:
                self.lp.work.node(self._entries)
            if line is None:
                self.lines = []
                self.open = False
                return True
            self.lines.append(line)
            if not line.startswith("l "):
                self._enter(line)
                continue
            self.leaves += 1
            self._close(line)
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
        tree = [line for line in self.lines if line is not None]
        lemmas = self.lemmas
        if lemmas:
            lemmas, tree = without_unused(lemmas, tree, len(self.model.rows))
        return TreeText([*(x for lemma in lemmas for x in lemma.lines), "tree", *tree], self.leaves)

    # -- the leaf or the split of the node where the search is -----------------------------------

    def _line(self) -> str | None:
        if self.path and self.path[-1].closes_here:
            return self.path[-1].closing
        try:
            self.ended = self.ended or (bool(self.path) and self.lp.left_s() <= 0)
            self.duals = None
            return self._weakest() if self.ended else self._searched()
        except KeyboardInterrupt:
            self.ended = self.interrupted = True
            return self._weakest()

    def _searched(self) -> str | None:
        if self.path and (line := self._propagated_line()) is not None:
            return line
        solved = self.lp.solve()
        if solved.infeasible:
            ray = [] if solved.ray is None else sparse_duals(solved.ray)
            line = self.of_duals.infeasible(*self.parted(ray)) or self._exact.infeasible()
            if line is not None:
                return line
        target = float(self.need) / self.model.scale
        duals = None if solved.duals is None else solved.duals * float(self.model.scale)
        if duals is not None and solved.objective >= target - NOISE * abs(target):
            made = self.of_duals.bounding(*self.parted(sparse_duals(duals)), self.need)
            made = made or self._exact.bounding()
            if made is not None and made[1] >= self.need:
                return made[0]
        if not self.path:
            if duals is not None:
                objective = solved.objective * self.model.scale
                self._exact.settle_root(sparse_duals(duals), objective)
                self._root_bound = objective
            self.root = duals if duals is not None else self.root
            if solved.x is None and self.lp.left_s() <= 0:
                return self._weakest()
            if self._propagation is None:
                self._price(duals)
                if (line := self._propagated_line()) is not None:
                    self.duals = duals
                    return line
        line = None
        if solved.x is not None:
            if self._offer is not None and self.branching.is_integral(solved.x):
                self._offer(solved.x)
            line = self.branching.split(self.box, self.lp, solved.x, solved.objective, target)
        self.duals = duals
        self._is_new = True
        return line or self._any_split(solved.x) or self._weakest()

    def _weakest(self) -> str | None:
        """Return a leaf that need not reach the target; then no other leaf need pass it either."""
        self._found, self._conflict, self._closing_next = [], None, None
        parents = self.path[-1].duals if self.path else None
        # Duals of a relaxation that went astray may prove less than those of the node before.
        known = [duals for duals in (self.duals, parents, self.root) if duals is not None]
        leaves = (self.of_duals.best(*self.parted(sparse_duals(duals))) for duals in known)
        made = max((leaf for leaf in leaves if leaf), key=lambda leaf: leaf[1], default=None)
        if made is None and self.duals is not None:
            made = self._exact.bounding()
        of_root = self._exact.of_root()
        if of_root is not None and (made is None or of_root[1] > made[1]):
            made = of_root
        if made is None:
            return None
        self.need = min(self.need, made[1])
        return made[0]

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

    def parted(
        self, duals: Sequence[tuple[int, N]]
    ) -> tuple[list[tuple[int, N]], list[tuple[int, N]]]:
        """Return the duals of rows, and those that belong to splits on rows."""
        rows, splits = dict(duals), []
        for i, along in self.rows.items():
            y = rows.get(i, 0.0)
            # A split's left side is an upper side, its right side a lower one.
            for t in reversed(along):
                if y and self.box.splits[t][2 if y > 0 else 3] is not None:
                    splits.append((t, rows.pop(i)))
                    break
        return list(rows.items()), splits

    # -- propagation -----------------------------------------------------------------------------

    def _price(self, duals: Floats | None) -> None:
        """Make a lemma of the root's duals if many columns are fixed with it."""
        if self._prices and duals is not None:
            self._priced = priced(self.model, self.box, sparse_duals(duals), self.need)
        if self._priced is not None:
            self.lemmas = [*self.lemmas, self._priced.lemma]
            self.box.rows.append(self._priced.lemma.row)

    def _propagated_line(self) -> str | None:
        """Return the next split that propagation makes here, or a leaf if it finds a conflict."""
        if self._is_new:
            self._is_new = False
            if self._propagation is None:
                need, rows = float(self.need), self.box.rows
                reduced = None if self._priced is None else self._priced.reduced
                self._propagation = Propagation(
                    self.model, rows, need, self.branching.packing, reduced
                )
            found = self._propagation.run(self.of_duals.low, self.of_duals.high)
            self._found, self._conflict = found.bounds[::-1], found.conflict
            self._all_follow = True
        while self._found:
            column, upper, value, side, is_certain = self._found.pop()
            now = self.box.upper[column] if upper else self.box.lower[column]
            if now is not None and (now <= value if upper else now >= value):
                continue
            line = f"b {column} {value if upper else value - 1}"
            if is_certain and self._all_follow:
                self._closing_next = self._words_of(side), not upper
                return line
            closing = self._closing(line, side, closes_left=not upper)
            if closing is not None:
                self._closing_next = closing, not upper
                return line
            self._all_follow = False
        conflict, self._conflict = self._conflict, None
        return None if conflict is None else self._leaf_of(conflict)

    def _closing(self, line: str, side: Side, closes_left: bool) -> str | None:
        """Return the leaf of the side of a split that a row closes."""
        self.box.split(line.split())
        if not closes_left:
            self.box.turn()
        leaf = self._leaf_of(side)
        if closes_left:
            self.box.turn()
        self.box.leave()
        return leaf

    def _words_of(self, side: Side) -> str:
        """Return the leaf of a side, which is not made to see that it holds."""
        if side.row == OBJECTIVE:
            return "l 0 1"
        if side.row == PRICED:
            assert self._priced is not None
            return self._priced.line
        rows, splits = self.parted([(side.row, int(side.dual))])
        i, y = (rows or splits)[0]
        return f"l 0 0 {i} {y}" if rows else f"l 0 0 | {i} {y}"

    def _leaf_of(self, side: Side) -> str | None:
        if side.row == OBJECTIVE:
            return row_leaf(self.box, self.form, self.need, [], [])
        if side.row == PRICED:
            assert self._priced is not None
            return self._priced.leaf(self.box, self.form, self.need)
        return row_leaf(self.box, None, self.need, *self.parted([(side.row, side.dual)]))

    def _close(self, leaf: str) -> None:
        """Note on which bounds of propagation a leaf rests."""
        if self.path and self.path[-1].closes_here:
            self.path[-1].closed_at = len(self.lines) - 1
        elif self._propagated:
            self._rests_on(leaf)

    def _rests_on(self, leaf: str) -> None:
        priced = self._priced
        if priced is not None and leaf == priced.line:
            used = priced.used_bounds(self._bounded)
        else:
            used = used_bounds(self.box, self.form, leaf, self._bounded)
        for key in used:
            setting = self.bounds.get(key)
            if setting:
                setting[-1].is_used = True

    # -- the path --------------------------------------------------------------------------------

    def _enter(self, line: str) -> None:
        words = line.split()
        self.box.split(words)
        node = Node(words, self.duals, at=len(self.lines) - 1)
        if self._closing_next is not None:
            node.closing, node.closes_left = self._closing_next
            node.duals = self.path[-1].duals if self.path and self.duals is None else self.duals
            self._closing_next = None
            self._propagated += 1
        self.path.append(node)
        if words[0] == "g":
            self.rows.setdefault(int(words[1]), []).append(len(self.box.splits) - 1)
        elif words[0] == "b":
            j = int(words[1])
            self.bounds.setdefault((j, True), []).append(node)
            self._bounded[j] = self._bounded.get(j, 0) + 1
        if not node.closes_here:
            self._apply(node)

    def _turn(self) -> None:
        node = self.path[-1]
        self.box.turn()
        node.left = False
        if node.words[0] == "b":
            j = int(node.words[1])
            self.bounds[j, True].pop()
            self.bounds.setdefault((j, False), []).append(node)
        if not node.closing:
            self._is_new, self._found, self._conflict = True, [], None
        if not node.closes_here:
            self._apply(node)

    def _leave(self) -> None:
        node = self.path.pop()
        self.box.leave()
        if node.words[0] == "g":
            self.rows[int(node.words[1])].pop()
        elif node.words[0] == "b":
            j = int(node.words[1])
            self.bounds[j, False].pop()
            self._bounded[j] -= 1
            if not self._bounded[j]:
                del self._bounded[j]
        if node.closing:
            self._propagated -= 1
            self._settle(node)
        self._apply(node)

    def _settle(self, node: Node) -> None:
        """Leave out a split of propagation that was of no use, or note on what its leaf rests."""
        if not node.is_used:
            self.lines[node.at] = self.lines[node.closed_at] = None
            self.leaves -= 1
            return
        if not self._propagated:
            return
        self.box.split(node.words)
        if not node.closes_left:
            self.box.turn()
        self._rests_on(node.closing)
        if node.closes_left:
            self.box.turn()
        self.box.leave()

    def _apply(self, node: Node) -> None:
        """Give the relaxation the bounds that now hold for the column or row of a split."""
        at = int(node.words[1])
        if node.words[0] == "b":
            low, high = ends(self.box, at)
            self.of_duals.low[at], self.of_duals.high[at] = low, high
            self.lp.bound_column(at, low, high)
            return
        _, _, low_side, high_side, unit = self.box.rows[at]
        sides = [
            -np.inf if low_side is None else low_side / unit,
            np.inf if high_side is None else high_side / unit,
        ]
        for t in self.rows[at]:
            below, above = self.box.splits[t][2:4]
            sides[0] = sides[0] if below is None else max(sides[0], float(below))
            sides[1] = sides[1] if above is None else min(sides[1], float(above))
        self.lp.bound_row(at, *sides)
        if self._propagation is not None:
            self._propagation.bound_row(at, *sides)
