"""The layout of the code: direction of imports, and size of folders."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

from gadgetopt.system.declaration import PARTS
from gadgetopt.system.references import module_of as module_of_part
from gadgetopt.system.registry import problem as problem_of
from gadgetopt.system.registry import problems

ROOT = Path(__file__).parents[2]
#: Folders of models/ that declare a problem; the problems of a family lie in one: bgl/partition.
SYSTEMS = sorted(
    p.parent.relative_to(ROOT / "models").as_posix()
    for p in (ROOT / "models").rglob("__init__.py")
    if re.search(r"^PROBLEM = ", p.read_text(encoding="utf-8"), flags=re.MULTILINE)
)
FAMILIES = sorted({system.split("/")[0] for system in SYSTEMS if "/" in system})
#: Entries that a reader still takes in at a glance.
MOST_ENTRIES = 22
MOST_LINES_OF_A_DECLARATION = 80
#: Files of models/ and gadgetopt/pieces/ that a paper's algorithm may reach, its own included.
MOST_FILES_OF_AN_ALGORITHM = 25

#: `__init__.py` files and the decorators above functions, a system on average: 4,450 in all for 21.
MOST_LINES_OF_DECLARATIONS = 4450 / 21
#: Lines above the line of a system; those of `LONG_PAPERS` have more.
MOST_LINES_OF_A_PAPER = 5_000
LONG_PAPERS = {"bgl", "forest_packing", "pd_ors"}
#: Files at a system's root, besides tables derived from the data.
ROOT_FILES = ("instance.py", "evaluate.py", "features.py")
#: Rooms of a system by floor; a room imports none of a higher floor. The paper comes first: above
#: the line is what states it, below is what we add, and nothing above imports anything below.
PAPER = (
    {"subproblems"},
    {"formulations", "algorithms", "baselines", "guarantees"},
    {"statements"},
)
OURS = (
    {"heuristics"},
    {"proving", "data"},
    {"pictures", "exporters"},
)
#: The same for the rooms of `proving`: a check imports nothing that searches for the proof.
PROVING = ({"certificate"}, {"formulations"}, {"bounds"}, {"exact"})

#: Packages that no command reaches: a template that is copied.
UNREACHED = ("gadgetopt.skeleton.",)


def floors(rooms: tuple[set[str], ...]) -> dict[str, int]:
    """Return the number of the floor of every room."""
    return {room: k for k, names in enumerate(rooms) for room in names}


FLOOR = floors((*PAPER, *OURS))
BELOW_THE_LINE = set().union(*OURS)


def source_files() -> Iterator[Path]:
    for top in ("gadgetopt", "models"):
        yield from sorted((ROOT / top).rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    inside = ("gadgetopt", *parts) if parts[0] == "models" else parts
    return ".".join(inside[:-1] if inside[-1] == "__init__" else inside)


MODULES = {module_of(path): path for path in source_files()}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imports(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the modules of ours that some code imports, type hints left out."""
    for child in ast.iter_child_nodes(node):
        # No expression imports, and most of a tree are expressions.
        if isinstance(child, ast.expr) or is_type_checking(child):
            continue
        if isinstance(child, ast.Import):
            yield from (name.name for name in child.names if name.name in MODULES)
        elif isinstance(child, ast.ImportFrom):
            above = package.split(".")[: -(child.level - 1) or None] if child.level else []
            base = ".".join([*above, *([child.module] if child.module else [])])
            for name in child.names:
                inside = f"{base}.{name.name}"
                if inside in MODULES:
                    yield inside
                elif base in MODULES:
                    yield base
        yield from imports(child, package)


def written_modules(tree: ast.AST, module: str) -> Iterator[str]:
    """Yield the modules that strings name: "module:attribute", or any in the toolkit."""
    in_toolkit = not module.startswith("gadgetopt.models.")
    above = [module.rsplit(".", k)[0] for k in range(module.count(".") + 1)]
    packages = ["gadgetopt.solvers", "gadgetopt.system", *above] if in_toolkit else above
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        name = re.fullmatch(r"([A-Za-z_][\w.]*)(:\w+)?", node.value)
        if name and (name[2] or in_toolkit):
            places = (name[1], *(f"{package}.{name[1]}" for package in packages))
            yield from (place for place in places if place in MODULES)


@cache
def import_graph() -> nx.DiGraph:
    """Return who imports whom; it takes seconds, so no process reads it but one that needs it."""
    graph = nx.DiGraph()
    for module, path in MODULES.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph.add_node(module, written=tuple(written_modules(tree, module)))
        graph.add_edges_from((module, other) for other in imports(tree, package))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def package_of(folder: str) -> str:
    return f"gadgetopt.models.{folder.replace('/', '.')}"


def circles(graph: nx.DiGraph) -> list[list[str]]:
    return sorted(sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1)


