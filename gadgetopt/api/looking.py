"""`show` and `plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from gadgetopt.api.running import as_instance, as_solution
from gadgetopt.errors import InputError
from gadgetopt.runs.store_file import is_store
from gadgetopt.system.data import Solution
from gadgetopt.system.declaration import Formulation, Picture, Problem, resolved
from gadgetopt.system.files import Document, read, read_instance
from gadgetopt.system.registry import problem, problem_names
from gadgetopt.system.result import Result

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from gadgetopt.runs.comparison import Entry


class Page(str):
    """Text to be read: a prompt prints it as it is, a notebook renders its Markdown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


class Listing(Page):
    """A page of Python: a notebook colours it."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return f"```python\n{self}\n```"


#: What `show` takes in the place of a formulation to print the paper's algorithm.
ALGORITHM = "algorithm"


def show(
    system: Problem | Document[Any] | Path | str,
    formulation: str | None = None,
    instance: Document[Any] | Path | str | None = None,
    *,
    rows: int = 3,
) -> Page:
    """Return a problem or a formulation as formulas, or an instance and its model written out.

    Or the paper's algorithm, step by step, as the Python that it is. A model is built in this
    process, without limits until Ctrl-C; the command of the same name enforces them.

    Parameters
    ----------
    system : str, Problem, Document or path
        An instance, or its file, stands for its system and itself.
    formulation : str, optional
        A formulation, or "algorithm". Default: the page of the system.
    instance : Document or path, optional
        Its size and features; and its name and origin, or the model of the formulation.
    rows : int
        Rows written out per constraint.

    Raises
    ------
    InputError
        If there is no such system or formulation, the system's paper has no algorithm, or the
        instance is of another system.

    Examples
    --------
    >>> import gadgetopt
    >>> print(gadgetopt.show("knapsack", "direct").splitlines()[0])
    direct: A binary variable for every item
    """
    from gadgetopt.reporting.words import spaced
    from gadgetopt.system.features import features_of
    from gadgetopt.system.methods import find_formulation

    if formulation == ALGORITHM:
        if instance is not None:
            raise InputError("instance: an algorithm is the same for all of them, expected none")
        return Listing(algorithm_of(_declared(_instance_of(system))))
    system = _instance_of(system)
    if isinstance(system, Document):
        instance = system if instance is None else instance
    declared = _declared(system)
    chosen = None if formulation is None else find_formulation(declared, formulation)
    if instance is None:
        return Page(page_of(declared) if chosen is None else paper_of(chosen))
    document = as_instance(instance)
    if document.problem.name != declared.name:
        place = document.path or document.name
        raise InputError(f"{place}: problem: {document.problem.name!r}, expected {declared.name!r}")
    lines = [f"{spaced(k)}: {v}" for k, v in declared.size(document.data).items()]
    lines += [f"{spaced(k)}: {v:.4g}" for k, v in features_of(declared, document.data).items()]
    if chosen is None:
        lines = [f"{document.name} ({declared.name}: {declared.title})", *lines, *_origin(document)]
    else:
        from gadgetopt.reporting.export import written_out
        from gadgetopt.solvers.formulations.building import built

        lines.append(written_out(built(chosen, document.data), rows))
    return Page("\n".join(lines))


def _instance_of(system: Problem | Document[Any] | Path | str) -> Problem | Document[Any] | str:
    """Return the instance that a file is, or what is given."""
    if isinstance(system, Path) or (isinstance(system, str) and names_file(system)):
        return read_instance(system)
    return system


def names_file(text: str) -> bool:
    """Return True if a text is no system's name but that of a file, be it there or not."""
    path = Path(text)
    looks_so = bool(path.suffix) or len(path.parts) > 1 or path.is_file()
    return looks_so and text not in problem_names()


def _origin(instance: Document[Any]) -> list[str]:
    from gadgetopt.reporting.words import in_words, spaced

    return [f"{spaced(key)}: {in_words(x)}" for key, x in instance.origin.items()]


def _declared(system: Problem | Document[Any] | str) -> Problem:
    if isinstance(system, Document):
        return system.problem
    return system if isinstance(system, Problem) else problem(system)


def page_of(system: Problem) -> str:
    """Return the page of a system; its title if it has none."""
    page = _file_of(system, "README.md")
    return f"{system.name}: {system.title}" if page is None else page


def algorithm_of(system: Problem) -> str:
    """Return the source of the paper's algorithm, as it is printed there.

    It stands in `algorithms/plain.py` beside the system's evaluator.

    Raises
    ------
    InputError
        If there is none.
    """
    source = _file_of(system, "algorithms/plain.py")
    if source is None:
        raise InputError(
            f"{system.name}: has no algorithm to show (algorithms/plain.py), "
            f"expected a system whose paper prints one"
        )
    return source.removesuffix("\n")


def _file_of(system: Problem, name: str) -> str | None:
    """Return the text of a file in the folder of a system's evaluator; None if there is none."""
    from importlib.resources import files

    package = getattr(system.evaluate, "package", None)
    if package is None:
        package = getattr(system.evaluate, "__module__", "").rpartition(".")[0]
    file = files(package).joinpath(name) if package else None
    return file.read_text(encoding="utf-8") if file is not None and file.is_file() else None


