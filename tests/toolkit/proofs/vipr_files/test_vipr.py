"""VIPR files: written from tree proofs, and read without being believed."""

from __future__ import annotations

import os
from fractions import Fraction
from random import Random

import pytest

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.writing.mps import rational_mps
from gadgetopt.proofs.tree_kernel import Rejected, proved
from gadgetopt.proofs.vipr_files import derivations
from gadgetopt.proofs.vipr_files.reader import proved_by_vipr
from gadgetopt.proofs.vipr_files.writer import vipr

from ..small_models import drawn, least, random_proof

DRAWN = int(os.environ.get("GADGETOPT_FUZZ", "2000"))

#: max 5 a + 4 b + 3 c with 2 a + 3 b + c <= 5, binary: 9 with a and b.
KNAPSACK = Model(
    [True] * 3,
    [0] * 3,
    [1] * 3,
    [Row([0, 1, 2], [2, 3, 1], None, 5, 1)],
    ([0, 1, 2], [-5, -4, -3]),
    1,
    0,
    "max",
)
TREE = ["tree", "b 1 0", "l 0 1", "b 2 0", "l 0 1", "l 1 1 0 -5"]
FILE = list(vipr(KNAPSACK, TREE))
#: The maximisation that the knapsack is, as others write it.
MAXIMISED = """VER 1.1
VAR 3
a b c
INT 3
0 1 2
OBJ max
3 0 5 1 4 2 3
CON 4 3
ua L 1 1 0 1
ub L 1 1 1 1
uc L 1 1 2 1
row L 5 3 0 2 1 3 2 1
RTP range 9 9
SOL 1
best 2 0 1 1 1
DER 5
b0 L 0 1 1 1 { asm } -1
d0 L 9 OBJ { lin 3 0 5 4 4 2 3 } -1
b1 G 1 1 1 1 { asm } -1
d1 L 9 OBJ { rnd 3 3 5/2 6 -7/2 2 1/2 } -1
d2 L 9 OBJ { uns 5 4 7 6 } 0""".splitlines()


def test_a_tree_proof_is_written_and_read():
    assert proved_by_vipr(KNAPSACK, FILE) == -9
    assert "RTP range -9 inf" in FILE


def test_what_a_lemma_proves_is_a_line():
    lemma = ["lemma 0 -1 1 -1 2 -1", "l 2 1 0 -1", "tree", "l 0 1 1 4"]
    assert proved_by_vipr(KNAPSACK, vipr(KNAPSACK, lemma)) == proved(KNAPSACK, lemma) == -9


#: x + k >= 9/2 with costs 2 x + 3 k, x continuous; k alone costs something in the second.
COVER = Model(
    [False, True], [0, 0], [10, None], [Row([0, 1], [2, 2], 9, None, 2)], ([0, 1], [2, 3]), 1, 0,
    "min",
)  # fmt: skip
WHOLE = COVER._replace(upper=[4, None], costs=([1], [3]), scale=2)


def test_a_cut_of_integer_costs_is_a_side_of_a_split():
    # 3 k <= 12, hence k <= 4; k >= 1/2 by the row, hence 1.
    proof = ["cut 12", "bound 1 -1", "l /3 1 1 -1", "tree", "b 1 4", "l 0 1 0 3", "l 0 0 1 -1"]
    lines = list(vipr(WHOLE, proof))
    assert proved_by_vipr(WHOLE, lines) == proved(WHOLE, proof) == 3
    assert not any("sol" in line for line in lines)
    assert sum("uns" in line for line in lines) == 2


def test_a_cut_of_other_costs_is_a_solution_that_is_cited():
    proof = ["cut 14", "lemma 1 -1", "l /3 1 1 -1", "tree", "l 0 1 0 2"]
    lines = list(vipr(COVER, proof))
    assert proved_by_vipr(COVER, lines) == proved(COVER, proof) == 9
    assert sum("{ sol }" in line for line in lines) == 1


