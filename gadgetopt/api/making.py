"""`generate`, `import_` and `build`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.api.running import as_instance
from gadgetopt.errors import InputError
from gadgetopt.system.declaration import Importer, Problem
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem, problems

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def generate(
    system: Problem | str,
    preset: str = "quickstart",
    *,
    count: int = 1,
    seed: int = 0,
    **parameters: Any,
) -> list[Document[Any]]:
    """Generate instances from a preset, the same as the command of this name writes to files.

    Parameters
    ----------
    system : str or Problem
    preset : str
        A preset of the system's generator; `problem(system).generators` has them all.
    count, seed : int
        Number of instances, and random seed. An instance depends on the seed and its own number
        only, not on the count.
    **parameters
        Parameters of the preset that differ from their defaults; a list sweeps its values.

    Returns
    -------
    list of Document
        For a sweep, `count` for each combination.

    Raises
    ------
    InputError
        If there is no such system, preset or parameter, or the generator refuses a value.

    Examples
    --------
    >>> import gadgetopt
    >>> for instance in gadgetopt.generate("sjf_bco", "mini_paper", jobs=[4, 8], seed=1):
    ...     print(instance.name, len(instance.data.jobs))
    sjf_bco_mini_paper_s1_jobs=4_0 4
    sjf_bco_mini_paper_s1_jobs=8_0 8
    """
    from gadgetopt.system.generation import draws, find_generator
    from gadgetopt.system.generation import generate as generate_one
    from gadgetopt.system.sweeps import as_text, parse_options

    declared = system if isinstance(system, Problem) else problem(system)
    place = f"preset {preset}"
    generator = find_generator(declared, preset, "preset")
    for name, value, least in (("count", count, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            what = "a positive integer" if least else "a non-negative integer"
            raise InputError(f"{name}: {value!r} is not {what}")
    assignments = [f"{name}={as_text(_plain(v))}" for name, v in parameters.items()]
    options = parse_options(assignments, generator.parameters, place)
    wanted = draws(
        generator, options, seed, count, f"{declared.name}_{preset}", digits=len(str(count - 1))
    )
    return [generate_one(declared, generator, draw, place) for draw in wanted]


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it, also an array, a range or a fraction."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, range | list | tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, str | int | float | dict | None) else str(value)


class Imported(list[Document[Any]]):
    """The instances of an import, and what was left out or changed on the way.

    Attributes
    ----------
    report : dict
        What the importer says: counts, assumptions, and the rows left out with their reasons.
    """

    def __init__(self, documents: Iterable[Document[Any]], report: Mapping[str, Any]):
        super().__init__(documents)
        self.report: dict[str, Any] = dict(report)


def import_(
    format: str,  # noqa: A002 the command line's word
    files: Path | str | Iterable[Path | str],
    system: Problem | str | None = None,
    *,
    seed: int = 0,
    **parameters: Any,
) -> Imported:
    """Convert real data into instances.

    Parameters
    ----------
    format : str
        A format that a system imports; `problem(system).importers` has them all.
    files : path or iterable of paths
    system : str or Problem, optional
        The system, where several read the format.
    seed : int
        Seed of what an importer draws at random.
    **parameters
        Options of the importer that differ from their defaults.

    Returns
    -------
    Imported
        A list of documents; its `report` says what was left out.

    Raises
    ------
    InputError
        If a name or option is wrong, or a file cannot be read as the format.
    """
    import numpy as np

    from gadgetopt import __version__
    from gadgetopt.system.methods import parse_assignments, written

    declared, importer = find_importer(format, system)
    assignments = [f"{name}={written(value)}" for name, value in parameters.items()]
    changed = parse_assignments(assignments, importer.parameters, f"import {format}")
    paths = [files] if isinstance(files, Path | str) else list(files)
    outcome = importer.read(
        [Path(path) for path in paths],
        np.random.default_rng(seed),
        **{**importer.parameters, **changed},
    )
    documents = []
    for name, data in outcome.instances:
        own = outcome.origin_of.get(name, {})
        origin = {**outcome.origin, **own, "seed": seed, "version": __version__}
        documents.append(Document[Any](declared, "instance", name, data, origin))
    return Imported(documents, outcome.report)


def find_importer(form: str, system: Problem | str | None = None) -> tuple[Problem, Importer]:
    """Return the system that imports a format, and its importer.

    Raises
    ------
    InputError
        If there is none, or several systems read the format and none is named.
    """
    if isinstance(system, str):
        system = problem(system)
    candidates = problems() if system is None else [system]
    found = [(p, i) for p in candidates for i in p.importers if i.format == form]
    if not found:
        known = sorted({i.format for p in candidates for i in p.importers})
        raise InputError(f"FORMAT: {form!r}, expected one of {', '.join(known) or 'none'}")
    if len(found) > 1:
        names = ", ".join(p.name for p, _ in found)
        raise InputError(f"--system: {form} is read by several, choose one of {names}")
    return found[0]


def build(instance: Document[Any] | Path | str, formulation: str) -> ConcreteModel:
    """Return the Pyomo model of a formulation on an instance.

    Like a model of your own, it is an instance wherever one is taken. It is built in this process,
    without limits until Ctrl-C.

    Parameters
    ----------
    instance : Document or path
    formulation : str

    Raises
    ------
    InputError
        If there is no such formulation, or it refuses the instance.

    Examples
    --------
    >>> import gadgetopt
    >>> model = gadgetopt.build("instances/quickstart/knapsack.json", "direct")
    >>> gadgetopt.solve(model).objective
    8222
    """
    from gadgetopt.solvers.formulations.building import built
    from gadgetopt.system.methods import find_formulation

    document = as_instance(instance)
    return built(find_formulation(document.problem, formulation), document.data)
