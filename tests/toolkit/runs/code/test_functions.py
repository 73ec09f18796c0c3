"""Functions and files of one's own in a comparison: supervised, and run again when they change."""

import json
import os
import sqlite3
import subprocess
import sys

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.reporting.html_report import write_report
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.code.function_code import FunctionCode, is_loose
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.study import compare_study, read_study
from gadgetopt.system.result import Limits
from gadgetopt.system.result import MethodOutcome as Outcome  # a global of the functions below

MINE = """
import gadgetopt
import order

@gadgetopt.method("sjf_bco", kind="baseline")
def {name}(instance, limits, rng):
    "First fit, jobs in an order."
    from gadgetopt.models.sjf_bco.baselines.first_fit import first_fit
    return first_fit(instance, limits, job_order=order.ORDER)
"""


@pytest.fixture
def instance(root):
    return root / "instances" / "quickstart" / "sjf_bco.json"


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "order.py").write_text("ORDER = 'given'\n")
    path = tmp_path / "mine.py"
    path.write_text(MINE.format(name="fit"))
    return path


def labels(table):
    return [(e.result.method, str(e.result.status)) for e in table]


def rows(store):
    with sqlite3.connect(store) as runs:
        return dict(runs.execute("SELECT method, count(*) FROM runs GROUP BY 1"))


