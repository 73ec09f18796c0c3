"""Changed proofs and changed models: what is accepted is true, with every kind of line in use.

`GADGETOPT_FORGE=100000` changes that many proofs, and a tenth as many models.
"""

from __future__ import annotations

import os
from fractions import Fraction
from random import Random

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.named_form import form_of
from gadgetopt.proofs.tree_kernel import Rejected, proved
from gadgetopt.proofs.tree_producer import seconds_left, tree_proof

from .small_models import drawn, least

#: Changed proofs of all models together; a tenth as many models are changed.
FORGED = int(os.environ.get("GADGETOPT_FORGE", "4000"))
#: Lines of every kind that honest proofs here have.
KINDS = ("cut", "bound", "lemma", "tree", "b", "s", "g", "l", "l /", "|")


def named(model):
    columns = [f"x{j}" for j in range(len(model.integer))]
    return form_of(model, columns, [f"r{i}" for i in range(len(model.rows))])


#: Cost 2 x + 3 k with x + k >= 9/2, k an integer: 9 at k = 0.
COVER = Model(
    [False, True], [0, 0], [10, 10], [Row([0, 1], [2, 2], 9, None, 2)], ([0, 1], [2, 3]), 1, 0,
    "min",
)  # fmt: skip
#: Three periods with demands 5, 4, 7: lots x of up to 12 y, stocks s without upper bounds. Two lots
#: in the first and third period cost 40 and four units of stock.
LOTS = Model(
    [False, False, False, True, True, True, False, False],
    [0] * 8,
    [None, None, None, 1, 1, 1, None, None],
    [
        Row([0, 6], [1, -1], 5, 5, 1),
        Row([1, 6, 7], [1, 1, -1], 4, 4, 1),
        Row([2, 7], [1, 1], 7, 7, 1),
        *(Row([t, 3 + t], [1, -12], None, 0, 1) for t in range(3)),
    ],
    ([3, 4, 5, 6, 7], [20, 20, 20, 1, 2]),
    1,
    0,
    "min",
)
#: The most of x + y with 3 x + 5 y <= 11, counted by a free column of thirds: 3.
THIRDS = Model(
    [True, True, False],
    [0, 0, None],
    [4, 4, None],
    [Row([0, 1], [3, 5], None, 11, 1), Row([0, 1, 2], [1, 1, -3], 0, 0, 1)],
    ([2], [-3]),
    1,
    0,
    "min",
)


def material():
    """Return models with their optima, and proofs that use every kind of line between them."""
    out = []
    for model, optimum in ((COVER, 9), (LOTS, 44), (THIRDS, -3)):
        lines = tree_proof(named(model), model, Fraction(optimum), lambda: 10.0).lines
        proofs = [lines, decorated(model, lines, optimum)]
        for text in proofs:
            assert optimum - Fraction(1, 10**8) <= proved(model, text) <= optimum
        out += [(model, optimum, text) for text in proofs]
    return out


def decorated(model, lines, optimum):
    """Return a proof with a cut, a bound, a lemma, splits and thirds that it does not need."""
    start, body = lines[: lines.index("tree")], lines[lines.index("tree") + 1 :]
    whole = [j for j, is_integer in enumerate(model.integer) if is_integer]
    cut = [] if any(line.startswith("cut") for line in start) else [f"cut {3 * optimum**2 + 7}"]
    j, rows = whole[0], len(model.rows)
    bound = [f"bound {j} 1", f"s 1 {j} 1", "l 0 1", "l 0 1 | 0 1"]
    lemma = [f"lemma {j} 1", "l /3 1"]
    start = [moved(line, rows, len(cut), 0) for line in start]
    after = rows + len(cut)
    start, body = ([moved(x, after, 1, k) for x in part] for k, part in ((0, start), (1, body)))
    integral = [i for i, row in enumerate(model.rows) if set(row.columns) <= set(whole)]
    split = f"g {integral[0]} 6" if integral else f"s 0 {j} 1"
    body = [over_thirds(line) for line in body]
    front = start[:1] if start and start[0].startswith("cut") else cut
    rest = start[len(front) :] if front is not cut else start
    return [
        *front,
        *lemma,
        *bound,
        *rest,
        "tree",
        f"b {j} 0",
        split,
        *body,
        *body,
        split,
        *body,
        *body,
    ]


def moved(line, first, rows, splits):
    """Return a leaf whose rows from `first` on, and whose splits, have moved by some places."""
    if not line.startswith("l "):
        return line
    of_rows, *of_splits = line.split(" |")
    kind, divisor, q, *pairs = of_rows.split()
    pairs = [
        str(int(x) + rows) if k % 2 == 0 and int(x) >= first else x for k, x in enumerate(pairs)
    ]
    out = " ".join([kind, divisor, q, *pairs])
    for part in of_splits:
        words = part.split()
        out += " | " + " ".join(
            str(int(x) + splits) if k % 2 == 0 else x for k, x in enumerate(words)
        )
    return out