@pytest.mark.parametrize("model", [COVER, WHOLE], ids=["cited", "split"])
def test_a_cut_below_the_optimum_proves_itself_only(model):
    # Where nothing is as cheap as the cut, what is known is that all costs more.
    proof = ["cut -1", "tree", f"l 0 0 {len(model.rows)} -1"]
    assert proved(model, proof) == -1
    assert proved_by_vipr(model, vipr(model, proof)) == -1


def test_a_split_on_the_row_of_a_lemma_or_cut_is_written():
    lemma = ["lemma 0 1 1 1", "l 0 1"]
    tree = ["g 1 1", "l 0 1 0 -2 | 0 -1", "l 0 1 0 -2 | 0 1"]
    proof = [*lemma, "tree", *tree]
    assert proved_by_vipr(KNAPSACK, vipr(KNAPSACK, proof)) == proved(KNAPSACK, proof)
    cut = ["cut -8", "tree", "g 1 -10", "l 0 1", "l 0 1 | 0 1"]
    assert proved_by_vipr(KNAPSACK, vipr(KNAPSACK, cut)) == proved(KNAPSACK, cut) == -12


def test_a_model_without_points_is_refuted():
    empty = KNAPSACK._replace(rows=[Row([0, 1], [2, 2], 1, 1, 1)])
    tree = ["tree", "s 0 0 1 1 1", "l 0 0 0 1 | 0 -2", "l 0 0 0 -1 | 0 2"]
    lines = list(vipr(empty, tree))
    assert "RTP infeas" in lines
    assert proved_by_vipr(empty, lines) is None


def test_what_the_checker_of_trees_takes_reads_back_with_the_same_bound():
    rng, compared = Random(7), 0
    for _ in range(DRAWN):
        model = drawn(rng)
        proof = random_proof(rng, model)
        try:
            bound = proved(model, proof)
            lines = list(vipr(model, proof))
        except Rejected:
            continue
        read_back = proved_by_vipr(model, lines)
        # A lemma's leaf may be a contradiction, which the file then has as a line of its own.
        optimum = least(model)
        if proof[0] == "tree":
            assert read_back == (bound if read_back is not None else optimum)
        elif read_back is not None:  # a lemma may say more of the objective than the tree
            assert bound <= read_back
            assert optimum is None or read_back <= optimum
        compared += 1
    assert compared > DRAWN // 10


@pytest.mark.parametrize("maximised", [False, True])
def test_no_change_of_a_file_proves_more(maximised):
    rng = Random(8)
    text = MAXIMISED if maximised else FILE
    for _ in range(DRAWN):
        lines = list(text)
        i = rng.randrange(len(lines))
        words = lines[i].split()
        if rng.random() < 0.2:
            lines.pop(i)
        elif rng.random() < 0.1:
            lines.insert(i, rng.choice(text))
        else:
            new = ["G", "L", "E", "OBJ", "{", "}", "asm", "lin", "rnd", "uns", "sol", "1/2", "-1/3"]
            j = rng.randrange(len(words))
            words[j] = rng.choice([*new, *map(str, range(-10, 16))])
            lines[i] = " ".join(words)
        try:
            bound = proved_by_vipr(KNAPSACK, lines)
        except ValueError:
            continue
        assert bound is not None
        assert bound <= least(KNAPSACK)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("r0L L 5", "r0L L 4", "not in the model"),
        ("b0L L 1", "b0L L 0", "not in the model"),
        ("OBJ min", "OBJ max", "objective"),
        ("3 0 -5 1 -4 2 -3", "3 0 -4 1 -4 2 -3", "objective"),
        ("x0 x1 x2", "x0 x1 x1", "twice"),
        ("x0 x1 x2", "x0 x2 x1", "objective"),
        ("x0 x1 x2", "t_x2 t_x1 t_x0", "objective"),
        ("uns", "lin", "Fraction"),
    ],
)
def test_a_file_about_another_model_is_refused(old, new, said):
    with pytest.raises(ValueError, match=said):
        proved_by_vipr(KNAPSACK, [line.replace(old, new) for line in FILE])


