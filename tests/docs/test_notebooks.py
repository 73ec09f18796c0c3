"""The notebooks of docs/notebooks run from top to bottom, exercises' solutions included."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.md"))

#: Seconds of a cell, on a machine that is busy with other tests.
MOST_S = 300


def read(path: Path):
    jupytext = pytest.importorskip("jupytext", reason="notebooks are read by jupytext")
    return jupytext.read(path)


def executed(path: Path):
    """Return a notebook with the outputs of its cells; a cell that fails is the test's failure."""
    client = pytest.importorskip("nbclient", reason="notebooks are run by nbclient")
    pytest.importorskip("ipykernel", reason="notebooks are run by ipykernel")
    book = read(path)
    where = {"metadata": {"path": str(path.parent)}}
    client.NotebookClient(book, timeout=MOST_S, kernel_name="python3", resources=where).execute()
    return book


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs_from_top_to_bottom(path):
    book = executed(path)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    pages = [
        str(output.data.get("text/html", ""))
        for cell in cells
        for output in cell.outputs
        if output.output_type in ("display_data", "execute_result")
    ]
    assert any("<script" in page for page in pages), "no figure"
    # The page of a notebook has no network; the drawing library has to be a part of it.
    assert not any(re.search(r'<script[^>]+src="https?://cdn\.plot', page) for page in pages)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_checks_what_it_says_and_ends_with_solved_exercises(path):
    book = read(path)
    assert book.metadata["kernelspec"]["name"] == "python3"
    assert book.cells[0].source.startswith("# ")
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert sum("assert" in cell.source for cell in code) >= 5
    assert all("outputs" not in cell or not cell.outputs for cell in code)
    _, _, exercises = path.read_text(encoding="utf-8").partition("\n## Exercises")
    assert len(re.findall(r"hide-cell|\{dropdown\}", exercises)) >= 3
