"""`solve`, `verify`, `compare` and `ratios`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.system.data import Certificate, Solution
from gadgetopt.system.declaration import resolved
from gadgetopt.system.files import Document, read_certificate, read_instance, read_solution
from gadgetopt.system.reading.suffixes import imported_object
from gadgetopt.system.result import Evaluation, Limits, Result

if TYPE_CHECKING:
    from gadgetopt.api.comparison import Comparison
    from gadgetopt.api.watching import OnIncumbent
    from gadgetopt.runs.progress import Watch
    from gadgetopt.system.methods import MethodCall


def solve(
    instance: Any,
    method: MethodCall | str | Callable[..., Any] | None = None,
    limits: Limits | None = None,
    seed: int = 0,
    *,
    time_limit: float | None = None,
    threads: int | None = None,
    memory_mb: float | None = None,
    gap: float | None = None,
    stop_after_no_improvement: float | None = None,
    target: float | None = None,
    certify: str | None = None,
    within: str | None = None,
    display: bool = False,
    on_incumbent: OnIncumbent | None = None,
) -> Result:
    """Run a method on an instance; re-evaluate its solution and check its claims.

    The method runs in this process and must respect the limits itself; `compare`, and the command
    of the same name, run it in a separate process that enforces them.

    Parameters
    ----------
    instance : Document, path or Pyomo model
        A linear Pyomo model is an instance of `mip`.
    method : str or callable, optional
        `name` or `name:key=value:...`, or a function of yours, as `gadgetopt.method` takes it;
        default the system's own.
    limits : Limits, optional
        Default: no time limit, one thread, relative gap 0.
    seed : int
        Seed of the method's random generator and of the solvers.
    time_limit : float, optional
        Seconds; like the further limits instead of `limits`, under the command line's names.
    threads : int, optional
        Solver threads.
    memory_mb : float, optional
        Memory that the solver may use, if it can limit it.
    gap : float, optional
        Relative gap at which the solve may stop.
    stop_after_no_improvement : float, optional
        Seconds without a better solution after which a solve ends that has one. Which one it then
        has depends on the machine's speed, as with a time limit.
    target : float, optional
        Objective at which the solve ends, or any better one.
    certify : str, optional
        Seconds such as "30", or a multiple of the run's such as "10x", for proving its bound.
    within : str, optional
        A tolerance such as "1e-6" within which the rows of a model may hold: the relaxed model is
        solved, as an instance of its own (`Document.within`).
    display : bool
        Print incumbent, bound, gap and time while the method works, at most a line a second.
    on_incumbent : callable, optional
        Called as `on_incumbent(time_s, incumbent, bound)` at each better objective that the method
        says it has found, in this process but perhaps in a thread of the solver, and at the end if
        the result's is better; `bound` is None where there is none. If it fails, a warning says so
        and it is not called again.

    Returns
    -------
    Result
        A method that raises, or makes a false claim, gives the status `error` and a `reason`.

    Raises
    ------
    InputError
        If the problem has no such method, the method no such parameter, or the limits are given
        twice.

    Examples
    --------
    >>> import gadgetopt
    >>> result = gadgetopt.solve("instances/quickstart/knapsack.json", time_limit=10)
    >>> print(result.status.value, result.objective)
    optimal 8222
    """
    from gadgetopt.api.progress import announced
    from gadgetopt.api.watching import watched
    from gadgetopt.runs.engine.budget import budget_s
    from gadgetopt.trust.certifying import certify as proved
    from gadgetopt.trust.run import solve as run

    chosen = limits_of(
        limits, time_limit, threads, memory_mb, gap, stop_after_no_improvement, target
    )
    if certify is not None:
        budget_s(certify, 0.0)  # refuses it before the run
    document = as_instance(instance).within(within or "0")
    with announced(), watched(document.sense, on_incumbent, display=display) as watch:
        result = run(document, method or document.problem.default_method, chosen, seed, watch.tell)
    watch.end(result)
    return result if certify is None else proved(document, result, budget_s(certify, result.time_s))


def verify(
    instance: Any,
    solution: Document[Any] | Result | Solution | Path | str,
    certificate: Document[Any] | Certificate | Path | str | None = None,
    *,
    format: str | None = None,  # noqa: A002 the command line's word
) -> Evaluation:
    """Evaluate a solution of an instance, and compare it with a certificate's bound if given.

    Parameters
    ----------
    instance : Document or path
    solution : Document, Result, Solution or path
        What `solve` or `read` returned, the `solution` of a result, or a file.
    certificate : Document, Certificate or path, optional
        What `read` returned, the `certificate` of a result, or a file.
    format : str, optional
        The solution is a file of this format, one of the system's exporters.

    Raises
    ------
    InputError
        If there is no solution, it belongs to another problem, or the certificate proves nothing.
    BoundRefuted
        If the solution is feasible and better than the certificate's bound.

    Examples
    --------
    >>> import gadgetopt
    >>> instance = gadgetopt.read("instances/sjf_bco/tiny/e2_contention_pays.json")
    >>> gadgetopt.verify(instance, gadgetopt.solve(instance, "first_fit"))
    <Evaluation: feasible, objective 3>
    """
    from gadgetopt.pieces.exporting import read_exported
    from gadgetopt.trust.verification import verify as check

    document = as_instance(instance)
    proof = None if certificate is None else _as_certificate(document, certificate)
    if format is None:
        return check(document, as_solution(document, solution), proof)
    if not isinstance(solution, Path | str):
        raise InputError(f"format: {format!r} is of files, expected the path of one")
    return check(document, read_exported(document, format, Path(solution)), proof)


def as_instance(given: Any, name: str = "model") -> Document[Any]:
    """Return an instance that is given as a document, as a file, or as a Pyomo model.

    A model becomes an instance of this name.

    Raises
    ------
    InputError
        If it is neither, or not an instance.

    Examples
    --------
    >>> as_instance("instances/quickstart/knapsack.json").problem.name
    'knapsack'
    """
    if isinstance(given, Path | str):
        return read_instance(given)
    if not isinstance(given, Document):
        found = imported_object(given, name)
        if found is not None:
            return Document(found.problem, "instance", found.name, found.data, found.origin)
        what = "what `gadgetopt.read` returns, a path, or a Pyomo model"
        raise InputError(f"instance: is of type {type(given).__name__}, expected {what}")
    if given.kind != "instance":
        raise InputError(f"instance: {given.name!r} is of kind {given.kind!r}, expected 'instance'")
    return given


def as_solution(
    instance: Document[Any], given: Document[Any] | Result | Solution | Path | str
) -> Document[Any]:
    """Return a solution of an instance that is given in any form, as a document.

    Raises
    ------
    InputError
        If there is none, or it is of another problem.
    """
    system = instance.problem
    if isinstance(given, Path | str):
        return read_solution(given, instance)
    if isinstance(given, Result):
        if given.solution is None:
            raise InputError(f"solution: {given.method} has none on {given.instance}")
        if given.problem != system.name:
            raise InputError(f"solution: is of {given.problem}, expected {system.name}")
        given = given.solution
    if isinstance(given, Document):
        if given.kind != "solution":
            raise InputError(
                f"solution: {given.name!r} is of kind {given.kind!r}, expected 'solution'"
            )
        return given
    expected = resolved(system.solution_type)
    if not isinstance(given, expected):
        raise InputError(
            f"solution: is of type {type(given).__name__}, expected {expected.__name__}, "
            "what `solve` or `read` returned, or a path"
        )
    return Document(system, "solution", instance.name, given, instance=instance)


def _as_certificate(
    instance: Document[Any], given: Document[Any] | Certificate | Path | str
) -> Document[Any]:
    if isinstance(given, Path | str):
        return read_certificate(given)
    if isinstance(given, Certificate):
        path = Path("certificate")  # the name of the place in messages
        return Document(instance.problem, "certificate", instance.name, given, path=path)
    return given


def limits_of(
    limits: Limits | None,
    time_limit: float | None,
    threads: int | None,
    memory_mb: float | None,
    gap: float | None,
    stop_after_no_improvement: float | None = None,
    target: float | None = None,
) -> Limits:
    """Return the limits that are given as one value or one by one.

    Raises
    ------
    InputError
        If they are given both ways, or a number is out of range.

    Examples
    --------
    >>> limits_of(None, time_limit=10, threads=None, memory_mb=None, gap=0.01)
    Limits(time_s=10, threads=1, memory_mb=None, rel_gap=0.01)
    """
    single = {
        "time_limit": time_limit,
        "threads": threads,
        "memory_mb": memory_mb,
        "gap": gap,
        "stop_after_no_improvement": stop_after_no_improvement,
        "target": target,
    }
    given = {name: value for name, value in single.items() if value is not None}
    if limits is not None:
        if given:
            raise InputError(f"{', '.join(given)}: given beside `limits`, expected one of the two")
        return limits
    for name, value in given.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if name == "gap" and not (number and 0 <= value < 1):
            raise InputError(f"gap: {value!r} is not a number in [0, 1)")
        if name == "target" and not (number and math.isfinite(value)):
            raise InputError(f"target: {value!r} is not a number")
        if name not in ("gap", "target") and not (number and 0 < value < math.inf):
            raise InputError(f"{name}: {value!r} is not a positive number")
        if name == "threads" and value != int(value):
            raise InputError(f"threads: {value!r} is not a positive integer")
    return Limits(
        time_limit, int(threads or 1), memory_mb, gap or 0.0, stop_after_no_improvement, target
    )


def compare(
    paths: Path | str | Iterable[Document[Any] | Path | str] | Mapping[str, Any],
    methods: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] = (),
    *,
    plugins: Iterable[Path | str] = (),
    limits: Limits | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    memory_mb: float | None = None,
    gap: float | None = None,
    stop_after_no_improvement: float | None = None,
    target: float | None = None,
    seeds: int = 1,
    first_seed: int = 0,
    store: Path | str | None = None,
    fresh: bool = False,
    retry_errors: bool = False,
    scheduler: str | None = None,
    workers: int | None = None,
    grace_s: float | None = None,
    certify: str | None = None,
    within: str | None = None,
    details: bool = True,
    records: bool = False,
    progress: bool | None = None,
    on_result: Callable[[Result, int, int], None] | None = None,
    watch: Watch | None = None,
) -> Comparison:
    """Run methods on instances and return the ratio table.

    Parameters
    ----------
    paths : path, iterable of paths, Documents and Pyomo models, or mapping
        Instance files, directories or globs; instances as `read` and `generate` return them; or any
        of these and linear Pyomo models by the names that they have in the table.
    methods : str, callable or sequence of them
        Names, kinds, "all", or "default", what each system declares as its main comparison and what
        an empty sequence means; or functions of yours, as `gadgetopt.method` takes them. They, too,
        run in processes of their own.
    plugins : iterable of paths
        Files of Python whose methods and other parts may be used (`gadgetopt.load_plugin`).
    limits : Limits
        For each run. Time and memory are enforced from outside the method.
    time_limit, threads, memory_mb, gap, stop_after_no_improvement, target : optional
        The same one by one, instead of `limits`, as `solve` takes them.
    seeds, first_seed : int
        Stochastic methods run once for each of `seeds` seeds from `first_seed` on.
    store : path, optional
        SQLite file; finished runs found in it are not repeated. Without it the runs are kept in a
        temporary file as long as the comparison is.
    fresh : bool
        Repeat runs that the store holds.
    retry_errors : bool
        Repeat runs that the store holds as errors.
    scheduler : str, optional
        Address of a Dask scheduler whose workers do the runs.
    workers : int, optional
        Runs at a time on this machine; default as many as its cores allow. 0 does them in this very
        process, where nothing is enforced and a method that crashes ends everything: for debugging.
    grace_s : float, optional
        Seconds beyond its time limit that a run may take at most, judging included: a method is
        interrupted after half of it; default the larger of 5 s and a tenth of the limit.
    certify : str, optional
        Seconds such as "30", or a multiple of each run's such as "10x", for proving its bound.
    within : str, optional
        A tolerance such as "1e-6" within which rows of model files may hold: the relaxed models are
        solved, as instances of their own (`Document.within`).
    details : bool
        True if the results include their solutions, certificates and traces.
    records : bool
        Let the best solutions and bounds of the records (`gadgetopt.records`) count in the ratios,
        too.
    progress : bool, optional
        Show progress; default only in a notebook and at a prompt.
    on_result : callable, optional
        Called as `on_result(result, done, total)` after each run, without those details.
    watch : Watch, optional
        Notified of everything that happens, in the place of the progress.

    Raises
    ------
    InputError
        If a path, file or method name is wrong, limits are given twice, or the scheduler cannot be
        used.
    SchedulerLost
        If the scheduler is lost; finished runs are in the store.

    Notes
    -----
    A method that does not support an instance has no row for it, unless it was named explicitly.

    A file among several that cannot be read is warned of and is in `Comparison.unreadable`; the
    others are solved. A single such file is an error.

    Ctrl-C ends the comparison early; the table of the finished runs is returned, and a warning says
    how many there are.

    Examples
    --------
    >>> import gadgetopt
    >>> file = "instances/sjf_bco/tiny/e2_contention_pays.json"
    >>> table = gadgetopt.compare(file, ["first_fit", "ladder"], workers=0)
    >>> for entry in table:
    ...     print(entry.result.method, entry.result.objective, entry.result.status.value)
    first_fit 3 feasible
    ladder 3 optimal
    """
    from gadgetopt.api.comparison import Comparison, Scratch
    from gadgetopt.api.progress import watching
    from gadgetopt.runs.comparison import compare as run
    from gadgetopt.runs.progress import Watch

    chosen = limits_of(
        limits, time_limit, threads, memory_mb, gap, stop_after_no_improvement, target
    )
    further: Callable[..., Any] | None = None
    if records:
        from gadgetopt.records.known import runs_of

        further = runs_of
    scratch = Scratch()
    kept = scratch.folder / "runs.sqlite" if store is None else Path(store)
    with watching(watch, progress, new=store is None) as shown:
        told = shown or Watch()
        entries = run(
            _files(_several(paths), scratch.folder),
            (methods,) if isinstance(methods, str) or callable(methods) else methods,
            plugins=plugins,
            limits=chosen,
            seeds=seeds,
            first_seed=first_seed,
            store=kept,
            fresh=fresh,
            retry_errors=retry_errors,
            scheduler=scheduler,
            workers=workers,
            grace_s=grace_s,
            certify=certify,
            within=within,
            details=details,
            on_result=on_result,
            watch=told,
            further=further,
        )
    return Comparison(entries, kept, scratch if store is None else None, told.unreadable)


def _several(given: Any) -> Iterable[Any]:
    """Return what is given, one or several or by name, as several."""
    if isinstance(given, Mapping):
        return [replace(as_instance(one, name), name=name) for name, one in given.items()]
    several = isinstance(given, Iterable) and not isinstance(given, Path | str | Document)
    return given if several else [given]


def _files(given: Iterable[Any], folder: Path) -> list[Path | str]:
    """Return paths of instances; those that are at hand only are written to a folder."""
    from gadgetopt.system.files import write

    paths: list[Path | str] = []
    for k, one in enumerate(given):
        if isinstance(one, Path | str):
            paths.append(one)
            continue
        document = as_instance(one)
        path = folder / "given" / f"{k:06d}.json"
        write(replace(document, path=path), path)
        paths.append(path)
    return paths


def ratios(store: Path | str) -> Comparison:
    """Return the ratio table of a store, without the methods that do not apply.

    Raises
    ------
    InputError
        If the file is missing or not a store.
    """
    from gadgetopt.api.comparison import Comparison
    from gadgetopt.reporting.tables import ratios as table

    return Comparison(table(store), Path(store))
