"""The pictures of the pages, docs/img/*.png.

No study draws the pictures of the pages.

Every system's page opens with its quickstart instance, solved by the default method and drawn as
the system's first picture of a solution; some pages have one more. Needs the extra `images` and
Chromium or Chrome.

Run `python benchmarks/pictures.py NAME ...`, or `--all`; without names it lists them. Files go to
docs/img or to --out. `spp_vgg16` is drawn from a public profile that is not in this repository: the
`graph.txt` of VGG-16 in https://github.com/msr-fiddle/pipedream, given by --vgg16. `report` is a
photograph of the head of a report, by Chromium. `headline_dark` is README's figure, headline.svg
and headline_narrow.svg, with its light turned as the site turns that of its pictures in the dark.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gadgetopt
from gadgetopt.reporting.figures import drawn
from gadgetopt.reporting.images import check_figure_file, write_figures
from gadgetopt.system.files import library
from gadgetopt.system.generation import Series, write_series
from gadgetopt.system.registry import problem_names
from gadgetopt.system.result import Limits

REPORT, HEADLINE, HEADLINE_DARK = "report", "headline", "headline_dark"
#: By definition: that of the site's pictures in the dark (docs/_extensions/static/site.css).
DARK = "filter: invert(.92) hue-rotate(180deg)"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DOCS = Path(__file__).resolve().parents[1] / "docs" / "img"


@dataclass(frozen=True)
class PagePicture:
    """A picture of a page: what finds the instance's file, and the picture's name."""

    instance: Callable[[Path], Path]
    picture: str | None = None


def quickstart(system: str) -> PagePicture:
    return PagePicture(lambda _: Path(str(library() / "quickstart" / f"{system}.json")))


def paper(system: str, picture: str, **options: Any) -> PagePicture:
    series = Series(system=system, preset="paper", options=options)
    return PagePicture(lambda folder: write_series(series, folder)[0], picture)


def vgg16(profile: Path | None) -> PagePicture:
    def imported(folder: Path) -> Path:
        if profile is None:
            sys.exit("spp_vgg16: needs --vgg16 FILE, the graph.txt of VGG-16")
        command = [sys.executable, "-m", "gadgetopt", "import", "pipedream-profile", str(profile)]
        command += ["--system", "spp", "--set", "cluster=4x4", "--set", "microbatches=16"]
        subprocess.run([*command, "--out", str(folder)], check=True, stdout=subprocess.DEVNULL)
        return next(folder.glob("*.json"))

    return PagePicture(imported)


def pictures(profile: Path | None) -> dict[str, PagePicture]:
    """Return all pictures by name."""
    return {
        **{f"{system}_quickstart": quickstart(system) for system in problem_names()},
        "bgl_cache_capacity": paper("bgl_cache", "misses_by_capacity"),
        "oneflow_sbp_phases": paper("oneflow_sbp", "phases"),
        "pipeline_schedules_frontier": paper(
            "pipeline_schedules", "frontier", devices=4, microbatches=12, objective="period"
        ),
        "spp_vgg16": vgg16(profile),
    }


def draw(wanted: PagePicture) -> Any:
    """Return the figure of a picture; a solution's is that of the default method."""
    with tempfile.TemporaryDirectory() as folder:
        instance = gadgetopt.read(str(wanted.instance(Path(folder))))
    system = instance.problem
    picture = next(
        p
        for p in system.pictures
        if p.name == wanted.picture or (not wanted.picture and p.of == "solution")
    )
    if picture.of == "instance":
        return drawn(system, picture, instance.data)
    result = gadgetopt.solve(instance, system.default_method, Limits(time_s=120))
    return drawn(system, picture, instance.data, result.solution)


def photograph_report(path: Path) -> None:
    """Compare the methods on fifteen instances and take a picture of the report's head."""
    with tempfile.TemporaryDirectory() as folder:
        store, page = Path(folder) / "sweep.sqlite", Path(folder) / "report.html"
        command = [sys.executable, "-m", "gadgetopt", "compare", "--time-limit", "5"]
        command += ["--generate", "sjf_bco:mini_paper:jobs=[4,8,12]:count=5", "--store", str(store)]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        gadgetopt.write_report(store, page)
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            sys.exit(f"report: needs a browser, one of {', '.join(BROWSERS)}")
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,1350"]
        options += ["--virtual-time-budget=8000", f"--screenshot={path}", page.as_uri()]
        subprocess.run([browser, *options], check=True, stderr=subprocess.DEVNULL)


def darken(light: Path, dark: Path) -> None:
    """Write a picture, SVG by plotly, with its light turned, for pages with a dark ground."""
    head, rest = light.read_text(encoding="utf-8").split('style=""', 1)
    dark.write_text(f'{head}style="{DARK}"{rest}', encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="all but those whose data are not given")
    parser.add_argument("--out", type=Path, default=DOCS)
    parser.add_argument("--vgg16", type=Path, metavar="FILE")
    options = parser.parse_args()
    known = pictures(options.vgg16)
    if options.all:
        options.names = [REPORT, HEADLINE_DARK] + [
            name for name in known if name != "spp_vgg16" or options.vgg16
        ]
    if not options.names:
        print("\n".join([REPORT, HEADLINE_DARK, *known]))
        return
    unknown = [name for name in options.names if name not in {REPORT, HEADLINE_DARK, *known}]
    if unknown:
        parser.error(f"no picture is named {', '.join(unknown)}")
    if REPORT in options.names:
        options.names.remove(REPORT)
        photograph_report(options.out.resolve() / f"{REPORT}.png")
    if HEADLINE_DARK in options.names:
        options.names.remove(HEADLINE_DARK)
        for form in ("", "_narrow"):
            light, dark = f"{HEADLINE}{form}.svg", f"{HEADLINE}{form}_dark.svg"
            darken(DOCS / light, options.out / dark)
    files = {name: options.out / f"{name}.png" for name in options.names}
    if not files:
        return
    try:
        check_figure_file("--out", next(iter(files.values())))
        write_figures(((draw(known[name]), path) for name, path in files.items()), png_scale=1.5)
    except gadgetopt.InputError as error:
        sys.exit(str(error))
    print("\n".join(map(str, files.values())))


if __name__ == "__main__":
    main()
