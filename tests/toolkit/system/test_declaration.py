"""Declarations of problems: parts by name and keyword, imported when used."""

import pytest

from gadgetopt.system.declaration import (
    Formulation,
    Generator,
    Guarantee,
    Importer,
    Method,
    Parts,
    Picture,
    resolved,
)


@pytest.mark.parametrize("part", [Formulation, Generator, Guarantee, Importer, Method, Picture])
def test_what_follows_the_name_of_a_part_is_given_by_keyword(part):
    with pytest.raises(TypeError, match="positional argument"):
        part("name", "summary")


def test_a_reference_is_resolved_and_anything_else_is_itself():
    part = Parts("gadgetopt")
    assert resolved(part("system.declaration:resolved")) is resolved
    assert resolved(len) is len