def read(model: Model, derivations: list[str], integers: str = "INT 3\n0 1 2") -> Fraction | None:
    head = "\n".join(FILE[: FILE.index("SOL 0") + 1]).replace("INT 3\n0 1 2", integers)
    return proved_by_vipr(model, [*head.splitlines(), f"DER {len(derivations)}", *derivations])


def test_what_rests_on_an_open_assumption_proves_nothing():
    with pytest.raises(ValueError, match="without assumptions"):
        read(KNAPSACK, ["a G -1 OBJ { asm } -1"])


def test_only_what_is_integer_is_rounded_or_split():
    # 5/2 of the row is -5 a - 15/2 b - 5/2 c >= -25/2; with 7/2 of b >= 0 the objective, but for c.
    rnd = ["d G 0 1 0 1 { rnd 1 0 1/2 } -1"]
    with pytest.raises(ValueError, match="rounding"):
        read(KNAPSACK, rnd)
    split = ["a L 0 1 1 1 { asm } -1", "a G 2 1 1 1 { asm } -1", "d G -12 OBJ { uns 7 7 8 8 } -1"]
    with pytest.raises(ValueError, match="without a split"):
        read(KNAPSACK, split)
    mixed = KNAPSACK._replace(integer=[True, False, True])
    with pytest.raises(ValueError, match="integer that is not"):
        read(mixed, [])
    with pytest.raises(ValueError, match="proves nothing"):
        read(mixed, [], "INT 2\n0 2")


def test_a_better_solution_that_is_assumed_away_weakens_the_bound():
    lines = ["s L -11 OBJ { sol } -1", "d G 1 0 { lin 4 7 -1 1 -5 3 -4 5 -3 } -1"]
    # cost <= -11, and cost >= -12 at the upper bounds: no contradiction.
    with pytest.raises(ValueError, match="combination"):
        read(KNAPSACK, lines)
    lines = ["s L -13 OBJ { sol } -1", "d G 1 0 { lin 4 7 -1 1 5 3 4 5 3 } -1"]
    with pytest.raises(ValueError, match=r"both senses|combination"):
        read(KNAPSACK, lines)
    lines = ["s L -13 OBJ { sol } -1", "d G 1 0 { lin 4 7 -1 1 -5 3 -4 5 -3 } -1"]
    assert read(KNAPSACK, lines) == -13


def test_a_weakened_combination_gets_the_bounds_that_it_leaves_out():
    # The row times -1: -2 a - 3 b - c >= -5. To the objective: -3 a >= -3, -b >= -1, -2 c >= -2.
    assert read(KNAPSACK, ["d G -11 OBJ { lin weak { 0 } 1 6 -1 } -1"]) == -11
    with pytest.raises(ValueError, match="combination"):
        read(KNAPSACK, ["d G -10 OBJ { lin weak { 0 } 1 6 -1 } -1"])
    named = ["a L 0 1 0 1 { asm } -1", "d G -8 OBJ { lin weak { 1 U 0 7 0 } 1 6 -1 } -1"]
    with pytest.raises(ValueError, match="without assumptions"):
        read(KNAPSACK, named)


def test_a_weakened_combination_keeps_its_sense():
    # a <= 1 is no a >= 1, nor is it made one by bounds.
    with pytest.raises(ValueError, match="other sense"):
        read(KNAPSACK, ["d G 1 1 0 1 { lin weak { 0 } 1 1 1 } -1"])
    with pytest.raises(ValueError, match="other sense"):
        read(KNAPSACK, ["d G 3 OBJ { lin weak { 0 } 1 1 1 } -1"])
    with pytest.raises(ValueError, match="other sense"):
        read(KNAPSACK, ["d L -1 1 0 1 { rnd weak { 0 } 1 0 1 } -1"])