def test_a_file_s_method_is_run_again_when_the_file_or_a_module_beside_it_changes(
    mine, instance, tmp_path, cli, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    given = ("compare", instance, "--plugin", "mine.py", "--methods", "first_fit,fit", "--json")
    code, out, err = cli(*given)
    assert (code, err) == (0, "gadgetopt: new store runs.sqlite\n")
    assert [row["method"] for row in json.loads(out)] == ["first_fit", "fit (mine.py)"]
    assert "2 of 2 runs taken" in cli(*given)[2]
    (tmp_path / "order.py").write_text("ORDER = 'smallest_first'\n")
    code, out, err = cli(*given)
    assert "1 of 2 runs taken" in err
    assert "1 run in runs.sqlite made by other or unknown code, to be run again" in err
    mine.write_text(MINE.format(name="fit") + "\n")
    assert "1 of 2 runs taken" in cli(*given)[2]
    assert rows("runs.sqlite") == {"first_fit": 1, "fit (mine.py)": 3}


def test_a_store_is_read_without_the_plugin(mine, instance, tmp_path):
    store = tmp_path / "runs.sqlite"
    compare([instance], ["ladder", "fit"], plugins=[mine], store=store, workers=1)
    mine.unlink()
    table = ratios(store)
    assert labels(table) == [("ladder", "optimal"), ("fit (mine.py)", "feasible")]
    assert float(table[1].ratio.low) > 1
    assert write_report(store, tmp_path / "page.html")["runs"] == 2
    assert "fit (mine.py)" in (tmp_path / "page.html").read_text()


def test_a_study_names_plugins_relative_to_itself(mine, instance, tmp_path, cli, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    study = folder / "study.toml"
    study.write_text(
        f'instances = ["{instance}"]\nmethods = ["default", "fit"]\nplugins = ["../mine.py"]\n'
    )
    monkeypatch.chdir(tmp_path.parent)
    read = read_study(study)
    assert read.plugins == (str(folder / "../mine.py"),)
    copy = folder / "copy.toml"
    assert cli("compare", study, "--write-study", copy)[0] == 0
    assert read_study(copy).plugins == (str(folder / "../mine.py"),)
    one = read.model_copy(update={"methods": ("fit", "first_fit")})
    assert labels(compare_study(one)) == [("fit (mine.py)", "feasible"), ("first_fit", "feasible")]


def own(instance):
    return helper(instance)


def helper(instance):
    from gadgetopt.models.sjf_bco.baselines.first_fit import first_fit

    return first_fit(instance, Limits()).solution


def dies(instance):
    os.abort()


def sleeps(instance):
    import time

    while True:
        time.sleep(1)


def raises(instance):
    raise ValueError("no idea")


def test_functions_run_apart_like_any_method(instance, tmp_path):
    limits, store = Limits(time_s=1.0), tmp_path / "runs.sqlite"
    functions = [own, dies, raises, sleeps]
    table = compare(
        [instance], ["first_fit", *functions], limits=limits, store=store, workers=2, grace_s=0.5
    )
    (ours, mine, dead, wrong, slow) = (e.result for e in table)
    here = os.path.basename(__file__)
    assert (mine.method, mine.objective) == (f"own ({here})", ours.objective)
    assert dead.reason == "crashed twice: killed by SIGABRT"
    assert wrong.reason == f"ValueError: no idea ({here}:{raises.__code__.co_firstlineno + 1})"
    assert slow.limit_hit == "time_s"
    again = compare([instance], ["first_fit", *functions], limits=limits, store=store, grace_s=0.5)
    assert [e.result.time_s for e in again] == [e.result.time_s for e in table]  # none done again


NOTEBOOK = """
import sys
import gadgetopt
from gadgetopt.models.sjf_bco.baselines.first_fit import first_fit
from gadgetopt.system.result import Limits

def step(instance):
    return first_fit(instance, Limits(), job_order={order!r}).solution

def notebook(instance):
    return step(instance)

table = gadgetopt.compare([sys.argv[1]], ["first_fit", notebook], store=sys.argv[2], workers=1)
print(table[-1].result.method, table[-1].result.objective)
"""


def test_a_function_of_a_session_without_a_file_is_run_again_when_what_it_calls_changes(
    instance, tmp_path
):
    def session(order):
        done = subprocess.run(
            [sys.executable, "-c", NOTEBOOK.format(order=order), instance, tmp_path / "s"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split()

    name, label, _ = session("given")
    assert (name, label) == ("notebook", "(function)")
    assert session("given") == session("given")
    assert rows(tmp_path / "s") == {"first_fit": 1, "notebook (function)": 1}
    session("smallest_first")
    assert rows(tmp_path / "s") == {"first_fit": 1, "notebook (function)": 2}


def code_of(function):
    return FunctionCode().of(function).digest


def test_a_function_s_code_is_what_it_does_and_all_it_uses():
    def made(number, given=1):
        def inner(instance, more=given):
            return number + more

        return inner

    assert code_of(made(1)) == code_of(made(1))
    different = [made(1), made(2), made(1, given=3), own, helper, Limits, Outcome.of]
    assert len({code_of(f) for f in different}) == len(different)

    def changed(text):
        space = {"__name__": "__main__"}
        exec(text, space)
        return code_of(space["f"])

    texts = (
        "def g(): return 1\ndef f(i): return g()",
        "def g(): return 2\ndef f(i): return g()",
        "g = {'a': [1, 2]}\ndef f(i): return g",
        "g = {'a': [1, 3]}\ndef f(i): return g",
        "class A:\n    def go(self): return 1\ndef f(i): return A().go()",
        "class A:\n    def go(self): return 2\ndef f(i): return A().go()",
        "class A:\n    pass\na = A(); a.x = 1\ndef f(i): return a",
        "class A:\n    pass\na = A(); a.x = 2\ndef f(i): return a",
        "def f(i): return f(i)",
        "import numpy\ng = numpy.arange(3)\ndef f(i): return g",
        "import numpy\ng = numpy.arange(4)\ndef f(i): return g",
    )
    assert len({changed(text) for text in texts}) == len(texts)
    assert [changed(text) for text in texts] == [changed("# as before\n\n" + t) for t in texts]


def test_what_is_installed_is_not_loose():
    assert [is_loose(m) for m in ("__main__", "json", "numpy.linalg", "gadgetopt.models")] == [
        True, False, False, False,
    ]  # fmt: skip


def named(name):
    return gadgetopt.method("sjf_bco", name)(lambda instance: None)


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ([lambda instance: None], "method: has no name"),
        ([named("ladder")], "method 'ladder': sjf_bco has one of that"),
        ([own, named("own")], "method 'own': test_functions.py has one"),
        ([3], "method 3: expected a name or a function"),
        (["nosuch", own], "method 'nosuch': sjf_bco has no such method"),
    ],
)  # fmt: skip
def test_a_function_that_cannot_be_a_method_is_one_line(instance, tmp_path, methods, said):
    with pytest.raises(InputError) as refused:
        compare([instance], methods, store=tmp_path / "runs.sqlite")
    assert said in str(refused.value)
    assert not (tmp_path / "runs.sqlite").exists()


def test_a_function_that_cannot_be_sent_is_one_line(instance):
    lock = __import__("threading").Lock()

    def locked(instance):
        lock.acquire()

    with pytest.raises(InputError, match="method 'locked': cannot be sent to a process of its own"):
        compare([instance], [locked])


def test_a_scheduler_s_workers_are_sent_functions_and_files(mine, instance, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(
        processes=False, n_workers=1, dashboard_address=None, protocol="tcp", memory_limit=0
    ) as cluster:
        table = compare(
            [instance], ["first_fit", "fit", own], plugins=[mine],
            scheduler=cluster.scheduler_address,
        )  # fmt: skip
        assert [status for _, status in labels(table)] == ["feasible"] * 3
        only_here = tmp_path / "only_here"
        mine.write_text(
            "import gadgetopt, pathlib\n"
            f"pathlib.Path({str(only_here)!r}).touch(exist_ok=False)\n" + MINE.format(name="fit")
        )
        with pytest.raises(InputError, match=r"workers cannot load a plug-in: .*FileExistsErr"):
            compare([instance], ["fit"], plugins=[mine], scheduler=cluster.scheduler_address)
