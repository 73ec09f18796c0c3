"""Models, certified bounds and published algorithms for distributed deep learning.

The verbs are those of the command line:

problem(name), problems()
    Return a system's declaration, or those of all systems.
show(system, formulation, instance)
    Return a problem or a formulation as formulas, or a model written out.
read(path), write(document, path)
    Read an instance, solution or certificate file as a `Document`; write one.
generate(system, preset, count, seed, ...)
    Generate instances from a preset.
import_(format, files, ...)
    Convert real data into instances; the `Imported` list has a report.
instance(system, like, ...)
    Return an instance of your own data: DataFrames, arrays, and plain Python.
Builder(system, ...)
    Build an instance that is a graph: `add_node`, `add_edge`, `build`.
solve(instance, method, time_limit, ...)
    Run a method on an instance within `Limits`; return a `Result`, which has a `Status`.
prove(instance, certify)
    Solve an instance, or a Pyomo model, and prove its bound; the proof has `bound` and `write`.
verify(instance, solution)
    Evaluate a solution of an instance, whoever made it; return an `Evaluation`.
plot(instance, solution)
    Return a picture of an instance, a solution or a result as a plotly figure.
plot(store or comparison, x=column)
    Return a figure of runs against a column of their instances.
export(instance, formulation, path)
    Write a formulation of an instance to a file for another solver.
export(instance, solution, path, format=...)
    Write a solution in a format that something else executes; return an `ExportedPlan`.
build(instance, formulation)
    Return a formulation of an instance as a Pyomo model, which is taken wherever an instance is.
compare(paths, methods, time_limit, ...)
    Run methods on instances; return the ratio table, a `Comparison` of `Entry`.
formulations(instance, solve=True)
    Compare the formulations of an instance: size, LP bound, root bound, nodes, time.
ratios(store)
    Return the ratio table of a store.
summary(store or comparison, by)
    Return wins, shares, ratios and times per system, group of instances and method, as a DataFrame.
write_report(store, out)
    Write a store as one page for the browser.
method(system)
    Declare a function of yours as a method of a system. Likewise formulation(system),
    generator(system), importer(system), exporter(system), guarantee(system), picture(system),
    statement(system) and trainer(system).
load_plugin(path)
    Add the methods of a file of yours to their systems; `Extension` holds further parts.

What they return shows itself in a notebook with its numbers and a picture. Unusable input
raises an `InputError` of one line; a certified bound that a given solution refutes raises
`BoundRefuted`. Modules are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

__version__ = "0.2.0"

# In a checkout the model library lies beside this package, not inside it; `python -m gadgetopt`
# and `python -m pytest` there import this folder rather than the installed one.
_checkout = Path(__file__).parent.parent
if (_checkout / "models" / "sjf_bco").is_dir() and (_checkout / "pyproject.toml").is_file():
    __path__.append(str(_checkout))

_HOME = {
    "BoundRefuted": "errors",
    "Builder": "api.builders",
    "Comparison": "api.comparison",
    "Document": "system.files",
    "Entry": "runs.comparison",
    "ExportedPlan": "api.exporting",
    "Evaluation": "system.result",
    "Imported": "api.making",
    "InputError": "errors",
    "Limits": "system.result",
    "Result": "system.result",
    "Status": "system.result",
    "Extension": "system.extension",
    "build": "api.making",
    "compare": "api.running",
    "export": "api.exporting",
    "exporter": "system.declaring",
    "formulation": "system.declaring",
    "formulations": "reporting.formulations",
    "generate": "api.making",
    "generator": "system.declaring",
    "guarantee": "system.declaring",
    "import_": "api.making",
    "instance": "api.own_data",
    "importer": "system.declaring",
    "picture": "system.declaring",
    "plot": "api.looking",
    "load_plugin": "system.plugins",
    "method": "system.declaring",
    "problem": "system.registry",
    "prove": "api.proving",
    "problems": "system.registry",
    "ratios": "api.running",
    "read": "system.files",
    "show": "api.looking",
    "solve": "api.running",
    "statement": "system.declaring",
    "summary": "reporting.summary",
    "trainer": "system.declaring",
    "verify": "api.running",
    "write": "system.files",
    "write_report": "reporting.html_report",
}
__all__ = [
    "BoundRefuted",
    "Builder",
    "Comparison",
    "Document",
    "Entry",
    "Evaluation",
    "ExportedPlan",
    "Extension",
    "Imported",
    "InputError",
    "Limits",
    "Result",
    "Status",
    "build",
    "compare",
    "export",
    "exporter",
    "formulation",
    "formulations",
    "generate",
    "generator",
    "guarantee",
    "import_",
    "importer",
    "instance",
    "load_plugin",
    "method",
    "picture",
    "plot",
    "problem",
    "problems",
    "prove",
    "ratios",
    "read",
    "show",
    "solve",
    "statement",
    "summary",
    "trainer",
    "verify",
    "write",
    "write_report",
]

if TYPE_CHECKING:
    from gadgetopt.api.builders import Builder
    from gadgetopt.api.comparison import Comparison
    from gadgetopt.api.exporting import ExportedPlan, export
    from gadgetopt.api.looking import plot, show
    from gadgetopt.api.making import Imported, build, generate, import_
    from gadgetopt.api.own_data import instance
    from gadgetopt.api.proving import prove
    from gadgetopt.api.running import compare, ratios, solve, verify
    from gadgetopt.errors import BoundRefuted, InputError
    from gadgetopt.reporting.formulations import formulations
    from gadgetopt.reporting.html_report import write_report
    from gadgetopt.reporting.summary import summary
    from gadgetopt.runs.comparison import Entry
    from gadgetopt.system.declaring import (
        exporter,
        formulation,
        generator,
        guarantee,
        importer,
        method,
        picture,
        statement,
        trainer,
    )
    from gadgetopt.system.extension import Extension
    from gadgetopt.system.files import Document, read, write
    from gadgetopt.system.plugins import load_plugin
    from gadgetopt.system.registry import problem, problems
    from gadgetopt.system.result import Evaluation, Limits, Result, Status
else:  # hidden from type checkers, which would otherwise accept any attribute

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'gadgetopt' has no attribute {name!r}")
        value = getattr(import_module(f"gadgetopt.{_HOME[name]}"), name)
        globals()[name] = value  # later accesses find it here
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
