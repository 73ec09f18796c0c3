"""Where plotly is not installed: figures and the report say what to install, all else works."""

import subprocess
import sys

import pytest

import gadgetopt
from gadgetopt.errors import InputError

WITHOUT_PLOTLY = "import sys; sys.modules['plotly'] = None\n"


@pytest.fixture
def solved(tiny, tmp_path):
    store = tmp_path / "runs.sqlite"
    table = gadgetopt.compare([tiny / "e1_co_locate.json"], ["first_fit"], store=store, workers=0)
    return store, table


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("report", "STORE", "--out", "r.html"), "report"),
        (("plot", "STORE", "--out", "r.svg"), "--out: r.svg"),
        (("plot", "STORE", "--out", "r.html"), "--out: r.html"),
        (("solve", "FILE", "--plot", "r.html"), "--plot: r.html"),
    ],
)
def test_a_command_that_draws_says_what_to_install(cli, solved, tiny, monkeypatch, arguments, what):
    monkeypatch.setitem(sys.modules, "plotly", None)
    given = {"STORE": solved[0], "FILE": tiny / "e1_co_locate.json"}
    code, out, err = cli(*(given.get(a, a) for a in arguments))
    assert (code, out) == (2, "")
    line = "needs the extra `report`: pip install 'gadgetopt[report]'"
    assert err == f"gadgetopt: {what}: {line}\n"


def test_functions_that_draw_say_so_and_tables_are_there(solved, monkeypatch):
    store, table = solved
    monkeypatch.setitem(sys.modules, "plotly", None)
    for draw in (lambda: gadgetopt.plot(store), lambda: table.report("r.html")):
        with pytest.raises(InputError, match=r"pip install 'gadgetopt\[report\]'"):
            draw()
    assert "first_fit" in str(table)


def test_solving_comparing_and_tables_need_neither_plotly_nor_dask(tiny, tmp_path):
    code = (
        "import sys\n"
        "for name in ('plotly', 'dask', 'distributed', 'sklearn', 'matplotlib', 'torch'):\n"
        "    sys.modules[name] = None\n"
        "from gadgetopt.cli.main import main\n"
        "for arguments in (sys.argv[1].split(), ['summary', 'runs.sqlite', '--intervals'],\n"
        "                  ['ratios', 'runs.sqlite', '--format', 'latex'],\n"
        "                  ['list', '--all'], ['formulations', sys.argv[2]]):\n"
        "    try:\n"
        "        main(arguments)\n"
        "    except SystemExit as ended:\n"
        "        assert not ended.code, (arguments, ended.code)\n"
    )
    file = str(tiny / "e1_co_locate.json")
    compared = f"compare {file} --methods first_fit,ladder --workers 1 --store runs.sqlite"
    done = subprocess.run(
        [sys.executable, "-c", code, compared, file],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
