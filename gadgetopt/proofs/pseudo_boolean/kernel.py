"""Checks pseudo-Boolean proofs. It imports the standard library only and computes with integers.

A constraint is a sum of literals with positive coefficients that is at least a degree. A literal is
`v` or `-v`, the negation of variable v; in a proof `x3` and `~x3`. A proof is text, a step a line.
The formula's constraints have the numbers 1, 2, ...; each step that derives one counts on.

| step | what it derives | why it holds |
|---|---|---|
| `pol ...` | a sum in reverse Polish notation, see `Proof.polish` | cutting planes |
| `rup C ; ids` | C | unit propagation over its negation (0) and `ids`, in this order, conflicts |
| `red C ; l` | C | l is a literal of a new variable, and C holds wherever l is true |
| `less N` | objective <= N - 1 | an assumption: what is refuted under it is at least N |
| `del ids` | nothing; forgets constraints | |
| `end id` | nothing; ends the proof | constraint `id` cannot be satisfied |

The rules are cutting planes with reverse unit propagation, and redundance (Gocht and Nordström,
AAAI 2021) for new variables only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

#: Literals with positive coefficients, at most one a variable; and the degree.
Constraint = tuple[dict[int, int], int]

#: Products of more binary digits are refused: nobody needs them, and they could grow without end.
#: By definition.
MOST_BITS = 100_000

#: Most numbers in constraints at hand, in words of 64 bits, and most constraints on a stack: a few
#: characters write a constraint of any length. By definition.
MOST_WORDS, DEEPEST = 5 * 10**7, 100


def normal(terms: Iterable[tuple[int, int]], degree: int) -> Constraint:
    """Return `sum(a * literal) >= degree` with positive coefficients, one literal a variable."""
    total: dict[int, int] = {}
    for a, literal in terms:
        if literal < 0:
            degree -= a  # a * ~x = a - a * x
        total[abs(literal)] = total.get(abs(literal), 0) + (a if literal > 0 else -a)
    degree -= sum(a for a in total.values() if a < 0)
    return {(v if a > 0 else -v): abs(a) for v, a in total.items() if a}, degree


class Proof:
    """What a proof has derived so far.

    Parameters
    ----------
    variables : int
        The formula's variables are 1, ..., `variables`; each is 0 or 1.
    formula : iterable of Constraint
    objective : list of (coefficient, literal)
        To be minimised.
    """

    def __init__(
        self, variables: int, formula: Iterable[Constraint], objective: list[tuple[int, int]]
    ) -> None:
        self.variables = variables
        self.known = dict(enumerate(formula, 1))
        self.last = len(self.known)
        self.words = 0  # without the formula's own
        self.objective = objective
        self.bound: int | None = None

    def check(self, lines: Iterable[str]) -> int | None:
        """Return the lower bound that the steps prove; None if nothing satisfies the formula.

        Raises
        ------
        ValueError
            If a step does not hold or cannot be read, or there is no end.
        """
        for number, line in enumerate(lines, 1):
            try:
                if self._step(line):
                    return self.bound
            except (ValueError, LookupError) as error:
                raise ValueError(f"line {number}: cannot be relied on: {error}") from None
        raise ValueError("has no end")

    def _step(self, line: str) -> bool:
        """Check a step; return True at the end of the proof."""
        rule, *words = line.split()
        if rule == "end":
            terms, degree = self.known[int(words[0])]
            if sum(terms.values()) >= degree:
                raise ValueError("the last constraint can be satisfied")
            return True
        if rule == "del":
            for word in words:
                self.words -= _words(self.known.pop(int(word)))
            return False
        if rule == "pol":
            derived = self.polish(words)
        elif rule == "less":
            n = int(words[0])
            self.bound = n if self.bound is None else min(n, self.bound)
            derived = normal(((-a, literal) for a, literal in self.objective), 1 - n)
        elif rule in ("rup", "red"):
            k = words.index(";")
            new = _literal(words[k + 1]) if rule == "red" else 0
            if new and abs(new) <= self.variables:
                raise ValueError(f"{words[k + 1]} is not new")
            self.variables = max(abs(new), self.variables)
            derived = self.constraint(words[:k])
            if rule == "rup" and not self._conflicts(derived, map(int, words[k + 1 :])):
                raise ValueError("no conflict by unit propagation")
            if rule == "red" and derived[0].get(new, 0) < derived[1]:
                raise ValueError(f"can be violated where {words[k + 1]} is true")
        else:
            raise ValueError(f"{rule!r} is no step")
        self.last += 1
        self.known[self.last] = derived
        self.words += _words(derived)
        if self.words > MOST_WORDS:
            raise ValueError("more numbers at hand than the limit for a proof")
        return False

    def constraint(self, words: list[str]) -> Constraint:
        """Read `a literal a literal ... >= degree`."""
        *terms, sign, degree = words
        if sign != ">=":
            raise ValueError("is no constraint")
        pairs = zip(map(int, terms[::2]), map(self._old, terms[1::2]), strict=True)
        return normal(pairs, int(degree))

    def _old(self, word: str) -> int:
        """Read a literal of a variable that exists."""
        if not 1 <= abs(literal := _literal(word)) <= self.variables:
            raise ValueError(f"{word} is unknown")
        return literal

    def polish(self, words: list[str]) -> Constraint:
        """Evaluate: a constraint's number, a literal (it is >= 0), and what changes the last value.

        `+` adds the last two, `n *` multiplies by n, `n d` divides by n and rounds up, `s` caps the
        coefficients at the degree, `literal w` takes the literal's variable out.
        """
        stack: list[Constraint] = []
        for word, after in zip(words, [*words[1:], ""], strict=True):
            if word in ("*", "d", "w"):
                continue  # done with the number or literal before it
            if word == "+":
                right = stack.pop()
                value = _sum(stack.pop(), right)
            elif word == "s":
                terms, degree = stack.pop()
                degree = max(degree, 0)
                value = {x: min(a, degree) for x, a in terms.items() if degree}, degree
            elif after in ("*", "d"):
                (terms, degree), n = stack.pop(), int(word)
                if n <= 0 or max(abs(degree), sum(terms.values())).bit_length() > MOST_BITS:
                    raise ValueError("the factor is not positive, or the product is too long")
                if after == "*":
                    value = {x: n * a for x, a in terms.items()}, n * degree
                else:
                    value = {x: -(-a // n) for x, a in terms.items()}, -(-degree // n)
            elif after == "w":
                (terms, degree), out = stack.pop(), abs(self._old(word))
                degree -= terms.get(out, 0) + terms.get(-out, 0)
                value = {x: a for x, a in terms.items() if abs(x) != out}, degree
            elif word[0] in "x~":
                value = {self._old(word): 1}, 0
            else:
                value = dict(self.known[int(word)][0]), self.known[int(word)][1]
            stack.append(value)
            if len(stack) > DEEPEST:
                raise ValueError("a deeper stack than the limit for a proof")
        (value,) = stack
        return value

    def _conflicts(self, derived: Constraint, hints: Iterator[int]) -> bool:
        """Return True if the negation of `derived` conflicts with the constraints named."""
        terms, degree = derived
        negation = {-x: a for x, a in terms.items()}, sum(terms.values()) - degree + 1
        true: set[int] = set()
        for i in hints:
            terms, degree = self.known[i] if i else negation
            slack = sum(a for x, a in terms.items() if -x not in true) - degree
            if slack < 0:
                return True
            true.update(x for x, a in terms.items() if a > slack and -x not in true)
        return False


def _words(constraint: Constraint) -> int:
    """Return how many words of 64 bits a constraint needs at most."""
    return 1 + len(constraint[0]) * (1 + sum(constraint[0].values()).bit_length() // 64)


def _sum(left: Constraint, right: Constraint) -> Constraint:
    """Add two constraints; the first one's literals are changed in place."""
    total, degree = left[0], left[1] + right[1]
    for x, a in right[0].items():
        against = total.pop(-x, 0)
        degree -= min(a, against)
        if a > against:
            total[x] = total.get(x, 0) + a - against
        elif a < against:
            total[-x] = against - a
    return total, degree


def _literal(word: str) -> int:
    return -int(word[2:]) if word[0] == "~" else int(word[1:])
