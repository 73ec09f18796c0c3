"""Plug-ins: what a file adds, how long, from which source, and what is said of a bad one."""

import pickle
import sys

import pytest

from gadgetopt.errors import InputError
from gadgetopt.system import plugins, registry
from gadgetopt.system.methods import find_method, methods
from gadgetopt.system.plugins import load_plugin, plug_in, plugged, read_plugin

NOTHING = """
import gadgetopt
{above}

@gadgetopt.method("sjf_bco")
def nothing(instance):
    return {value}
"""


@pytest.fixture(autouse=True)
def _no_plugins():
    with plugged():
        yield
    assert registry.plugged() == ()


@pytest.fixture
def write(tmp_path):
    def file(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return file


def names():
    return {m.name for m in methods(registry.problem("sjf_bco"))}


def value():
    return find_method(registry.problem("sjf_bco"), "nothing").method.run(None, None, None)


def test_a_file_adds_its_methods_while_it_is_in_use(write):
    path = write("mine.py", NOTHING.format(above="", value=1))
    before = registry.problem("sjf_bco")
    with plugged([path]):
        assert "nothing" in names()
        assert find_method(registry.problem("sjf_bco"), "nothing").label == "nothing (mine.py)"
        with plugged([path]):  # once more, as a study within a command
            assert "nothing" in names()
        assert "nothing" in names()
    assert registry.problem("sjf_bco").methods == before.methods


def test_a_file_that_is_loaded_again_replaces_what_it_added(write):
    load_plugin(write("mine.py", NOTHING.format(above="", value=1)))
    first = plugins.digest_of(plugins.in_use())
    assert value() == 1
    load_plugin(write("mine.py", NOTHING.format(above="", value=2)))
    assert value() == 2
    assert plugins.digest_of(plugins.in_use()) != first


def test_modules_beside_it_travel_with_it_and_count(write, monkeypatch):
    path = write(
        "mine.py", NOTHING.format(above="import near\nfrom pack.deep import x", value="near.y + x")
    )
    write("near.py", "import json\nfrom pack import *\ny = 10\n")
    write("pack/__init__.py", "")
    write("pack/deep.py", "from .deeper import x\n")
    write("pack/deeper.py", "x = 1\n")
    write("far.py", "raise SystemExit\n")  # not imported
    source = read_plugin(path)
    assert [name for name, _ in source.sources] == [
        "mine.py", "near.py", "pack/__init__.py", "pack/deep.py", "pack/deeper.py",
    ]  # fmt: skip
    load_plugin(path)
    assert value() == 11
    sent = pickle.dumps(plugins.in_use())
    before = plugins.digest_of(plugins.in_use())
    write("pack/deeper.py", "x = 2\n")
    load_plugin(path)
    assert value() == 12
    assert plugins.digest_of(plugins.in_use()) != before
    # Another machine has none of the files.
    for file in sorted(path.parent.rglob("*.py")):
        file.unlink()
    plug_in(pickle.loads(sent))
    assert value() == 11
    assert plugins.digest_of(plugins.in_use()) == before


def test_a_file_that_clashes_with_one_in_use_is_refused_and_leaves_the_rest(write):
    load_plugin(write("mine.py", NOTHING.format(above="", value=1)))
    with pytest.raises(InputError, match=r"other.py:6: method 'nothing': mine.py has one of that"):
        load_plugin(write("other.py", NOTHING.format(above="", value=2)))
    assert value() == 1


DECLARED = "import gadgetopt\n\n@gadgetopt.method({system})\ndef {name}(instance{more}): pass\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 0\n", "mine.py:1: ZeroDivisionError: division by zero"),
        ("\nraise SystemExit(3)\n", "mine.py:2: SystemExit: 3"),
        ("import near\n", "near.py:2: KeyError: 'no'"),
        ("def f(:\n", "mine.py:1: not Python: invalid syntax"),
        ("x = 1\n", "mine.py: declares nothing, expected a function after @gadgetopt.method"),
        ("EXTENSION = 3\n", "mine.py: is of type int, expected Extension"),
        (DECLARED.format(system="'no'", name="f", more=""), "mine.py:3: 'no' is not a known"),
        (
            DECLARED.format(system="'sjf_bco'", name="ladder", more=""),
            "mine.py:4: method 'ladder': sjf_bco has one of that name",
        ),
        (
            DECLARED.format(system="'sjf_bco', kind='foo'", name="f", more=""),
            "mine.py:3: Method 'f': kind: 'foo', expected one of",
        ),
        (
            DECLARED.format(system="'sjf_bco'", name="f", more=", x"),
            "mine.py:3: method 'f': needs 'x', expected the instance, limits",
        ),
        (
            "from gadgetopt import Extension\nEXTENSION = Extension('sjf_bco', methods=(print,))\n",
            "mine.py:2: Extension of 'sjf_bco': methods[0]: a builtin_function_or_method",
        ),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_one_line_with_its_line(write, cli, text, said):
    write("near.py", "x = 1\nraise KeyError('no')\n")
    path = write("mine.py", text)
    code, out, err = cli("list", "sjf_bco", "--plugin", path)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert f"{path.parent}/{said}" in err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.py", "nowhere.py: cannot be read: No such file"),
        ("mine.txt", "mine.txt: .txt, expected a plug-in, FILE.py"),
        ("mine", "mine: no suffix, expected a plug-in"),
    ],
)
def test_a_path_that_is_no_plugin_is_one_line(tmp_path, cli, name, said):
    code, _, err = cli("list", "--plugin", tmp_path / name)
    assert code == 2
    assert err == f"gadgetopt: {tmp_path}/{err.split('/')[-1]}"
    assert said in err


