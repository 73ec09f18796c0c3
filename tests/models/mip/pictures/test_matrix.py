"""The picture of a solution shows every entry, pale where its column is 0, and the tight rows."""

import pytest

import gadgetopt
from gadgetopt.models.mip.instance import MipSolution
from gadgetopt.models.mip.pictures import matrix as module
from gadgetopt.models.mip.pictures.matrix import PALE, matrix

MIXED = gadgetopt.read("instances/mip/tiny/mixed.lp").data
COVER = gadgetopt.read("instances/mip/tiny/cover.lp").data


def solution(**values):
    return MipSolution(values=values)


def marks(figure):
    """Return row, column, class and opacity of all marks of entries."""
    *traces, tight = figure.data
    assert tight.name == "tight rows"
    return {
        (i, j): (trace.name, opacity)
        for trace in traces
        for i, j, opacity in zip(trace.y, trace.x, trace.marker.opacity, strict=True)
    }, list(tight.y)


def test_entries_have_the_class_of_their_row_and_are_pale_where_the_column_is_0():
    drawn, tight = marks(matrix(MIXED, solution(y="3/4")))
    assert drawn == {
        (0, 0): ("variable bounds", PALE),
        (0, 1): ("variable bounds", 1.0),
        (1, 1): ("continuous columns alone", 1.0),
    }
    assert tight == [1]  # 4 y <= 3


def test_the_title_says_the_objective_and_what_is_used():
    figure = matrix(COVER, solution(a=1, b=1))
    assert figure.layout.title.text == "Objective 4 with 2 of 3 columns, 2 of 3 rows tight"
    assert {name for name, _ in marks(figure)[0].values()} == {"sets of binaries"}


def test_of_many_entries_some_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "MOST_MARKS", 3)
    figure = matrix(COVER, solution(a=1, b=1))
    assert len(marks(figure)[0]) == 3
    assert "one entry of 2" in figure.layout.title.subtitle.text


@pytest.mark.parametrize("name", ["no_bounds.lp", "thirds.lp", "nothing_to_gain.mps"])
def test_every_tiny_model_has_a_picture(name):
    result = gadgetopt.solve(f"instances/mip/tiny/{name}")
    assert matrix(result.document.data, result.solution).data