def folders(graph: nx.DiGraph, inside: str, without: tuple[str, ...] = ()) -> nx.DiGraph:
    """Return the arrows between the rooms of a package."""
    rooms = nx.DiGraph()
    prefix = f"{inside}."
    for a, b in graph.edges:
        if a.startswith(prefix) and b.startswith(prefix):
            ends = a.removeprefix(prefix).split(".")[0], b.removeprefix(prefix).split(".")[0]
            if ends[0] != ends[1] and not set(ends) & set(without):
                rooms.add_edge(*ends)
    return rooms


def test_no_modules_import_each_other_in_a_circle():
    assert circles(import_graph()) == []


def test_no_rooms_of_the_toolkit_import_each_other_in_a_circle():
    assert circles(folders(import_graph(), "gadgetopt", without=("models",))) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_rooms_of_a_system_import_each_other_in_a_circle(system):
    assert circles(folders(import_graph(), package_of(system))) == []


def upwards(inside: str, floor: dict[str, int]) -> list[tuple[str, str]]:
    """Return the arrows between rooms of a package that run to a higher floor."""
    arrows = folders(import_graph(), inside).edges
    return [(a, b) for a, b in arrows if a in floor and b in floor and floor[b] > floor[a]]


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_room_of_a_system_imports_one_of_a_higher_floor(system):
    assert upwards(package_of(system), FLOOR) == []
    assert upwards(f"{package_of(system)}.proving", floors(PROVING)) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_nothing_above_the_line_imports_anything_below_it(system):
    prefix = f"{package_of(system)}."
    leaks = [
        (a.removeprefix(prefix), b.removeprefix(prefix))
        for a, b in import_graph().edges
        if a.startswith(prefix) and b.startswith(prefix)
        if room_of(b, prefix) in BELOW_THE_LINE and room_of(a, prefix) not in BELOW_THE_LINE
    ]
    assert leaks == []


def room_of(module: str, prefix: str) -> str:
    return module.removeprefix(prefix).split(".")[0]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_lies_at_the_root_is_named_or_a_table_derived_from_the_data(system):
    folder = ROOT / "models" / system
    tables = {p.stem for p in folder.glob("*.py")} - {"__init__", *FLOOR}
    tables -= {name.removesuffix(".py") for name in ROOT_FILES}
    prefix = f"{package_of(system)}."
    wrong = [
        (a, b)
        for a, b in import_graph().edges
        if b.startswith(prefix) and a in {f"{prefix}{table}" for table in tables}
        if room_of(b, prefix) not in {"instance", *tables}
    ]
    assert wrong == []


def test_no_system_imports_another_and_the_toolkit_imports_none():
    owners = [package_of(folder) for folder in (*SYSTEMS, *FAMILIES)]

    def owner(module: str) -> str:
        """Return the package of a system, of what a family shares, or nothing."""
        return max((o for o in owners if f"{module}.".startswith(f"{o}.")), key=len, default="")

    wrong = [
        (a, b)
        for a, b in import_graph().edges
        if owner(b) and not f"{owner(a)}.".startswith(f"{owner(b)}.")
    ]
    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_holds_its_problems_and_what_they_share(family):
    folder = ROOT / "models" / family
    packages = {p.parent.name for p in folder.glob("*/__init__.py")}
    own = {system.split("/")[1] for system in SYSTEMS if system.startswith(f"{family}/")}
    assert packages - own <= {"subproblems"}
    assert (folder / "README.md").is_file()
    shared = [p.name for p in folder.glob("*.py")]
    assert shared == ["__init__.py"]


def test_a_problem_is_called_after_its_folder():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert entries["gadgetopt.problems"] == {
        system.replace("/", "_"): f"{package_of(system)}:PROBLEM" for system in SYSTEMS
    }


