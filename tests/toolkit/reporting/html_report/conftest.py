"""Fixtures: a store of a thousand runs, its report, and a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import gadgetopt
from gadgetopt.reporting.html_report import write_report
from gadgetopt.runs.rows import StoredRun, run_key
from gadgetopt.runs.store import Store
from gadgetopt.system.files import find_instances
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, Status, TracePoint
from gadgetopt.trust.run import solve
from gadgetopt.trust.theorems import promises

HOSTILE = "<img src=x onerror=\"document.title='taken'\"></script>"


def stored(document, spec, seed=0, limits=None):
    """Solve, and return what the store keeps; the same limits for all."""
    limits = limits or Limits(time_s=60.0)
    call = find_method(document.problem, spec)
    result = solve(document, call, limits, seed)
    made = promises(document.problem, document.data, call, result)
    key = run_key(document.fingerprint, call, limits, seed, gadgetopt.__version__)
    return StoredRun(key, result, made, limits, gadgetopt.__version__)


def failed(run, reason):
    """The same run, had it ended in an error."""
    result = replace(
        run.result,
        status=Status.ERROR,
        objective=None,
        bound=None,
        bound_voucher=None,
        gap=None,
        solution=None,
        evaluation=None,
        trace=(),
        reason=reason,
    )
    return replace(run, key=run.key[::-1], result=result)


def seeded(run, seed):
    """The same run under another seed, in another time."""
    time_s = run.result.time_s * (1 + seed / 10)
    return replace(
        run, key=f"{seed:04}{run.key[4:]}", result=replace(run.result, seed=seed, time_s=time_s)
    )


def improving(run):
    """The same run with a trace: twice its objective first, what it ended with last."""
    r = run.result
    first = TracePoint(r.time_s / 2, 2 * r.objective, None)
    return replace(run, result=replace(r, trace=(first, TracePoint(r.time_s, r.objective, None))))


@pytest.fixture(scope="session")
def thousand(root, tmp_path_factory):
    """1,000 runs of two systems: certified and open ratios, relaxations, seeds, errors, traces."""
    path = tmp_path_factory.mktemp("store") / "thousand.sqlite"
    jobs = [gadgetopt.read(p) for p in find_instances([root / "instances/sjf_bco/tiny"])]
    system = jobs[0].problem
    rng = np.random.default_rng(0)
    preset = next(g for g in system.generators if g.name == "quickstart")
    jobs += [
        gadgetopt.Document(
            system, "instance", f"made_{k}", preset.generate(rng, **preset.parameters)
        )
        for k in range(13)
    ]
    jobs[3] = replace(jobs[3], name=HOSTILE)
    sacks = [gadgetopt.read(p) for p in find_instances([root / "instances/knapsack/tiny"])]
    runs = []
    for k, document in enumerate(jobs):
        wanted = ["sjf_bco", "first_fit", "list_scheduling"]
        wanted += ["combinatorial"] if k % 4 else []  # every fourth instance has no dual bound
        runs += [stored(document, spec) for spec in wanted]
        solved = [stored(document, "random_placement", seed) for seed in range(4)]
        runs += [seeded(solved[seed % 4], seed) for seed in range(40)]
        runs.append(improving(stored(document, "lpt_ils")))
    for document in sacks:
        runs += [stored(document, spec) for spec in document.problem.default_methods]
    runs = [run for run in runs if not run.result.refused]
    crashed = "crashed twice: killed by SIGSEGV (last words <b>bad</b>)"
    runs += [failed(run, crashed) for run in runs if run.result.method == "first_fit"]
    more = iter(range(1000, 10**6))
    while len(runs) < 1000:
        runs.append(seeded(solved[len(runs) % 4], next(more)))
    with Store(path) as store:
        for document in [*jobs, *sacks]:
            store.add_instance(document)
        for run in runs[:1000]:
            store.add(run)
    return path


@pytest.fixture(scope="session")
def page(thousand, tmp_path_factory):
    """The report of the thousand runs."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(thousand, path, pictures=6)
    return path


def unpacked(page, name):
    """Return what a page holds under a name."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf'<script type="text/plain" id="{re.escape(name)}">([^<]*)</script>', text)
    assert found is not None, name
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A real Chromium without a window."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.page_load_strategy = "normal"
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        "window-size=1280,900",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(
        options=options, service=webdriver.chrome.service.Service(executable_path=driver)
    )
    yield made
    made.quit()
