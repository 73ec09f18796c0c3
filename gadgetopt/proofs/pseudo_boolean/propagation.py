"""Unit propagation over many constraints, with reasons: what finds the hints of a proof."""

from __future__ import annotations

from collections.abc import Iterable

from gadgetopt.proofs.pseudo_boolean.kernel import Constraint

#: Stands for the negation of what is to be derived. By definition.
NEGATION = 0


class Propagation:
    """Constraints by number, and the literals that they imply.

    Constraints are added in ascending order and taken away in descending order.

    Attributes
    ----------
    conflict : list of int or None
        If the constraints have a conflict by propagation: the constraints that lead to it, in the
        order of propagation.
    """

    def __init__(self) -> None:
        self.constraints: dict[int, Constraint] = {}
        self.conflict: list[int] | None = None
        self._slack: dict[int, int] = {}
        self._largest: dict[int, int] = {}
        #: By literal: the constraints with it, and its coefficients.
        self._with: dict[int, list[tuple[int, int]]] = {}
        #: Position of each true literal in the order of propagation.
        self._true: dict[int, int] = {}
        self._trail: list[int] = []
        self._reasons: list[int] = []
        #: Length of the trail before each constraint, but for those without effect.
        self._before: dict[int, int] = {}

    def add(self, number: int, constraint: Constraint) -> None:
        """Add a constraint and propagate."""
        start = len(self._trail)
        self._insert(number, constraint)
        wrong = self._visit(number, start)
        if len(self._trail) > start:
            self._before[number] = start
        if wrong is not None:
            self.conflict = self._explain(wrong)

    def take(self, number: int) -> None:
        """Take the last constraint away, and what it implied."""
        self._undo(self._before.pop(number, len(self._trail)))
        self._remove(number)
        self.conflict = None

    def hints(self, derived: Constraint) -> list[int] | None:
        """Return the constraints by which `derived` follows, in order; None if it does not."""
        terms, degree = derived
        start = len(self._trail)
        negation = {-x: a for x, a in terms.items()}, sum(terms.values()) - degree + 1
        self._insert(NEGATION, negation)
        wrong = self._visit(NEGATION, start)
        found = None if wrong is None else self._explain(wrong)
        self._undo(start)
        self._remove(NEGATION)
        return found

    def _insert(self, number: int, constraint: Constraint) -> None:
        terms, degree = constraint
        self.constraints[number] = constraint
        true = self._true
        self._slack[number] = sum(a for x, a in terms.items() if -x not in true) - degree
        self._largest[number] = max(terms.values(), default=0)
        for x, a in terms.items():
            self._with.setdefault(x, []).append((number, a))

    def _remove(self, number: int) -> None:
        for x in self.constraints.pop(number)[0]:
            self._with[x].pop()
        del self._slack[number], self._largest[number]

    def _visit(self, number: int, position: int) -> int | None:
        """Propagate a constraint, then the trail from a position on; return one in conflict."""
        slack, largest, true = self._slack, self._largest, self._true
        if slack[number] < 0:
            return number
        self._imply(number)
        while position < len(self._trail):
            wrong = None
            implying = []
            for i, a in self._with.get(-self._trail[position], ()):
                left = slack[i] = slack[i] - a
                if left < 0:
                    wrong = i
                elif left < largest[i]:
                    implying.append(i)
            position += 1
            if wrong is not None:
                self._visited = position
                return wrong
            for i in implying:
                self._imply(i)
        self._visited = len(true)
        return None

    def _imply(self, number: int) -> None:
        slack, true = self._slack[number], self._true
        if slack >= self._largest[number]:
            return
        for x, a in self.constraints[number][0].items():
            if a > slack and x not in true and -x not in true:
                true[x] = len(self._trail)
                self._trail.append(x)
                self._reasons.append(number)

    def _undo(self, length: int) -> None:
        """Shorten the trail."""
        for position in range(length, len(self._trail)):
            x = self._trail[position]
            del self._true[x]
            if position < self._visited:
                for i, a in self._with.get(-x, ()):
                    self._slack[i] += a
        self._visited = min(self._visited, length)
        del self._trail[length:], self._reasons[length:]

    _visited = 0

    def _explain(self, wrong: int) -> list[int]:
        """Return the constraints that lead to a conflict, in the order of propagation."""
        needed = set(self._false_enough(wrong, len(self._trail), -1))
        order = [wrong]
        for position in range(max(needed, default=-1), -1, -1):
            if position in needed:
                reason, x = self._reasons[position], self._trail[position]
                if order[-1] != reason:
                    order.append(reason)
                room = self.constraints[reason][0][x] - 1
                needed.update(self._false_enough(reason, position, room))
        return order[::-1]

    def _false_enough(self, number: int, before: int, room: int) -> Iterable[int]:
        """Return positions of false literals that leave a constraint a slack of at most `room`."""
        terms, degree = self.constraints[number]
        slack = sum(terms.values()) - degree
        false = [
            (a, p) for x, a in terms.items() if (p := self._true.get(-x)) is not None and p < before
        ]
        chosen = []
        for a, position in sorted(false, key=lambda ap: (-ap[0], ap[1])):
            if slack <= room:
                break
            slack -= a
            chosen.append(position)
        return chosen
