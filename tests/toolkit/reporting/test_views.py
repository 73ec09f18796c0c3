"""What the prompt, `print` and a notebook show of the toolkit's values."""

import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest

import gadgetopt
from gadgetopt.reporting.views import markup, values
from gadgetopt.reporting.views.overview import overview
from gadgetopt.system.registry import problem_names

#: Bytes of HTML; the drawing library alone has 4.8 million.
MOST_BYTES = 200_000


class Tags(HTMLParser):
    """Checks that tags close in order."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag not in ("br", "meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def shown(tiny):
    """One value of every kind."""
    instance = gadgetopt.read(tiny / "e2_contention_pays.json")
    result = gadgetopt.solve(instance, "ladder")
    return {
        "instance": instance,
        "result": result,
        "solution": result.to_document(),
        "problem": instance.problem,
        "comparison": gadgetopt.compare([instance], "first_fit", workers=0),
        "evaluation": gadgetopt.verify(instance, result),
    }


KINDS = ("instance", "result", "solution", "problem", "comparison", "evaluation")


@pytest.mark.parametrize("kind", KINDS)
def test_repr_is_one_short_line(shown, kind):
    line = repr(shown[kind])
    assert "\n" not in line
    assert 10 < len(line) < 250


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_well_formed_and_small(shown, kind):
    html = shown[kind]._repr_html_()
    assert not Tags(html).open
    assert len(html) < MOST_BYTES


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "evaluation"])
def test_html_has_numbers_and_a_picture(shown, kind):
    html = shown[kind]._repr_html_()
    assert re.search(r">[^<]*\d[^<]*</td>", html) or kind == "problem"
    assert "Plotly.newPlot" in html


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_have_the_colours_of_their_page(shown, kind):
    """On a dark page as on a light one: no colour but the page's own."""
    numbers = values.numbers(shown[kind])
    assert not re.search(r"(?<![-\w])(color|background)\s*:", numbers)


def test_a_figure_keeps_its_light_ground(shown):
    layout = values.picture(shown["result"]).layout
    assert layout.template.layout.paper_bgcolor == "white"


def test_print_of_a_result_is_readable(shown):
    lines = str(shown["result"]).splitlines()
    found = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in lines if line[0] != " ")
    assert found["status"] == "optimal"
    assert found["makespan (slots)"] == "3"
    assert found["dual bound"].startswith("3 (")
    assert found["relative gap"] == "0.00%"
    assert found["time"].split(" s")[0].replace(".", "").isdigit()
    assert found["method"] == "ladder (exact)"


def test_print_of_an_infeasible_result_names_the_violations(shown, tiny):
    instance = gadgetopt.read(tiny / "e1_co_locate.json")
    wrong = instance.problem.evaluate(instance.data, shown["result"].solution)
    assert not wrong.feasible
    assert all(str(v) in str(wrong) for v in wrong.violations)
    assert "infeasible: " in repr(wrong)


def test_the_bundle_of_a_figure_is_what_front_ends_draw(shown):
    bundle = markup.figure_bundle(values.picture(shown["result"]))
    assert bundle[markup.PLOTLY]["data"]
    assert "cdn.plot.ly" in bundle["text/html"]


def test_text_from_files_is_escaped(shown):
    instance = shown["instance"]
    wild = type(instance)(instance.problem, "instance", "<script>x</script>", instance.data)
    assert "<script>x" not in values.numbers(wild)


def test_a_result_of_a_system_that_is_not_installed_is_shown(shown):
    result = shown["result"]
    foreign = type(result)(**{**vars(result), "problem": "elsewhere", "document": None})
    assert "objective 3" in repr(foreign)
    assert "elsewhere" in str(foreign)
    assert "Plotly" not in foreign._repr_html_()


def test_an_exact_number_is_followed_by_its_fraction():
    assert values.exactly(Fraction(10, 3)) == "3.33333 = 10/3"
    assert values.exactly(9) == "9"


@pytest.mark.parametrize("name", problem_names())
def test_every_system_and_instance_shows_itself(name, root):
    instance = gadgetopt.read(root / "instances" / "quickstart" / f"{name}.json")
    assert repr(instance).startswith(f"<Instance {name} of {name}: ")
    assert len(instance._repr_html_()) < MOST_BYTES
    assert overview(instance.data) is not None
    assert len(gadgetopt.problem(name)._repr_html_()) < MOST_BYTES


def test_ipython_shows_numbers_and_picture(shown, monkeypatch):
    ipython = pytest.importorskip("IPython")
    outputs = []
    monkeypatch.setattr("IPython.display.publish_display_data", outputs.append)

    class Shell:
        kernel = object()

    monkeypatch.setattr("IPython.core.getipython.get_ipython", Shell)
    shown["result"]._ipython_display_()
    assert [sorted(output) for output in outputs] == [
        ["text/html", "text/plain"],
        [markup.PLOTLY, "text/html", "text/plain"],
    ]
    assert ipython


def test_a_terminal_gets_a_line(shown, monkeypatch, capsys):
    pytest.importorskip("IPython")
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: None)
    shown["result"]._ipython_display_()
    assert capsys.readouterr().out == f"{shown['result']!r}\n"
