"""The checker of trees: no text proves more than is true."""

from __future__ import annotations

import ast
import base64
import os
import sys
import time
import tracemalloc
import zlib
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from gadgetopt.proofs import exact_model, files, model, tree_kernel
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.tree_kernel import Rejected, proved

from .small_models import drawn, least, random_proof

#: Models with a random proof each.
DRAWN = int(os.environ.get("GADGETOPT_FUZZ", "10000"))

#: max 5 a + 4 b + 3 c with 2 a + 3 b + c <= 5, binary: 9 with a and b; the LP has 9 1/3 at b = 2/3.
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
#: b = 0: -8. b = 1, c = 0: -9. b = c = 1: the row's dual -5/2 gives -25/2 + 7/2 - 1/2.
TREE = ["tree", "b 1 0", "l 0 1", "b 2 0", "l 0 1", "l 1 1 0 -5"]


def test_duals_of_the_root_prove_the_relaxation_rounded_to_what_the_objective_can_be():
    # y = -4/3: -20/3 - (5 - 8/3) - (3 - 4/3) = -32/3, rounded up to -10.
    assert proved(KNAPSACK, ["tree", "l 0 1 0 -1"]) == -11
    assert proved(KNAPSACK, ["tree", "l 2 1 0 -5"]) == -10


def test_the_least_leaf_counts():
    assert proved(KNAPSACK, TREE) == -9


def test_a_lemma_is_a_row_for_what_follows():
    # a + b + c <= 2 as the row's quarter gives 2.75: -(a + b + c) >= -2. With twice it: -4 - 3 - 2.
    lemma = ["lemma 0 -1 1 -1 2 -1", "l 2 1 0 -1"]
    assert proved(KNAPSACK, [*lemma, "tree", "l 0 1 1 4"]) == -9


def test_duals_are_over_any_denominator():
    # y = -4/3 as above; y = -5/3: -25/3 - 0 - (3 - 5/3) = -29/3.
    assert proved(KNAPSACK, ["tree", "l /3 1 0 -4"]) == -10
    assert proved(KNAPSACK._replace(integer=[False] * 3), ["tree", "l /3 1 0 -4"]) == Fraction(
        -32, 3
    )


def test_a_bound_of_a_column_follows_from_a_row():
    # 2 a + 3 b + c <= 5 alone, b and c without upper bounds: -3 b >= -5 and -c >= -5.
    endless = KNAPSACK._replace(upper=[1, None, None])
    bounds = ["bound 1 -3", "l 0 1 0 -1", "bound 2 -1", "l 0 1 0 -1"]
    assert proved(endless, [*bounds, "tree", "l 0 1"]) == -5 - 4 - 15
    real = endless._replace(integer=[False] * 3)
    assert proved(real, [*bounds, "tree", "l 0 1"]) == -5 - Fraction(20, 3) - 15


def test_a_cut_is_a_row_and_points_beyond_it_are_above():
    # Cost 2 x with x >= 1/2 y, y >= 3, no upper bounds: least 3. Below 8, x <= 4.
    model = Model(
        [False, False],
        [0, 3],
        [None, None],
        [Row([0, 1], [2, -1], 0, None, 2)],
        ([0], [2]),
        1,
        0,
        "min",
    )
    bounds = ["cut 8", "bound 0 -2", "l 0 1 1 -1"]
    assert proved(model, [*bounds, "tree", "l 0 1 0 2"]) == 3
    # A lemma of the cut: y <= 8 from y <= 2 x <= 8. That nothing is below 2 is no infeasibility.
    assert proved(model, [*bounds, "bound 1 -1", "l 0 1 0 2", "tree", "l 0 1 0 2"]) == 3
    assert proved(model, ["cut 2", "tree", "l 0 0 0 2 1 -1"]) == 2


