"""Pages with examples of Python run as they are written, and so does a notebook."""

import doctest
import re

import pytest

CELLS = [
    "import gadgetopt\ninstance = gadgetopt.read('instances/sjf_bco/tiny/e2_contention_pays.json')",
    "instance",
    "result = gadgetopt.solve(instance, 'first_fit', time_limit=5)\nresult",
    "gadgetopt.problem('sjf_bco')",
    "table = gadgetopt.compare([instance], 'first_fit', workers=0)",
    "table",
]


@pytest.mark.parametrize(
    ("page", "least_examples"), [("python.md", 12), ("own_data.md", 10), ("own_graphs.md", 20)]
)
def test_the_page_is_what_happens(root, monkeypatch, page, least_examples):
    monkeypatch.chdir(root)
    text = (root / "docs" / page).read_text(encoding="utf-8")
    # A fence would count as output.
    plain = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(plain, {}, page, f"docs/{page}", 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    said = []
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
    assert len(test.examples) >= least_examples


def test_a_notebook_shows_numbers_and_pictures(root):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(root)}}).execute()
    outputs = [cell.outputs for cell in book.cells]
    assert outputs[0] == []
    for shown in (outputs[1], outputs[2], outputs[3], outputs[5]):
        assert [output.output_type for output in shown] == ["display_data"] * 2, shown
        numbers, picture = (output["data"] for output in shown)
        assert "<table" in numbers["text/html"]
        assert numbers["text/plain"]
        assert picture["application/vnd.plotly.v1+json"]["data"]
    assert len(nbformat.writes(book)) < 500_000
