"""One model is one instance: whatever its format, packing, line ends, and order of lines."""

import bz2
import gzip
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gadgetopt.errors import InputError
from gadgetopt.models.mip.instance import MipInstance, MipSolution
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.system.files import document_text, find_instances, parse, read, read_solution

pytestmark = pytest.mark.usefixtures("in_this_process")

MPS = """NAME tiny
ROWS
 N cost
 G need
 L room
COLUMNS
 M1 'MARKER' 'INTORG'
 x cost 1 need 0.5
 x room 1
 M2 'MARKER' 'INTEND'
 y cost 0.25 need 1
RHS
 rhs need 1.5 room 4
BOUNDS
 UP bnd x 3
ENDATA
"""
LP = """Minimize
 cost: 0.25 y + x
Subject To
 room: x <= 4
 need: y + 0.5 x >= 1.5
Bounds
 x <= 3
General
 x
End
"""


@pytest.fixture
def files(tmp_path):
    contents = {
        "a.mps": MPS.encode(),
        "b.mps": MPS.replace("\n", "\r\n").encode(),
        "c.mps.gz": gzip.compress(MPS.encode()),
        "d.MPS.bz2": bz2.compress(MPS.encode()),
        "e.lp": LP.encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_the_same_model_from_any_file_has_one_fingerprint(files):
    documents = [read(path) for path in find_instances([files])]
    assert [d.name for d in documents] == ["a", "b", "c", "d", "e"]
    assert len({d.fingerprint for d in documents}) == 1
    assert {d.problem.name for d in documents} == {"mip"}
    assert documents[4].data.columns == ("y", "x")  # solvers get the order of the file


def test_an_origin_has_format_digest_and_what_was_chosen(files):
    origin = read(files / "c.mps.gz").origin
    assert (origin["format"], origin["file"], len(origin["sha256"])) == ("mps", "c.mps.gz", 64)
    (files / "f.mps").write_text(MPS.replace(" UP bnd x 3\n", ""))
    (chosen,) = read(files / "f.mps").origin["chosen"]
    assert "1 integer columns between markers have no bound and are binary" in chosen


def test_a_file_of_ours_keeps_the_instance(files):
    document = read(files / "a.mps")
    again = parse(document_text(document), "again.json")
    assert again.data == document.data
    assert (again.fingerprint, again.problem.sense) == (document.fingerprint, "min")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (MPS.replace("need 1.5", "need nan"), "line 13, RHS: 'nan' is no number"),
        (MPS.replace(" UP bnd x 3", " SC bnd x 3"), "line 15, BOUNDS: SC makes column 'x' "),
        ("", "ends without ENDATA"),
    ],
)
def test_a_bad_file_is_one_line_with_exit_code_2(tmp_path, cli, content, line):
    path = tmp_path / "bad.mps"
    path.write_text(content)
    code, out, err = cli("solve", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"gadgetopt: {path}: ")
    assert line in err
    assert err.count("\n") == 1


def numbers():
    return st.fractions(max_denominator=12).filter(bool)


@st.composite
def models(draw):
    """Draw a model with names, small numbers, and sides that may be missing."""
    columns = draw(st.integers(0, 4))
    integer = draw(st.lists(st.booleans(), min_size=columns, max_size=columns))
    side = st.none() | st.integers(-5, 5)
    rows = []
    for _ in range(draw(st.integers(0, 3))):
        inside = sorted(draw(st.sets(st.integers(0, columns - 1)))) if columns else []
        entries = [draw(st.integers(-9, 9).filter(bool)) for _ in inside]
        rows.append(Row(inside, entries, draw(side), draw(side), draw(st.integers(1, 3))))
    costs = {
        j: draw(st.integers(-9, 9).filter(bool)) for j in range(columns) if draw(st.booleans())
    }
    model = Model(
        integer,
        [draw(side) for _ in range(columns)],
        [draw(side) for _ in range(columns)],
        rows,
        (list(costs), list(costs.values())),
        draw(st.integers(1, 3)),
        draw(numbers()),
        draw(st.sampled_from(["min", "max"])),
    )
    names = st.lists(st.text("abc_[]", min_size=1), unique=True)
    chosen = draw(names.filter(lambda n: len(n) >= columns)) if columns else []
    return NamedModel(model, chosen[:columns], [f"r{i}" for i in range(len(rows))], [])


