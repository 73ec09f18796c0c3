"""What summaries write as LaTeX is set by TeX itself: without an error, and within the margins."""

import re
import shutil
import subprocess

import pytest

from gadgetopt.reporting.sentences import rows_of
from gadgetopt.reporting.summary import summarize
from gadgetopt.reporting.summary.documents import latex
from gadgetopt.reporting.tables import render
from gadgetopt.trust.theorems import Promise

from ..entries_of import result, study, table
from .latex_checker import PACKAGES

pytestmark = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="pdflatex is not installed: LaTeX is checked by latex_checker.py alone",
)


def compiled(folder, *tables):
    """Set tables in one document; return the log of TeX, and an error of it as an exception."""
    packages = ",".join(sorted(set(PACKAGES.values())))
    body = "\n".join(tables)
    (folder / "paper.tex").write_text(
        "\\documentclass{article}\n"
        f"\\usepackage{{{packages}}}\n"
        "\\begin{document}\n"
        f"{body}\n"
        "\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")
    return done.stdout


def wide_boxes(log):
    return [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", log)]


def test_summaries_are_set_within_the_margins(tmp_path):
    by = [], ["size_jobs"], ["size_jobs", "size_load"], ["instance"]
    tables = [
        latex(rows_of(summarize(study(draw=draw), names)), names, f"a study_{draw}{len(names)}")
        for draw in range(2)
        for names in by
    ]
    wild = "my_method:alpha=0.25:mode=[a,b]:rule=%&#{x}~^\\"
    runs = [result("i", wild, "approximation", 4), result("i", "search", "exact", 3, 3)]
    tables.append(
        latex(rows_of(summarize(table(runs, [Promise("T", "1", "proven", 10**9)]))), [], "wild")
    )
    assert wide_boxes(compiled(tmp_path, *tables)) == []


def test_a_table_of_single_runs_is_set(tmp_path):
    rows = [entry.row() for entry in study(instances=3)]
    compiled(tmp_path, r"{\tiny", render(rows, "latex", None), "}")


def test_what_tex_refuses_is_noticed(tmp_path):
    with pytest.raises(AssertionError, match=r"(?s)Undefined control sequence.*nosuchcommand"):
        compiled(tmp_path, r"\nosuchcommand")
    long = r"\noindent\mbox{" + 80 * "word " + "}"
    assert len(wide_boxes(compiled(tmp_path, long))) == 1