def paper_of(formulation: Formulation) -> str:
    """Return a formulation on paper: what its module and its function say."""
    import inspect

    build = resolved(formulation.build)
    parts = (
        f"{formulation.name}: {formulation.summary}",
        f"{formulation.model_class}, {formulation.strength}; {formulation.equations}",
        inspect.getdoc(inspect.getmodule(build)),
        inspect.getdoc(build),
    )
    return "\n\n".join(part for part in parts if part)


def plot(
    what: Document[Any] | Result | Sequence[Entry] | Path | str,
    solution: Document[Any] | Result | Solution | Path | str | None = None,
    *,
    picture: str | None = None,
    x: str | None = None,
    y: str = "ratio",
    by: str = "method",
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
    out: Path | str | None = None,
) -> Figure:
    """Return a picture of an instance, of a solution, or of a result, or of many runs.

    Parameters
    ----------
    what : Document, Result, Comparison or path
        An instance, what `solve` returned, or a solution whose instance is known. Or a comparison,
        or the path of a store: a row a system, its first heuristic's ratios beside its theorem.
    solution : Document, Result, Solution or path, optional
        A solution of the instance.
    picture : str, optional
        Which of the system's pictures; default its first of solutions, and for an instance alone
        its first of instances, or the numbers of the instance if it has none.
    x : str, optional
        A column such as `param_extra` or `size_jobs`, against which the runs of a comparison or a
        store are drawn: the median at each value, with a band between the quartiles.
    y : str
        With `x`: `ratio`, `net_ratio`, `gap`, `time_s`, `objective` or another column of numbers.
    by : str
        With `x`: a column with a value for each curve.
    systems, methods, instances : sequence of str
        Of a comparison or a store: only these, by name or pattern.
    out : path, optional
        A file to write it to: .html, .json, or with the extra `images` .png, .svg or .pdf.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        If there is no such picture, nothing to draw, the solution is infeasible, or the file cannot
        be written.
    """
    from gadgetopt.reporting.figures import check_plotly
    from gadgetopt.reporting.html_report.ratios_by_system import plot_systems
    from gadgetopt.reporting.images import write_figure

    check_plotly("plot")
    only = {"systems": systems, "methods": methods, "instances": instances}
    if x is not None:
        figure = _figure_of_runs(what, x, y, by, **only)
    elif solution is None and _are_runs(what):
        figure = plot_systems(what, systems=systems, methods=methods, instances=instances)
    else:
        figure = _figure(what, solution, picture)
    if out is not None:
        write_figure(figure, Path(out))
    return figure


def _are_runs(what: Any) -> TypeGuard[Path | str | Sequence[Entry]]:
    """Return True for a comparison, a list of its entries, and a store."""
    if isinstance(what, Path | str):
        return is_store(Path(what))
    return isinstance(what, Sequence)


def _figure_of_runs(what: Any, x: str, y: str, by: str, **only: Sequence[str]) -> Figure:
    from gadgetopt.reporting.curves_of_runs import plot_runs

    if isinstance(what, Document | Result):
        raise InputError("plot: x names a column of runs, so it needs a comparison or a store")
    return plot_runs(what, x, y, by, **only)


def _figure(
    what: Any,
    solution: Document[Any] | Result | Solution | Path | str | None,
    picture: str | None,
) -> Figure:
    from gadgetopt.reporting.figures import drawn
    from gadgetopt.reporting.views.overview import overview

    document, decision = _subject(what, solution)
    system = document.problem
    chosen = find_picture(system, picture, "instance" if decision is None else "solution")
    if chosen is None and decision is None:
        figure = overview(document.data)
        if figure is not None:
            return figure
    if chosen is None:
        raise InputError(
            f"picture: {system.name} has no picture of an instance; give a solution to draw"
        )
    if chosen.of == "instance":
        return drawn(system, chosen, document.data)
    if decision is None:
        raise InputError(f"plot: the picture {chosen.name!r} is of a solution, expected one")
    return drawn(system, chosen, document.data, decision)


def _subject(
    what: Any,
    solution: Document[Any] | Result | Solution | Path | str | None,
) -> tuple[Document[Any], Any]:
    """Return the instance and the decision that a picture is of."""
    if isinstance(what, Path | str):
        what = read(what)
    if isinstance(what, Result):
        if what.document is None:
            raise InputError(f"plot: {what!r} does not know its instance; call plot(instance, it)")
        what, solution = what.document, what if solution is None else solution
    if not isinstance(what, Document):
        kind = type(what).__name__
        raise InputError(f"plot: is of type {kind}, expected an instance, a result or a path")
    if what.kind == "solution" and what.instance is not None:
        what, solution = what.instance, what
    document = as_instance(what)
    return document, None if solution is None else as_solution(document, solution).data


def find_picture(system: Problem, name: str | None, of: str) -> Picture | None:
    """Return a picture by name; by default the first of solutions or of instances, if any.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name is None:
        return next((p for p in system.pictures if p.of == of), None)
    for picture in system.pictures:
        if picture.name == name:
            return picture
    known = ", ".join(p.name for p in system.pictures) or "none"
    raise InputError(f"picture {name!r}: {system.name} has no such picture (it has: {known})")
