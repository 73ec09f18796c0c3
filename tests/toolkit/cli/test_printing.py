"""What is printed carries no control characters of files, stores and methods."""

import ast
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import gadgetopt.cli
from gadgetopt.cli.printing import console, echo
from gadgetopt.runs.comparison import compare
from gadgetopt.system.printable import printable

#: Colours a terminal, rings, moves the cursor, turns the text's direction, ends a title.
WICKED = "a\x1b[31mb\x07c\rd\x9b2Je\u202ef\x1b]0;x\x07"
SHOWN = "a\\x1b[31mb\\x07c\\rd\\x9b2Je\\u202ef\\x1b]0;x\\x07"


def test_controls_are_escaped_and_words_are_not():
    assert printable(WICKED) == SHOWN
    assert printable("Gomory–Chvátal, 東京\tand\n\\n") == "Gomory–Chvátal, 東京\tand\n\\n"
    assert printable("bytes \udcff of a name") == "bytes \\udcff of a name"


def test_a_console_escapes_what_it_prints_and_keeps_its_own_colours(capsys):
    echo(WICKED)
    made = console()
    made.print(WICKED, style="red", highlight=False, markup=False)
    out, _ = capsys.readouterr()
    assert not set(out) & set("\x1b\x07\x9b\u202e")
    with console(stderr=True).capture() as captured:
        console(stderr=True).print("x")
    assert captured.get() == ""


PLUGIN = f"""
import gadgetopt

@gadgetopt.method("knapsack")
def wicked(instance):
    raise RuntimeError({WICKED!r})
"""


def test_no_command_prints_the_controls_of_others(root, tmp_path, cli):
    (tmp_path / "mine.py").write_text(PLUGIN)
    folder = tmp_path / "i\x1b[31m"
    folder.mkdir()
    shutil.copy(root / "instances/quickstart/knapsack.json", folder / "good.json")
    (folder / "bad.json").write_text('{"gadgetopt": "\\u001b[31m", "kind": "instance"')
    envelope = json.loads((folder / "good.json").read_text())
    for field in ("problem", "kind", "name"):
        (folder / f"{field}.json").write_text(json.dumps({**envelope, field: WICKED}))
    (folder / "key.json").write_text(json.dumps({**envelope, WICKED: 1}))
    store = tmp_path / "r.sqlite"
    plug = ("--plugin", tmp_path / "mine.py", "--store", store, "--workers", 0)
    commands = [
        ("compare", folder, "--methods", "wicked,greedy", *plug),
        ("solve", folder / "good.json", "--method", WICKED),
        ("verify", folder / "good.json", folder / "key.json"),
        ("ratios", folder / "none\x1b.sqlite"),
        ("solve", folder / "bad.json"),
        *((("solve", folder / f"{name}.json")) for name in ("problem", "kind", "name", "key")),
        *(((name, store)) for name in ("status", "ratios", "summary")),
    ]
    for command in commands:
        code, out, err = cli(*command)
        assert code in (0, 1, 2), command
        assert not set(out + err) & set("\x1b\x07\r\x9b\u202e"), command
        assert "Traceback" not in err


@pytest.mark.parametrize("column", ["instance", "method", "reason", "limit_hit", "version"])
def test_a_store_with_controls_in_it_prints_none(root, tmp_path, cli, column):
    path = tmp_path / "r.sqlite"
    compare([root / "instances/quickstart/knapsack.json"], ["greedy"], store=path, workers=0)
    with sqlite3.connect(path) as store:
        store.execute(f"UPDATE runs SET {column} = ?, status = 'error'", (f"{WICKED}\nforged",))
    for command in ("status", "ratios", "summary", "certify"):
        _, out, err = cli(command, path)
        assert not set(out + err) & set("\x1b\x07\r\x9b\u202e"), command
        assert "\nforged" not in out + err


def test_nothing_else_prints():
    folder = Path(gadgetopt.cli.__file__).parent
    for path in sorted(folder.glob("*.py")):
        if path.name == "printing.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called not in ("typer.echo", "Console"), path
            # Its text is fixed, or is escaped by the formatter of what is logged.
            if called == "print":
                assert "format" in ast.unparse(node) or isinstance(
                    node.args[0], ast.Constant | ast.JoinedStr
                )
