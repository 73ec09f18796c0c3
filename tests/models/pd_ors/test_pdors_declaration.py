"""What is declared is what the functions take."""

import inspect

import pytest
from gadgetopt.models.pd_ors import PROBLEM

DECLARED = [
    *(pytest.param(m.run, m.parameters, id=m.name) for m in PROBLEM.methods),
    *(pytest.param(g.generate, g.parameters, id=g.name) for g in PROBLEM.generators),
    *(pytest.param(i.read, i.parameters, id=i.format) for i in PROBLEM.importers),
]


@pytest.mark.parametrize(("reference", "declared"), DECLARED)
def test_parameters_and_defaults_are_those_of_the_function(reference, declared):
    taken = inspect.signature(reference.resolve()).parameters.values()
    assert declared == {p.name: p.default for p in taken if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize("method", PROBLEM.methods, ids=lambda m: m.name)
def test_defaults_are_among_the_choices(method):
    for name, choices in method.choices.items():
        assert method.parameters[name] in choices


def test_guarantees_speak_of_methods_there_are():
    names = {m.name for m in PROBLEM.methods}
    assert all(set(g.methods) <= names for g in PROBLEM.guarantees)


def test_every_part_can_be_imported():
    for what in (*PROBLEM.formulations, *PROBLEM.pictures, *PROBLEM.guarantees):
        for target in ("build", "decode", "draw", "ratio"):
            reference = getattr(what, target, None)
            assert reference is None or callable(reference.resolve())
