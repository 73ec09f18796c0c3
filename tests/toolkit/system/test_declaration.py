"""Declarations of problems: parts by name and keyword, imported when used."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import (
    Citation,
    Formulation,
    Generator,
    Guarantee,
    Importer,
    Method,
    Picture,
    Problem,
    Reference,
    resolved,
)

CITATION = Citation(authors="-", title="-", venue="-", year=2000)


@pytest.mark.parametrize("part", [Formulation, Generator, Guarantee, Importer, Method, Picture])
def test_what_follows_the_name_of_a_part_is_given_by_keyword(part):
    with pytest.raises(TypeError, match="positional argument"):
        part("name", "summary")


def test_a_reference_is_resolved_and_anything_else_is_itself():
    assert resolved(Reference("gadgetopt", "system.declaration:resolved")) is resolved
    assert resolved(len) is len


def test_a_problem_without_its_functions_or_a_package_is_refused():
    with pytest.raises(InputError, match="Problem 'x': instance_type: missing, expected it or a"):
        Problem(name="x", title="-", citation=CITATION, sense="min", objective="-")


def test_what_took_the_place_of_parts_is_said():
    with pytest.raises(InputError, match=r"Parts: was removed; declare parts below decorators"):
        from gadgetopt.system.declaration import Parts  # noqa: F401
    with pytest.raises(ImportError):
        from gadgetopt.system.declaration import Part_s  # noqa: F401
