"""Models, certified bounds and published algorithms for distributed deep learning.

The verbs are those of the command line:

read(path)
    Read an instance, solution or certificate file as a `Document`.
write(document, path)
    Write a `Document` to a file.
solve(instance, method, limits, seed)
    Run a method on an instance within `Limits`; return a `Result`, which has a `Status`.
verify(instance, solution)
    Evaluate a solution of an instance, whoever made it.
compare(paths, methods, ...)
    Run methods on instances; return the ratio table.
formulations(instance, solve=True)
    Compare the formulations of an instance: size, LP bound, root bound, nodes, time.
ratios(store)
    Return the ratio table of a store.
summary(store or entries, by)
    Return wins, shares, ratios and times per system, group of instances and method, as a DataFrame.
write_report(store, out)
    Write a store as one page for the browser.
problem(name), problems()
    Return a system's declaration, or those of all systems.

Unusable input raises an `InputError` of one line; a certified bound that a given solution refutes
raises `BoundRefuted`. Modules are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# In a checkout the model library lies beside this package, not inside it; `python -m gadgetopt`
# and `python -m pytest` there import this folder rather than the installed one.
_checkout = Path(__file__).parent.parent
if (_checkout / "models" / "sjf_bco").is_dir() and (_checkout / "pyproject.toml").is_file():
    __path__.append(str(_checkout))

_HOME = {
    "BoundRefuted": "errors",
    "Document": "system.files",
    "InputError": "errors",
    "Limits": "system.result",
    "Result": "system.result",
    "Status": "system.result",
    "compare": "runs.comparison",
    "formulations": "reporting.formulations",
    "problem": "system.registry",
    "problems": "system.registry",
    "ratios": "reporting.tables",
    "read": "system.files",
    "solve": "trust.run",
    "summary": "reporting.summary",
    "verify": "trust.run",
    "write": "system.files",
    "write_report": "reporting.html_report",
}
__all__ = [
    "BoundRefuted",
    "Document",
    "InputError",
    "Limits",
    "Result",
    "Status",
    "compare",
    "formulations",
    "problem",
    "problems",
    "ratios",
    "read",
    "solve",
    "summary",
    "verify",
    "write",
    "write_report",
]

if TYPE_CHECKING:
    from gadgetopt.errors import BoundRefuted, InputError
    from gadgetopt.reporting.formulations import formulations
    from gadgetopt.reporting.html_report import write_report
    from gadgetopt.reporting.summary import summary
    from gadgetopt.reporting.tables import ratios
    from gadgetopt.runs.comparison import compare
    from gadgetopt.system.files import Document, read, write
    from gadgetopt.system.registry import problem, problems
    from gadgetopt.system.result import Limits, Result, Status
    from gadgetopt.trust.run import solve, verify
else:  # hidden from type checkers, which would otherwise accept any attribute

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'gadgetopt' has no attribute {name!r}")
        value = getattr(import_module(f"gadgetopt.{_HOME[name]}"), name)
        globals()[name] = value  # later accesses find it here
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