PARTS = """
import gadgetopt
from gadgetopt.system.declaration import Formulation, Generator, Guarantee, Importer, Picture
from gadgetopt.models.sjf_bco.formulations.load_limit import build
from gadgetopt.models.sjf_bco.data.generate.presets import quickstart
from gadgetopt.pieces.import_outcome import ImportOutcome


@gadgetopt.method("sjf_bco", kind="baseline")
def none_found(instance, *, tries=3):
    "Find nothing."


def read(files, rng, *, jobs=3):
    return ImportOutcome(instances=[("drawn", quickstart(rng, jobs=jobs))], report={}, origin={})


def draw(instance):
    import plotly.graph_objects as go

    return go.Figure(layout={"title": {"text": "a picture of mine"}})


EXTENSION = gadgetopt.Extension(
    "sjf_bco",
    formulations=(
        Formulation("mine", model_class="ILP", strength="relaxation", summary="again",
                    equations="-", build=build, decode=None, backends=("highs",)),
    ),
    generators=(Generator("drawn", summary="mine", generate=quickstart, parameters={"jobs": 4}),),
    importers=(Importer("dice", summary="mine", read=read, parameters={"jobs": 3}),),
    guarantees=(
        Guarantee("seven", statement="7", reference="-", standing="claimed",
                  methods=("none_found", "first_fit"), ratio=lambda i, p: 7),
    ),
    pictures=(Picture("blank", summary="mine", draw=draw, of="instance"),),
)
"""


def test_every_kind_of_part_is_used_by_its_command(write, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plugin = ("--plugin", write("parts.py", PARTS))
    code, out, err = cli("list", "sjf_bco", "--all", *plugin)
    assert (code, err) == (0, "")
    for name in ("none_found", "mine@highs", "drawn", "dice", "seven", "blank"):
        (line,) = (line for line in out.splitlines() if line.split()[:1] == [name])
        assert "parts.py]" in line, line
    assert cli("show", "sjf_bco", "mine", *plugin)[0] == 0
    assert cli("generate", "sjf_bco", "--preset", "drawn", "--set", "jobs=3", *plugin)[0] == 0
    (drawn,) = tmp_path.glob("sjf_bco_drawn_*.json")
    assert cli("import", "dice", write("x.txt", "x"), "--out", "imported", *plugin)[0] == 0
    code, out, err = cli("solve", drawn, "--method", "mine@highs", *plugin)
    assert (code, err) == (0, "")
    assert "mine@highs (parts.py) (relaxation)" in out
    assert (
        cli("export", drawn, "--formulation", "mine", "--format", "lp", "--out", "m.lp", *plugin)[0]
        == 0
    )
    assert cli("plot", drawn, "--picture", "blank", "--out", "p.html", *plugin)[0] == 0
    assert "a picture of mine" in (tmp_path / "p.html").read_text()
    code, out, err = cli("show", "sjf_bco", "mine")
    assert code == 2  # the plug-in is put away with its command
    assert "sjf_bco has no such formulation" in err


def test_two_plugins_do_not_take_each_other_s_modules(write, tmp_path):
    one = write("one/mine.py", NOTHING.format(above="import near", value="near.x"))
    write("one/near.py", "x = 1\n")
    two = write(
        "two/other.py", "import near\n" + DECLARED.format(system="'smd'", name="f", more="")
    )
    write("two/near.py", "x = 2\n")
    with plugged([one]):
        assert value() == 1
        with pytest.raises(InputError, match=r"two/other.py: imports 'near', and .*one/mine.py"):
            load_plugin(two)
    with plugged([two]):
        assert sys.modules["near"].x == 2
    assert "near" not in sys.modules
    with plugged([one]):
        assert value() == 1


def test_modules_of_a_plugin_do_not_hide_others(write):
    load_plugin(write("mine.py", NOTHING.format(above="import gadgetopt, json, numpy", value=1)))
    write("json.py", "x = 1\n")
    assert [name for name, _ in read_plugin(write("mine.py", "import json\n")).sources] == [
        "mine.py"
    ]
    assert sys.modules["json"].__name__ == "json"
