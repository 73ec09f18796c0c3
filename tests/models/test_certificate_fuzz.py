"""No mutated certificate of any system proves a bound that a feasible solution refutes.

What cannot be read or checked is refused in one line, never a traceback. The environment variable
`GADGETOPT_FUZZ` sets how many certificates of each kind are tried (default 300), and
`GADGETOPT_FUZZ_SEED` which.
"""

import dataclasses
import json
import os
import sys
from fractions import Fraction

import pyomo.environ as pyo
import pytest

from gadgetopt.errors import InputError
from gadgetopt.numbers.text import show
from gadgetopt.solvers.dual_bounds import exact_dual_bound
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.data import LpDuals
from gadgetopt.system.declaration import integral
from gadgetopt.system.files import (
    parse,
    validate,
)
from gadgetopt.system.registry import problem, problem_names
from gadgetopt.system.result import Limits
from gadgetopt.trust.judgement import relative_gap
from gadgetopt.trust.verification import verify_bound

from .certificate_cases import OF_DOUBLES, assert_holds, cases
from .certificate_mutations import as_text, generator, mutated

TRIES = int(os.environ.get("GADGETOPT_FUZZ", "300"))
SEED = int(os.environ.get("GADGETOPT_FUZZ_SEED", "0"))

#: Formulations that take long to build.
LARGE = {"schedule_selection"}


def assert_one_line(error):
    assert "\n" not in str(error)


@pytest.mark.parametrize("system", problem_names())
def test_no_mutated_certificate_proves_too_much(system):
    rng = generator(SEED)
    known = [case for case in cases(system) if case[2]]
    others = [data for _, _, true in known for data in true]
    refused = proved = 0
    for _ in range(TRIES):
        document, objective, true = rng.choice(known)
        # Those of other instances too: what does not fit has to be noticed, the rest to hold.
        data = mutated(rng.choice([*true, rng.choice(others)]), others, rng)
        try:
            certificate = parse(as_text(system, data), "proof.json")
            bound = verify_bound(document, dataclasses.replace(certificate, path="proof.json"))
        except InputError as error:
            assert_one_line(error)
            refused += 1
            continue
        assert abs(bound) <= sys.float_info.max
        assert len(show(bound)) < 30
        relative_gap(objective, bound)
        slack = OF_DOUBLES if isinstance(certificate.data, LpDuals) else 0
        assert_holds(document, objective, bound, Fraction(slack))
        proved += 1
    print(f"{system}: {proved} bounds, {refused} refused")
    assert refused > 0
    assert proved > 0


LINEAR = [
    pytest.param(name, formulation, id=f"{name}-{formulation.name}")
    for name in problem_names()
    for formulation in problem(name).formulations
    if formulation.strength != "restriction" and formulation.name not in LARGE
]


@pytest.mark.parametrize(("system", "formulation"), LINEAR)
def test_no_mutated_duals_of_a_formulation_prove_too_much(system, formulation):
    rng = generator(SEED)
    proved = 0
    for document, objective, _ in cases(system)[:2]:
        try:
            model = formulation.build(document.data)
            form = compile_model(model)
        except ValueError:
            continue  # not linear, or not made for the instance
        duals = _optimal_duals(model, len(form.rows))
        for _ in range(max(1, TRIES // 4)):
            data = mutated({"formulation": formulation.name, "row_duals": duals}, [], rng)
            try:
                read = validate(LpDuals, data, "proof.json")
                bound = exact_dual_bound(form, read.row_duals)
            except ValueError as error:
                assert_one_line(error)
                continue
            if bound is not None:
                assert_holds(document, objective, integral(document.problem, bound), OF_DOUBLES)
                proved += 1
    print(f"{system} {formulation.name}: {proved} bounds")


def _optimal_duals(model, rows):
    """Return the duals of the linear relaxation, or none where it has no optimum."""
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    duals = solve_form(compile_model(model), Limits(time_s=20)).row_duals
    return [0.0] * rows if duals is None else duals.tolist()


@pytest.mark.parametrize("system", problem_names())
def test_what_is_no_finite_number_is_refused_where_it_is_read(
    cli, system, tmp_path, in_this_process
):
    document = cases(system)[0][0]
    formulations = [f.name for f in document.problem.formulations]
    duals = {"formulation": (formulations or ["none"])[0], "row_duals": [0]}
    path = tmp_path / "proof.json"
    instance = tmp_path / "instance.json"
    data = document.data.model_dump(mode="json", exclude_none=True)
    text = json.loads(as_text(system, data)) | {"kind": "instance"}
    instance.write_text(json.dumps(text))
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        path.write_text(as_text(system, duals).replace("[0]", f"[{number}]"))
        code, out, err = cli("verify", instance, "--bound", path)
        assert (code, out) == (2, "")
        assert err.startswith(f"gadgetopt: {path}: data.row_duals[0]: ")
        assert err.count("\n") == 1
