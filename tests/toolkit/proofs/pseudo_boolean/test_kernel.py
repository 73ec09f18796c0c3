"""The checker of pseudo-Boolean proofs: no text proves more than is true."""

from __future__ import annotations

import ast
import itertools
import os
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from gadgetopt.proofs.pseudo_boolean import kernel
from gadgetopt.proofs.pseudo_boolean.kernel import Constraint, Proof, normal

#: Formulas with a random proof each, and changes of one proof.
DRAWN = int(os.environ.get("GADGETOPT_FUZZ", "2000"))

#: min 3 x1 + 2 x2 + 2 x3 with x1 + x2 >= 1, x1 + x3 >= 1, x2 + x3 >= 1: 4, with x2 and x3.
FORMULA = [normal([(1, a), (1, b)], 1) for a, b in ((1, 2), (1, 3), (2, 3))]
OBJECTIVE = [(3, 1), (2, 2), (2, 3)]
#: The sum of the three rows, halved: x1 + x2 + x3 >= 2; twice that and x1 >= 0: at least 4.
PROOF = ["pol 1 2 + 3 + 2 d", "less 4", "pol 4 2 * x1 + 5 +", "end 6"]


def check(lines, formula=FORMULA, objective=OBJECTIVE, variables=3):
    return Proof(variables, formula, objective).check(lines)


def test_a_sum_halved_and_rounded_proves_the_optimum():
    assert check(PROOF) == 4


def test_a_weaker_assumption_proves_less():
    assert check([PROOF[0], "less 3", *PROOF[2:]]) == 3
    assert check([PROOF[0], "less -7", *PROOF[2:]]) == -7


def test_an_assumption_beyond_the_optimum_refutes_nothing():
    with pytest.raises(ValueError, match="satisfied"):
        check([PROOF[0], "less 5", *PROOF[2:]])


def test_the_least_of_the_assumptions_counts():
    lines = ["less 2", PROOF[0], "less 4", "pol 5 2 * x1 + 6 +", "end 7"]
    assert check(lines) == 2


def test_unit_propagation_over_hints_in_order():
    # Not x1: x2 by 1, x3 by 2. Cost 4 is not below 4.
    lines = ["less 4", "rup 1 x1 >= 1 ; 0 1 2 4", "rup >= 1 ; 5 4 1 2 3", "end 6"]
    assert check(lines) == 4
    with pytest.raises(ValueError, match="no conflict"):
        check(["less 4", "rup 1 x1 >= 1 ; 4 2 1 0"])


def test_a_formula_without_solutions_has_no_bound():
    empty = [normal([(1, 1)], 1), normal([(1, -1)], 1)]
    assert check(["pol 1 2 +", "end 3"], empty) is None


def test_a_new_variable_is_defined():
    # x4 says that both x2 and x3 are there; it may be used, and defined in one direction only.
    lines = ["red 2 ~x4 1 x2 1 x3 >= 2 ; ~x4", "pol 4 x2 w", "less 4", *PROOF[:1]]
    assert check([*lines, "pol 7 2 * x1 + 6 +", "end 8"]) == 4


@pytest.mark.parametrize(
    "lines",
    [
        [],
        PROOF[:-1],
        ["end 1"],
        ["end 0"],
        ["end 9"],
        ["end"],
        ["", *PROOF],
        ["nonsense"],
        ["less"],
        ["less 4.0", "end 1"],
        ["pol", "end 1"],
        ["pol 1 2", "end 4"],
        ["pol 1 0 d", "end 4"],
        ["pol 1 -2 d", "end 4"],
        ["pol 1 -1 *", "end 4"],
        ["pol 1 0 *", "end 4"],
        ["pol 9", "end 4"],
        ["pol 4", "end 4"],
        ["pol x4", "end 4"],
        ["pol x0", "end 4"],
        ["pol 1 x9 w", "end 4"],
        ["pol +", "end 4"],
        ["pol s", "end 4"],
        ["rup >= 1 ;", "end 4"],
        ["rup >= 1", "end 4"],
        ["rup 1 x1 >= 1 ; 0", "end 4"],
        ["rup 1 x1 >= 1 ; 0 7", "end 4"],
        ["rup 1 x7 >= 1 ; 0", "end 4"],
        ["rup 1 x1 > 1 ; 0", "end 4"],
        ["rup x1 >= 1 ; 0", "end 4"],
        # `red` on a variable of the formula, on one defined before, on one that is not there; and a
        # witness that does not satisfy it.
        ["red 1 ~x1 >= 1 ; ~x1", "end 4"],
        ["red 1 x1 >= 1 ; x1", "end 4"],
        ["red 1 x4 >= 1 ; x4", "red 1 ~x4 >= 1 ; ~x4", "pol 4 5 +", "end 6"],
        ["red 1 x1 >= 1 ; x4", "end 4"],
        ["red 1 x4 1 x1 >= 2 ; x4", "end 4"],
        ["red 1 x4 >= 1 ; ~x4", "end 4"],
        ["red >= 1 ;", "end 4"],
        ["del 1", "pol 1", "end 4"],
        ["del 9"],
        ["pol 1 " + "9" * 5000 + " *"],
        ["pol 1" + f" {'9' * 4000} *" * 20],
    ],
)
def test_what_is_no_proof_is_rejected(lines):
    with pytest.raises(ValueError, match=r"relied on|no end"):
        check(lines)


