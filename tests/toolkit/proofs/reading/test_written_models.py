"""What is written is read back by the exact readers as the same model, of the same names."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.mip.instance import MipInstance
from gadgetopt.proofs.model import Model, Row, digest
from gadgetopt.proofs.reading.draft import Column, Draft, DraftRow, NamedModel
from gadgetopt.proofs.reading.lp import read_lp
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.nl import read_nl
from gadgetopt.proofs.reading.writing.adapting import adapted
from gadgetopt.proofs.reading.writing.lp import LP, lp
from gadgetopt.proofs.reading.writing.mps import MPS, mps
from gadgetopt.proofs.reading.writing.nl import NL, nl

LAYOUTS = {"mps": MPS, "lp": LP, "nl": NL}
#: Decimals of few and of many digits, and integers beyond doubles.
DECIMALS = st.one_of(
    st.integers(-9, 9),
    st.integers(-(10**19), 10**19),
    st.builds(lambda a, places: Fraction(a, 10**places), st.integers(-999, 999), st.integers(1, 4)),
    st.builds(lambda a, e: Fraction(a, 10**e), st.integers(-(10**30), 10**30), st.integers(20, 90)),
    st.floats(-1e6, 1e6).map(Fraction),
)
#: Numbers that no decimal is, or that are infinite for solvers, too.
RATIONALS = st.one_of(
    DECIMALS, st.fractions(-100, 100, max_denominator=99), st.integers(-(10**45), 10**45)
)
PLAIN_NAMES = st.from_regex(r"[a-df-zA-DF-Z_][a-z0-9_.(),#!~]{0,6}", fullmatch=True)
KEYWORDS = ["st", "End", "free", "inf", "bounds", "sc", "e5", "R1", "obj", "rhs", "bnd", "min"]
ANY_NAMES = st.one_of(PLAIN_NAMES, st.sampled_from(KEYWORDS), st.text(min_size=1, max_size=6))


@st.composite
def models(draw, numbers=DECIMALS, names=PLAIN_NAMES):
    """Draw a model with names, in the normal form of the readers."""
    draft = Draft()
    draft.sense = draw(st.sampled_from(["min", "max"]))
    columns = draw(st.lists(names, unique=True, max_size=5))
    draft.columns = [Column(name, draw(st.booleans())) for name in columns]
    for column in draft.columns:
        column.set_lower(draw(st.one_of(st.just(float("-inf")), st.just(0), numbers)))
        column.set_upper(draw(st.one_of(st.just(float("inf")), st.just(1), numbers)))
    draft.costs = {j: draw(numbers) for j in range(len(columns)) if draw(st.booleans())}
    draft.offset = draw(st.one_of(st.just(0), numbers))
    for name in draw(st.lists(names, unique=True, max_size=5 if columns else 0)):
        chosen = [j for j in range(len(columns)) if draw(st.booleans())]
        sides = st.one_of(st.none(), numbers)
        low, high = draw(st.tuples(sides, sides).filter(lambda pair: pair != (None, None)))
        draft.rows.append(DraftRow(name, chosen, [draw(numbers) for _ in chosen], low, high))
    return draft.named_model("zero")


def written(named: NamedModel, form: str) -> NamedModel:
    """Return the model that a format's reader reads from what its writer writes."""
    if form == "nl":
        files = nl(named)
        return read_nl("\n".join(files.lines), files.columns, files.rows)
    text = "\n".join(mps(named) if form == "mps" else lp(named))
    return read_mps(text) if form == "mps" else read_lp(text)


def fingerprint(named: NamedModel) -> bytes:
    return MipInstance.of(named).identity()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(named=models())
@pytest.mark.parametrize("form", LAYOUTS)
def test_a_model_of_decimals_is_read_back_as_it_is(form, named):
    held = adapted(named, LAYOUTS[form])
    assert fingerprint(written(held, form)) == fingerprint(held)
    if all("two sides" in note for note in held.notes):  # crossed sides, and any two in LP
        assert len(held.rows) == len(named.rows) + len(held.notes)
    if not held.notes:
        assert fingerprint(held) == fingerprint(named)
    one_sided = all(None in (row.lower, row.upper) for row in named.model.rows)
    if one_sided and all(abs(x) < 10**20 for x in numbers_of(named.model)):
        assert not held.notes
    if form != "nl" and not held.notes:
        assert digest(written(held, form).model) == digest(named.model)  # the order is kept, too


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(named=models(RATIONALS, ANY_NAMES))
@pytest.mark.parametrize("form", LAYOUTS)
def test_any_model_is_read_back_as_the_one_that_the_notes_describe(form, named):
    held = adapted(named, LAYOUTS[form])
    assert fingerprint(written(held, form)) == fingerprint(held)
    again = adapted(held._replace(notes=[]), LAYOUTS[form])
    assert fingerprint(again) == fingerprint(held)
    assert not again.notes


def numbers_of(model: Model):
    yield from (Fraction(a, model.scale) for a in model.costs[1])
    yield Fraction(model.offset)
    yield from (x for x in (*model.lower, *model.upper) if x is not None)
    for row in model.rows:
        sides = [x for x in (row.lower, row.upper) if x is not None]
        yield from (Fraction(a, row.denominator) for a in (*row.coefficients, *sides))


def model_of(rows, columns=("x[1]", "y z"), **changed) -> NamedModel:
    model = Model(
        integer=[True, False], lower=[0, Fraction(1, 3)], upper=[None, None], rows=rows,
        costs=([0, 1], [1, 2]), scale=1, offset=0, sense="min",
    )  # fmt: skip
    return NamedModel(
        model._replace(**changed), list(columns), [f"r{i}" for i in range(len(rows))], []
    )


def test_the_notes_name_what_differs():
    # x/3 + y >= 1, 1 <= x + y <= 2, no sides; y >= 1/3 is no decimal, and becomes 3 y >= 1.
    rows = [
        Row([0, 1], [1, 3], 3, None, 3),
        Row([0, 1], [1, 1], 1, 2, 1),
        Row([0], [1], None, None, 1),
    ]
    held = adapted(model_of(rows), LP)
    assert held.notes == [
        "column 'x[1]': has the name x(1)",
        "column 'y z': has the name c1",
        "row r0: multiplied by 3",
        "row r1: has two sides and is the rows r1 and r1_upper",
        "row r2: has no sides and is left out",
        "column c1: its lower bound is row lower_1",
        "row lower_1: multiplied by 3",
    ]
    assert held.rows == ["r0", "r1", "r1_upper", "lower_1"]
    assert held.model.rows[0] == Row([0, 1], [1, 3], 3, None, 1)
    assert held.model.rows[3] == Row([1], [3], 1, None, 1)
    text = "\n".join(lp(held))
    assert "\\ row r1: has two sides and is the rows r1 and r1_upper" in text
    assert held.columns == ["x(1)", "c1"]


def test_an_objective_of_thirds_is_multiplied():
    held = adapted(model_of([], scale=3, offset=Fraction(1, 6)), MPS)
    assert "objective: multiplied by 3" in held.notes
    assert (held.model.costs, held.model.scale, held.model.offset) == (([0, 1], [1, 2]), 1, 0.5)


def test_a_number_of_too_many_digits_is_refused():
    long = Fraction(1, 2**5000)
    named = model_of([Row([0], [1], None, long.numerator, long.denominator)], lower=[0, 0])
    with pytest.raises(ModelRefused, match="more than 4000 digits"):
        list(mps(adapted(named, MPS)))
