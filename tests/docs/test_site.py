"""The site in a real Chromium, from its folder: formulas are drawn, nothing asks the network.

`python docs/build.py` makes docs/site; without it these tests are skipped. That no link is broken
and no formula left unrendered, the build itself checks on every page.
"""

import json
import shutil
import time
from pathlib import Path

import pytest

import gadgetopt

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").is_file(), reason="docs/site is not built: python docs/build.py"
)

#: A page of every kind.
KINDS = (
    "index.html",
    "first_ten_minutes.html",
    "concepts.html",
    "glossary.html",
    "pictures.html",
    "benchmarks.html",
    "command_line.html",
    "changelog.html",
    "systems/index.html",
    "systems/sjf_bco.html",
    "systems/forest_packing.html",
    "formulations/index.html",
    "formulations/sjf_bco/time_indexed.html",
    "formulations/parallel_machines/arc_flow.html",
    "api/index.html",
    "api/gadgetopt.html",
    "api/gadgetopt.numbers.html",
)
NOTEBOOKS = [f"notebooks/{path.name}" for path in sorted(SITE.glob("notebooks/*.html"))]
#: Pages with formulas.
FORMULAS = [*sorted(SITE.glob("systems/*.html")), *sorted(SITE.glob("formulations/*/*.html"))]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "disable-dev-shm-usage",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(
        options=options, service=webdriver.chrome.service.Service(executable_path=driver)
    )
    made.set_script_timeout(300)  # a page that starts Python answers nothing meanwhile
    yield made
    made.quit()


def show(browser, path, width=1400, query=""):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(path.as_uri() + query)


def until(ask, seconds=30):
    """Ask until the answer is true, or the seconds are over, and return the last answer."""
    end = time.monotonic() + seconds
    while not (answer := ask()) and time.monotonic() < end:
        time.sleep(0.1)
    return answer


def requests(browser):
    """Return the addresses that were asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    local = ("file:", "data:", "blob:", "about:", "chrome")
    return [url for url in sent if not url.startswith(local)]


@pytest.mark.parametrize("page", [*KINDS, *NOTEBOOKS])
def test_a_page_is_quiet_and_fits_a_phone(browser, page):
    show(browser, SITE / page)
    assert browser.get_log("browser") == []
    assert requests(browser) == []
    show(browser, SITE / page, 390)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 390, f"{wide} pixels"
    assert browser.get_log("browser") == []


BOXES = """
const bad = [];
for (const formula of document.querySelectorAll('math')) {
  const box = formula.getBoundingClientRect();
  if (!(box.width > 0 && box.height > 0) && formula.textContent.trim()) bad.push(formula.outerHTML);
}
return [document.querySelectorAll('math').length, bad, document.querySelectorAll('merror').length];
"""


def test_every_formula_is_drawn(browser):
    count = 0
    for page in FORMULAS:
        show(browser, page)
        here, bad, errors = browser.execute_script(BOXES)
        assert (bad, errors) == ([], 0), page
        count += here
    assert count > 1500


def test_a_number_leads_from_paper_to_code_and_back(browser):
    page = SITE / "formulations/sjf_bco/time_indexed.html"
    show(browser, page)
    click = "document.querySelector(arguments[0]).click(); return location.hash"
    to_code = browser.execute_script(click, "#eq-TI-7")
    line = browser.execute_script(
        "return document.querySelector(arguments[0]).textContent", to_code
    )
    assert "TI-7: capacity" in line
    assert browser.execute_script(click, f"{to_code} a.eq") == "#eq-TI-7"
    seen = (
        "const b = document.querySelector('#eq-TI-7').getBoundingClientRect();"
        "return b.top >= 0 && b.bottom <= innerHeight && b.width > 0"
    )
    assert until(lambda: browser.execute_script(seen))  # the page scrolls smoothly


def test_paper_and_code_stand_side_by_side_where_there_is_room(browser):
    page = SITE / "formulations/sjf_bco/time_indexed.html"
    boxes = (
        "return ['.paper', '.code-side'].map((s) => {"
        "const b = document.querySelector(s).getBoundingClientRect(); return [b.left, b.top]})"
    )
    show(browser, page)
    paper, code = browser.execute_script(boxes)
    assert code[0] > paper[0] + 300
    show(browser, page, 390)
    paper, code = browser.execute_script(boxes)
    assert code[0] == paper[0]
    assert code[1] > paper[1]


def test_the_search_works_from_a_folder(browser):
    show(browser, SITE / "search.html", query="?q=voucher")
    found = (
        "return [...document.querySelectorAll('#search-results li a')].map((a) => a.href)"
        ".filter((link) => link.includes('concepts.html'))"
    )
    assert until(lambda: browser.execute_script(found), 60)  # results come one by one
    assert requests(browser) == []
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_a_proof_is_checked_in_the_browser(browser):
    page = SITE / "proof_checker.html"
    if "cdn.jsdelivr.net" in page.read_text(encoding="utf-8"):
        pytest.skip("the site was built without npm, so the page needs the network")
    show(browser, page, 390)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 390, f"{wide} pixels"
    browser.execute_script("document.querySelector('#example').click()")
    verdict = "return document.querySelector('#verdict').textContent"
    ended = f"{verdict}.match(/exit code|could not/)"
    assert until(lambda: browser.execute_script(ended), 300)
    said = browser.execute_script(verdict)
    assert "proved: no feasible point has an objective above 9" in said
    assert said.endswith("exit code 0")
    assert requests(browser) == []
    assert browser.get_log("browser") == []


def test_a_report_is_opened_beside_the_checker(browser, tiny, tmp_path):
    store, report = tmp_path / "runs.sqlite", tmp_path / "r.html"
    methods = ["first_fit", "list_scheduling"]
    gadgetopt.compare([tiny / "e1_co_locate.json"], methods, store=store, workers=0)
    gadgetopt.write_report(store, report, pictures=0)
    show(browser, SITE / "proof_checker.html", 390)
    browser.find_element("id", "report").send_keys(str(report))
    frame = browser.find_element("id", "shown")
    browser.execute_script("arguments[0].scrollIntoView()", frame)
    browser.switch_to.frame(frame)
    try:
        assert until(lambda: browser.find_elements("css selector", ".js-plotly-plot"), 60)
        assert len(browser.find_elements("css selector", "#table tbody tr")) == 2
        wide = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
    finally:
        browser.switch_to.default_content()
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 390, f"{wide} pixels"
    assert requests(browser) == []
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_reader_s_light(browser, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    show(browser, SITE / "concepts.html")
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, colour.strip("rgba()").split(",")[:3])) < 200) == (scheme == "dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_what_is_broken_is_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    from check_links import problems_of

    (tmp_path / "a.html").write_text(
        '<p id="x">$\\frac12$ costs $5</p><a href="b.html">b</a><a href="#y">y</a>'
        '<a href="#x">x</a><script src="https://example.org/x.js"></script><merror></merror>'
    )
    found = problems_of(tmp_path)
    assert len(found) == 5, found