def test_a_model_without_points_has_no_bound():
    empty = KNAPSACK._replace(rows=[Row([0, 1], [2, 2], 1, 1, 1)])
    assert proved(empty, ["tree", "s 0 0 1 1 1", "l 0 0 0 1 | 0 -2", "l 0 0 0 -1 | 0 2"]) is None


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["tree"],
        ["l 0 1"],
        ["tree", ""],
        ["tree", "l 0 1", "l 0 1"],
        ["tree", "b 1 0", "l 0 1"],
        ["tree", "b 3 0", "l 0 1", "l 0 1"],
        ["tree", "b -1 0", "l 0 1", "l 0 1"],
        ["tree", "b 1 0.5", "l 0 1", "l 0 1"],
        ["tree", "b 1", "l 0 1", "l 0 1"],
        ["tree", "s 0 0 1 0 1", "l 0 1", "l 0 1"],
        ["tree", "s 0 3 1", "l 0 1", "l 0 1"],
        ["tree", "s 0 0", "l 0 1", "l 0 1"],
        ["tree", "g 1 0", "l 0 1", "l 0 1"],
        ["tree", "g -1 0", "l 0 1", "l 0 1"],
        ["tree", "l 0 1 0 1"],
        ["tree", "l 0 1 0 -1.0"],
        ["tree", "l 0 1 0 True"],
        ["tree", "l 0 1 -1 -1"],
        ["tree", "l 0 1 1 -1"],
        ["tree", "l 0 1 0"],
        ["tree", "l 0 2 0 -1"],
        ["tree", "l 0 0 0 -1"],
        ["tree", "l -1 1 0 -1"],
        ["tree", "l 401 1 0 -1"],
        ["tree", "l"],
        ["tree", "l 0 1 | 0 1"],
        ["tree", "s 0 0 1", "l 0 1 | 0 1", "l 0 1"],
        ["tree", "s 0 0 1", "l 0 1 | 1 -1", "l 0 1"],
        ["tree", "s 0 0 1", "l 0 1 | -1 -1", "l 0 1"],
        ["lemma 0 1", "tree", "l 0 1"],
        ["lemma 0 1 0 1", "l 0 1", "tree", "l 0 1"],
        ["lemma 0", "l 0 1", "tree", "l 0 1"],
        ["lemma 0 1", "l 0 1 1 1", "tree", "l 0 1"],
        ["tree", "l 0 1 0 -" + "9" * 5000],
        ["tree", "l /0 1 0 -1"],
        ["tree", "l /-1 1 0 1"],
        ["tree", "l / 1 0 -1"],
        ["tree", "l /1/2 1 0 -1"],
        ["cut", "tree", "l 0 1"],
        ["cut 1/0", "tree", "l 0 1"],
        ["cut 1 2", "tree", "l 0 1"],
        ["cut 5", "cut 5", "tree", "l 0 1"],
        ["lemma 0 1", "l 0 1", "cut 5", "tree", "l 0 1"],
        ["bound 0 0", "l 0 1", "tree", "l 0 1"],
        ["bound 0 1 1 1", "l 0 1", "tree", "l 0 1"],
        ["bound", "l 0 1", "tree", "l 0 1"],
        ["bound 3 1", "l 0 1", "tree", "l 0 1"],
        ["bound 0 1", "l 0 0 0 -1", "tree", "l 0 1"],
        ["bound 0 1", "tree", "l 0 1"],
    ],
)
def test_what_is_no_proof_is_rejected(lines):
    with pytest.raises(Rejected):
        proved(KNAPSACK, lines)


def test_a_continuous_column_is_not_split():
    mixed = KNAPSACK._replace(integer=[True, False, True])
    for line in ("b 1 0", "s 0 1 1", "g 0 2"):
        with pytest.raises(Rejected):
            proved(mixed, ["tree", line, "l 0 1", "l 0 1"])


def test_a_reduced_cost_against_a_missing_bound_is_rejected():
    endless = KNAPSACK._replace(upper=[1, None, 1])
    with pytest.raises(Rejected):
        proved(endless, ["tree", "l 0 1"])
    assert proved(endless, ["tree", "l 0 1 0 -4"]) == -20


def test_a_deep_tree_is_walked_without_recursion():
    wide = KNAPSACK._replace(upper=[10**6, 1, 1])
    depth = 50_000
    lines = ["tree", *(f"b 0 {depth - k}" for k in range(depth)), *["l 0 1"] * (depth + 1)]
    assert proved(wide, lines) == -5 * 10**6 - 7


def test_no_random_proof_of_a_random_model_passes_the_optimum():
    rng, counts = Random(1), {"rejected": 0, "proved": 0, "exactly": 0}
    for _ in range(DRAWN):
        instance = drawn(rng)
        try:
            bound = proved(instance, random_proof(rng, instance))
        except Rejected:
            counts["rejected"] += 1
            continue
        optimum = least(instance)
        counts["proved"] += 1
        if optimum is not None:
            assert bound is not None
            assert bound <= optimum
            counts["exactly"] += bound == optimum
    assert counts["exactly"] >= DRAWN // 500, counts
    assert counts["proved"] >= DRAWN // 10, counts