def test_names_of_columns_do_not_matter():
    for names in ("x y z", "x1 x2 x3", "t_x0 t_x1 t_x2", "x0 x1 x7", "x0 x1 x-1"):
        named = [line.replace("x0 x1 x2", names) for line in FILE]
        assert proved_by_vipr(KNAPSACK, named) == -9
    two = [line.replace("VAR 3", "VAR 2").replace("x0 x1 x2", "x y") for line in FILE]
    with pytest.raises(ValueError, match="2 columns, expected the model's 3"):
        proved_by_vipr(KNAPSACK, two)


def test_comments_are_skipped_wherever_they_begin():
    noted = [f"{line} % G 1 0 }} -1" for line in FILE]
    assert proved_by_vipr(KNAPSACK, ["% a proof", "  % of ours", *noted]) == -9


@pytest.mark.parametrize("use", [-1, 0, 3, 99])
def test_a_last_use_is_a_hint_only(use):
    lines = [
        line.rpartition(" ")[0] + f" {use}" if line.endswith("} -1") else line for line in FILE
    ]
    assert proved_by_vipr(KNAPSACK, lines) == -9
    doubly = [line.replace("} -1", "} } -1") for line in FILE]
    assert proved_by_vipr(KNAPSACK, doubly) == -9


def test_derivations_after_the_bound_cost_nothing():
    bound = "d G -11 OBJ { lin weak { 0 } 1 6 -1 } -1"
    assert read(KNAPSACK, [bound, "e G 0 1 0 1 { lin 1 0 1 } -1"]) == -11
    assert read(KNAPSACK, [bound, "e G -20 OBJ { lin 1 7 1 } -1"]) == -11
    assert read(KNAPSACK, [bound, "a G -1 OBJ { asm } -1", "e G -1 OBJ { lin 1 8 1 } -1"]) == -11
    # What a cutoff was used for is no better than the cutoff; what came before it is.
    cut = ["s L -13 OBJ { sol } -1", "e G 1 0 { lin 4 8 -1 1 -5 3 -4 5 -3 } -1"]
    assert read(KNAPSACK, [bound, *cut]) == -11
    assert read(KNAPSACK, [*cut[:1], cut[1].replace("4 8", "4 7"), bound]) == -13


def test_a_step_without_factors_is_named():
    with pytest.raises(ValueError, match=r"derivation 'd7': `incomplete` leaves its factors"):
        read(KNAPSACK, ["d7 G -9 OBJ { lin incomplete 6 } -1"])


def test_a_maximisation_is_the_opposite_minimised():
    assert proved_by_vipr(KNAPSACK, MAXIMISED) == -9


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("OBJ max", "OBJ min", "objective"),
        ("OBJ max", "OBJ MAX", "MAX"),
        ("3 0 5 1 4 2 3", "3 0 -5 1 -4 2 -3", "objective"),
        ("d2 L 9", "d2 L 8", "'d2'"),
        ("d2 L 9", "d2 G 9", "'d2'"),
        ("d2 L 9", "d2 E 9", "'d2'"),
        ("d1 L 9", "d1 L 8", "'d1'"),
        ("d0 L 9", "d0 G 9", "'d0'"),
        ("6 -7/2", "6 7/2", "both senses"),
        ("uns 5 4 7 6", "lin 1 5 1", "without assumptions"),
        ("d2 L 9 OBJ { uns 5 4 7 6 }", "d2 L 8 OBJ { sol }", "sol"),
    ],
)
def test_a_forged_maximisation_is_refused(old, new, said):
    with pytest.raises(ValueError, match=said):
        proved_by_vipr(KNAPSACK, [line.replace(old, new) for line in MAXIMISED])


def test_a_cutoff_of_a_maximisation_weakens_its_bound():
    # With 5 a + 4 b + 3 c >= 13 assumed, the upper bounds, which give 12, are a contradiction.
    head = MAXIMISED[: MAXIMISED.index("DER 5")]
    cut = ["s G 13 OBJ { sol } -1", "d G 1 0 { lin 4 4 1 0 -5 1 -4 2 -3 } 0"]
    assert proved_by_vipr(KNAPSACK, [*head, "DER 2", *cut]) == -13
    upper = "d L 12 OBJ { lin 3 0 5 1 4 2 3 } 0"
    assert proved_by_vipr(KNAPSACK, [*head, "DER 1", upper]) == -12


