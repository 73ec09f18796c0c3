"""Pictures of the systems' pages: quickstart instances, solved and drawn as PNG files.

Each system's quickstart instance is solved by the system's default method and drawn as its first
picture, as `gadgetopt solve --plot` does; a headless Chromium takes the screenshot, so that the
file shows what a reader's browser would. Needs `chromium` and `chromedriver` (Debian:
chromium-driver) and the extra `test`, which has selenium.

Run `python benchmarks/pictures.py [SYSTEM ...]`; without a system it only lists them. Files go to
docs/img or to --out.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import gadgetopt
from gadgetopt.system.files import library
from gadgetopt.system.registry import problem, problem_names
from gadgetopt.system.result import Limits

DOCS = Path(__file__).resolve().parents[1] / "docs" / "img"

#: Width of a picture, px.
WIDTH = 1000


def draw(system: str, folder: Path) -> Path:
    """Solve and draw the quickstart instance of a system; return the page of the picture."""
    declared = problem(system)
    instance = gadgetopt.read(str(library() / "quickstart" / f"{system}.json"))
    result = gadgetopt.solve(instance, declared.default_method, Limits(time_s=120))
    picture = next(p for p in declared.pictures if p.of == "solution")
    figure = picture.draw(instance.data, result.solution)
    figure.update_layout(width=WIDTH, margin={"l": 90, "r": 20, "t": 80, "b": 60})
    page = folder / f"{system}.html"
    figure.write_html(page, include_plotlyjs=True, config={"staticPlot": True})
    return page


def photograph(page: Path, out: Path) -> None:
    """Write what a browser shows of a picture's page as a PNG file."""
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.add_argument(f"--window-size={WIDTH + 60},2000")
    service = webdriver.chrome.service.Service(executable_path=shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        browser.get(page.as_uri())
        plot = WebDriverWait(browser, 30).until(
            lambda b: b.find_element(By.CSS_SELECTOR, ".plotly .main-svg").find_element(
                By.XPATH, ".."
            )
        )
        plot.screenshot(str(out))
    finally:
        browser.quit()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("systems", nargs="*")
    parser.add_argument("--out", type=Path, default=DOCS)
    options = parser.parse_args()
    if not options.systems:
        print("\n".join(problem_names()))
        return
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        sys.exit("chromium and chromedriver are not installed (Debian: chromium-driver)")
    for system in options.systems:
        with tempfile.TemporaryDirectory() as folder:
            out = options.out / f"{system}_quickstart.png"
            photograph(draw(system, Path(folder)), out)
            print(out)


if __name__ == "__main__":
    main()
