"""What is exported for other solvers is the exact model, read back by the exact readers.

Pyomo writes doubles, so numbers are compared as their 17 digits allow; and it writes a row with two
sides as two rows in LP files.
"""

import contextlib
import math
import os
from collections import defaultdict
from itertools import chain

import pytest
from pyomo.core.base.label import cpxlp_label_from_name

import gadgetopt
from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.model import digest, parsed
from gadgetopt.proofs.reading.model_files import read_model
from gadgetopt.reporting.export import write_formulation, write_model
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.formulations.building import built
from gadgetopt.solvers.standard_form import compile_model

OTHER = {"lower": "upper", "upper": "lower"}
PAIRS = [
    (problem.name, formulation.name)
    for problem in gadgetopt.problems()
    for formulation in problem.formulations
    if formulation.model_class != "MINLP"
]
QUICK = {"knapsack", "parallel_machines", "bgl_resources", "adsp_rates", "mip"}
#: By which Pyomo's LP and MPS files carry the constant of the objective.
CONSTANT = "ONE_VAR_CONSTANT"
#: Models of more entries take minutes in all; GADGETOPT_EXPORTS=all tries them, too.
MOST_ENTRIES = math.inf if os.environ.get("GADGETOPT_EXPORTS") == "all" else 600


def one_sided_rows(model, columns):
    """Return the sides and coefficients of rows by columns and kind of side; two-sided are two."""
    rows = defaultdict(list)
    for row in model.rows:
        terms = sorted(zip((columns[j] for j in row.columns), row.coefficients, strict=True))
        names = tuple(name for name, _ in terms)
        for kind, side in (("lower", row.lower), ("upper", row.upper)):
            if side is not None:
                # `0 <= x` is for some `-x <= 0`, for others `x >= 0`.
                sign = -1 if terms and terms[0][1] < 0 else 1
                kind_of_row = kind if sign == 1 else OTHER[kind]
                numbers = [side, *(a for _, a in terms)]
                rows[names, kind_of_row].append(
                    [sign * float(a / row.denominator) for a in numbers]
                )
    # A row without columns is no row for Pyomo, and one of its own fixes the constant's column.
    left_out = {(names, kind) for names in ((), (CONSTANT,)) for kind in ("lower", "upper")}
    return {key: sorted(values) for key, values in rows.items() if key not in left_out}


def costs_of(model, columns):
    """Return the costs by column, and the constant; a column that carries it is none."""
    sign = 1 if model.sense == "min" else -1
    costs = {columns[j]: sign * a / model.scale for j, a in zip(*model.costs, strict=True)}
    return float(model.offset) + costs.pop(CONSTANT, 0), costs


def bounds_of(model, columns, used):
    ends = zip(columns, model.integer, model.lower, model.upper, strict=True)
    return {
        name: (whole, *(None if x is None else float(x) for x in (low, high)))
        for name, whole, low, high in ends
        if name in used
    }


def close(x):
    return pytest.approx(x, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("system", "name"),
    [
        pytest.param(*pair, marks=() if pair[0] in QUICK else pytest.mark.slow, id="-".join(pair))
        for pair in PAIRS
    ],
)
def test_an_exported_model_is_the_exact_model(system, name, root, tmp_path):
    document = gadgetopt.read(root / f"instances/quickstart/{system}.json")
    (formulation,) = (f for f in document.problem.formulations if f.name == name)
    try:
        model = built(formulation, document.data)  # has to live while its names are asked
        own = formulation.form is not None
        form = formulation.form(document.data) if own else compile_model(model)
        expected = exact_model(form)
    except (ModelRefused, TriviallyInfeasibleError) as refused:
        pytest.skip(str(refused))
    if form.A.nnz > MOST_ENTRIES:
        pytest.skip(f"more than {MOST_ENTRIES} entries, GADGETOPT_EXPORTS=all tries it")
    names = [column.name for column in form.columns]
    for suffix in ("mps", "lp", "nl"):
        path = tmp_path / f"model.{suffix}"
        if own:
            write_formulation(formulation, document.data, suffix, path)
        else:
            write_model(model, suffix, path)
        labels = not own and suffix != "nl"
        columns = list(map(cpxlp_label_from_name, names)) if labels else names
        assert_same(read_model(path), expected, columns)
    write_formulation(formulation, document.data, "exact", tmp_path / "model.txt")
    with (tmp_path / "model.txt").open() as file:
        assert digest(parsed(file)) == digest(expected)
    with contextlib.suppress(ModelRefused):  # CP-SAT takes integers alone
        write_formulation(formulation, document.data, "cpsat", tmp_path / "model.pbtxt")


def assert_same(read, model, columns):
    ours, theirs = one_sided_rows(model, columns), one_sided_rows(read.model, read.columns)
    assert ours.keys() == theirs.keys()
    for key, rows in ours.items():
        assert list(chain(*theirs[key])) == close(list(chain(*rows)))
    assert read.model.sense == model.sense
    offset, costs = costs_of(model, columns)
    read_offset, read_costs = costs_of(read.model, read.columns)
    assert float(read_offset) == close(offset)
    assert {k: float(x) for k, x in read_costs.items()} == close(
        {k: float(x) for k, x in costs.items()}
    )
    used = {*chain(*(names for names, _ in ours)), *costs}
    expected = bounds_of(model, columns, used)
    assert bounds_of(read.model, read.columns, used) == {
        column: (whole, *(None if x is None else close(x) for x in ends))
        for column, (whole, *ends) in expected.items()
    }