def test_no_folder_holds_more_than_a_reader_takes_in():
    counts = {
        str(folder.relative_to(ROOT)): sum(
            1 for entry in folder.iterdir() if entry.name != "__pycache__"
        )
        for folder in {path.parent for path in source_files()}
    }
    crowded = {folder: n for folder, n in counts.items() if n > MOST_ENTRIES}
    assert crowded == {}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_declaration_fits_one_page(system):
    lines = (ROOT / "models" / system / "__init__.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES_OF_A_DECLARATION


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_the_same_rooms(system):
    folder = ROOT / "models" / system
    rooms = {p.parent.name for p in folder.glob("*/__init__.py")}
    assert rooms <= set(FLOOR)
    inside = {p.parent.name for p in (folder / "proving").glob("*/__init__.py")}
    assert inside <= set(floors(PROVING))
    for needed in ROOT_FILES:
        assert (folder / needed).is_file(), needed
    checks = ("proving/certificate.py", "proving/certificate/check.py")
    has_own = problem_of(system.replace("/", "_")).check_bound is not None
    assert any((folder / check).is_file() for check in checks) == has_own
    assert (folder / "proving" / "__init__.py").is_file() or not has_own
    assert (ROOT / "models" / system.split("/")[0] / "README.md").is_file()


def test_contributing_names_files_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (.+?\?) \| (.+?) \|$", text, flags=re.MULTILINE)
    assert len(table) >= 25
    for question, answer in table:
        paths = re.findall(r"`((?:gadgetopt|models|tests|benchmarks|docs)/[^`]*)`", answer)
        assert paths, question
        for path in paths:
            assert (ROOT / path).exists(), f"{question} {path}"


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda p: p.stem)
def test_benchmarks_import_what_is_there(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("gadgetopt"):
            module = importlib.import_module(str(node.module))
            for name in node.names:
                there = hasattr(module, name.name) or f"{node.module}.{name.name}" in MODULES
                assert there, f"{node.module}.{name.name}"


def test_models_load_no_plug_ins_of_solvers():
    """`pyomo.core` has all words of a model; transformations of disjunctions are plug-ins."""
    loading = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "models").rglob("*.py")
        if "import pyomo.environ" in path.read_text(encoding="utf-8")
    }
    assert loading == {"models/sjf_bco/formulations/disjunctive.py"}


def test_types_of_arrays_have_one_name():
    written_out = [
        str(path.relative_to(ROOT))
        for path in source_files()
        if re.search(r"NDArray\[np\.(float64|int64|bool_)\]", path.read_text(encoding="utf-8"))
    ]
    assert written_out == ["gadgetopt/numbers/arrays.py"]


def test_folders_of_tests_are_folders_of_the_code():
    unknown = [
        str(folder.relative_to(ROOT))
        for tests, code in (("tests/toolkit", "gadgetopt"), ("tests/models", "models"))
        for folder in (ROOT / tests).rglob("*")
        if folder.is_dir() and folder.name != "__pycache__"
        if not (ROOT / code / folder.relative_to(ROOT / tests)).is_dir()
    ]
    assert unknown == []


def test_no_test_repeats_the_name_of_its_folder():
    repeated = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if path.stem.startswith((f"{path.parent.name}_", f"test_{path.parent.name}_"))
    ]
    assert repeated == []


def test_a_reader_of_a_papers_algorithm_opens_few_files(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    reading_paths = importlib.import_module("reading_paths").reading_paths
    paths = [path for problem in problems() for path in reading_paths(problem)]
    files = {f"{path.system} {path.method}": len(path.modules) for path in paths}
    assert len(files) >= 25
    assert {name for name, n in files.items() if n > MOST_FILES_OF_AN_ALGORITHM} == set()


def test_declarations_are_few_lines(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    lines = importlib.import_module("declarations").declaration_lines()
    assert lines["method"] > 300
    assert lines["formulation"] > 86
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "models").rglob("__init__.py")]
    systems = sum("\nPROBLEM = Problem(" in text for text in texts)
    assert sum(lines.values()) <= MOST_LINES_OF_DECLARATIONS * systems


def declared_modules() -> Iterator[str]:
    """Yield where parts, the public names, what pages name, and what `show` prints lie."""
    yield from ("gadgetopt", "gadgetopt.__main__")
    for problem in problems():
        parts = [part for kind in PARTS for part in getattr(problem, kind)]
        for declared in (problem, *parts):
            for field in dataclasses.fields(declared):
                value = getattr(declared, field.name)
                if callable(value):
                    yield module_of_part(value)
    yield from (module for module in MODULES if module.endswith(".algorithms.plain"))
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "models").rglob("*.md")]
    for page in pages:
        for name in re.findall(r"\bgadgetopt(?:\.\w+)+", page.read_text(encoding="utf-8")):
            yield from (name.rsplit(".", k)[0] for k in range(name.count(".")))


def test_every_module_is_reached_from_what_is_declared_or_public():
    """What only tests or a benchmark use lies beside them."""
    graph = import_graph().copy()
    for module in MODULES:
        graph.add_edges_from((module, other) for other in import_graph().nodes[module]["written"])
        graph.add_edge(module, module.rpartition(".")[0])  # its package is imported, too
    graph.add_edges_from(("roots", module) for module in declared_modules())
    unseen = set(MODULES) - nx.descendants(graph, "roots")
    assert {module for module in unseen if not module.startswith(UNREACHED)} == set()


def test_a_reader_of_a_paper_reads_few_lines(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    structure = importlib.import_module("structure")
    lines = structure.front_lines(structure.files_here())
    assert set(lines) >= set(SYSTEMS)
    of_folder = Counter[str]()  # of all systems of a family together
    for name, n in lines.items():
        of_folder[name.split("/")[0]] += n
    assert {name for name, n in of_folder.items() if n > MOST_LINES_OF_A_PAPER} <= LONG_PAPERS