def brute_force(formula: list[Constraint], objective, variables: int) -> int | None:
    best = None
    for signs in itertools.product((1, -1), repeat=variables):
        true = {sign * v for v, sign in enumerate(signs, 1)}
        if all(sum(a for x, a in c.items() if x in true) >= d for c, d in formula):
            cost = sum(a for a, x in objective if x in true)
            best = cost if best is None else min(best, cost)
    return best


def drawn_formula(rng: Random) -> tuple[list[Constraint], list[tuple[int, int]], int]:
    variables = rng.randint(1, 4)
    literals = [x for v in range(1, variables + 1) for x in (v, -v)]

    def terms() -> list[tuple[int, int]]:
        return [(rng.randint(-2, 4), rng.choice(literals)) for _ in range(rng.randint(1, 3))]

    return (
        [normal(terms(), rng.randint(0, 4)) for _ in range(rng.randint(1, 4))],
        terms(),
        variables,
    )


def random_steps(rng: Random, constraints: int, variables: int) -> Iterator[str]:
    """Draw steps that may be wrong anywhere."""
    last = constraints
    for _ in range(rng.randint(1, 6)):
        literal = f"{rng.choice(['', '~'])}x{rng.randint(1, variables + 1)}"
        rule = rng.random()
        if rule < 0.5:
            words = [str(rng.randint(1, last))]
            for _ in range(rng.randint(1, 4)):
                words += rng.choice(
                    [
                        [str(rng.randint(1, last)), "+"],
                        [literal, "+"],
                        [literal, "w"],
                        [str(rng.randint(1, 3)), "*"],
                        [str(rng.randint(1, 3)), "d"],
                        ["s"],
                    ]
                )
            yield f"pol {' '.join(words)}"
        elif rule < 0.7:
            hints = " ".join(str(rng.randint(0, last)) for _ in range(rng.randint(1, 4)))
            term = "" if rng.random() < 0.3 else f"1 {literal} "
            yield f"rup {term}>= 1 ; {hints}"
        elif rule < 0.85:
            yield f"less {rng.randint(-4, 8)}"
        else:
            yield f"red 2 {literal} 1 x1 >= {rng.randint(1, 3)} ; {literal}"
        last += 1
    yield f"end {rng.choice([last, rng.randint(1, last)])}"


def test_no_random_proof_of_a_random_formula_passes_the_optimum():
    rng, proved, exact = Random(1), 0, 0
    for _ in range(20 * DRAWN):
        formula, objective, variables = drawn_formula(rng)
        try:
            bound = check(random_steps(rng, len(formula), variables), formula, objective, variables)
        except ValueError:
            continue
        optimum = brute_force(formula, objective, variables)
        proved += 1
        if optimum is not None:
            assert bound is not None
            assert bound <= optimum
            exact += bound == optimum
    assert proved >= DRAWN // 20
    assert exact >= DRAWN // 400


def test_no_change_of_a_proof_proves_more():
    long = ["less 4", "rup 1 x1 >= 1 ; 0 1 2 4", "red 2 ~x4 1 x2 1 x3 >= 2 ; ~x4", "pol 6 x2 w"]
    long += ["pol 1 2 + 3 + 2 d", "pol 8 2 * x1 + 4 +", "del 1", "end 9"]
    assert check(long) == 4
    rng = Random(3)
    for _ in range(DRAWN):
        lines = list(long)
        i = rng.randrange(len(lines))
        words = lines[i].split()
        j = rng.randrange(len(words))
        change = rng.randrange(4)
        if change == 0:
            lines.pop(i)
        elif change == 1:
            lines.insert(i, lines[rng.randrange(len(lines))])
        else:
            new = ["+", "s", "d", "*", "w", "x1", "~x4", "~x2", ";", ">=", "4.0", "True"]
            words[j] = rng.choice([*new, *map(str, range(-2, 12))])
            lines[i] = " ".join(words)
        try:
            assert check(lines) <= 4
        except ValueError:
            continue


def test_a_proof_is_read_as_a_stream_and_forgets():
    def steps() -> Iterator[str]:
        for k in range(4, 2_004):
            yield "pol 1 2 + 3 +" + " x1 +" * 20
            yield f"del {k}"
        yield "less 1"
        yield "pol 2004 1 2 + 3 + 2 d +"
        yield "end 2005"

    tracemalloc.start()
    assert check(steps()) == 1
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100_000


def test_a_few_characters_do_not_fill_memory(monkeypatch):
    monkeypatch.setattr(kernel, "MOST_WORDS", 10**4)
    with pytest.raises(ValueError, match="more numbers at hand"):
        check(["pol 1"] * 10**4 + PROOF)
    large = "9" * 4000
    with pytest.raises(ValueError, match="more numbers at hand"):
        check([f"pol 1 {large} *"] * 100)
    # What is forgotten does not count.
    lines = [line for k in range(5000) for line in ("pol 1", f"del {k + 4}")]
    assert (
        check([*lines, "pol 1 2 + 3 + 2 d", "less 4", "pol 5004 2 * x1 + 5005 +", "end 5006"]) == 4
    )


def test_a_stack_is_not_deep():
    with pytest.raises(ValueError, match="a deeper stack than the limit for a proof"):
        check(["pol " + "1 " * 1000 + "+ " * 999])


def test_the_checker_imports_the_standard_library_only():
    tree = ast.parse(Path(kernel.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert all(name.name.split(".")[0] in sys.stdlib_module_names for name in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.module.split(".")[0] in sys.stdlib_module_names
