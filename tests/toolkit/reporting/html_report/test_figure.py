"""Parts of figures: thinning of very many runs, and readable axes."""

import math

from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.reporting.html_report.columns import (
    TIME,
    column_axis,
    column_names,
    rank_correlation,
)
from gadgetopt.reporting.html_report.figure import (
    fair_share,
    log_axis,
    ratio_axis,
    thinned,
)
from gadgetopt.reporting.html_report.reading import Line, Measured, System
from gadgetopt.reporting.html_report.style import style
from gadgetopt.reporting.html_report.words import guarantee, interval
from gadgetopt.system.result import Limits

from ..entries_of import result, table


@given(st.integers(0, 500), st.integers(1, 100))
def test_thinning_keeps_the_most_important_half_and_never_more_than_asked(count, most):
    kept = thinned(range(count), most)
    assert len(kept) == count if count <= most else len(kept) <= most
    assert kept[: most // 2] == list(range(count))[: most // 2]
    assert len(set(kept)) == len(kept)


def test_all_points_are_drawn_as_long_as_a_figure_holds_them():
    assert fair_share(2999, 50) == 2999
    assert fair_share(30_000, 10) == 300


@given(st.floats(1e-3, 1e3), st.floats(1.01, 1e6))
def test_a_logarithmic_axis_holds_its_ends_and_has_labels(least, factor):
    axis = log_axis(least, least * factor)
    low, high = axis["range"]
    assert low <= math.log10(least) < math.log10(least * factor) <= high
    assert all(low <= math.log10(x) <= high for x in axis["tickvals"])
    assert factor < 10 or axis["tickvals"]


def test_an_axis_of_ratios_holds_one_and_every_finite_ratio():
    assert ratio_axis([1.0, 1.2, math.inf])["range"][0] < 1
    assert ratio_axis([1.0, 1.2, math.inf])["range"][1] > 1.2
    assert ratio_axis([1.0, 50.0])["type"] == "log"
    assert ratio_axis([])["range"][0] < 1


def test_a_column_of_few_integers_has_labels_at_integers_alone():
    assert column_axis([3.0, 4.0, 5.0]) == {"dtick": 1}
    assert column_axis([7.0]) == {"dtick": 1}
    assert column_axis([0.5, 1.0]) == column_axis([3.0, 40.0]) == column_axis([]) == {}
    assert column_axis([1.0, 1000.0])["type"] == "log"


def test_a_ratio_is_written_as_what_is_known_of_it():
    assert interval(1.5, 1.5) == "1.500"
    assert interval(1.0, 1.25) == "1.000 – 1.250"
    assert interval(2.0, None) == "≥ 2.000"
    assert interval(math.inf, math.inf) == interval(math.inf, None) == "∞"
    assert interval(1e6, 1e6) == "1000000"


def test_the_first_ten_methods_differ_in_colour_and_forty_in_colour_and_dash_together():
    assert len({style(i).colour for i in range(10)}) == 10
    assert len({(style(i).colour, style(i).dash) for i in range(40)}) == 40


def test_a_vacuous_theorem_is_shown_as_such():
    assert guarantee(15825043.108) == "> 1000 (vacuous)"
    assert guarantee(1.236) == "1.236"


def test_the_column_that_tells_most_of_the_ratios_comes_first():
    sizes = [1, 2, 3, 4, 5, 6]
    runs = []
    for k, size in enumerate(sizes):
        runs.append(result(f"i{k}", "own", objective=10 + size))
        runs.append(result(f"i{k}", "search", "exact", 10, 10))
    lines = tuple(
        Line(str(k), entry, entry.result.method, Limits(), "1")
        for k, entry in enumerate(table(runs))
    )
    instances = {
        f"sjf_bco i{k}": Measured(f"i{k}", {"mixed": size * 7 % 5, "size": size, "same": 1})
        for k, size in enumerate(sizes)
    }
    system = System("sjf_bco", "", "minimise", "makespan", lines, instances)
    assert rank_correlation(system, "size") == 1
    assert rank_correlation(system, "same") == 0
    assert column_names(system) == ["size", "mixed", TIME, "same"]