@pytest.mark.parametrize("module", [tree_kernel, model, files])
def test_checkers_import_the_standard_library_only(module):
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            assert all(name.name.split(".")[0] in sys.stdlib_module_names for name in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module.split(".")[0] in sys.stdlib_module_names


def test_the_text_of_a_model_reads_back():
    rng = Random(2)
    for _ in range(200):
        instance = drawn(rng)
        again = model.parsed(model.lines(instance))
        assert again == instance
        assert model.digest(again) == model.digest(instance)
    assert model.digest(drawn(rng)) != model.digest(drawn(rng))


def test_a_packed_text_reads_back_and_a_damaged_one_is_refused():
    lines = ["tree", *(f"b {j} 0" for j in range(1000))]
    text = files.packed(lines)
    assert list(files.unpacked(text)) == lines
    for wrong in ("", "?", text[:-40], "AAAA", text[:40] + text[60:]):
        with pytest.raises(ValueError, match="proof"):
            list(files.unpacked(wrong))


@pytest.mark.parametrize(
    "lines",
    [
        ["tree", *["b 0 1", "l 0 1"] * 200_000],
        ["0" * 2_000_000],
        [f"l 20 1 {' '.join(f'{i} {2**20}' for i in range(12))}"] * 20_000,
    ],
)
def test_a_text_that_repeats_itself_is_written_so_that_it_is_read(lines):
    text = files.packed(lines)
    assert list(files.unpacked(text)) == lines
    assert len(text) < sum(map(len, lines)) / 7


def test_reading_needs_memory_for_a_part_of_the_text_only():
    line = f"l 20 1 {' '.join(f'{i} {2**20}' for i in range(12))}"
    text = files.packed([line] * 100_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in files.unpacked(text)) == 100_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000  # of 13 MB of text, compressed to almost 1 MB


def test_padding_ends_a_text():
    text = files.packed(f"b {j} 0" for j in range(200_000))
    assert len(text) > 2 * 2**16
    with pytest.raises(ValueError, match="not the compressed text"):
        list(files.unpacked(f"{text[: 2**16 - 2]}=={text[2**16 :]}"))


@pytest.mark.parametrize(
    "text",
    [
        b"lemma " + b"1234567 " * 10**6 + b"\n",  # one long line
        b"0" * 10**7,  # without an end
        b"tree\n" + b"b 0 1\n" * 10**6 + b"l 0 1\n" * 10**6,
    ],
)
def test_a_small_file_does_not_hold_a_large_proof(text):
    packed = base64.b64encode(zlib.compress(text, 9)).decode()
    with pytest.raises(ValueError, match="larger than the limit for a proof"):
        list(files.unpacked(packed))


def test_lines_of_any_length_are_read_in_one_pass():
    line = "1234567 " * 1_000_000
    begin = time.process_time()
    assert list(files.unpacked(files.packed([line, "end"]))) == [line, "end"]
    assert time.process_time() - begin < 5


def test_a_row_counts_once_in_a_leaf():
    with pytest.raises(Rejected, match="given twice"):
        proved(KNAPSACK, ["tree", "l 1 1 0 -3 0 -2"])


def test_what_would_take_for_ever_is_rejected(monkeypatch):
    monkeypatch.setattr(tree_kernel, "MOST_STEPS", 10**4)
    with pytest.raises(Rejected, match="takes more steps"):
        proved(KNAPSACK, ["lemma 0 1", "l 0 1"] * 10**5)


def test_digits_do_not_grow_from_lemma_to_lemma():
    free = KNAPSACK._replace(integer=[False] * 3)
    lines = ["lemma 0 1", "l 400 1 0 -1"]
    for number in range(1, 10**4):
        lines += ["lemma 0 1", f"l 400 1 {number} 1"]
    with pytest.raises(Rejected, match="too many digits"):
        proved(free, lines)


def test_the_module_that_reads_compiled_models_is_exact():
    import pyomo.environ as pyo

    from gadgetopt.solvers.standard_form import compile_model

    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 2.5), within=pyo.Integers), pyo.Var(bounds=(0.1, None))
    m.row = pyo.Constraint(expr=(0.1, 0.3 * m.x + m.y / 3, 2))
    m.cost = pyo.Objective(expr=0.1 * m.x + 0.25 * m.y + 7, sense=pyo.maximize)
    exact = exact_model.exact_model(compile_model(m))
    assert exact == Model(
        [True, False],
        [0, Fraction(1, 10)],
        [2, None],
        [Row([0, 1], [9, 10], 3, 60, 30)],
        ([0, 1], [-2, -5]),
        20,
        7,
        "max",
    )
    assert exact.bound(-30) == 7 + Fraction(3, 2)
    assert exact.least(exact.bound(-30)) == -30