def test_a_file_that_is_cut_off_anywhere_is_refused():
    words = " ".join(FILE).split()
    for end in range(len(words)):
        with pytest.raises(ValueError, match="VIPR"):
            proved_by_vipr(KNAPSACK, [" ".join(words[:end])])


@pytest.mark.parametrize(
    "number", ["1e999999999", "-1E-999999999", "nan", "inf", "1/0", "9" * 5000]
)
def test_what_is_no_number_of_sane_length_is_refused_at_once(number):
    with pytest.raises(ValueError, match=r"digits|literal|Fraction"):
        proved_by_vipr(KNAPSACK, [line.replace("r0L L 5", f"r0L L {number}") for line in FILE])


def test_the_mps_file_has_the_models_rationals():
    model = Model(
        [True, False],
        [0, None],
        [3, Fraction(7, 3)],
        [Row([0, 1], [1, 2], 1, 5, 3), Row([1], [1], None, 2, 1)],
        ([0, 1], [1, -2]),
        3,
        Fraction(1, 2),
        "max",
    )
    assert list(rational_mps(model)) == [
        "NAME model",
        "ROWS",
        " N obj",
        " G r0",
        " L r1",
        "COLUMNS",
        " M0 'MARKER' 'INTORG'",
        " x0 obj 1/3",
        " x0 r0 1/3",
        " M1 'MARKER' 'INTEND'",
        " x1 obj -2/3",
        " x1 r0 2/3",
        " x1 r1 1",
        "RHS",
        " rhs obj 1/2",
        " rhs r0 1/3",
        " rhs r1 2",
        "RANGES",
        " rng r0 4/3",
        "BOUNDS",
        " UP bnd x0 3",
        " MI bnd x1",
        " UP bnd x1 7/3",
        "ENDATA",
    ]


def test_the_mps_file_without_fractions_is_read_as_the_minimisation():
    model = KNAPSACK._replace(rows=[*KNAPSACK.rows, Row([0], [1], None, None, 1)], offset=2)
    read = read_mps("\n".join(rational_mps(model)) + "\n")
    assert read.model == KNAPSACK._replace(sense="min", offset=-2)
    assert (read.columns, read.rows) == (["x0", "x1", "x2"], ["r0"])


def test_a_row_whose_sides_cross_has_no_range_in_the_mps_file():
    # A range is read as a length, so a negative one would open the row.
    row = Row([0], [1], 3, 1, 1)
    text = list(rational_mps(KNAPSACK._replace(rows=[row])))
    assert text[3:5] == [" G r0", " L r0L"]
    assert " x0 r0L 1" in text
    assert [line for line in text if line.startswith(" r")] == [" rhs r0 3", " rhs r0L 1"]


def test_denominators_do_not_grow_with_the_lines_that_are_added():
    # Each factor has another denominator, of hundreds of digits.
    factors = " ".join(f"0 1/{10**3000 + 2 * k + 1}" for k in range(100))
    with pytest.raises(ValueError, match="too many digits"):
        read(KNAPSACK, [f"d G -1 OBJ {{ lin 100 {factors} }} -1"])


def test_assumptions_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(derivations, "MOST_ENTRIES", 10**5)
    count = 200
    asked = [f"a{k} G {k} 1 0 1 {{ asm }} -1" for k in range(count)]
    first = next(int(line.split()[1]) for line in FILE if line.startswith("CON"))
    sums = [
        f"s{k} G 0 1 0 1 {{ lin {k} " + " ".join(f"{first + i} 1/{k}" for i in range(k)) + " } -1"
        for k in range(1, count)
    ]
    with pytest.raises(ValueError, match="takes more steps"):
        read(KNAPSACK, [*asked, *sums])