def permuted(named, columns, rows):
    """Return the same model with columns and rows in another order."""
    model, new = named.model, {j: k for k, j in enumerate(columns)}

    def form(pair):
        return [new[j] for j in pair[0]], list(pair[1])

    moved = [model.rows[i] for i in rows]
    moved = [Row(*form((r.columns, r.coefficients)), *r[2:]) for r in moved]
    return NamedModel(
        model._replace(
            integer=[model.integer[j] for j in columns],
            lower=[model.lower[j] for j in columns],
            upper=[model.upper[j] for j in columns],
            rows=moved,
            costs=form(model.costs),
        ),
        [named.columns[j] for j in columns],
        [named.rows[i] for i in rows],
        [],
    )


@given(models(), st.randoms())
@settings(max_examples=60, deadline=None)
def test_an_order_of_columns_and_rows_does_not_change_the_identity(named, rng):
    columns, rows = list(range(len(named.columns))), list(range(len(named.rows)))
    rng.shuffle(columns)
    rng.shuffle(rows)
    moved = permuted(named, columns, rows)
    assert MipInstance.of(moved).identity() == MipInstance.of(named).identity()


@given(models(), st.data())
@settings(max_examples=60, deadline=None)
def test_any_change_of_a_number_changes_the_identity(named, data):
    model = named.model
    changes = [model._replace(offset=model.offset + 1), model._replace(scale=model.scale + 3)]
    changes.append(model._replace(sense="max" if model.sense == "min" else "min"))
    for i, row in enumerate(model.rows):
        for field, value in (("lower", 77), ("upper", 77), ("denominator", 7)):
            changes.append(
                model._replace(
                    rows=[*model.rows[:i], row._replace(**{field: value}), *model.rows[i + 1 :]]
                )
            )
    for j in range(len(model.integer)):
        flipped = [x != (k == j) for k, x in enumerate(model.integer)]
        changes.append(model._replace(integer=flipped))
    changed = named._replace(model=data.draw(st.sampled_from(changes)))
    assert MipInstance.of(changed).identity() != MipInstance.of(named).identity()


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": ("x",)},
        {"columns": ("x", "x")},
        {"rows": ("need", "")},
        {"model": "no base64"},
    ],
)
def test_names_and_text_that_do_not_fit_are_refused(files, changes):
    plain = read(files / "a.mps").data.model_dump(mode="json")
    assert MipInstance(**{**plain, "columns": ("x", "y"), "rows": ("need", "room")})
    with pytest.raises(ValidationError):
        MipInstance(**{**plain, "columns": ("x", "y"), "rows": ("need", "room"), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "=obj= 2.25\nx 2\ny 0.5\n",
        "solution status: optimal\nobjective value: 2.125\nx  2 \t(obj:1)\ny  0.5 \t(obj:0.25)\n",
        "# Objective value = 2.125\nx 2\ny 0.5\n",
        "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 2.125\n"
        "# Columns 2\nx 2\ny 0.5\n# Rows 2\nneed 1.5\nroom 2\n",
    ],
)
def test_a_solver_s_solution_is_read_exactly(files, text):
    (files / "k.sol").write_text(text)
    document = read_solution(files / "k.sol", read(files / "a.mps"))
    assert document.data == MipSolution(values={"x": Fraction(2), "y": Fraction(1, 2)})


def test_an_unknown_name_or_a_solution_alone_is_refused(files):
    (files / "k.sol").write_text("x 2\nz 1\n")
    with pytest.raises(InputError, match=r"k\.sol: z: no column of the model"):
        read_solution(files / "k.sol", read(files / "a.mps"))
    with pytest.raises(InputError, match="read with its instance only"):
        read(files / "k.sol")