def over_thirds(line):
    """Return a leaf with the same duals over three times their denominator."""
    if not line.startswith("l "):
        return line
    _, digits, q, *words = line.split()
    divisor = int(digits[1:]) if digits.startswith("/") else 2 ** int(digits)
    numbers, at = [], 0
    for word in words:
        at = 0 if word == "|" else at + 1
        numbers.append(str(3 * int(word)) if word != "|" and at % 2 == 0 else word)
    return " ".join(["l", f"/{3 * divisor}", q, *numbers])


def changed(rng, lines):
    """Return a text with one to three lines left out, repeated, swapped or changed in a word."""
    out = list(lines)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at, other = rng.randrange(len(out)), rng.randrange(len(out))
        kind = rng.random()
        if kind < 0.1 and len(out) > 1:
            del out[at]
        elif kind < 0.2:
            out.insert(at, out[other])
        elif kind < 0.25:
            out[at], out[other] = out[other], out[at]
        else:
            words = out[at].split() or [""]
            k = rng.randrange(len(words))
            words[k] = _changed_word(rng, words[k])
            out[at] = " ".join(words)
    return out


def _changed_word(rng, word):
    slash, digits = ("/", word[1:]) if word.startswith("/") else ("", word)
    try:
        x = Fraction(digits)
    except (ValueError, ZeroDivisionError):
        return rng.choice(["l", "b", "s", "g", "tree", "lemma", "bound", "cut", "|", ""])
    new = rng.choice(
        [x + 1, x - 1, -x, 2 * x, 10**6 * x, Fraction(0), Fraction(rng.randint(-30, 30)), x / 3]
    )
    return rng.choice([slash, slash, slash, "/", ""]) + str(new)


def kinds_of(lines):
    found = {line.split()[0] for line in lines if line.split()}
    found |= {"l /" for line in lines if line.startswith("l /")}
    return found | {"|" for line in lines if "|" in line}


def test_no_changed_proof_proves_more_than_the_optimum():
    rng, counts = Random(8), {"rejected": 0, "held": 0}
    proofs = material()
    assert set().union(*(kinds_of(lines) for _, _, lines in proofs)) >= set(KINDS)
    for k in range(FORGED):
        model, optimum, lines = proofs[k % len(proofs)]
        try:
            bound = proved(model, changed(rng, lines))
        except Rejected:
            counts["rejected"] += 1
            continue
        assert bound is not None
        assert bound <= optimum
        counts["held"] += 1
    assert min(counts.values()) >= FORGED // 20, counts


def test_no_proof_of_another_model_proves_more_than_its_optimum():
    rng, counts = Random(9), {"rejected": 0, "held": 0}
    while sum(counts.values()) < FORGED // 10:
        model = drawn(rng)
        optimum = least(model)
        # Where columns have no end, the search may be for what is not true.
        text = (
            None if optimum is None else tree_proof(named(model), model, optimum, seconds_left(0.1))
        )
        for _ in range(0 if text is None else 20):
            other = changed_model(rng, model)
            best = least(other)
            try:
                bound = proved(other, text.lines)
            except Rejected:
                counts["rejected"] += 1
                continue
            assert best is None or (bound is not None and bound <= best)
            counts["held"] += 1
    assert min(counts.values()) >= FORGED // 1000, counts


def changed_model(rng, model):
    """Return a model of which one number, or one column's integrality, is another."""
    kind = rng.randrange(4)
    j = rng.randrange(len(model.integer))
    if kind == 0:
        costs = list(model.costs[1])
        costs[rng.randrange(len(costs))] += rng.choice([-2, 2])
        return model._replace(costs=(model.costs[0], costs))
    if kind == 1 or not model.rows:
        upper = list(model.upper)
        upper[j] = None if upper[j] is None else upper[j] + rng.choice([-1, 1])
        return model._replace(upper=upper)
    i = rng.randrange(len(model.rows))
    row = model.rows[i]
    if kind == 2:
        numbers = list(row.coefficients)
        numbers[rng.randrange(len(numbers))] += rng.choice([-1, 1])
        row = row._replace(coefficients=numbers)
    else:
        row = row._replace(
            lower=None if row.lower is None else row.lower - rng.randint(0, 2),
            upper=None if row.upper is None else row.upper + rng.randint(-2, 2),
        )
    return model._replace(rows=[*model.rows[:i], row, *model.rows[i + 1 :]])
