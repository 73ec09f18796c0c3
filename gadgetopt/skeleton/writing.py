"""Write a new system: the skeleton under another name, in a package of one's own or the library."""

from __future__ import annotations

import importlib.util
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.system.output import write_text
from gadgetopt.system.registry import problem_names

HERE = Path(__file__).parent

#: What a package of its own would be imported instead of, or written into.
_TAKEN = ("gadgetopt", "instances", "tests")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Place:
    """Where the parts of a new system go.

    Attributes
    ----------
    module : str
        What the system is imported as.
    root : Path
        The folder that is installed.
    system, tests, instances : Path
        Its folders.
    quickstart : Path
        The file of its first instance.
    project : Path or None
        The `pyproject.toml` of a package of its own; None in the library, which has one.
    """

    module: str
    root: Path
    system: Path
    tests: Path
    instances: Path
    quickstart: Path
    project: Path | None


def place_of(name: str, folder: Path) -> Place:
    """Return where a system goes that is written into a folder.

    In the library's own `models/`, tests and instances go beside those of the other systems.
    """
    if is_library(folder):
        root = folder.parent if folder.name == "models" else folder.resolve().parent
        return Place(
            module=f"gadgetopt.models.{name}",
            root=root,
            system=folder / name,
            tests=root / "tests" / "models" / name,
            instances=root / "instances" / name / "tiny",
            quickstart=root / "instances" / "quickstart" / f"{name}.json",
            project=None,
        )
    instances = folder / "instances" / name
    return Place(
        module=name,
        root=folder,
        system=folder / name,
        tests=folder / "tests" / name,
        instances=instances,
        quickstart=instances / "quickstart.json",
        project=folder / "pyproject.toml",
    )


def is_library(folder: Path) -> bool:
    """Return True if a folder is `models/` of the library's repository."""
    whole = folder.resolve()
    return whole.name == "models" and (whole.parent / "gadgetopt" / "skeleton").is_dir()


def new_system(name: str, folder: Path) -> list[Path]:
    """Write a system of a name into a folder; return the files, the system's own first.

    Raises
    ------
    InputError
        If the name cannot be used, a folder of it is there, or a file cannot be written.
    """
    place = place_of(name, folder)
    _check_name(name, place)
    if any(is_library(above) for above in folder.resolve().parents):
        raise InputError(f"--folder: {folder}, expected the library's models/ itself, or elsewhere")
    for taken in (place.system, place.tests, place.instances, place.quickstart):
        if taken.exists():
            raise InputError(f"{taken}: already exists; choose another name or another --folder")
    written = []
    for source, target in _files(place):
        if target == place.project and target.exists():
            continue  # a package with other systems: the command says what to add
        write_text(target, _named(source.read_text(encoding="utf-8"), name, place))
        written.append(target)
    return written


def next_steps(name: str, folder: Path, written: list[Path]) -> Iterator[str]:
    """Yield what was written, and the commands that come next."""
    place = place_of(name, folder)
    yield f"{place.system}: the system"
    yield f"{place.tests}: its tests"
    yield f"{place.instances}: instances checked by hand"
    if place.quickstart.parent != place.instances:
        yield f"{place.quickstart}: a first instance"
    if place.project in written:
        yield f"{place.project}: the package, and how commands find the system in it"
    else:
        yield f"{place.root / 'pyproject.toml'}: add, by which commands find the system,"
        yield '  [project.entry-points."gadgetopt.problems"]'
        yield f'  {name} = "{place.module}:PROBLEM"'
    yield "Then:"
    yield f"  pip install --no-deps -e {place.root}"
    yield f"  gadgetopt compare {place.quickstart}"
    yield f"  pytest {place.tests}"


def _check_name(name: str, place: Place) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise InputError(
            f"NAME: {name!r}, expected a Python identifier of lower-case letters, digits and _, "
            "no keyword"
        )
    if name in problem_names():
        raise InputError(f"NAME: {name!r} is a system already, see `gadgetopt list`")
    if place.project and (name in _TAKEN or importlib.util.find_spec(name) is not None):
        raise InputError(f"NAME: {name!r} is a Python package already, expected a new name")


def _files(place: Place) -> Iterator[tuple[Path, Path]]:
    """Yield every file of the skeleton and where it goes."""
    folders = {"system": place.system, "_tests": place.tests, "instances": place.instances}
    for part, target in folders.items():
        for source in sorted((HERE / part).rglob("*.*")):
            inside = source.relative_to(HERE / part)
            if "__pycache__" in inside.parts:
                continue
            first = inside.name == "quickstart.json"
            yield source, place.quickstart if first else target / inside
    if place.project:
        yield HERE / "project.toml", place.project


def _named(text: str, name: str, place: Place) -> str:
    """Return a text of the skeleton with a system's own names."""
    own = {"gadgetopt.skeleton.system": place.module, "Skeleton": _camel(name), "skeleton": name}
    return re.sub("|".join(map(re.escape, own)), lambda found: own[found[0]], text)


def _camel(name: str) -> str:
    """Return a name as those of classes are written."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
