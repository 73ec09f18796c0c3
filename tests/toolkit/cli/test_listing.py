"""`list SYSTEM`: methods by rooms, the paper's first, on one screen; `--all` says the rest."""

import re

import pytest

from gadgetopt.cli import listing
from gadgetopt.system.declaration import PARTS
from gadgetopt.system.registry import problem, problem_names, problems

SCREEN_LINES = 40


def words(lines):
    return re.findall(r"[\w@.-]+", "\n".join(lines))


@pytest.fixture
def terminal(monkeypatch):
    def set_width(columns):
        monkeypatch.setattr(listing, "_terminal_columns", lambda: columns)

    return set_width


@pytest.mark.parametrize("columns", [None, 80, 120])
@pytest.mark.parametrize("name", problem_names())
def test_a_system_fits_a_screen(name, columns, terminal):
    terminal(columns)
    lines = "\n".join(listing.short_list(problem(name))).splitlines()
    assert len(lines) <= SCREEN_LINES
    assert columns is None or max(map(len, lines)) <= columns


@pytest.mark.parametrize("system", problems(), ids=lambda p: p.name)
def test_the_short_list_names_every_part(system, terminal):
    terminal(None)
    said = words(listing.short_list(system))
    for kind in PARTS:
        if kind not in ("guarantees", "statements"):
            for name in {
                getattr(part, "name", None) or part.format for part in getattr(system, kind)
            }:
                assert name in said, name


@pytest.mark.parametrize("columns", [None, 100])
def test_rooms_come_in_the_order_of_a_reader(columns, terminal):
    terminal(columns)
    titles = [m[1] for m in map(re.compile(r"  ([a-z]+) ").match, listing.short_list(SJF)) if m]
    assert titles[1:] == [*listing.ROOMS, "generators", "importers", "exporters", "pictures"]
    sections = [m[1] for m in map(re.compile(r"  ([a-z]+)$").match, listing.long_list(SJF)) if m]
    assert sections == [*titles[1:], "features"]


def test_models_of_ours_are_listed_among_the_models():
    rooms = {m["name"]: m["room"] for m in listing.described(problem("gadget"))["methods"]}
    assert {rooms[name] for name in ("cp_tree", "cp_circuit", "cp_embedding")} == {"formulations"}
    assert {rooms[name] for name in ("offline", "config_lp")} == {"proving"}


def test_every_method_of_the_long_list_is_in_its_room():
    lines = list(listing.long_list(SJF))
    title = ""
    seen = {}
    for line in lines:
        if re.fullmatch(r"  [a-z]+", line):
            title = line.strip()
        elif re.match(r"    \S", line):
            seen.setdefault(title, []).append(line.split()[0])
    for method in SJF.methods:
        assert method.name in seen[method.room.partition("/")[0]]
    assert "time_indexed@highs" in seen["formulations"]


def test_what_runs_by_default_is_marked():
    lines = list(listing.short_list(SJF))
    for name in SJF.default_methods:
        assert any(re.search(rf"\* {name} ", line) for line in lines), name
    assert f"solve runs {SJF.default_method};" in lines[-1]


def test_a_long_line_is_cut_in_a_terminal_and_kept_in_a_pipe(terminal):
    terminal(80)
    assert any(line.endswith("…") for line in listing.short_list(SJF))
    terminal(None)
    assert not any("…" in line for line in listing.short_list(SJF))


def test_what_is_added_to_a_system_has_a_line_of_its_own(tmp_path, cli):
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "import gadgetopt\n@gadgetopt.method('knapsack')\ndef mine(instance):\n    ...\n"
    )
    out = cli("list", "knapsack", "--plugin", plugin)[1]
    (line,) = (line for line in out.splitlines() if " mine " in line)
    assert line.startswith("  methods")
    assert "mine.py]" in line


SJF = problem("sjf_bco")
