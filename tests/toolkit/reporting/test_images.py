"""Figures as files: every form, the same bytes each time, one line where something is missing."""

import re
import struct
import sys
from pathlib import Path

import plotly.graph_objects as go
import pytest

from gadgetopt.errors import InputError
from gadgetopt.reporting.images import IMAGES, check_figure_file, write_figure, write_figures

pytestmark = pytest.mark.usefixtures("in_this_process")

LABEL = "a label of an axis that is far longer than the margin of the figure"


@pytest.fixture(scope="module")
def figure():
    made = go.Figure(go.Bar(x=[3, 1], y=[LABEL, "θ ≤ 2"], orientation="h"))
    steps = [{"label": str(k), "method": "skip"} for k in (1, 2, 3)]
    slider = {"steps": steps, "active": 1, "currentvalue": {"prefix": "after slot "}}
    return made.update_layout(
        title={"text": "Loads", "subtitle": {"text": "dashed: bound"}},
        height=300,
        sliders=[slider],
        updatemenus=[{"buttons": [{"label": "all trees", "method": "skip"}]}],
    )


@pytest.fixture(scope="module")
def drawing():
    """Skip where nothing can draw."""
    pytest.importorskip("kaleido")
    try:
        check_figure_file("--out", Path("x.png"))
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def files(figure, drawing, tmp_path_factory):
    """Each form twice, and a transparent, narrow one, drawn in two browsers."""
    folder = tmp_path_factory.mktemp("images")
    write_figures([(figure, folder / f"{k}{suffix}") for k in (1, 2) for suffix in IMAGES])
    write_figure(figure, folder / "clear.svg", width_px=400, transparent=True)
    return folder


@pytest.mark.parametrize("suffix", IMAGES)
def test_the_same_figure_gives_the_same_file(files, suffix):
    assert (files / f"1{suffix}").read_bytes() == (files / f"2{suffix}").read_bytes()


def test_a_png_has_two_pixels_per_pixel_of_the_page(files):
    width, height = struct.unpack(">II", (files / "1.png").read_bytes()[16:24])
    assert (width, height) == (2000, 600)


def test_a_pdf_is_one_page_with_its_fonts(files):
    pdf = (files / "1.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    assert b"/FontFile2" in pdf
    assert b"Kaleido" not in pdf


def test_menus_and_sliders_are_left_out_and_the_subtitle_says_what_is_shown(files):
    svg = (files / "1.svg").read_text(encoding="utf-8")
    assert "all trees" not in svg
    assert "slider-group" not in svg
    assert "dashed: bound; after slot 2" in svg


def test_no_label_is_cut(files):
    svg = (files / "1.svg").read_text(encoding="utf-8")
    label = next(t for t in re.findall(r"<text[^>]*>[^<]*</text>", svg) if LABEL in t)
    # The label ends at its anchor, and a letter is at least a third as wide as high.
    end = float(re.search(r'\bx="([\d.]+)"', label)[1])
    size = float(re.search(r"font-size: ([\d.]+)px", label)[1])
    assert end > len(LABEL) * size / 3


def test_the_background_is_white_or_clear(files):
    white = 'style="fill: rgb(255, 255, 255); fill-opacity: 1;"'
    assert white in (files / "1.svg").read_text(encoding="utf-8")
    clear = (files / "clear.svg").read_text(encoding="utf-8")
    assert white not in clear
    assert 'width="400" height="300"' in clear


def test_a_suffix_without_a_writer_is_refused(figure, tmp_path):
    with pytest.raises(InputError, match=r"x\.jpg: \.jpg, expected one of \.html, \.json, \.png"):
        write_figure(figure, tmp_path / "x.jpg")


def test_without_the_extra_one_line_says_what_to_install(cli, tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    code, out, err = cli("solve", str(next(tiny.glob("*.json"))), "--plot", str(tmp_path / "x.pdf"))
    assert (code, out) == (2, "")
    assert "pip install 'gadgetopt[images]'" in err
    assert err.count("\n") == 1


def test_without_a_browser_one_line_says_what_to_install(cli, tiny, tmp_path, monkeypatch):
    pytest.importorskip("kaleido")
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    code, out, err = cli("solve", str(next(tiny.glob("*.json"))), "--plot", str(tmp_path / "x.pdf"))
    assert (code, out) == (2, "")
    assert "Chromium or Chrome" in err
    assert "apt-get install chromium" in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_does_not_start_is_named(figure, tmp_path, monkeypatch):
    pytest.importorskip("kaleido")
    other = tmp_path / "chromium"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(other))
    with pytest.raises(InputError, match=re.escape(f"drawn by {other}, which does not start")):
        write_figure(figure, tmp_path / "x.svg")
    assert not (tmp_path / "x.svg").exists()
