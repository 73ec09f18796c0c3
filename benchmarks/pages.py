"""How long the pages are, and what a reader sees of them first.

No study measures pages.

`python benchmarks/pages.py sizes [--before COMMIT]` prints the bytes of every page and the minutes
that a reader takes at 200 words a minute; with a commit also the bytes that its page had there.
`python benchmarks/pages.py screens REPORT` draws the first screens of README, of a report and of
the built site, docs/site, in Chromium, 1400 and 390 pixels wide, light and dark, into docs/img
(selenium, chromium and chromedriver are needed).
"""

from __future__ import annotations

import argparse
import base64
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WORDS_A_MINUTE = 200
#: Widths of a screen and of a phone in pixels, with their heights.
WIDTHS = {1400: 900, 390: 844}
#: What a host of code makes of README, as far as its first screen shows it.
HOST_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
       max-width: 838px; margin: 24px auto; padding: 0 16px;
       color: light-dark(#1f2328, #f0f6fc); background: light-dark(#fff, #0d1117); }
h1, h2 { border-bottom: 1px solid light-dark(#d1d9e0, #3d444d); padding-bottom: .3em; }
a { color: light-dark(#0969da, #4493f8); } img { max-width: 100%; }
pre { background: light-dark(#f6f8fa, #151b23); padding: 16px; overflow: auto; font-size: 85%; }
"""


def pages() -> list[Path]:
    """Return the pages: README, docs, and the systems' own."""
    docs = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/notebooks").glob("*.md"))]
    measurements = sorted((ROOT / "docs/measurements").glob("*.md"))
    return [ROOT / "README.md", *sorted((ROOT / "models").rglob("README.md")), *docs, *measurements]


def rows(before: str | None) -> Iterator[str]:
    """Yield the table of sizes."""
    yield f"| page | bytes |{' before |' if before else ''} words | minutes |"
    yield f"|---|---:|{'---:|' if before else ''}---:|---:|"
    for page in pages():
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT).as_posix()
        words = len(re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).split())
        cells = [name, f"{len(text.encode()):,}"]
        cells += [former_size(before, name)] if before else []
        yield f"| {' | '.join([*cells, f'{words:,}', f'{words / WORDS_A_MINUTE:.0f}'])} |"


def former_size(commit: str, name: str) -> str:
    """Return the bytes of a page in a commit; empty if it was not there."""
    done = subprocess.run(
        ["git", "-C", ROOT, "show", f"{commit}:{name}"], capture_output=True, check=False
    )
    return f"{len(done.stdout):,}" if done.returncode == 0 else ""


def screens(report: Path, out: Path) -> None:
    """Draw the first screens into a folder."""
    from markdown_it import MarkdownIt

    with tempfile.TemporaryDirectory() as folder:
        readme = Path(folder) / "README.html"
        made = MarkdownIt("commonmark").enable("table").render((ROOT / "README.md").read_text())
        head = f'<meta charset="utf-8"><base href="{ROOT.as_uri()}/"><style>{HOST_STYLE}</style>'
        readme.write_text(f"<!doctype html>{head}{made}", encoding="utf-8")
        site = ROOT / "docs" / "site" / "index.html"
        browser = started(folder)
        try:
            for name, page in {"readme": readme, "report": report, "site": site}.items():
                for width, height in WIDTHS.items():
                    for scheme in ("light", "dark"):
                        drawn = screen(browser, page, width, height, scheme)
                        (out / f"first_screen_{name}_{width}_{scheme}.webp").write_bytes(drawn)
        finally:
            browser.quit()


def started(folder: str) -> Any:
    """Return a Chromium without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless", "no-sandbox", "hide-scrollbars", f"user-data-dir={folder}/profile"):
        options.add_argument(f"--{flag}")
    service = webdriver.chrome.service.Service(executable_path=shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def screen(browser: Any, page: Path, width: int, height: int, scheme: str) -> bytes:
    """Return what is seen first of a page."""
    light = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.resolve().as_uri())
    browser.execute_async_script("setTimeout(arguments[0], 1500)")  # figures are drawn by then
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 80})
    return base64.b64decode(taken["data"])


def main() -> None:
    """Print the sizes or draw the screens."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    sizes = parts.add_parser("sizes", help="print the table of sizes")
    sizes.add_argument("--before", metavar="COMMIT", help="beside the sizes of a commit")
    drawing = parts.add_parser("screens", help="draw the first screens")
    drawing.add_argument("report", type=Path, help="a report to draw")
    drawing.add_argument("--out", type=Path, default=ROOT / "docs" / "img", help="folder")
    given = parser.parse_args()
    if given.part == "sizes":
        print(*rows(given.before), sep="\n")
    else:
        screens(given.report, given.out)


if __name__ == "__main__":
    main()
